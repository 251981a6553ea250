#!/usr/bin/env python3
"""Recompute what a rain gave away, from docs/fairness.md alone: nothing here
is taken from the C code, so a fault in it cannot hide here too.

usage: verify.py vectors FILE              all vectors of FILE
       verify.py run SHOW.json LEDGER.db   a closed activity: what
                                           `rainctl --json activity show`
                                           says, and the SQLite ledger

exit 0: all as it must be (credits may still be coming, and are counted),
1: differences, each in a line, 2: bad input, or the ledger lags: try again
"""
import hashlib
import itertools
import pathlib
import sqlite3
import struct
import sys

# A verifier leaves nothing behind in the tree that it is run from.
sys.dont_write_bytecode = True
from fairness import (BadInput, commitment_of, mixed, plan_split, plan_text,
                      split, tranche_text)
from show import amount_of, read_show, read_text

# Mode vectors: the head of the file says how its lines are made.

def tiers_of(text):
    return [tuple(int(n) for n in tier.split("x"))
            for tier in text.split(",")] if text not in ("-", "") else []


def answer_of(amounts):
    """A split as a vector says it."""
    if amounts is None:
        return "refused"
    if len(amounts) <= 16:
        return ",".join(map(str, amounts))
    packed = struct.pack(f"<{len(amounts)}Q", *amounts)
    return "sha256:" + hashlib.sha256(packed).hexdigest()


def check_split(words):
    algorithm, seed, total, count, least, most, tiers, expected = words
    found = answer_of(split(bytes.fromhex(seed), algorithm, int(total),
                            int(count), int(least), int(most),
                            tiers_of(tiers)))
    return None if found == expected else f"{found}, not {expected}"


def check_plan(words, lines):
    seed, expected = words
    plan = dict(line.split("=", 1) for line in lines)
    plan["tiers"] = tiers_of(plan.get("tiers", ""))
    plan.setdefault("release_ms", 0)
    text = "".join(line + "\n" for line in lines).encode()
    found = commitment_of(bytes.fromhex(seed), plan)
    if plan_text(plan) != text:
        return f"the text of this plan is {plan_text(plan)!r}"
    return None if found == expected else f"{found}, not {expected}"


def check_mix(words):
    seed, entropy, expected = words
    found = mixed(bytes.fromhex(seed), bytes.fromhex(entropy)).hex()
    return None if found == expected else f"{found}, not {expected}"


def verify_vectors(path):
    lines = iter(read_text(path).split("\n"))
    right = wrong = 0
    for line in lines:
        if line == "" or line.startswith("#"):
            continue
        kind, *words = line.split(" ")
        try:
            if kind == "split":
                difference = check_split(words)
            elif kind == "plan":
                text = list(itertools.takewhile(bool, lines))
                difference = check_plan(words, text)
            elif kind == "mix":
                difference = check_mix(words)
            else:
                raise ValueError(f"{kind!r} is not split, plan or mix")
        except (ValueError, KeyError) as e:
            raise BadInput(f"{path}: {line[:60]}: {e}") from e
        right += difference is None
        if difference is not None:
            wrong += 1
            print(f"{path}: {line[:60]}...: {difference}")
    if right + wrong == 0:
        raise BadInput(f"{path} has no vectors")
    print(f"{right} of {right + wrong} vectors agree")
    return 1 if wrong else 0


# Mode run.

class Ledger:
    """What the ledger says of one activity. It may be a copy, whose database
    refuses nothing: no row is taken for the only one of its kind."""

    def __init__(self, path, activity_id):
        if not pathlib.Path(path).is_file():
            raise BadInput(f"there is no file {path}")
        uri = pathlib.Path(path).absolute().as_uri() + "?mode=ro"
        try:
            db = sqlite3.connect(uri, uri=True)
            db.row_factory = sqlite3.Row
            db.execute("BEGIN")
            self.info = db.execute(
                "SELECT * FROM red_packet_info WHERE activity_id = ?",
                [activity_id]).fetchone()
            if self.info is None:
                raise BadInput(f"{path} does not know {activity_id}")
            activity = [self.info["activity"]]
            # (seq, packet id, cents, user)
            self.credits = db.execute(
                "SELECT seq, red_packet_id, amount, coalesce(owner,"
                " 'of account ' || r.account) FROM red_packet_record r"
                " LEFT JOIN account a ON a.account = r.account"
                " WHERE r.activity = ? ORDER BY seq, record",
                activity).fetchall()
            # By seq: why it is not credited.
            self.waiting = {
                seq: f"parked ({reason})" for seq, reason in db.execute(
                    "SELECT seq, reason FROM parked_claim WHERE activity = ?",
                    activity)}
            self.waiting |= {
                seq: f"held ({reason})" for seq, reason in db.execute(
                    "SELECT seq, reason FROM conflict WHERE activity = ?"
                    " AND transfer IS NOT NULL", activity)}
            self.changes = [(kind, detail) for kind, detail in db.execute(
                "SELECT kind, detail FROM activity_change WHERE activity = ?"
                " ORDER BY revision", activity)]
            db.close()
        except sqlite3.Error as e:
            raise BadInput(f"{path}: {e}") from e

    def details(self, kind):
        return [detail for k, detail in self.changes if k == kind]

    def has(self, kind):
        return any(k == kind for k, _ in self.changes)


def check_ledger_has_heard(show, ledger):
    """Of a ledger that is older than the activity nothing follows."""
    again = "try again later, with a newer ledger if this is a copy"
    if was_cancelled(show, ledger):
        return
    if not ledger.has("closed") or ledger.info["final_claims"] < 0:
        raise BadInput(f"the ledger has not heard of the close yet: {again}")
    if show["state"] == "SETTLED" and ledger.info["refund_ms"] == 0:
        raise BadInput(f"{show['id']} is SETTLED, and the ledger has not "
                       f"refunded what is left yet: {again}")


def was_cancelled(show, ledger):
    return show["state"] == "CANCELLED" or (
        show["state"] == "SETTLED" and ledger.has("cancelled"))


def plan_differences(ledger, plan):
    for name, column in (("total_cents", "total_amount"),
                         ("packets", "total_packet"), ("sponsor", "uid"),
                         ("currency", "currency")):
        found, planned = ledger.info[column], plan[name]
        if name in ("total_cents", "packets"):
            planned += sum(t[name] for t in plan["topups"])
        if found != planned:
            yield (f"the ledger's {column} is {found}, the plan's "
                   f"{name} {planned}")


def commitment_differences(show, ledger, seed, entropy, plan):
    commitment = commitment_of(seed, plan)
    for place, found in (("activity show", show["commitment"]),
                         ("the ledger", ledger.info["commitment"])):
        if found != commitment:
            yield (f"the commitment in {place} is {found}, of this seed and "
                   f"plan it is {commitment}")
    seeds = ",".join(s.hex() for s in
                     [seed] + [t["seed"] for t in plan["topups"]])
    for found in ledger.details("closed"):
        if found != seeds:
            yield f"the seed in the ledger is {found}, not {seeds}"
    # HEX by WHO.
    found = [detail.split(" ")[0] for detail in ledger.details("entropy")]
    if found != ([entropy.hex()] if entropy else []):
        yield (f"the entropy in the ledger is {', '.join(found) or 'none'}, "
               f"not {entropy.hex() or 'none'}")


def topup_differences(ledger, plan):
    found = ledger.details("topped_up")
    for i, t in enumerate(plan["topups"]):
        right = hashlib.sha256(t["seed"] + tranche_text(t)).hexdigest()
        name = f"the commitment of tranche {t['tranche']}"
        if t["commitment"] != right:
            yield (f"{name} in activity show is {t['commitment']}, of this "
                   f"seed and text it is {right}")
        if i < len(found) and found[i] != right:
            yield (f"{name} in the ledger is {found[i]}, of this seed and "
                   f"text it is {right}")
    if len(found) != len(plan["topups"]):
        yield (f"the ledger has {len(found)} tranches that were added, "
               f"activity show {len(plan['topups'])}")


def told(packet, cents):
    return f"packet {packet} of {amount_of(cents)}"


def twice_differences(ledger):
    """A seq and a user have one packet."""
    seqs, users = {}, {}
    for seq, packet, cents, user in ledger.credits:
        if seq in seqs:
            yield (f"seq {seq} was credited twice: {told(*seqs[seq])}, and "
                   f"{told(packet, cents)}")
        elif user in users:
            yield (f"user {user} was credited with two packets: seq "
                   f"{users[user]} and {seq}")
        seqs.setdefault(seq, (packet, cents))
        users.setdefault(user, seq)


def credit_differences(ledger, amounts, ids, claims):
    """Each credit is of a claim, and of the packet that it took."""
    for seq, packet, cents, _ in ledger.credits:
        found = told(packet, cents)
        if not 1 <= seq <= len(amounts):
            yield (f"seq {seq}: {found} was credited, but there are only "
                   f"{len(amounts)} packets")
        elif seq > claims:
            yield (f"seq {seq}: {found} was credited, but there were only "
                   f"{claims} claims")
        elif (packet, cents) != (str(ids[seq - 1]), amounts[seq - 1]):
            right = told(ids[seq - 1], amounts[seq - 1])
            yield f"seq {seq}: {found} was credited, it must be {right}"


def missing_differences(ledger, amounts, ids, missing):
    for seq in missing:
        right = told(ids[seq - 1], amounts[seq - 1])
        yield (f"seq {seq}: {right} was claimed and not credited" +
               (f", it is {ledger.waiting[seq]}" if seq in ledger.waiting
                else ""))


def leftover_differences(ledger, leftover):
    found = ledger.info["leftover_amount"]
    # -1 until it was counted.
    if found not in (-1, leftover):
        yield (f"the ledger's leftover is {amount_of(found)}, of the packets "
               f"that are left it is {amount_of(leftover)}")


def final_differences(show, ledger, plan, claims, left, leftover):
    """What activity show says of the end, against the claims of the ledger and
    the packets that these leave."""
    if was_cancelled(show, ledger):
        return
    never = sum(t["packets"] - t["loaded"] for t in plan["topups"])
    said_claims, said_left, said_leftover = plan["final"]
    if said_claims != claims:
        yield (f"activity show says it was closed with {said_claims} claims, "
               f"the ledger heard of {claims}")
    if said_left != left - never:
        yield (f"activity show says {said_left} packets were left, by the "
               f"plan and the ledger it is {left - never}")
    # Until it is counted.
    if said_leftover is None and show["state"] != "SETTLED":
        return
    if said_leftover != leftover:
        said = "none" if said_leftover is None else amount_of(said_leftover)
        yield (f"activity show says the leftover is {said}, of the packets "
               f"that are left it is {amount_of(leftover)}")


def all_packets(seed, entropy, plan):
    """(amounts, ids) of all tranches, one after the other; None if one of
    them has no split."""
    splits = [plan_split(seed, entropy, plan)]
    splits += [plan_split(t["seed"], b"", t) for t in plan["topups"]]
    if None in splits:
        return None, None
    bases = [plan["id_base"]] + [t["id_base"] for t in plan["topups"]]
    return (list(itertools.chain.from_iterable(splits)),
            [base + i for base, amounts in zip(bases, splits)
             for i in range(len(amounts))])


def claims_of(show, ledger, packets):
    """How many packets were taken."""
    claims = ledger.info["final_claims"]
    return 0 if was_cancelled(show, ledger) else min(claims, packets)


def missing_of(ledger, claims):
    """The claims that are not credited."""
    credited = {seq for seq, *_ in ledger.credits}
    return [seq for seq in range(1, claims + 1) if seq not in credited]


def differences_of(show, seed, entropy, plan, ledger):
    yield from commitment_differences(show, ledger, seed, entropy, plan)
    yield from topup_differences(ledger, plan)
    yield from plan_differences(ledger, plan)
    amounts, ids = all_packets(seed, entropy, plan)
    if amounts is None:
        yield "this plan has no split, so there were no packets"
        return
    if ledger.info["final_claims"] > len(amounts):
        yield (f"the ledger heard of {ledger.info['final_claims']} claims, "
               f"but there are only {len(amounts)} packets")
    claims = claims_of(show, ledger, len(amounts))
    yield from twice_differences(ledger)
    yield from credit_differences(ledger, amounts, ids, claims)
    # Until then they may be on their way.
    if show["state"] == "SETTLED":
        yield from missing_differences(ledger, amounts, ids,
                                       missing_of(ledger, claims))
    yield from leftover_differences(ledger, sum(amounts[claims:]))
    yield from final_differences(show, ledger, plan,
                                 ledger.info["final_claims"],
                                 len(amounts) - claims, sum(amounts[claims:]))


def verify_run(show_path, ledger_path):
    show, seed, entropy, plan = read_show(show_path)
    ledger = Ledger(ledger_path, plan["activity_id"])
    check_ledger_has_heard(show, ledger)
    differences = list(differences_of(show, seed, entropy, plan, ledger))
    for difference in differences:
        print(difference)
    wrong = len(differences)
    packets = plan["packets"] + sum(t["packets"] for t in plan["topups"])
    credited = len(ledger.credits)
    if wrong:
        print(f"{packets} packets recomputed, {wrong} "
              f"{'difference' if wrong == 1 else 'differences'}")
        return 1
    claims = claims_of(show, ledger, packets)
    missing = missing_of(ledger, claims)
    print(f"{packets} packets recomputed, {credited} credited as they must "
          "be, " + (f"{len(missing)} not credited yet, " if missing else "") +
          f"{packets - claims} left")
    return 0


def main(arguments):
    try:
        match arguments:
            case ["vectors", path]:
                return verify_vectors(path)
            case ["run", show, ledger]:
                return verify_run(show, ledger)
        print(__doc__, file=sys.stderr)
    except BadInput as e:
        print(e, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Recompute what a rain gave away, from docs/fairness.md alone: nothing here
is taken from the C code, so a fault in it cannot hide here too.

usage: verify.py vectors FILE              all vectors of FILE
       verify.py run SHOW.json LEDGER.db   a closed activity: what
                                           `rainctl --json activity show`
                                           says, and the SQLite ledger

exit 0: all as it must be, 1: differences, each in a line, 2: bad input
"""
import datetime
import hashlib
import itertools
import json
import pathlib
import re
import sqlite3
import struct
import sys

# A verifier leaves nothing behind in the tree that it is run from.
sys.dont_write_bytecode = True
from fairness import (BadInput, commitment_of, mixed, plan_split, plan_text,
                      split)

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

def read_text(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise BadInput(f"cannot read {path}: {e}") from e


def cents_of(text):
    """"12.34" in cents."""
    if not isinstance(text, str) or not re.fullmatch(r"\d+\.\d\d", text):
        raise ValueError(f"{text!r} is no amount like 12.34")
    return int(text.replace(".", ""))


def amount_of(cents):
    return f"{cents // 100}.{cents % 100:02}"


def ms_of(text):
    """A time like 2026-01-31T20:00:00.000Z in milliseconds, None is 0."""
    if text is None:
        return 0
    time = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    return (time - datetime.datetime(1970, 1, 1)) // datetime.timedelta(
        milliseconds=1)


def seed_of(show):
    seed = show["seed"]
    if not seed:
        raise ValueError(f"there is no seed yet: {show['id']} is "
                         f"{show['state']}, and the seed is published when "
                         "it is closed or cancelled")
    if len(bytes.fromhex(seed)) != 32:
        raise ValueError(f"the seed {seed!r} is not 32 bytes in hex")
    return bytes.fromhex(seed)


def entropy_of(show):
    """Most activities have none."""
    entropy = bytes.fromhex(show.get("entropy", ""))
    if entropy and not 16 <= len(entropy) <= 64:
        raise ValueError(f"entropy has 16 to 64 bytes, not {len(entropy)}")
    return entropy


def plan_of(show):
    return {
        "activity_id": show["id"], "title": show["title"],
        "sponsor": show["sponsor"], "currency": show["currency"],
        "total_cents": cents_of(show["total"]),
        "packets": int(show["packets"]), "algorithm": show["algorithm"],
        "min_cents": cents_of(show["min"]),
        "max_cents": cents_of(show["max"]),
        "start_ms": ms_of(show["start"]), "end_ms": ms_of(show["end"]),
        "ack": show["ack"], "keep_days": int(show["keep_days"]),
        "tiers": [(cents_of(t["amount"]), int(t["packets"]))
                  for t in show.get("tiers", [])],
        "release_ms": int(show.get("release_ms", 0))}


def read_show(path):
    """(show, seed, entropy, plan, id_base) of what activity show said."""
    try:
        show = json.loads(read_text(path))
        return (show, seed_of(show), entropy_of(show), plan_of(show),
                int(show["id_base"]))
    except KeyError as e:
        raise BadInput(f"{path} has no {e}: it must be what `rainctl --json "
                       "activity show` prints") from e
    except (ValueError, TypeError) as e:
        raise BadInput(f"{path}: {e}") from e


class Ledger:
    """What the ledger says of one activity."""

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
            # By seq: (packet id, cents).
            self.credited = {
                seq: (packet, cents) for seq, packet, cents in db.execute(
                    "SELECT seq, red_packet_id, amount FROM"
                    " red_packet_record WHERE activity = ? ORDER BY seq",
                    activity)}
            self.changes = [(kind, detail) for kind, detail in db.execute(
                "SELECT kind, detail FROM activity_change WHERE activity = ?"
                " ORDER BY revision", activity)]
            db.close()
        except sqlite3.Error as e:
            raise BadInput(f"{path}: {e}") from e

    def details(self, kind):
        return [detail for k, detail in self.changes if k == kind]


def plan_differences(ledger, plan):
    for name, column in (("total_cents", "total_amount"),
                         ("packets", "total_packet"), ("sponsor", "uid"),
                         ("currency", "currency")):
        found = ledger.info[column]
        if found != plan[name]:
            yield (f"the ledger's {column} is {found}, the plan's "
                   f"{name} {plan[name]}")


def commitment_differences(show, ledger, seed, entropy, plan):
    commitment = commitment_of(seed, plan)
    for place, found in (("activity show", show["commitment"]),
                         ("the ledger", ledger.info["commitment"])):
        if found != commitment:
            yield (f"the commitment in {place} is {found}, of this seed and "
                   f"plan it is {commitment}")
    for found in ledger.details("closed"):
        if found != seed.hex():
            yield f"the seed in the ledger is {found}, not {seed.hex()}"
    # HEX by WHO.
    found = [detail.split(" ")[0] for detail in ledger.details("entropy")]
    if found != ([entropy.hex()] if entropy else []):
        yield (f"the entropy in the ledger is {', '.join(found) or 'none'}, "
               f"not {entropy.hex() or 'none'}")


def packet_differences(ledger, amounts, id_base, claims):
    def told(packet, cents):
        return f"packet {packet} of {amount_of(cents)}"

    for seq in sorted(ledger.credited.keys() | set(range(1, claims + 1))):
        found = ledger.credited.get(seq)
        if seq > len(amounts):
            yield (f"seq {seq}: {told(*found)} was credited, but there are "
                   f"only {len(amounts)} packets")
            continue
        if seq > claims:
            yield (f"seq {seq}: {told(*found)} was credited, but the activity "
                   f"was closed after {claims} claims")
            continue
        right = (str(id_base + seq - 1), amounts[seq - 1])
        if found is None:
            yield f"seq {seq}: {told(*right)} was claimed and not credited"
        elif found != right:
            yield (f"seq {seq}: {told(*found)} was credited, it must be "
                   f"{told(*right)}")


def leftover_differences(ledger, leftover):
    found = ledger.info["leftover_amount"]
    # -1 until it was counted.
    if found not in (-1, leftover):
        yield (f"the ledger's leftover is {amount_of(found)}, of the packets "
               f"that are left it is {amount_of(leftover)}")


def differences_of(show, seed, entropy, plan, id_base, ledger):
    yield from commitment_differences(show, ledger, seed, entropy, plan)
    yield from plan_differences(ledger, plan)
    amounts = plan_split(seed, entropy, plan)
    if amounts is None:
        yield "this plan has no split, so there were no packets"
        return
    claims = ledger.info["final_claims"]
    if claims < 0:
        claims = max(ledger.credited, default=0)
    claims = min(claims, len(amounts))
    yield from packet_differences(ledger, amounts, id_base, claims)
    yield from leftover_differences(ledger, sum(amounts[claims:]))


def verify_run(show_path, ledger_path):
    show, seed, entropy, plan, id_base = read_show(show_path)
    ledger = Ledger(ledger_path, plan["activity_id"])
    differences = list(differences_of(show, seed, entropy, plan, id_base,
                                      ledger))
    for difference in differences:
        print(difference)
    wrong = len(differences)
    packets, credited = plan["packets"], len(ledger.credited)
    if wrong:
        print(f"{packets} packets recomputed, {wrong} "
              f"{'difference' if wrong == 1 else 'differences'}")
        return 1
    print(f"{packets} packets recomputed, {credited} credited as they must "
          f"be, {packets - credited} left")
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

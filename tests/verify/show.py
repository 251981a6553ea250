"""What `rainctl --json activity show` says, as verify.py needs it."""
import datetime
import json
import pathlib
import re

from fairness import BadInput


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
        "tiers": tiers_shown(show),
        "release_ms": int(show.get("release_ms", 0)),
        "mode": show.get("mode", "list")}


def tiers_shown(show):
    return [(cents_of(t["amount"]), int(t["packets"]))
            for t in show.get("tiers", [])]


def topups_of(show):
    """The tranches that were added."""
    return [{
        "activity_id": show["id"], "tranche": int(t["tranche"]),
        "total_cents": cents_of(t["total"]), "packets": int(t["packets"]),
        "algorithm": t["algorithm"], "min_cents": cents_of(t["min"]),
        "max_cents": cents_of(t["max"]), "tiers": tiers_shown(t),
        "seed": bytes.fromhex(t["seed"]), "id_base": int(t["id_base"]),
        "loaded": int(t["loaded"]),
        "commitment": t["commitment"]} for t in show.get("topups", [])]


def final_of(show):
    """(claims, packets left, leftover in cents) as it was closed, None for
    what is not told."""
    claims, left = show.get("final_claims"), show.get("final_left")
    leftover = show.get("leftover")
    return (None if claims is None else int(claims),
            None if left is None else int(left),
            None if leftover is None else cents_of(leftover))


def read_show(path):
    """(show, seed, entropy, plan) of what activity show said; the plan has
    also its id_base, the tranches that were added, and how it ended."""
    try:
        show = json.loads(read_text(path))
        seed, entropy = seed_of(show), entropy_of(show)
        plan = plan_of(show) | {"id_base": int(show["id_base"]),
                                "topups": topups_of(show),
                                "final": final_of(show)}
        if not isinstance(show["state"], str):
            raise ValueError(f"the state {show['state']!r} is no text")
        return show, seed, entropy, plan
    except KeyError as e:
        raise BadInput(f"{path} has no {e}: it must be what `rainctl --json "
                       "activity show` prints") from e
    except (ValueError, TypeError) as e:
        raise BadInput(f"{path}: {e}") from e

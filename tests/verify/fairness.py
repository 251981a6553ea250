"""docs/fairness.md as a program: the numbers of a seed, the six algorithms,
the plan's text and its commitment. Written from that page, not from the C
code, so that a fault of one cannot hide in the other."""
import hashlib
import itertools
import struct

PLAN_FIELDS = ("activity_id title sponsor currency total_cents packets "
               "algorithm min_cents max_cents start_ms end_ms ack "
               "keep_days").split()
TRANCHE_FIELDS = ("activity_id tranche total_cents packets algorithm "
                  "min_cents max_cents").split()
TOTAL_MAX = 2**53 - 1
PACKETS_MAX = 10_000_000
TIERS_MAX = 32
BLOCKS_AT_ONCE = 64


class BadInput(Exception):
    """Nothing can be said about this input; the text says why."""


# Numbers.

QUARTERS = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
            (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]


def chacha20(key, counter, nonce, blocks):
    """The 64-bit numbers of `blocks` blocks of the keystream, 8 per block.

    All blocks are computed at once: word i of them all is one large integer,
    in which each block has 64 bits, the upper 32 to catch what flows over."""
    ones = sum(1 << 64 * b for b in range(blocks))
    low = ones * 0xffffffff
    words = struct.unpack("<4I8I", b"expand 32-byte k" + key)
    start = [w * ones for w in words]
    start.append(sum((counter + b) % 2**32 << 64 * b for b in range(blocks)))
    start += [w * ones for w in struct.unpack("<3I", nonce)]

    def rotate(x, n):
        return (x << n | x >> 32 - n) & low

    x = start[:]
    for _ in range(10):
        for a, b, c, d in QUARTERS:
            x[a] = x[a] + x[b] & low
            x[d] = rotate(x[d] ^ x[a], 16)
            x[c] = x[c] + x[d] & low
            x[b] = rotate(x[b] ^ x[c], 12)
            x[a] = x[a] + x[b] & low
            x[d] = rotate(x[d] ^ x[a], 8)
            x[c] = x[c] + x[d] & low
            x[b] = rotate(x[b] ^ x[c], 7)
    x = [w + s & low for w, s in zip(x, start)]
    pairs = [x[i] | x[i + 1] << 32 for i in range(0, 16, 2)]
    columns = [struct.unpack(f"<{blocks}Q", p.to_bytes(8 * blocks, "little"))
               for p in pairs]
    return list(itertools.chain.from_iterable(zip(*columns)))


def numbers_of(seed):
    for counter in itertools.count(0, BLOCKS_AT_ONCE):
        yield from chacha20(seed, counter, bytes(12), BLOCKS_AT_ONCE)


def below_of(seed):
    """The function below(n) of the page."""
    numbers = numbers_of(seed)

    def below(n):
        if n == 1:
            return 0
        first = 2**64 % n
        while (number := next(numbers)) < first:
            pass
        return number % n
    return below


def draws_of(seed):
    """The draws of the places 1, 2, ... of mode live."""
    for counter in itertools.count(0, BLOCKS_AT_ONCE):
        numbers = chacha20(seed, counter, bytes(12), BLOCKS_AT_ONCE)
        for block in range(0, len(numbers), 8):
            yield int.from_bytes(
                struct.pack("<2Q", *numbers[block:block + 2])[:12], "big")


def scaled_of(seed):
    """A function that scales the draw of place 1 when it is called first,
    that of place 2 then, and so on."""
    draws = draws_of(seed)
    return lambda n: next(draws) * n // 2**96


# The split. tiers is a list of (cents, packets).

def double_mean(below, mean, lo, hi, least):
    h = max(lo, min(hi, 2 * mean - least))
    return lo + below(h - lo + 1)


def uniform(below, mean, lo, hi, least):
    return lo + below(hi - lo + 1)


def normal(below, mean, lo, hi, least):
    d = min(mean - lo, hi - mean)
    if d <= 0:
        return max(lo, mean)
    return mean - d + sum(below((2 * d + i) // 4 + 1) for i in range(4))


def live(scaled, mean, lo, hi, least):
    d = min(mean - lo, hi - mean)
    drawn = scaled(2 * max(d, 0) + 1)  # each place has a draw of its own
    return max(lo, mean) if d <= 0 else mean - d + drawn


ONE_BY_ONE = {"double_mean": double_mean, "uniform": uniform,
              "normal": normal}


def one_by_one(share_of, below, total, count, least, most):
    shares = []
    rest = total
    for left in range(count, 0, -1):
        lo = max(least, rest - (left - 1) * most)
        hi = min(most, rest - (left - 1) * least)
        share = share_of(below, rest // left, lo, hi, least)
        shares.append(share)
        rest -= share
    return shares


def line_cut(below, total, count, least, most):
    spare = total - count * least
    cuts = [0] + sorted(below(spare + 1) for _ in range(count - 1)) + [spare]
    shares = [least + b - a for a, b in zip(cuts, cuts[1:])]
    if max(shares) <= most:
        return shares
    excess = sum(s - most for s in shares if s > most)
    shares = [min(s, most) for s in shares]
    room = sum(most - s for s in shares)
    grown = [s + excess * (most - s) // room for s in shares]
    still = excess - (sum(grown) - sum(shares))
    for i, share in enumerate(grown):
        if still > 0 and share < most:
            grown[i] += 1
            still -= 1
    return grown


def tiers_possible(algorithm, total, count, least, most, tiers):
    if algorithm != "tiers":
        return not tiers
    return (1 <= len(tiers) <= TIERS_MAX and
            all(least <= cents <= most and n >= 1 for cents, n in tiers) and
            sum(n for _, n in tiers) == count and
            sum(cents * n for cents, n in tiers) == total)


def split(seed, algorithm, total, count, least, most, tiers):
    """The amounts of the packets 1, 2, ...; None if there is no split. The
    algorithm is a name; with ":live" behind it it is that of mode live."""
    algorithm, _, mode = algorithm.partition(":")
    if mode not in ("", "live"):
        raise BadInput(f"the mode {mode!r} is not on the page")
    most = most or total
    if not (1 <= total <= TOTAL_MAX and 1 <= count <= PACKETS_MAX and
            1 <= least <= most <= TOTAL_MAX and
            count * least <= total <= count * most):
        return None
    if not tiers_possible(algorithm, total, count, least, most, tiers):
        return None
    if mode == "live":
        return None if algorithm != "double_mean" else one_by_one(
            live, scaled_of(seed), total, count, least, most)
    below = below_of(seed)
    if algorithm in ONE_BY_ONE:
        shares = one_by_one(ONE_BY_ONE[algorithm], below, total, count, least,
                            most)
    elif algorithm == "line_cut":
        shares = line_cut(below, total, count, least, most)
    elif algorithm == "equal":
        more = total % count
        shares = ([total // count + 1] * more +
                  [total // count] * (count - more))
    elif algorithm == "tiers":
        shares = [cents for cents, n in tiers for _ in range(n)]
    else:
        raise BadInput(f"the algorithm {algorithm!r} is not on the page")
    for i in range(count - 1, 0, -1):
        j = below(i + 1)
        shares[i], shares[j] = shares[j], shares[i]
    return shares


def tiers_line(plan):
    if plan["algorithm"] != "tiers":
        return []
    return ["tiers=" + ",".join(f"{cents}x{n}" for cents, n
                                in plan["tiers"]) + "\n"]


def tranche_text(tranche):
    """Of a tranche that was added: TRANCHE_FIELDS and tiers."""
    lines = [f"{name}={tranche[name]}\n" for name in TRANCHE_FIELDS]
    return "".join(lines + tiers_line(tranche)).encode()


def mode_of(plan):
    """A tranche has none: it is a list."""
    return plan.get("mode", "list")


def plan_text(plan):
    """plan has PLAN_FIELDS, tiers and release_ms; mode, unless it is list."""
    lines = [f"{name}={plan[name]}\n" for name in PLAN_FIELDS]
    lines += tiers_line(plan)
    if int(plan["release_ms"]) != 0:
        lines.append(f"release_ms={plan['release_ms']}\n")
    if mode_of(plan) != "list":
        lines.append(f"mode={mode_of(plan)}\n")
    return "".join(lines).encode()


def commitment_of(seed, plan):
    return hashlib.sha256(seed + plan_text(plan)).hexdigest()


def mixed(seed, entropy):
    """The seed that the numbers come from."""
    return hashlib.sha256(seed + entropy).digest() if entropy else seed


def plan_split(seed, entropy, plan):
    mode = mode_of(plan)
    return split(mixed(seed, entropy),
                 plan["algorithm"] + ("" if mode == "list" else f":{mode}"),
                 plan["total_cents"], plan["packets"], plan["min_cents"],
                 plan["max_cents"], plan["tiers"])

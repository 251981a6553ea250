#!/usr/bin/env python3
"""Numbers and splits of fairness.py against those of others: RFC 8439, a plan
split by hand; and `verify.py vectors` names a wrong vector."""
import hashlib
import itertools
import pathlib
import struct
import tempfile
import unittest

import fairness
from verify_rig import run

VECTORS = pathlib.Path(__file__).parent.parent / "unit/allocate_vectors.txt"


def keystream(key, counter, nonce, blocks):
    numbers = fairness.chacha20(key, counter, nonce, blocks)
    return struct.pack(f"<{len(numbers)}Q", *numbers)


class Numbers(unittest.TestCase):
    def test_block_of_rfc_8439(self):
        """Section 2.3.2, then the first two of appendix A.1."""
        for key, counter, nonce, block in [
                (bytes(range(32)), 1, "000000090000004a00000000",
                 "10f1e7e4d13b5915500fdd1fa32071c4"
                 "c7d1f4c733c068030422aa9ac3d46c4e"
                 "d2826446079faa0914c2d705d98b02a2"
                 "b5129cd1de164eb9cbd083e8a2503c4e"),
                (bytes(32), 0, "00" * 12,
                 "76b8e0ada0f13d90405d6ae55386bd28"
                 "bdd219b8a08ded1aa836efcc8b770dc7"
                 "da41597c5157488d7724e03fb8d84a37"
                 "6a43b8f41518a11cc387b669b2ee6586"),
                (bytes(32), 1, "00" * 12,
                 "9f07e7be5551387a98ba977c732d080d"
                 "cb0f29a048e3656912c6533e32ee7aed"
                 "29b721769ce64e43d57133b074d839d5"
                 "31ed1f28510afb45ace10a1f4b794d6f")]:
            with self.subTest(block=block):
                found = keystream(key, counter, bytes.fromhex(nonce), 1)
                self.assertEqual(found.hex(), block)

    def test_many_blocks_are_the_single_ones(self):
        key, nonce = hashlib.sha256(b"key").digest(), b"\xff" * 12
        first = 2**32 - 3
        single = b"".join(
            keystream(key, (first + i) % 2**32, nonce, 1) for i in range(70))
        self.assertEqual(keystream(key, first, nonce, 70), single)

    def test_numbers_go_on_behind_the_blocks_at_once(self):
        key = bytes(range(32))
        n = 3 * 8 * fairness.BLOCKS_AT_ONCE
        numbers = fairness.numbers_of(key)
        self.assertEqual([next(numbers) for _ in range(n)],
                         fairness.chacha20(key, 0, bytes(12), n // 8))

    def test_below_takes_no_number_for_one_and_skips_the_low_ones(self):
        seed = bytes(range(32))
        numbers = fairness.chacha20(seed, 0, bytes(12), 64)
        below = fairness.below_of(seed)
        self.assertEqual([below(1) for _ in range(10)], [0] * 10)
        # Of this bound, nearly half of all numbers are too low.
        n = 2**63 + 2**62
        taken = [x % n for x in numbers if x >= 2**64 % n]
        self.assertTrue(0 < len(taken) < len(numbers))
        self.assertEqual([below(n) for _ in taken], taken)


    def test_a_draw_is_the_first_12_bytes_of_a_block(self):
        """Blocks 0 and 1 of the key 0, of RFC 8439, appendix A.1; one behind
        the blocks at once."""
        key, last = bytes(32), fairness.BLOCKS_AT_ONCE
        draws = list(itertools.islice(fairness.draws_of(key), last + 1))
        self.assertEqual(draws[0], 0x76b8e0ada0f13d90405d6ae5)
        self.assertEqual(draws[1], 0x9f07e7be5551387a98ba977c)
        self.assertEqual(draws[last].to_bytes(12, "big"),
                         keystream(key, last, bytes(12), 1)[:12])

    def test_a_draw_is_scaled(self):
        key = bytes(32)
        for n in 1, 2, 1999, 2**53 - 1, 2**53:
            scaled = fairness.scaled_of(key)
            self.assertEqual(
                [scaled(n), scaled(n)],
                [0x76b8e0ada0f13d90405d6ae5 * n >> 96,
                 0x9f07e7be5551387a98ba977c * n >> 96])


class Split(unittest.TestCase):
    def test_the_page_s_example(self):
        self.assertEqual(
            fairness.split(bytes(range(32)), "double_mean", 10000, 8, 1, 0,
                           []),
            [1570, 169, 854, 1942, 858, 1630, 1820, 1157])

    def test_the_page_s_example_of_mode_live(self):
        self.assertEqual(
            fairness.split(bytes(range(32)), "double_mean:live", 10000, 8, 1,
                           0, []),
            [567, 261, 799, 3029, 2670, 83, 2570, 21])

    def test_mode_live_of_a_plan(self):
        """In its text behind all others, and in its packets."""
        plan = dict.fromkeys(fairness.PLAN_FIELDS, "x") | {
            "algorithm": "double_mean", "total_cents": 10000, "packets": 8,
            "min_cents": 1, "max_cents": 0, "tiers": [], "release_ms": 5}
        texts, splits = zip(*[
            (fairness.plan_text(p), fairness.plan_split(bytes(32), b"", p))
            for p in (plan, plan | {"mode": "list"}, plan | {"mode": "live"})])
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(texts[2], texts[0] + b"mode=live\n")
        self.assertTrue(texts[0].endswith(b"\nrelease_ms=5\n"))
        self.assertEqual(splits[0], splits[1])
        self.assertEqual(splits[2], fairness.split(
            bytes(32), "double_mean:live", 10000, 8, 1, 0, []))
        self.assertNotEqual(splits[2], splits[0])
        with self.assertRaisesRegex(fairness.BadInput, "'fast' is not on"):
            fairness.plan_split(bytes(32), b"", plan | {"mode": "fast"})
        self.assertIsNone(fairness.plan_split(
            bytes(32), b"", plan | {"mode": "live", "algorithm": "equal"}))

    def test_vectors_file(self):
        code, out, err = run("vectors", VECTORS)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"\A(\d+) of \1 vectors agree\n\Z")

    def test_a_wrong_vector_is_named(self):
        lines = VECTORS.read_text(encoding="utf-8").split("\n")
        places = {}
        for i, line in enumerate(lines):
            places.setdefault(line.split(" ")[0], i)
        for kind, place in places.items():
            if kind not in ("split", "plan", "mix"):
                continue
            wrong = lines[:]
            last = wrong[place][-1]
            wrong[place] = wrong[place][:-1] + ("1" if last != "1" else "2")
            with self.subTest(kind=kind), tempfile.TemporaryDirectory() as d:
                path = pathlib.Path(d, "vectors")
                path.write_text("\n".join(wrong), encoding="utf-8")
                code, out, err = run("vectors", path)
                self.assertEqual((code, err), (1, ""))
                self.assertEqual(len(out.splitlines()), 2)
                self.assertIn(lines[place][:40], out)


if __name__ == "__main__":
    unittest.main()

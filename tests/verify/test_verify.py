#!/usr/bin/env python3
"""verify.py against numbers of others (RFC 8439, a plan split by hand), and
whatever is wrong in a ledger must be named."""
import contextlib
import hashlib
import io
import json
import os
import pathlib
import sqlite3
import struct
import tempfile
import unittest

import fairness
import verify

VECTORS = pathlib.Path(__file__).parent.parent / "unit/allocate_vectors.txt"


def keystream(key, counter, nonce, blocks):
    numbers = fairness.chacha20(key, counter, nonce, blocks)
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def run(*arguments):
    """(exit code, standard output, standard error) of verify.py."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = verify.main([str(a) for a in arguments])
    return code, out.getvalue(), err.getvalue()


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


class Split(unittest.TestCase):
    def test_the_page_s_example(self):
        self.assertEqual(
            fairness.split(bytes(range(32)), "double_mean", 10000, 8, 1, 0,
                           []),
            [1570, 169, 854, 1942, 858, 1630, 1820, 1157])

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


# The example of the page, and the ids and the plan around it.
AMOUNTS = [1570, 169, 854, 1942, 858, 1630, 1820, 1157]
ID_BASE = 700000
CLAIMS = 6
SHOW = {
    "id": "friday", "title": "Glück", "state": "CLOSED",
    "sponsor": "sponsor:demo", "currency": "CNY", "total": "100.00",
    "packets": 8, "algorithm": "double_mean", "min": "0.01", "max": "0.00",
    "start": None, "end": "2027-01-01T00:01:00.001Z", "ack": "redis",
    "keep_days": 7, "seed": bytes(range(32)).hex(), "id_base": str(ID_BASE),
}
TEXT = ("activity_id=friday\ntitle=Glück\nsponsor=sponsor:demo\n"
        "currency=CNY\ntotal_cents=10000\npackets=8\nalgorithm=double_mean\n"
        "min_cents=1\nmax_cents=0\nstart_ms=0\nend_ms=1798761660001\n"
        "ack=redis\nkeep_days=7\n")
SHOW["commitment"] = hashlib.sha256(
    bytes(range(32)) + TEXT.encode()).hexdigest()
TABLES = """
CREATE TABLE red_packet_info (activity INTEGER PRIMARY KEY, activity_id TEXT,
  uid TEXT, currency TEXT, commitment TEXT, total_amount INTEGER,
  total_packet INTEGER, final_claims INTEGER, leftover_amount INTEGER);
CREATE TABLE red_packet_record (record INTEGER PRIMARY KEY, activity INTEGER,
  red_packet_id TEXT, amount INTEGER, seq INTEGER);
CREATE TABLE activity_change (activity INTEGER, revision INTEGER, kind TEXT,
  detail TEXT);
"""


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.show = pathlib.Path(folder.name, "show.json")
        self.ledger = pathlib.Path(folder.name, "a ledger?.db")
        self.write_show({})
        db = sqlite3.connect(self.ledger)
        db.executescript(TABLES)
        db.execute("INSERT INTO red_packet_info VALUES (3, 'friday',"
                   " 'sponsor:demo', 'CNY', ?, 10000, 8, ?, ?)",
                   [SHOW["commitment"], CLAIMS, sum(AMOUNTS[CLAIMS:])])
        for k in range(1, CLAIMS + 1):
            self.credit(db, 3, ID_BASE + k - 1, AMOUNTS[k - 1], k)
        # Of another activity: not to be looked at.
        self.credit(db, 4, 1, 1, 1)
        db.execute("INSERT INTO activity_change VALUES (3, 9, 'closed', ?)",
                   [SHOW["seed"]])
        db.commit()
        db.close()

    @staticmethod
    def credit(db, activity, packet, cents, seq):
        db.execute("INSERT INTO red_packet_record (activity, red_packet_id,"
                   " amount, seq) VALUES (?, ?, ?, ?)",
                   [activity, str(packet), cents, seq])

    def write_show(self, changes):
        self.show.write_text(json.dumps(SHOW | changes), encoding="utf-8")

    def change(self, *statement):
        db = sqlite3.connect(self.ledger)
        db.execute(*statement)
        db.commit()
        db.close()

    def differences(self):
        """The lines before the last of a run that finds some."""
        code, out, err = run("run", self.show, self.ledger)
        self.assertEqual((code, err), (1, ""))
        lines = out.splitlines()
        self.assertIn(f", {len(lines) - 1} difference", lines[-1])
        return lines[:-1]

    def bad(self, sentence, *paths):
        paths = paths or (self.show, self.ledger)
        code, out, err = run("run", *paths)
        self.assertEqual((code, out), (2, ""))
        self.assertIn(sentence, err)

    def test_sound(self):
        self.assertEqual(
            run("run", self.show, self.ledger),
            (0, "8 packets recomputed, 6 credited as they must be, 2 left\n",
             ""))

    def test_nobody_came(self):
        self.change("DELETE FROM red_packet_record WHERE activity = 3")
        self.change("UPDATE red_packet_info SET final_claims = 0,"
                    " leftover_amount = 10000")
        code, out, _ = run("run", self.show, self.ledger)
        self.assertEqual(code, 0)
        self.assertIn("0 credited as they must be, 8 left", out)

    def test_an_amount(self):
        self.change("UPDATE red_packet_record SET amount = 170 WHERE seq = 2")
        self.assertEqual(self.differences(), [
            "seq 2: packet 700001 of 1.70 was credited, it must be packet "
            "700001 of 1.69"])

    def test_an_id(self):
        self.change("UPDATE red_packet_record SET red_packet_id = '700007'"
                    " WHERE seq = 3")
        self.assertEqual(self.differences(), [
            "seq 3: packet 700007 of 8.54 was credited, it must be packet "
            "700002 of 8.54"])

    def test_an_id_with_a_zero_in_front(self):
        self.change("UPDATE red_packet_record SET red_packet_id = '0700002'"
                    " WHERE seq = 3")
        self.assertEqual(len(self.differences()), 1)

    def test_a_seq(self):
        self.change("UPDATE red_packet_record SET seq = 8 WHERE seq = 4")
        self.assertEqual(self.differences(), [
            "seq 4: packet 700003 of 19.42 was claimed and not credited",
            "seq 8: packet 700003 of 19.42 was credited, but the activity was "
            "closed after 6 claims"])

    def test_a_seq_that_no_packet_has(self):
        self.change("UPDATE red_packet_record SET seq = 9 WHERE seq = 6")
        self.assertIn("seq 9: packet 700005 of 16.30 was credited, but there "
                      "are only 8 packets", self.differences())

    def test_two_seqs_swapped(self):
        for a, b in ((1, 99), (2, 1), (99, 2)):
            self.change("UPDATE red_packet_record SET seq = ?"
                        " WHERE seq = ? AND activity = 3", [b, a])
        self.assertEqual([line.split(":")[0] for line in self.differences()],
                         ["seq 1", "seq 2"])

    def test_a_missing_row(self):
        for seq, packet in ((5, "packet 700004 of 8.58"),
                            (6, "packet 700005 of 16.30")):
            self.change("DELETE FROM red_packet_record WHERE seq = ?", [seq])
            self.assertIn(f"seq {seq}: {packet} was claimed and not credited",
                          self.differences())

    def test_a_row_more(self):
        db = sqlite3.connect(self.ledger)
        self.credit(db, 3, ID_BASE + 6, AMOUNTS[6], 7)
        db.commit()
        db.close()
        self.assertEqual(self.differences(), [
            "seq 7: packet 700006 of 18.20 was credited, but the activity was "
            "closed after 6 claims"])

    def test_a_leftover(self):
        self.change("UPDATE red_packet_info SET leftover_amount = 2976")
        self.assertEqual(self.differences(), [
            "the ledger's leftover is 29.76, of the packets that are left it "
            "is 29.77"])

    def test_not_counted_yet(self):
        self.change("UPDATE red_packet_info SET final_claims = -1,"
                    " leftover_amount = -1")
        self.assertEqual(run("run", self.show, self.ledger)[0], 0)

    def test_a_seed(self):
        self.write_show({"seed": "ff" + SHOW["seed"][2:]})
        lines = self.differences()
        for start in ("the commitment in activity show is ",
                      "the commitment in the ledger is ",
                      "the seed in the ledger is "):
            self.assertTrue(any(x.startswith(start) for x in lines), start)

    def test_entropy(self):
        """It changes the packets, and nobody can hide it."""
        entropy = "00112233445566778899aabbccddeeff"
        self.write_show({"entropy": entropy})
        lines = self.differences()
        self.assertIn(f"the entropy in the ledger is none, not {entropy}",
                      lines)
        self.assertTrue(any(x.startswith("seq 1: packet 700000 of 15.70 was "
                                         "credited, it must be") for x
                            in lines))
        self.change("INSERT INTO activity_change VALUES (3, 2, 'entropy', ?)",
                    [entropy + " by lottery"])
        self.assertNotIn("the entropy", "\n".join(self.differences()))
        amounts = fairness.split(
            hashlib.sha256(bytes(range(32)) + bytes.fromhex(entropy)).digest(),
            "double_mean", 10000, 8, 1, 0, [])
        for seq in range(1, CLAIMS + 1):
            self.change("UPDATE red_packet_record SET amount = ? WHERE"
                        " seq = ? AND activity = 3", [amounts[seq - 1], seq])
        self.change("UPDATE red_packet_info SET leftover_amount = ?",
                    [sum(amounts[CLAIMS:])])
        self.assertEqual(run("run", self.show, self.ledger)[0], 0)
        self.write_show({})
        self.assertIn(f"the entropy in the ledger is {entropy}, not none",
                      self.differences())

    def test_a_commitment_in_one_place_only(self):
        self.write_show({"commitment": "00" * 32})
        self.assertEqual([x[:35] for x in self.differences()],
                         ["the commitment in activity show is "])
        self.write_show({})
        self.change("UPDATE red_packet_info SET commitment = ''")
        self.assertEqual([x[:33] for x in self.differences()],
                         ["the commitment in the ledger is ,"])

    def test_each_field_of_the_plan_is_committed_to(self):
        for name, value in {
                "title": "Gluck", "sponsor": "sponsor:dem", "currency": "EUR",
                "min": "0.02", "max": "100.00", "ack": "kafka",
                "algorithm": "uniform", "keep_days": 8,
                "start": "1970-01-01T00:00:00.001Z",
                "end": "2027-01-01T00:01:00.002Z",
                "release_ms": 1}.items():
            with self.subTest(name):
                self.write_show({name: value})
                self.assertIn("the commitment in activity show",
                              "\n".join(self.differences()))

    def test_a_plan_without_a_split(self):
        self.write_show({"min": "20.00"})
        lines = self.differences()
        self.assertTrue(lines[0].startswith("the commitment in activity"))
        self.assertEqual(lines[-1],
                         "this plan has no split, so there were no packets")

    def test_what_the_ledger_says_of_the_plan(self):
        for column, value in (("uid", "x"), ("currency", "EUR"),
                              ("total_amount", 9999), ("total_packet", 9)):
            with self.subTest(column):
                self.change(f"UPDATE red_packet_info SET {column} = ?",
                            [value])
                self.assertIn(f"the ledger's {column} is {value}",
                              "\n".join(self.differences()))

    def test_bad_input(self):
        self.bad("cannot read", "/nowhere/show.json", self.ledger)
        self.bad("there is no file", self.show, "/nowhere/ledger.db")
        self.bad("not a database", self.show, self.show)
        self.write_show({"seed": "", "state": "OPEN"})
        self.bad("there is no seed yet: friday is OPEN")
        self.write_show({"seed": "00"})
        self.bad("is not 32 bytes in hex")
        self.write_show({"entropy": "0011"})
        self.bad("entropy has 16 to 64 bytes, not 2")
        self.write_show({"id": "monday"})
        self.bad("does not know monday")
        self.write_show({"total": "100"})
        self.bad("no amount like 12.34")
        self.write_show({"algorithm": "quantum"})
        self.bad("'quantum' is not on the page")
        self.show.write_text('{"error":"no such activity"}', encoding="utf-8")
        self.bad("has no 'seed'")
        self.show.write_text("hello", encoding="utf-8")
        self.bad(os.fspath(self.show))

    def test_an_empty_ledger_is_not_made(self):
        self.ledger.unlink()
        self.bad("there is no file")
        self.assertFalse(self.ledger.exists())


if __name__ == "__main__":
    unittest.main()

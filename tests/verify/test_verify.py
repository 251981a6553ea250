#!/usr/bin/env python3
"""`verify.py run`: whatever is wrong in a ledger must be named, and of one that
lags nothing is proven."""
import hashlib
import json
import os
import pathlib
import sqlite3
import tempfile
import unittest

import fairness
from verify_rig import run

# The example of the page, and the ids and the plan around it.
AMOUNTS = [1570, 169, 854, 1942, 858, 1630, 1820, 1157]
ID_BASE = 700000
CLAIMS = 6
SHOW = {
    "id": "friday", "title": "Glück", "state": "SETTLED",
    "sponsor": "sponsor:demo", "currency": "CNY", "total": "100.00",
    "packets": 8, "algorithm": "double_mean", "min": "0.01", "max": "0.00",
    "start": None, "end": "2027-01-01T00:01:00.001Z", "ack": "redis",
    "keep_days": 7, "seed": bytes(range(32)).hex(), "id_base": str(ID_BASE),
}
TEXT = ("activity_id=friday\ntitle=Glück\nsponsor=sponsor:demo\n"
        "currency=CNY\ntotal_cents=10000\npackets=8\nalgorithm=double_mean\n"
        "min_cents=1\nmax_cents=0\nstart_ms=0\nend_ms=1798761660001\n"
        "ack=redis\nkeep_days=7\n")
SHOW |= {"final_claims": CLAIMS, "final_left": 2, "leftover": "29.77"}
SHOW["commitment"] = hashlib.sha256(
    bytes(range(32)) + TEXT.encode()).hexdigest()
TABLES = """
CREATE TABLE red_packet_info (activity INTEGER PRIMARY KEY, activity_id TEXT,
  uid TEXT, currency TEXT, commitment TEXT, total_amount INTEGER,
  total_packet INTEGER, final_claims INTEGER, leftover_amount INTEGER,
  refund_ms INTEGER);
CREATE TABLE account (account INTEGER PRIMARY KEY, kind TEXT, owner TEXT);
CREATE TABLE red_packet_record (record INTEGER PRIMARY KEY, activity INTEGER,
  account INTEGER, red_packet_id TEXT, amount INTEGER, seq INTEGER);
CREATE TABLE parked_claim (activity INTEGER, seq INTEGER, reason TEXT);
CREATE TABLE conflict (activity INTEGER, seq INTEGER, reason TEXT,
  transfer INTEGER);
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
                   " 'sponsor:demo', 'CNY', ?, 10000, 8, ?, ?, 1700000000000)",
                   [SHOW["commitment"], CLAIMS, sum(AMOUNTS[CLAIMS:])])
        for k in range(1, 10):
            db.execute("INSERT INTO account VALUES (?, 'user', ?)",
                       [100 + k, f"u{k}"])
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
        db.execute("INSERT INTO red_packet_record (activity, account,"
                   " red_packet_id, amount, seq) VALUES (?, ?, ?, ?, ?)",
                   [activity, 100 + seq, str(packet), cents, seq])

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
        self.write_show({"final_claims": 0, "final_left": 8,
                         "leftover": "100.00"})
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
        self.assertCountEqual(self.differences(), [
            "seq 4: packet 700003 of 19.42 was claimed and not credited",
            "seq 8: packet 700003 of 19.42 was credited, but there were only 6 "
            "claims"])

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
            "seq 7: packet 700006 of 18.20 was credited, but there were only 6 "
            "claims"])

    def test_a_leftover(self):
        self.change("UPDATE red_packet_info SET leftover_amount = 2976")
        self.assertEqual(self.differences(), [
            "the ledger's leftover is 29.76, of the packets that are left it "
            "is 29.77"])

    def test_what_activity_show_says_of_the_end(self):
        self.write_show({"final_claims": 5})
        self.assertEqual(self.differences(), [
            "activity show says it was closed with 5 claims, the ledger heard "
            "of 6"])
        self.write_show({"final_left": 3})
        self.assertEqual(self.differences(), [
            "activity show says 3 packets were left, by the plan and the "
            "ledger it is 2"])
        self.write_show({"leftover": "29.76"})
        self.assertEqual(self.differences(), [
            "activity show says the leftover is 29.76, of the packets that are "
            "left it is 29.77"])
        self.write_show({"leftover": None})
        self.assertEqual(self.differences(), [
            "activity show says the leftover is none, of the packets that are "
            "left it is 29.77"])
        # Neither may be left out.
        self.write_show({"final_claims": None, "final_left": None})
        self.assertEqual(len(self.differences()), 2)

    def test_credits_that_are_still_coming(self):
        """Closed, but not settled: they are counted, and no difference."""
        self.write_show({"state": "CLOSED", "leftover": None})
        self.change("UPDATE red_packet_info SET leftover_amount = -1,"
                    " refund_ms = 0")
        self.change("DELETE FROM red_packet_record WHERE seq IN (2, 5, 6)"
                    " AND activity = 3")
        self.assertEqual(
            run("run", self.show, self.ledger),
            (0, "8 packets recomputed, 3 credited as they must be, 3 not "
             "credited yet, 2 left\n", ""))
        # What has come is judged.
        self.change("UPDATE red_packet_record SET amount = 1 WHERE seq = 3")
        self.assertEqual(self.differences(), [
            "seq 3: packet 700002 of 0.01 was credited, it must be packet "
            "700002 of 8.54"])

    def test_the_ledger_has_not_heard_of_the_close(self):
        """With credits of the first four it would prove a smaller run."""
        self.change("UPDATE red_packet_info SET final_claims = -1,"
                    " leftover_amount = -1, refund_ms = 0")
        self.change("DELETE FROM activity_change WHERE kind = 'closed'")
        self.change("DELETE FROM red_packet_record WHERE seq > 4")
        for state in ("CLOSED", "SETTLED"):
            self.write_show({"state": state})
            self.bad("the ledger has not heard of the close yet: try again "
                     "later")

    def test_a_ledger_from_before_the_refund(self):
        self.change("UPDATE red_packet_info SET refund_ms = 0")
        self.bad("friday is SETTLED, and the ledger has not refunded what is "
                 "left yet: try again later")

    def test_cancelled(self):
        """It is never closed, and nobody has a packet of it."""
        self.change("UPDATE red_packet_info SET final_claims = -1,"
                    " leftover_amount = -1")
        self.change("UPDATE activity_change SET kind = 'cancelled',"
                    " detail = ''")
        for state in ("CANCELLED", "SETTLED"):
            self.write_show({"state": state, "final_claims": None,
                             "final_left": None, "leftover": None})
            lines = self.differences()
            self.assertEqual(len(lines), CLAIMS)
            self.assertEqual(lines[0], "seq 1: packet 700000 of 15.70 was "
                             "credited, but there were only 0 claims")
        self.change("DELETE FROM red_packet_record WHERE activity = 3")
        self.assertEqual(
            run("run", self.show, self.ledger),
            (0, "8 packets recomputed, 0 credited as they must be, 8 left\n",
             ""))

    def test_why_one_is_not_credited(self):
        self.change("DELETE FROM red_packet_record WHERE seq IN (2, 3, 5)"
                    " AND activity = 3")
        self.change("INSERT INTO conflict VALUES (3, 2, 'user', 77),"
                    " (3, 5, 'void', NULL), (4, 5, 'user', 78)")
        self.change("INSERT INTO parked_claim VALUES (3, 3, 'short')")
        self.assertEqual(self.differences(), [
            "seq 2: packet 700001 of 1.69 was claimed and not credited, it is "
            "held (user)",
            "seq 3: packet 700002 of 8.54 was claimed and not credited, it is "
            "parked (short)",
            "seq 5: packet 700004 of 8.58 was claimed and not credited"])

    def test_two_packets_of_a_user(self):
        self.change("UPDATE red_packet_record SET account = 102"
                    " WHERE seq = 5 AND activity = 3")
        self.assertEqual(self.differences(), [
            "user u2 was credited with two packets: seq 2 and 5"])
        # The same one under another number.
        self.change("UPDATE red_packet_record SET account = 105"
                    " WHERE seq = 5 AND activity = 3")
        self.change("UPDATE account SET owner = 'u4' WHERE account = 105")
        self.assertEqual(self.differences(), [
            "user u4 was credited with two packets: seq 4 and 5"])

    def test_two_rows_of_a_seq(self):
        """The last one is as it must be."""
        self.change("UPDATE red_packet_record SET seq = 6, amount = 1"
                    " WHERE seq = 1 AND activity = 3")
        self.assertCountEqual(self.differences(), [
            "seq 6 was credited twice: packet 700000 of 0.01, and packet "
            "700005 of 16.30",
            "seq 6: packet 700000 of 0.01 was credited, it must be packet "
            "700005 of 16.30",
            "seq 1: packet 700000 of 15.70 was claimed and not credited"])

    def test_more_claims_than_packets(self):
        self.change("UPDATE red_packet_info SET final_claims = 9")
        self.assertIn("the ledger heard of 9 claims, but there are only 8 "
                      "packets", self.differences())

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
        self.write_show({"entropy": entropy, "leftover":
                         f"{sum(amounts[CLAIMS:]) / 100:.2f}"})
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
                "release_ms": 1, "mode": "live"}.items():
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

#!/usr/bin/env python3
"""verify.py on an activity to which a tranche was added."""
import hashlib
import sqlite3
import unittest

import test_verify as case


class Topup(unittest.TestCase):
    setUp = case.Run.setUp
    credit = staticmethod(case.Run.credit)
    write_show = case.Run.write_show
    change = case.Run.change
    differences = case.Run.differences

    def topped_up(self):
        """3 packets of 1.00 are added, two of all 11 are left."""
        text = ("activity_id=friday\ntranche=2\ntotal_cents=300\npackets=3\n"
                "algorithm=equal\nmin_cents=1\nmax_cents=0\n")
        seed = bytes(31) + b"\1"
        topup = {"tranche": 2, "total": "3.00", "packets": 3,
                 "algorithm": "equal", "min": "0.01", "max": "0.00",
                 "id_base": "900000", "loaded": 3, "seed": seed.hex(),
                 "commitment": hashlib.sha256(
                     seed + text.encode()).hexdigest()}
        self.final = {"final_claims": 9, "leftover": "2.00"}
        self.write_show(self.final | {"topups": [topup]})
        self.change("INSERT INTO activity_change VALUES (3, 5, 'topped_up', ?)",
                    [topup["commitment"]])
        self.change("UPDATE activity_change SET detail = detail || ? WHERE"
                    " kind = 'closed'", ["," + seed.hex()])
        self.change("UPDATE red_packet_info SET total_amount = 10300,"
                    " total_packet = 11, final_claims = 9,"
                    " leftover_amount = 200")
        db = sqlite3.connect(self.ledger)
        self.credit(db, 3, case.ID_BASE + 6, case.AMOUNTS[6], 7)
        self.credit(db, 3, case.ID_BASE + 7, case.AMOUNTS[7], 8)
        self.credit(db, 3, 900000, 100, 9)
        db.commit()
        db.close()
        return topup

    def test_a_tranche_that_was_added(self):
        topup = self.topped_up()
        self.assertEqual(
            case.run("run", self.show, self.ledger),
            (0, "11 packets recomputed, 9 credited as they must be, 2 left\n",
             ""))
        self.change("UPDATE red_packet_record SET amount = 101 WHERE seq = 9")
        self.assertEqual(self.differences(), [
            "seq 9: packet 900000 of 1.01 was credited, it must be packet "
            "900000 of 1.00"])
        self.change("UPDATE red_packet_record SET amount = 100,"
                    " red_packet_id = '700008' WHERE seq = 9")
        self.assertEqual(len(self.differences()), 1)
        self.change("UPDATE red_packet_record SET red_packet_id = '900000'"
                    " WHERE seq = 9")
        self.write_show(self.final | {
            "topups": [topup | {"seed": "ff" + topup["seed"][2:]}]})
        self.assertEqual(
            [x[:40] for x in self.differences()],
            ["the seed in the ledger is " + case.SHOW["seed"][:14],
             "the commitment of tranche 2 in activity ",
             "the commitment of tranche 2 in the ledge"])
        self.write_show({})
        self.assertIn("the ledger has 1 tranches that were added, activity "
                      "show 0", self.differences())

    def test_a_tranche_that_was_never_whole(self):
        """Its money is part of the leftover, and nobody could have it."""
        topup = self.topped_up() | {"loaded": 2}
        self.write_show(self.final | {"topups": [topup], "final_left": 1})
        self.assertEqual(case.run("run", self.show, self.ledger)[0], 0)
        self.write_show(self.final | {"topups": [topup]})
        self.assertEqual(self.differences(), [
            "activity show says 2 packets were left, by the plan and the "
            "ledger it is 1"])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""verify.py on an activity of mode live."""
import hashlib
import unittest

import test_verify as case

# The example of the page.
AMOUNTS = [567, 261, 799, 3029, 2670, 83, 2570, 21]


class Live(unittest.TestCase):
    setUp = case.Run.setUp
    credit = staticmethod(case.Run.credit)
    write_show = case.Run.write_show
    change = case.Run.change
    differences = case.Run.differences

    def drawn(self):
        """What is left is a sum: the places that nobody took."""
        commitment = hashlib.sha256(
            bytes(range(32)) + case.TEXT.encode() + b"mode=live\n").hexdigest()
        for seq, cents in enumerate(AMOUNTS[:case.CLAIMS], 1):
            self.change("UPDATE red_packet_record SET amount = ? WHERE"
                        " seq = ? AND activity = 3", [cents, seq])
        self.change("UPDATE red_packet_info SET leftover_amount = 2591,"
                    " commitment = ?", [commitment])
        return {"mode": "live", "commitment": commitment, "leftover": "25.91"}

    def test_what_was_drawn(self):
        show = self.drawn()
        self.write_show(show)
        self.assertEqual(
            case.run("run", self.show, self.ledger),
            (0, "8 packets recomputed, 6 credited as they must be, 2 left\n",
             ""))
        self.change("UPDATE red_packet_record SET amount = 800 WHERE seq = 3")
        self.assertEqual(self.differences(), [
            "seq 3: packet 700002 of 8.00 was credited, it must be packet "
            "700002 of 7.99"])
        self.change("UPDATE red_packet_record SET amount = 799 WHERE seq = 3")
        self.write_show(show | {"leftover": "25.90"})
        self.assertEqual(self.differences(), [
            "activity show says the leftover is 25.90, of the packets that are "
            "left it is 25.91"])

    def test_a_mode_that_is_not_the_plan_s(self):
        """Either way all packets are others, and so is the commitment."""
        self.write_show(self.drawn() | {"mode": "list"})
        lines = self.differences()
        self.assertTrue(lines[0].startswith("the commitment in activity show"))
        self.assertIn("seq 1: packet 700000 of 5.67 was credited, it must be "
                      "packet 700000 of 15.70", lines)

    def test_an_algorithm_that_cannot_be_drawn(self):
        self.write_show(self.drawn() | {"algorithm": "normal"})
        self.assertEqual(self.differences()[-1],
                         "this plan has no split, so there were no packets")

    def test_a_mode_that_is_none(self):
        self.write_show(self.drawn() | {"mode": "fast"})
        code, out, err = case.run("run", self.show, self.ledger)
        self.assertEqual((code, out), (2, ""))
        self.assertIn("the mode 'fast' is not on the page", err)


if __name__ == "__main__":
    unittest.main()

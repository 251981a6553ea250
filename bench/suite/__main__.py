"""The benchmark suite: redrain and others side by side, row by row.

It measures a stack that runs (./rain bench starts one) and leaves the results
in a directory: latest.json, latest.svg, and the table on standard output.
"""
import argparse
import pathlib
import sys
import time

from grabs import Grabs
from machine import description
from peers import Peers, Skipped
from report import Line, as_json, as_svg, print_table
from rounds import Rounds
from rows import rows
from stack import Failed, Stack

OTHERS_MAX = 0.2  # cores that other processes may use in a round

FULL = {"backlog": 1000000, "singles": 10000, "preload": 1000000,
        "large": 10000000, "small": 10000, "idle": (5000, 10000, 18000)}
QUICK = {"backlog": 5000, "singles": 500, "preload": 20000, "large": 20000,
         "small": 2000, "idle": (200, 400)}


def say(text):
    print(text, file=sys.stderr, flush=True)


def options():
    parser = argparse.ArgumentParser(prog="./rain bench", description=(
        "redrain and others side by side, row by row"))
    parser.add_argument("--stack", help=argparse.SUPPRESS)
    parser.add_argument("--results", help=argparse.SUPPRESS)
    parser.add_argument("--check", action="store_true",
                        help=argparse.SUPPRESS)  # the options, and no more
    parser.add_argument("--rounds", type=int, default=5,
                        help="of each row; the median counts [5]")
    parser.add_argument("--seconds", type=float, default=4,
                        help="of each measurement [4]")
    parser.add_argument("--only", default="",
                        help="rows whose name has this")
    parser.add_argument("--quick", action="store_true",
                        help="one round of a second, smaller numbers: to see "
                        "that it runs, not how fast")
    chosen = parser.parse_args()
    if chosen.rounds < 1 or not 0.1 <= chosen.seconds <= 600:
        parser.error("--rounds is 1 or more, --seconds 0.1 to 600")
    if chosen.quick:
        chosen.rounds, chosen.seconds = 1, 1
    return chosen


def measured(row, stack, chosen):
    """The Line of a row."""
    line = Line(row)
    rounds = Rounds(lambda: stack.processes().values(), 99 if chosen.quick else OTHERS_MAX, say)
    say(f"{row.name}")
    try:
        if row.theirs:
            rounds.run(chosen.rounds, row.ours, row.theirs)
        else:
            rounds.run_alone(chosen.rounds, row.ours)
        line.take(rounds)
    except Skipped as why:
        line.why = f"skipped: {why}"
    except Failed as why:
        line.why = f"no result: {why}"
    if line.why:
        say(f"  {line.why}")
    return line


def main():
    chosen = options()
    if chosen.check:
        return 0
    sizes = QUICK if chosen.quick else FULL
    stack = Stack(chosen.stack)
    grabs = Grabs(stack, chosen.seconds, not chosen.quick)
    wanted = [row for row in rows(grabs, Peers(stack, chosen.seconds), sizes)
              if chosen.only.lower() in row.name.lower()]
    if not wanted:
        say(f"no row has {chosen.only!r} in its name")
        return 2
    machine = description() | {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ",
                                                   time.gmtime())}
    results = pathlib.Path(chosen.results)
    results.mkdir(parents=True, exist_ok=True)
    if not chosen.quick:
        say("warming up, not measured")
        grabs.warm_up()
    lines = []
    for row in wanted:
        lines.append(measured(row, stack, chosen))
        # Who stops it keeps what there is.
        (results / "latest.json").write_text(as_json(machine, lines))
        (results / "latest.svg").write_text(as_svg(machine, lines))
    print_table(lines)
    print(f"\n{machine['processor']}, {machine['cores']} cores, "
          f"{machine['memory_gib']} GiB, {machine['system']}, Linux "
          f"{machine['kernel']}")
    violations = stack.metric("ledger", "rain_ledger_invariant_violations")
    if violations:
        say(f"the ledger's audit found {violations:.0f} violations")
        return 1
    return 1 if any((line.why or "").startswith("no result")
                    for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())

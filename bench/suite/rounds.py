"""Two things side by side, again and again, and the ratio of the two."""
import statistics
import time

from machine import Watch, cpu_of
from stack import Failed

TRIES = 4         # of a round that others disturbed


class Side:
    """One measurement of one side: a value, and what it took."""

    def __init__(self, value, taps=0, cpu=None, notes=None):
        self.value = value
        self.taps = taps          # grabs, messages or whatever was counted
        self.cpu = cpu or {}      # seconds of each process
        self.notes = notes or {}  # whatever else is worth a word


class Meter:
    """CPU seconds of some processes, from when it was made."""

    def __init__(self, pids):
        self.pids = pids
        self.before = {name: cpu_of(pid) for name, pid in pids.items()}

    def used(self):
        return {name: cpu_of(pid) - self.before[name]
                for name, pid in self.pids.items()}


class Rounds:
    """The rounds of one row: ours against theirs, by turns the first."""

    def __init__(self, roots, others_max, say):
        self.roots = roots  # a function: the processes that are ours
        self.others_max = others_max  # cores that other processes may use
        self.say = say
        self.ratios = []
        self.ours = []
        self.theirs = []
        self.disturbed = []

    def measure(self, side):
        """side(), and who else was busy meanwhile, in cores."""
        watch = Watch(self.roots())
        began = time.monotonic()
        found = side()
        others, (busy, name) = watch.others()
        seconds = max(time.monotonic() - began, 1e-9)
        return found, others / seconds, f"{name} {busy / seconds:.2f}"

    def round(self, ours, theirs, ours_first):
        """A pair that nobody disturbed, or None."""
        for _ in range(TRIES):
            sides = {}
            worst = (0, "")
            for key in ("ours", "theirs") if ours_first else ("theirs", "ours"):
                side = ours if key == "ours" else theirs
                sides[key], others, who = self.measure(side)
                worst = max(worst, (others, who))
                if worst[0] > self.others_max:
                    break  # without the other side
            else:
                return sides["ours"], sides["theirs"]
            self.disturbed.append(worst)
            self.say(f"  not counted: others used {worst[0]:.2f} cores, "
                     f"most of all {worst[1]}")
        return None

    def run(self, count, ours, theirs):
        for number in range(count):
            pair = self.round(ours, theirs, number % 2 == 0)
            if pair is None:
                continue
            if pair[1].value <= 0:
                raise Failed("nothing was measured of the other side")
            self.ours.append(pair[0])
            self.theirs.append(pair[1])
            self.ratios.append(pair[0].value / pair[1].value)
            self.say(f"  {pair[0].value:,.4g} to {pair[1].value:,.4g}: "
                     f"{self.ratios[-1]:.3f}")

    def run_alone(self, count, ours):
        """The same without anybody to compare with."""
        for _ in range(count):
            for _ in range(TRIES):
                side, others, who = self.measure(ours)
                if others <= self.others_max:
                    self.ours.append(side)
                    self.say(f"  {side.value:,.4g}")
                    break
                self.disturbed.append((others, who))
                self.say(f"  not counted: others used {others:.2f} cores, "
                         f"most of all {who}")

    def ratio(self):
        return statistics.median(self.ratios) if self.ratios else None


def median_of(sides):
    return statistics.median(side.value for side in sides) if sides else None


def cpu_per_thousand(sides):
    """CPU milliseconds of each process for one of what was counted, which are
    seconds for a thousand: the median of the rounds."""
    found = {}
    for side in sides:
        for name, seconds in side.cpu.items():
            if side.taps:
                found.setdefault(name, []).append(1000 * seconds / side.taps)
    return {name: statistics.median(values) for name, values in found.items()}

"""`rainctl plan` as an operator runs it, without any server: what it says of
plans of every algorithm, its picture, and what it refuses and how."""

import fractions
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree as xml

RAINCTL = os.path.join(os.environ["RAIN_BIN"], "rainctl")
SOURCE = pathlib.Path(os.environ["RAIN_SOURCE"])
SVG = "{http://www.w3.org/2000/svg}"
PLANS = {
    "double_mean": ["total = 1000.00", "packets = 300", "max = 8"],
    "line_cut": ["total = 1000.00", "packets = 300", "algorithm = line_cut"],
    "equal": ["total = 100.01", "packets = 100", "algorithm = equal"],
    "same": ["total = 100.00", "packets = 100", "algorithm = equal"],
    "uniform": ["total = 90071992547409.91", "packets = 500",
                "algorithm = uniform"],
    "normal": ["total = 1000000.00", "packets = 300", "algorithm = normal",
               "min = 3000", "max = 3500"],
    "tiers": ["algorithm = tiers",
              "tiers = 1000 x 1, 20.50 x 10, 3 x 100, 0.01 x 4"],
    "one": ["total = 88.88"],
    "live": ["total = 1000.00", "packets = 300", "mode = live"],
}
TITLE = '红包 & <b title="x">夜</b>]]> \uffff\ufffe' + "W" * 100

scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)
bad = []


def expect(what, good):
    if not good:
        bad.append(what)


def run(*words):
    return subprocess.run([RAINCTL, "plan", *map(str, words)], text=True,
                          capture_output=True, check=False)


def plan_file(name, lines):
    path = folder / f"{name}.ini"
    path.write_text("\n".join(["[activity]", "sponsor = acme", *lines]) + "\n",
                    encoding="utf-8")
    return path


def columns(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line)


def cents(text):
    return fractions.Fraction(text) * 100


def check_json(name, path):
    out = run(path, "--json", "--audience", 600, "--taps", 60)
    expect(f"{name}: exit {out.returncode}: {out.stderr}", out.returncode == 0)
    report = json.loads(out.stdout)
    amounts = {k: v["this_draw"] for k, v in report["amounts"].items()}
    buckets = report["histogram"]
    smallest, largest = cents(amounts["smallest"]), cents(amounts["largest"])
    expect(f"{name}: packets of the histogram",
           sum(b["packets"] for b in buckets) == report["packets"])
    expect(f"{name}: the smallest is in the first bucket",
           cents(buckets[0]["from"]) <= smallest <= cents(buckets[0]["to"]))
    expect(f"{name}: the largest is in the last bucket",
           cents(buckets[-1]["from"]) <= largest <= cents(buckets[-1]["to"]))
    for one, next_one in zip(buckets, buckets[1:]):
        expect(f"{name}: buckets in order",
               cents(one["from"]) <= cents(one["to"]) < cents(next_one["from"]))
    expect(f"{name}: bounds", smallest >= cents(report["min"]) and (
        cents(report["max"]) == 0 or largest <= cents(report["max"])))
    mean = cents(report["total"]) / report["packets"]
    expect(f"{name}: mean {amounts['mean']}",
           abs(cents(amounts["mean"]) - mean) <= fractions.Fraction(1, 100))
    expect(f"{name}: best by place",
           len(report["best"]["measured"]) == min(10, report["packets"]))
    people = report["audience"]
    odds = min(1, report["packets"] / 600)
    seconds = sum(600 / (600 - i) / 60 for i in
                  range(min(600, report["packets"])))
    expect(f"{name}: odds {people}", abs(people["win_odds"] - odds) < 1e-9)
    expect(f"{name}: seconds {people}", abs(people["seconds"] - seconds) < 1e-6)
    memory = report["redis_bytes"]
    expect(f"{name}: memory {memory}",
           (memory["loaded"] > 0) == (report["mode"] == "list") and
           memory["grabbed"] > memory["loaded"])
    return report


def check_tiers(report):
    """All of it is known: 1,000.00 once, 20.50 ten times, ..."""
    v = sorted([100000] + [2050] * 10 + [300] * 100 + [1] * 4)
    n, total = len(v), sum(v)
    mean = total / n
    deviation = (sum((x - mean) ** 2 for x in v) / n) ** 0.5
    gini = sum(abs(a - b) for a in v for b in v) / (2 * n * total)
    got = {k: row["this_draw"] for k, row in report["amounts"].items()}
    expect(f"tiers: total {report['total']}", cents(report["total"]) == total)
    expect(f"tiers: {got}", got["smallest"] == "0.01" and got["median"] == "3.00"
           and got["largest"] == "1000.00")
    expect(f"tiers: Gini {got['gini']} is {gini}", abs(got["gini"] - gini) < 1e-9)
    expect(f"tiers: deviation {got['standard_deviation']}",
           abs(float(got["standard_deviation"]) * 100 - deviation) < 0.01)
    expect("tiers: buckets", [(b["from"], b["packets"])
                              for b in report["histogram"]] == [
        ("0.01", 4), ("3.00", 100), ("20.50", 10), ("1000.00", 1)])
    expect("tiers: every draw has these",
           report["same_amounts_in_each_draw"] and all(
               row["lowest"] == row["highest"] == row["this_draw"]
               for row in report["amounts"].values()))


def check_live(live, of_list):
    """A simulation of our own: of 300 packets without a shuffle the best one
    is in the last tenth of the places 58 % of the time, with one 10 %; 400
    draws are 2.5 points of standard error away from that."""
    expect(f"live: {live['mode']}, {of_list['mode']}",
           live["mode"] == "live" and of_list["mode"] == "list")
    measured = live["best"]["measured"]
    expect(f"live: best by place {measured}",
           0.35 < measured[-1] < 0.8 and measured[0] < 0.15)
    measured = of_list["best"]["measured"]
    expect(f"list: best by place {measured}", measured[-1] < 0.3)


def check_live_text(path):
    said = " ".join(run(path).stdout.split())
    for words in ("1,000.00 CNY in 300 packets, split by double_mean while "
                  "people grab, each at least 0.01.",
                  "Mode live: each amount is drawn when its packet is grabbed, "
                  "and no list lies in Redis before.",
                  "not shuffled: the later the place, the wider its amount",
                  "about 120.0 kB when all are grabbed, no list before"):
        expect(f"live: {said} without: {words}", words in said)
    said = run(plan_file("listed", ["total = 1000.00", "packets = 300"])).stdout
    expect(f"list: {said}", "live" not in said and "while people" not in said
           and "about 18.0 kB when all are loaded" in said)


def check_text(name, path):
    out = run(path, "--audience", 10**10)
    expect(f"{name}: exit {out.returncode}: {out.stderr}", out.returncode == 0)
    for line in out.stdout.splitlines():
        expect(f"{name}: wider than 100: {line}", columns(line) <= 100)
    expect(f"{name}: no assumption is told", "assumed: one" in out.stdout)


def check_picture(name, path, title):
    picture = folder / f"{name}.svg"
    picture.write_text("of before", encoding="utf-8")
    out = run(path, "--plot", picture)
    expect(f"{name}: exit {out.returncode}: {out.stderr}", out.returncode == 0)
    expect(f"{name}: the picture is named", str(picture) in out.stdout)
    tree = xml.fromstring(picture.read_bytes())
    names = {e.tag for e in tree.iter()}
    expect(f"{name}: elements {names}", names == {
        SVG + tag for tag in ("svg", "title", "rect", "text", "line")})
    expect(f"{name}: title {tree.find(SVG + 'title').text}",
           tree.find(SVG + "title").text == title)
    texts = [e.text for e in tree.iter(SVG + "text")]
    expect(f"{name}: caption", any("Gini" in t for t in texts))
    width, height = (float(tree.get(k)) for k in ("width", "height"))
    for e in tree.iter(SVG + "rect"):
        x, y = float(e.get("x", 0)), float(e.get("y", 0))
        expect(f"{name}: outside: {e.attrib}", x >= 0 and y >= 0 and
               x + float(e.get("width")) <= width and
               y + float(e.get("height")) <= height)
    bars = len(list(tree.iter(SVG + "rect"))) - 1  # the ground
    expect(f"{name}: {bars} bars", bars >= 1)


def refused(code, text, *words):
    out = run(*words)
    expect(f"{words}: exit {out.returncode}, {out.stderr} without: {text}",
           out.returncode == code and text in out.stderr and
           out.stdout == "")


def check_refusals(good):
    many = plan_file("many", ["total = 1.00", "packets = 200"])
    refused(2, "200 packets of at least 0.01 need more than the total of 1.00",
            many)
    refused(2, "activity.total", plan_file("none", ["packets = 3"]))
    refused(2, 'activity.mode: "foo" cannot be read; allowed: list, live',
            plan_file("foo", ["total = 1", "mode = foo"]))
    for algorithm in ("equal", "tiers", "uniform"):
        refused(2, f"mode live with the algorithm {algorithm}: only "
                "double_mean can be drawn while people grab",
                plan_file("still", ["total = 9", "packets = 3", "mode = live",
                                    f"algorithm = {algorithm}"] +
                          ["tiers = 3 x 3"] * (algorithm == "tiers")))
    refused(2, "cannot be read", folder / "nowhere.ini")
    refused(2, "PLAN")
    refused(2, "too many operands", good, good)
    refused(2, "unknown option", good, "--people", 3)
    for value in ("0", "-1", "x", "1.5", "10000000001"):
        refused(2, f"--audience {value}: allowed: 1 to 10000000000", good,
                "--audience", value)
    refused(2, "--taps 0: allowed: 1 to 1000000000", good, "--audience", 3,
            "--taps", 0)
    refused(2, "--taps needs --audience", good, "--taps", 3)
    past = run(plan_file("past", ["total = 1", "end = 2020-01-01 00:00"]))
    expect(f"past: {past.stdout}", past.returncode == 0 and
           "create would refuse it now" in past.stdout)
    endless = run(plan_file("endless", [
        "total = 1", "packets = 9", "release = 20s", "end = +5"]))
    expect(f"endless: {endless.stdout}", endless.returncode == 0 and
           re.search(r"create would refuse it now: release is 20000 ms, and "
                     r"only (5000|4\d\d\d) ms lie between now and end\.",
                     " ".join(endless.stdout.split())))


def check_no_picture(good):
    """The report is told all the same, and the exit says what is missing."""
    for path, said in ((folder / "nowhere" / "x.svg", "No such file"),
                       (pathlib.Path("/dev/full"), "No space left")):
        out = run(good, "--plot", path)
        expect(f"{path}: exit {out.returncode}: {out.stderr}",
               out.returncode == 3 and
               f"--plot {path}: {said}" in out.stderr)
        expect(f"{path}: {out.stdout}", "Gini coefficient" in out.stdout and
               str(path) not in out.stdout)
        out = run(good, "--plot", path, "--json")
        report = json.loads(out.stdout)
        expect(f"{path}: {report}", out.returncode == 3 and
               f"--plot {path}: {said}" in report["error"] and
               report["packets"] == 1 and "plot" not in report)


def check_little(path):
    """A cent for ten thousand million people is not nothing."""
    out = run(path, "--audience", 10**10)
    takings = [line for line in out.stdout.splitlines() if "takings" in line]
    expect(f"little: {takings}", "less than 0.01 on average" in takings[0])
    out = run(path, "--audience", 10**10, "--json")
    takings = json.loads(out.stdout)["audience"]["takings"]
    expect(f"little: {takings}", fractions.Fraction(takings) ==
           fractions.Fraction(1, 100 * 10**10))


def main():
    reports = {}
    for name, lines in PLANS.items():
        path = plan_file(name, lines)
        report = reports[name] = check_json(name, path)
        if name == "tiers":
            check_tiers(report)
        check_text(name, path)
        check_picture(name, path, "Packets of a plan")
    check_live(reports["live"], reports["double_mean"])
    check_live_text(folder / "live.ini")
    titled = plan_file("titled", [f"title = {TITLE}", "total = 1"])
    check_text("titled", titled)
    check_picture("titled", titled, TITLE.translate({0xfffe: "?", 0xffff: "?"}))
    check_refusals(titled)
    check_no_picture(titled)
    check_little(plan_file("little", ["total = 0.01"]))
    slow = run(plan_file("slow", ["total = 9", "packets = 300",
                                  "release = 60s"]),
               "--json", "--audience", 600, "--taps", 60)
    # The first is free at 0 s and the 300th, 0.2 s apart, at 59.8 s.
    seconds = json.loads(slow.stdout)["audience"]["seconds"]
    expect(f"slow: {seconds}", abs(seconds - 59.8) < 1e-9)
    for path in (SOURCE / "examples").glob("*.ini"):
        check_json(path.name, path)
    print("\n".join(bad))
    sys.exit(1 if bad else 0)


main()

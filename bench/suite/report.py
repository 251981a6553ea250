"""The table for people, the same for scripts, and a picture of it."""
import json

from rounds import cpu_per_thousand, median_of

ORDER = ("generator", "gateway", "grab-service", "redis", "kafka",
         "settle-worker")


class Line:
    """What became of a row."""

    def __init__(self, row):
        self.row = row
        self.why = None    # there is no result, a sentence
        self.value = None  # the ratio, or the value of a row without one
        self.rounds = None

    def take(self, rounds):
        self.rounds = rounds
        self.value = (rounds.ratio() if self.row.theirs else
                      median_of(rounds.ours))
        if self.value is None:
            self.why = "every round was disturbed by other processes"

    def met(self):
        return self.value is not None and self.row.met(self.value)

    def notes(self):
        found = []
        sides = self.rounds.ours if self.rounds else []
        for name, words in (("batch", "{:.0f} grabs a script call"),
                            ("script_calls", "{:.0f} script calls"),
                            ("rate", "{:,.0f} taps a second")):
            values = [side.notes[name] for side in sides if name in side.notes]
            if values:
                found.append(words.format(sorted(values)[len(values) // 2]))
        if any("warnings" in side.notes for side in sides):
            found.append("the generator was a limit")
        if self.rounds and self.rounds.disturbed:
            n = len(self.rounds.disturbed)
            found.append(f"{n} {'round' if n == 1 else 'rounds'} not counted")
        return found


def number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def print_table(lines):
    width = max(len(line.row.name) for line in lines)
    print(f"{'':{width}}  {'ratio':>8}  {'target':>8}  {'':3}  {'ours':>10}  "
          f"{'theirs':>10}")
    for line in lines:
        row = line.row
        if line.why:
            print(f"{row.name:{width}}  {line.why}")
            continue
        sign = "≥" if row.best == "high" else "≤"
        print(f"{row.name:{width}}  {number(line.value):>8}  "
              f"{sign + ' ' + number(row.target):>8}  "
              f"{'yes' if line.met() else 'no':3}  "
              f"{number(median_of(line.rounds.ours)):>10}  "
              f"{number(median_of(line.rounds.theirs)):>10}  {row.unit}")
        cpu = cpu_per_thousand(line.rounds.ours)
        said = [f"{name} {1000 * cpu[name]:.1f}" for name in ORDER
                if name in cpu]
        if said:
            print(f"{'':{width}}  CPU µs each: {', '.join(said)}")
        if line.notes():
            print(f"{'':{width}}  {', '.join(line.notes())}")


def as_json(machine, lines):
    rows = []
    for line in lines:
        row = {"row": line.row.name, "target": line.row.target,
               "best": line.row.best, "unit": line.row.unit}
        if line.why:
            row["skipped"] = line.why
        else:
            row |= {"ratio" if line.row.theirs else "value": line.value,
                    "met": line.met(),
                    "ours": median_of(line.rounds.ours),
                    "theirs": median_of(line.rounds.theirs),
                    "rounds": [{"ours": ours.value, "theirs": theirs.value,
                                "ratio": ours.value / theirs.value}
                               for ours, theirs in zip(line.rounds.ours,
                                                       line.rounds.theirs)]
                    if line.row.theirs else
                    [{"ours": ours.value} for ours in line.rounds.ours],
                    "disturbed": len(line.rounds.disturbed),
                    "cpu_seconds_per_thousand":
                    cpu_per_thousand(line.rounds.ours),
                    "notes": line.notes()}
        rows.append(row)
    return json.dumps({"machine": machine, "rows": rows}, indent=1,
                      ensure_ascii=False) + "\n"


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def as_svg(machine, lines):
    """A bar for each row: how far it is on the way to its target, which is
    the line; longer is better."""
    lines = [line for line in lines if not line.why]
    left, unit, step, top = 430, 160, 26, 64
    height = top + step * len(lines) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="860" '
           f'height="{height}" font-family="sans-serif" font-size="13">',
           "<title>redrain: each row against its target</title>",
           f'<rect width="860" height="{height}" fill="#fff"/>',
           '<text x="16" y="24" font-size="16">Each row against its target '
           '(the line; longer is better)</text>',
           f'<text x="16" y="44" fill="#666">{escaped(machine["processor"])}, '
           f'{machine["cores"]} cores, {escaped(machine["system"])}</text>']
    for i, line in enumerate(lines):
        y = top + step * i
        good = line.value / line.row.target
        if line.row.best == "low":
            good = 1 / good if good > 0 else 2.5
        length = min(good, 2.5) * unit
        fill = "#2a7f4f" if line.met() else "#c4572c"
        out += [f'<text x="{left - 10}" y="{y + 13}" text-anchor="end" '
                f'font-size="12">{escaped(line.row.name)}</text>',
                f'<rect x="{left}" y="{y}" width="{length:.1f}" height="18" '
                f'fill="{fill}"/>',
                f'<text x="{left + length + 6:.1f}" y="{y + 13}">'
                f'{number(line.value)}</text>']
    out += [f'<line x1="{left + unit}" x2="{left + unit}" y1="{top - 6}" '
            f'y2="{height - 24}" stroke="#222"/>', "</svg>", ""]
    return "\n".join(out)

"""The rows of the table: what is measured against what, and how far it should
get."""


class Row:
    """ours and theirs make a Side each. A row without theirs has no ratio: its
    value is that of ours. best is "high" or "low"."""

    def __init__(self, name, target, unit, ours, theirs=None, best="high"):
        self.name = name
        self.target = target
        self.unit = unit
        self.ours = ours
        self.theirs = theirs
        self.best = best

    def met(self, value):
        return value >= self.target if self.best == "high" else \
            value <= self.target


def rows(g, p, sizes):
    """g measures redrain, p the others. sizes are the numbers that a quick run
    has smaller."""
    least, most = min(sizes["idle"]), max(sizes["idle"])
    return [
        Row("winners, 1 in flight, all settled beside ÷ raw Redis", 1.2,
            "wins/s", g.walk, p.raw),
        Row("winners, 4 in flight, relayed ÷ raw Redis", 2.5, "wins/s",
            g.relayed, p.raw),
        Row("winners, 4 in flight, every one credited ÷ raw Redis", 1.8,
            "wins/s", g.settled, p.raw),
        Row("winners, 1 in flight, relayed ÷ webdis", 2.0, "wins/s",
            lambda: g.walk(pause=True), p.webdis),
        Row("winners, 1 in flight, relayed ÷ nginx and Lua", 3.0, "wins/s",
            lambda: g.walk(pause=True), p.nginx),
        Row("sold out at the edge, 4 in flight ÷ bare libuv echo", 0.8,
            "taps/s", g.sold_out, lambda: p.echo("--in-flight", 4)),
        Row("Redis CPU a win ÷ one user a script, 64 pipelined", 0.6, "µs",
            lambda: g.cpu_of("redis", g.relayed()), p.raw_cpu, "low"),
        Row("gateway CPU a grab ÷ bare libuv echo CPU a message", 1.5, "µs",
            lambda: g.cpu_of("gateway", g.relayed()), p.echo_cpu, "low"),
        Row("preload ÷ redis-cli --pipe", 0.8, "packets/s",
            lambda: g.preload(sizes["preload"]),
            lambda: p.pipe(sizes["preload"])),
        Row("p99 at 70 % of the highest rate ÷ bare echo's", 5, "ms",
            lambda: g.p99(0.7 * g.highest()),
            lambda: p.echo_p99(0.7 * g.highest()), "low"),
        Row("from the win to the credit, p99, at half the highest rate", 250,
            "ms", lambda: g.delay(0.5 * g.highest()), None, "low"),
    ] + [
        Row(f"memory of an idle connection, {conns:,} held", 2048, "bytes",
            lambda conns=conns: g.idle(conns), None, "low")
        for conns in sizes["idle"]
    ] + [
        Row(f"memory of an idle connection, {most:,} held ÷ {least:,}", 1.1,
            "bytes", lambda: g.idle(most), lambda: g.idle(least), "low"),
        Row("credits of a backlog ÷ one transaction a message", 20,
            "credits/s", lambda: g.credits(sizes["backlog"]),
            lambda: g.credits(sizes["singles"], 1)),
        Row(f"cost a grab, {sizes['large']:,} packets ÷ {sizes['small']:,}",
            1.1, "µs", lambda: g.cost(sizes["large"]),
            lambda: g.cost(sizes["small"]), "low")]

"""What the rows measure of redrain itself: one run, one Side."""
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

from machine import resident
from rounds import Meter, Side
from stack import Failed

CONNS = 200
WALK = 40  # activities that a user walks through
TEAMS = 2  # of connections in step: one has taps out while the other answers
SOLD_OUT_USERS = 20000
LOW_RATE = 4000  # taps a second, which every machine should hold
AT_ONCE_MS = 100  # a tenth of a second is what people take for at once


class Grabs:
    def __init__(self, stack, seconds, strict):
        self.stack = stack
        self.seconds = seconds
        self.settling = max(seconds, 10) if strict else seconds
        self.strict = strict  # it is about how fast, not whether it runs
        self.rate = 60000  # wins a second: a guess until one was measured
        self.held = None  # taps a second, the most that held; 0: none did

    def meter(self):
        return Meter(self.stack.processes())

    def side(self, value, report, meter, taps, **notes):
        cpu = meter.used()
        cpu["generator"] = report["generator_cpu_seconds"]
        if report["warnings"]:
            notes["warnings"] = report["warnings"]
        return Side(value, taps, cpu, notes)

    def standing(self, pause):
        """If pause, the settle-worker stands still meanwhile: what others do
        not do either."""
        return self.stack.worker_paused() if pause else nullcontext()

    # Winners over front connections.

    def crowd(self, name, users, *options):
        """That many new users over front connections, each of them once."""
        return self.stack.tap(
            "--activity", name, "--front", "--conns", CONNS, "--users", users,
            "--first-user", self.stack.first_user(users), "--taps", 1,
            *options)

    def front(self, seconds, *options, pause=False):
        """Distinct users tap once each for so long, and packets are left:
        (name of the activity, report, Meter)."""
        for _ in range(6):
            name = self.stack.name("front")
            packets = int(self.rate * seconds * 1.6) + 20000
            self.stack.opened(name, packets)
            with self.standing(pause):
                meter = self.meter()
                began = time.monotonic()
                report = self.crowd(name, packets, "--duration",
                                    f"{seconds * 1000:.0f}ms", *options)
            report["began"] = began
            self.rate = max(self.rate, report["wins_per_second"])
            if report["winners"] < packets - 1:
                return name, report, meter
            self.rate *= 2
            self.finish(name, report)
        raise Failed(f"{packets} packets were too few")

    def finish(self, name, report):
        self.stack.wait_credited(name, report["winners"])
        self.stack.finish(name, report["winners"], report["cents_won"])

    def relayed(self, in_flight=4):
        """Winners while the relay publishes: the settle-worker stands still
        meanwhile."""
        batches = self.batches()
        name, report, meter = self.front(self.seconds, "--in-flight",
                                         in_flight, pause=True)
        side = self.side(report["wins_per_second"], report, meter,
                         report["winners"], batch=self.mean_batch(batches))
        self.finish(name, report)
        return side

    def settled(self, in_flight=4):
        """Winners, until the last of them is credited; ten seconds or more."""
        name, report, meter = self.front(self.settling, "--in-flight",
                                         in_flight)
        self.stack.wait_credited(name, report["winners"])
        took = time.monotonic() - report["began"]
        side = self.side(report["winners"] / took, report, meter,
                         report["winners"], seconds=took)
        self.stack.finish(name, report["winners"], report["cents_won"])
        return side

    def warm_up(self):
        """As much as a broker needs to compile what it does often."""
        name, report, _ = self.front(3 * self.settling, "--in-flight", 4)
        self.finish(name, report)

    def open_loop(self, rate):
        """At a rate, whatever comes back: (name, report), all is settled."""
        name, report, _ = self.front(self.seconds, "--rate", int(rate))
        self.finish(name, report)
        return name, report

    def holds(self, rate):
        """Whether all that is due is answered, and as good as at once."""
        _, report = self.open_loop(rate)
        return (report["per_second"] >= 0.97 * rate and
                report["latency_ms"]["p99"] <= AT_ONCE_MS)

    def highest(self):
        """The highest rate that holds, looked for once. Each has two tries:
        one that was disturbed lowers all that is measured with it."""
        if not self.strict:
            return 1000
        if self.held is None:
            self.held, rate = 0, LOW_RATE
            while self.holds(rate) or self.holds(rate):
                self.held = rate
                rate *= 1.15
        if not self.held:
            raise Failed(f"not even {LOW_RATE} taps a second hold")
        return self.held

    def p99(self, rate):
        _, report = self.open_loop(rate)
        return Side(report["latency_ms"]["p99"], report["answers"],
                    notes={"rate": rate})

    def delay(self, rate):
        """From the win to the credit, the 99th percentile, in ms."""
        name, _ = self.open_loop(rate)
        delays = [row[0] for row in self.stack.ledger(
            "SELECT r.credited_ms - r.at_ms FROM red_packet_record r"
            " JOIN red_packet_info i USING (activity) WHERE i.activity_id = ?"
            " ORDER BY 1", name)]
        return Side(delays[int(len(delays) * 0.99)], len(delays),
                    notes={"rate": rate})

    # Winners over one connection each.

    def walk(self, pause=False):
        """Each connection is one user at a time, who wins in one activity
        after the other, all in step, and then makes room for the next. More
        activities at once would be more taps than a user may make."""
        users = CONNS * max(1, round(self.seconds * self.rate / CONNS /
                                     WALK / 2))
        kind = self.stack.name("walk")
        names = [f"{kind}-{i}" for i in range(1, WALK + 1)]
        self.stack.opened(names[0], users)  # writes the plan of all
        self.each(lambda name: self.stack.opened(name, users), names[1:])
        batches = self.batches()
        with self.standing(pause):
            meter = self.meter()
            report = self.stack.tap(
                "--activity", f"{kind}-%d", "--activities", WALK, "--in-step",
                "--conns", CONNS, "--threads", TEAMS, "--users", users,
                "--taps", 1, "--first-user", self.stack.first_user(users),
                "--duration", 0)
            side = self.side(report["wins_per_second"], report, meter,
                             report["winners"], batch=self.mean_batch(batches))
        self.each(lambda one: self.finish(one["id"], one),
                  report["activities"])
        return side

    def each(self, what, those):
        """Side by side, as most of the time is waiting; a grab-service loads
        four activities at a time."""
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(what, those))

    # Nothing to win.

    def sold_out(self, in_flight=4):
        name = self.stack.name("edge")
        self.stack.opened(name, 1)
        first = self.stack.tap("--activity", name, "--front", "--conns", 1,
                               "--users", 1, "--taps", 1, "--duration", 0,
                               "--first-user", self.stack.first_user(1))
        meter = self.meter()
        calls = self.stack.script_calls()
        report = self.stack.tap(
            "--activity", name, "--front", "--conns", CONNS, "--in-flight",
            in_flight, "--users", SOLD_OUT_USERS, "--first-user",
            self.stack.first_user(SOLD_OUT_USERS), "--duration",
            f"{self.seconds * 1000:.0f}ms")
        side = self.side(report["per_second"], report, meter,
                         report["answers"],
                         script_calls=self.stack.script_calls() - calls)
        others = set(report["statuses"]) - {"SOLD_OUT"}
        if (others and self.strict) or first["winners"] != 1:
            raise Failed(f"not all sold out: {report['statuses']}")
        self.finish(name, first)
        return side

    # Processes by themselves.

    def batches(self):
        return [self.stack.metric("grab", f"rain_grab_batch_size_{part}")
                for part in ("sum", "count")]

    def mean_batch(self, before):
        grabs, calls = (now - then for now, then in
                        zip(self.batches(), before))
        return grabs / max(calls, 1)

    def cpu_of(self, process, side):
        """The same run, counted in CPU microseconds a grab."""
        return Side(1e6 * side.cpu[process] / side.taps, side.taps, side.cpu,
                    side.notes)

    def credits(self, winners, batch=None):
        """Credits a second out of a backlog of so many."""
        name = self.stack.name("backlog")
        self.stack.opened(name, winners)
        self.stack.stop_worker()
        report = self.crowd(name, winners, "--in-flight", 4, "--duration", 0)
        self.stack.until("the relay to publish", lambda: self.stack.metric(
            "grab", "rain_relay_unpublished_claims") == 0)
        meter = Meter({})
        self.stack.start_worker(*(("--set", f"settle.batch_max={batch}")
                                  if batch else ()))
        self.stack.wait_credited(name, report["winners"])
        last = self.stack.ledger(
            "SELECT max(r.credited_ms) FROM red_packet_record r"
            " JOIN red_packet_info i USING (activity)"
            " WHERE i.activity_id = ?", name)[0][0]
        # Small backlogs are gone within the millisecond.
        took = max(last / 1000 - self.stack.assigned_at(), 0.001)
        side = self.side(report["winners"] / took, report, meter,
                         report["winners"])
        self.stack.finish(name, report["winners"], report["cents_won"])
        if batch:
            self.stack.stop_worker()
            self.stack.start_worker()
        self.stack.ready()
        return side

    def preload(self, packets):
        name = self.stack.name("preload")
        self.stack.create(name, packets)
        began = time.monotonic()
        self.stack.ctl("activity", "preload", name)
        took = time.monotonic() - began
        self.stack.ctl("activity", "cancel", name)
        return Side(packets / took, packets)

    def cost(self, packets):
        """CPU microseconds a win, of gateway, grab-service and Redis."""
        name = self.stack.name("size")
        self.stack.opened(name, packets)
        users = min(packets - 1, int(self.rate * self.seconds))
        meter = self.meter()
        report = self.crowd(name, users, "--in-flight", 4, "--duration", 0)
        side = self.side(0, report, meter, report["winners"])
        side.value = 1e6 / side.taps * sum(
            side.cpu[name] for name in ("gateway", "grab-service", "redis"))
        self.finish(name, report)
        return side

    def idle(self, conns):
        """Bytes of a gateway for each connection that is held: a new gateway,
        for what was in use once stays with a process."""
        with self.stack.gateway_beside(conns) as (gateway, address):
            time.sleep(1)
            before = resident(gateway)
            held = []
            with ThreadPoolExecutor(1) as pool:
                running = pool.submit(
                    self.stack.rainbench, address, "--keys",
                    self.stack.dir / "keys", "--idle", "--conns", conns,
                    "--duration", f"{5 + conns // 2500}s")
                while not running.done():
                    held.append(resident(gateway))
                    time.sleep(0.1)
                report = running.result()
        if report["held"] != conns:
            raise Failed(f"{report['held']} of {conns} connections are held")
        return Side((max(held) - before) / conns, conns)

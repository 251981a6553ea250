"""rainbench and rain-echo as processes, and rainbench against a gateway that
does what a gateway must not do.

usage: test_bench.py echo|late|stall|watch|gateway|step|wrong"""

import contextlib
import json
import os
import re
import signal
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
import time

from wire import fields, number, text

BIN = os.environ["RAIN_BIN"]
BENCH = f"{BIN}/rainbench"
HELLO, GRAB = 2, 3                          # fields of ClientMessage
HELLO_REPLY, GRAB_REPLY, ERROR = 2, 3, 8    # fields of ServerMessage
WON, ALREADY_GRABBED, SOLD_OUT = 1, 2, 3
UNAVAILABLE = 9


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"expected {what} to be {wanted!r}, it is {got!r}")


# ---- Messages ----

def packet_reply(status, packet):
    red_packet = text(1, packet) + number(2, 250) + number(3, 1764430000000)
    return GRAB_REPLY, number(1, status) + text(2, red_packet)


# ---- A server that answers as it is told ----

class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Connection)
        self.answer = answer      # (field, message of it) -> (field, message)
        self.lock = threading.Lock()

    def handle_error(self, request, client_address):
        # A client that is gone with its answers unread is no error.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    @property
    def target(self):
        return f"tcp://127.0.0.1:{self.server_address[1]}"


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        while head := self.rfile.read(4):
            message = fields(self.rfile.read(struct.unpack(">I", head)[0]))
            (kind, body), = [m for m in message.items() if m[0] != 1]
            with self.server.lock:
                answer = self.server.answer(kind, fields(body))
            if answer is None:
                return
            body = number(1, message[1]) + text(*answer)
            self.wfile.write(struct.pack(">I", len(body)) + body)


@contextlib.contextmanager
def serving(answer):
    with Server(answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.target
        server.shutdown()


@contextlib.contextmanager
def echo(*args):
    """rain-echo; yields its target, and a list that has its frames at the end."""
    frames = []
    process = subprocess.Popen([f"{BIN}/rain-echo", *args], text=True,
                               stdout=subprocess.PIPE)
    try:
        address = process.stdout.readline().split()[-1]
        yield f"tcp://{address}", frames
        process.terminate()
        frames.append(int(process.communicate()[0].split()[-2]))
        expect("the exit of rain-echo", process.returncode, 0)
    finally:
        process.kill()
        process.wait()


def bench(*args, code=0):
    """Its JSON, or with another code what it said of it."""
    done = subprocess.run([BENCH, "--json", "--quiet", *args], text=True,
                          capture_output=True)
    if done.returncode != code:
        sys.exit(f"{args} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout) if done.stdout else done.stderr


def all_answered(told):
    for name in ("unanswered", "lost", "errors", "strange", "unsent", "closed"):
        expect(name, told[name], 0)
    expect("answers", told["answers"], told["sent"])
    expect("latencies", told["latency_ms"]["n"], told["sent"])


# ---- Tests ----

def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        ticks = stat.read().rsplit(")", 1)[1].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def test_watch(_):
    """What it says of other processes is what the system says, in ticks: of one
    that works no more than all it ever used, of one that sleeps nothing, of one
    that ends meanwhile null."""
    works = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    sleeps = subprocess.Popen(["sleep", "600"])
    ends = subprocess.Popen(["sh", "-c", "read x"], stdin=subprocess.PIPE)
    try:
        def answer(*_):
            if ends.poll() is None:
                ends.communicate(b"x\n")
            return GRAB_REPLY, number(1, SOLD_OUT)

        before = cpu_seconds(works.pid)
        with serving(answer) as target:
            told = bench("--target", target, "--echo", "--duration", "1s",
                         "--watch", f"works={works.pid}",
                         "--watch", f"sleeps={sleeps.pid}",
                         "--watch", f"ends={ends.pid}")
        used = cpu_seconds(works.pid) - before
    finally:
        for process in (works, sleeps, ends):
            process.kill()
            process.wait()
    cpu = told["watched_cpu_seconds"]
    expect("who is watched", sorted(cpu), ["ends", "sleeps", "works"])
    expect("CPU of one that ended", cpu["ends"], None)
    expect("CPU of a sleeper", cpu["sleeps"], 0)
    expect(f"CPU of {used} s at most: {cpu['works']}",
           0 < cpu["works"] < used + 0.05, True)
    expect(f"others: {told['others_cpu']}", told["others_cpu"] >= 0, True)


def test_echo(folder):
    with echo("--loops", "2") as (target, frames):
        at = ("--target", target, "--echo", "--conns", "20")
        closed = bench(*at, "--in-flight", "4", "--duration", "1s",
                       "--threads", "2", "--hgrm", f"{folder}/hgrm")
        all_answered(closed)
        expect("statuses", closed["statuses"], {"SOLD_OUT": closed["sent"]})
        expect("money of an echo", "winners" in closed, False)
        plot = open(f"{folder}/hgrm", encoding="ascii").read()
        expect("samples of --hgrm", re.search(r"Total count *= *(\d+)", plot)[1],
               str(closed["sent"]))
        # Late or not, what was due leaves: 500 in a second, half of it in the
        # ramp.
        opened = bench(*at, "--rate", "500", "--duration", "1")
        all_answered(opened)
        expect("taps of a second", opened["sent"], 500)
        ramp = bench(*at, "--rate", "500", "--duration", "1", "--ramp", "1s",
                     code=2)
        expect("a ramp as long as all", "--ramp" in ramp, True)
        ramp = bench(*at, "--rate", "500", "--duration", "1", "--ramp", "500ms")
        expect("taps with a ramp", ramp["sent"], 375)
        # For people.
        shown = subprocess.run([BENCH, *at, "--duration", "2500ms"], text=True,
                               capture_output=True)
        for part in ("closed loop, 1 in flight on each, 20 connections",
                     "p99.99", "answers     SOLD_OUT", "of a processor"):
            expect(part, part in shown.stdout, True)
        expect("progress", "answers/s" in shown.stderr, True)
        expect("a plain line", "\r" in shown.stderr, False)
        said = re.search(r"SOLD_OUT ([\d,]+)", shown.stdout)[1].replace(",", "")
    expect("frames of rain-echo", frames[0], int(said) + sum(
        told["sent"] for told in (closed, opened, ramp)))
    with echo("--packet") as (target, frames):
        told = bench("--target", target, "--echo", "--duration", "200ms")
        expect("statuses", told["statuses"], {"WON": told["sent"]})


def slower_than(path, samples, ms):
    """How many of the samples, by a file of --hgrm: at least so many, and up to a
    fifth more."""
    lines = [line.split() for line in open(path, encoding="ascii")][2:-3]
    return max((samples * (1 - float(fraction))
                for value, fraction, _, _ in lines if float(value) >= ms),
               default=0)


def test_late(folder):
    """The generator itself stands still. What was due meanwhile leaves when it
    can, in the latency it was due when it was due, and it is said whose fault
    that is."""
    with echo() as (target, _):
        at = ("--target", target, "--echo", "--rate", "100", "--json", "--hgrm",
              f"{folder}/hgrm")
        for duration in ("10m", "3s"):
            run = subprocess.Popen([BENCH, *at, "--duration", duration], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            while "answers/s" not in run.stderr.readline():
                pass
            run.send_signal(signal.SIGSTOP)
            time.sleep(2.5)
            run.send_signal(signal.SIGCONT)
            if duration == "10m":
                while "answers/s" not in run.stderr.readline():
                    pass
                run.send_signal(signal.SIGTERM)
            told = json.loads(run.communicate()[0])
            expect("the exit", run.returncode, 0)
            all_answered(told)
            # At the least 200 were due in the first 2 s of the stop, unless it
            # was past the end.
            if duration == "10m":
                slow = slower_than(f"{folder}/hgrm", told["sent"], 500)
                expect(f"{slow} that were late", slow >= 150, True)
                expect(f"a warning in {told['warnings']}",
                       "the generator is late" in "".join(told["warnings"]), True)
            else:
                expect("all that was due in 3 s", told["sent"], 300)


def test_stall(_):
    """From the tap that is due after a second the server stands still for a
    second: the 250 that are due in the first half of it wait for half a second
    at least, whatever else the machine does."""
    stalled = []

    def answer(_, grab):
        if int(grab[2][2:]) >= 500 and not stalled:
            stalled.append(True)
            time.sleep(1)
        return GRAB_REPLY, number(1, SOLD_OUT)

    with serving(answer) as target:
        told = bench("--target", target, "--echo", "--conns", "4", "--rate",
                     "500", "--duration", "3")
    all_answered(told)
    expect("taps", told["sent"], 1500)
    expect("a tenth that waits", told["latency_ms"]["p90"] >= 500, True)
    expect("the slowest", told["latency_ms"]["max"] >= 1000, True)


def keys(folder):
    with open(f"{folder}/keys", "w", encoding="ascii") as out:
        os.chmod(out.fileno(), 0o600)
        out.write("k HS256 front " + "QUJDREVGR0g" * 4 + "\n")
    return out.name


def test_gateway(folder):
    """A gateway that sends the first connection away, and loses every third
    answer with its connection."""
    claims, hellos, grabs = {}, [], []

    def answer(kind, body):
        if kind == HELLO:
            hellos.append(body)
            if len(hellos) == 1:
                return ERROR, number(1, UNAVAILABLE) + number(3, 20)
            return HELLO_REPLY, text(1, b"front") + number(5, 100)
        if kind != GRAB:
            sys.exit(f"nobody asked for field {kind}")
        user = body[2]
        status = ALREADY_GRABBED if user in claims else WON
        claims.setdefault(user, b"p-%d" % len(claims))
        grabs.append(body)
        return None if len(grabs) % 3 == 0 else packet_reply(status, claims[user])

    with serving(answer) as target:
        at = ("--target", target, "--keys", keys(folder), "--activity", "night")
        told = bench(*at, "--front", "--users", "40", "--taps", "1", "--conns", "2",
                     "--first-user", "99999970", "--duration", "0")
    # 40 answers, and after every second one there was none.
    expect("winners", told["winners"], 40)
    expect("money", told["cents_won"], 10000)
    expect("claims", len(claims), 40)
    first, *_, last = sorted(claims, key=lambda user: (len(user), user))
    expect("the users", (first, last), (b"u-99999970", b"u-100000009"))
    expect("users who do not know", told["unresolved"], 0)
    expect("turned away", told["turned_away"], 1)
    expect("lost and answered", told["lost"] + told["answers"], told["sent"])
    expect("lost", told["lost"] > 0, True)
    expect("again", told["again"], told["lost"])
    expect("answers", told["answers"], 40)


def test_step(folder):
    """Five connections are thirteen users, who walk through four activities
    together; an answer that is lost holds up all of them."""
    grabs = []

    def answer(kind, body):
        if kind == HELLO:
            return HELLO_REPLY, text(1, b"u")
        grabs.append(int(body[1].split(b"-")[1]))
        return None if len(grabs) == 7 else packet_reply(WON, b"p-%d" % len(grabs))

    with serving(answer) as target:
        at = ("--target", target, "--keys", keys(folder), "--in-step")
        told = bench(*at, "--activity", "night-%d", "--activities", "4", "--users",
                     "13", "--taps", "1", "--conns", "5", "--duration", "0")
        expect("--front with it", "--in-step is for" in bench(
            *at, "--activity", "night", "--front", code=2), True)
    walk = [[activity] * users for users in (5, 5, 3) for activity in (1, 2, 3, 4)]
    walk[1].append(2)
    expect("the activities", grabs, sum(walk, []))
    expect("winners", told["winners"], 13 * 4)
    expect("lost", told["lost"], 1)


def test_wrong(folder):
    """Another packet for the same user, and what ends a run before it began."""
    count = []

    def answer(kind, _):
        if kind == HELLO:
            return HELLO_REPLY, text(1, b"front")
        count.append(1)
        return packet_reply(WON, b"p-%d" % len(count))

    with serving(answer) as target:
        at = ("--target", target, "--keys", keys(folder), "--activity", "night")
        told = bench(*at, "--front", "--users", "1", "--taps", "3", "--conns", "1",
                     "--duration", "0", code=1)
        expect("wrong answers", told["wrong_answers"], 2)
        expect("winners", told["winners"], 1)
        # SIGTERM ends it as if the time was over.
        run = subprocess.Popen([BENCH, *at, "--json", "--duration", "10m",
                                "--rate", "100", "--front", "--users", "1000000"],
                               text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        while "answers/s" not in (line := run.stderr.readline()):
            expect("the run to begin, not to say " + line, line.endswith("up\n"), True)
        run.send_signal(signal.SIGTERM)
        out, said = run.communicate()
        expect(f"the exit after SIGTERM ({said})", run.returncode, 0)
        all_answered(json.loads(out))

    with serving(lambda *_: (ERROR, number(1, 5) + text(2, b"no\x07 such key"))) as target:
        at = ("--target", target, "--keys", keys(folder), "--activity", "night")
        expect("what the gateway says", bench(*at, code=1),
               "rainbench: the gateway refuses: no? such key\n")
    for args, code, part in (
            (("--target", "tcp://127.0.0.1:1", "--echo"), 1, "connection refused"),
            (("--target", "tcp://127.0.0.1:1"), 2, "--keys is missing"),
            (("--target", target, "--keys", folder, "--activity", "a"), 1, "--keys: "),
            (("--target", target, "--echo", "--conns", "60000"), 1, "files")):
        said = bench(*args, code=code)
        expect(f"{part} in {said}", part in said, True)
        expect("lines", said.count("\n"), 1)


with tempfile.TemporaryDirectory() as work:
    globals()["test_" + sys.argv[1]](work)

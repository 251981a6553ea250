"""A real rain-gateway and what only a process shows: files that run out, a
reload, 10,000 idle connections, a cable that is pulled.

usage: test_gateway_process.py files|reload|idle|dead"""

import fcntl
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile

from gateway_process import BIN, SOON_S, gateway, wait_for
from wire import fields, number, text

SKIPPED = 77

# The fields of ServerMessage, as far as they are asked for here.
HELLO_REPLY, GRAB_REPLY, PONG, ERROR = 2, 3, 7, 8
DENIED, BUSY = 9, 11
UNAVAILABLE, TOO_FAST = 9, 10


# ---- An app, as small as it can be ----

class App:
    def __init__(self, port):
        self.seq = 0
        self.sock = socket.create_connection(("127.0.0.1", port), SOON_S)

    def send(self, kind, body=b""):
        self.seq += 1
        message = number(1, self.seq) + text(kind, body)
        self.sock.sendall(struct.pack(">I", len(message)) + message)

    def exactly(self, n):
        data = b""
        while len(data) < n:
            more = self.sock.recv(n - len(data))
            if not more:
                return None
            data += more
        return data

    def answer(self):
        """(field, its message), or None at the end of the connection."""
        try:
            head = self.exactly(4)
            body = head and self.exactly(struct.unpack(">I", head)[0])
        except ConnectionResetError:
            return None
        if not body:
            return None
        message = fields(body)
        message.pop(1, None)
        (kind, inner), = message.items()
        return kind, fields(inner)

    def expect(self, kind):
        got = self.answer()
        if got is None or got[0] != kind:
            sys.exit(f"wanted field {kind}, got {got}")
        return got[1]

    def hello(self, token):
        self.send(2, text(1, token.encode()) + number(2, 1))
        return self

    def ping(self):
        self.send(7)
        self.expect(PONG)


TRUST = "gateway.trust_plain_users=true"


# ---- Out of files ----

def files():
    # Services that accept and say nothing: a client that tries again and again
    # would leave one of the lowest files free now and then.
    silent = socket.create_server(("127.0.0.1", 0), backlog=64)
    address = "addresses=127.0.0.1:%d" % silent.getsockname()[1]
    with silent, gateway(TRUST, "grab." + address, "ledger." + address,
                         files=300) as g:
        alice = App(g.port).hello("alice")
        alice.expect(HELLO_REPLY)
        # The last twentieth is kept: for HTTP, for the services.
        resource.prlimit(g.process.pid, resource.RLIMIT_NOFILE, (128, 300))
        crowd = [App(g.port) for _ in range(150)]
        away = crowd[-1].expect(ERROR)
        if away[1] != UNAVAILABLE or away[3] < 1:
            sys.exit(f"turned away with {away}")
        wait_for("files", lambda: g.refused("files") > 20)
        alice.ping()
        if "ok" not in g.page("/livez"):
            sys.exit("/livez")
        # Now there is truly none left.
        resource.prlimit(g.process.pid, resource.RLIMIT_NOFILE, (32, 300))
        late = App(g.port).hello("bob")
        g.wait_log("accepting is paused")
        alice.ping()
        for app in crowd:
            app.sock.close()
        resource.prlimit(g.process.pid, resource.RLIMIT_NOFILE, (128, 300))
        late.expect(HELLO_REPLY)
        g.wait_log("accepting goes on")
        App(g.port).hello("carol").expect(HELLO_REPLY)
        alice.ping()


# ---- SIGHUP ----

def token(keys, *more):
    return subprocess.run(
        [os.path.join(BIN, "rainctl"), "--set", "gateway.keys=" + keys, "token",
         "alice", *more], check=True, stdout=subprocess.PIPE).stdout.decode().strip()


def reload():
    secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
    with tempfile.TemporaryDirectory() as folder:
        keys = os.path.join(folder, "keys")
        ini = os.path.join(folder, "ini")

        def write(path, text):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

        def configure(*lines):
            write(ini, "\n".join([f"[gateway]\nkeys = {keys}", "[limit]",
                                  *lines, ""]))

        write(keys, f"app HS256 user {secret}\n")
        configure()
        with gateway("--config=" + ini) as g:
            refusals = 0

            def hup(good):
                nonlocal refusals
                refusals += not good
                done = g.log().count("configuration reloaded")
                g.process.send_signal(signal.SIGHUP)
                if good:
                    g.wait_log("configuration reloaded", done + 1)
                else:
                    g.wait_log("configuration refused", refusals)
                alice.ping()

            signed = token(keys)
            alice = App(g.port).hello(signed)
            alice.expect(HELLO_REPLY)
            # F21: one that was given out for another room.
            bound = App(g.port).hello(token(keys, "--activity", "quiz"))
            bound.expect(HELLO_REPLY)
            statuses = []
            for activity in (b"quiz", b"other"):
                bound.send(3, text(1, activity))
                statuses.append(bound.expect(GRAB_REPLY)[1])
            if statuses != [BUSY, DENIED]:
                sys.exit(f"a token for one activity gets {statuses}")
            # What stands in the place of the key file is a trap.
            os.unlink(keys)
            os.mkfifo(keys)
            hup(False)
            os.unlink(keys)
            os.mkdir(keys)
            hup(False)
            os.rmdir(keys)
            with open(keys, "wb") as file:
                file.truncate(1 << 40)
            hup(False)
            os.unlink(keys)
            hup(False)
            App(g.port).hello(signed).expect(HELLO_REPLY)
            write(keys, f"app HS256 user {secret}\n")
            # All or nothing: one bad value keeps the good one away.
            configure("connection_rate = 1", "connection_burst = 0")
            hup(False)
            for _ in range(30):
                alice.ping()
            configure("connection_rate = 1", "connection_burst = 2")
            hup(True)
            kind = PONG
            while kind == PONG:
                alice.send(7)
                kind, answer = alice.answer()
            if (kind, answer.get(1)) != (ERROR, TOO_FAST):
                sys.exit(f"limited with {kind} {answer}")


# ---- 10,000 who say nothing ----

def idle():
    count = 10000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < count + 500:
        print(f"only {hard} files are allowed")
        sys.exit(SKIPPED)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with gateway(TRUST) as g:
        others = [App(g.port).hello(f"other-{i}") for i in range(50)]
        for app in others:
            app.expect(HELLO_REPLY)
        before = g.resident()
        crowd = []
        for i in range(count):
            crowd.append(App(g.port).hello(f"idle-{i}"))
            if i % 500 == 499:
                for app in crowd[-500:]:
                    app.expect(HELLO_REPLY)
                for app in others:
                    app.ping()
        each = (g.resident() - before) / count
        print(f"{each:.0f} bytes of the process for each idle connection")
        # Sanitizers keep books about every piece of memory.
        if not os.environ.get("SANITIZED") and each > 4096:
            sys.exit("too many")
        for app in others:
            app.ping()
        for app in crowd:
            app.sock.close()
        wait_for("the crowd to go", lambda: g.connections() == len(others))
        for app in others:
            app.ping()
        App(g.port).hello("late").expect(HELLO_REPLY)


# ---- A cable is pulled ----

def loopback(up):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", up))  # flags


def dead():
    """F60: in a network of its own, which is there one moment and not the
    next."""
    if os.environ.get("IN_NETWORK") != "1":
        alone = ["unshare", "--map-root-user", "--net"]
        if subprocess.run(alone + ["true"], stderr=subprocess.DEVNULL,
                          check=False).returncode != 0:
            print("no network of our own can be made here")
            sys.exit(SKIPPED)
        os.environ["IN_NETWORK"] = "1"
        os.execvp(alone[0], alone + [sys.executable, "-B"] + sys.argv)
    loopback(True)
    with gateway(TRUST, "gateway.dead_time=1s", "gateway.idle_time=3s",
                 "log.level=debug") as g:
        waiting = App(g.port).hello("waiting")
        silent = App(g.port).hello("silent")
        waiting.expect(HELLO_REPLY)
        silent.expect(HELLO_REPLY)
        os.kill(g.process.pid, signal.SIGSTOP)
        waiting.send(7)
        loopback(False)
        os.kill(g.process.pid, signal.SIGCONT)
        # Nobody tells the gateway: one it notices by its own answer, the
        # other by the silence.
        g.wait_log('"connection closed"', 2)
        loopback(True)
        if (g.refused("dead"), g.refused("idle"), g.connections()) != (1, 1, 0):
            sys.exit(g.page("/metrics"))
        App(g.port).hello("next").expect(HELLO_REPLY)


{"files": files, "reload": reload, "idle": idle, "dead": dead}[sys.argv[1]]()

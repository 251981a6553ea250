"""The stack that is measured: what ./rain has started in a directory."""
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.request
from contextlib import contextmanager
from datetime import datetime

# Names as the table has them, and the files that tell their processes.
PROCESSES = {"gateway": "rain-gateway.pid", "grab-service": "grab-service.pid",
             "settle-worker": "settle-worker.pid", "redis": "redis.pid",
             "kafka": "kafka/kafka.pid"}


class Failed(Exception):
    """A run that has no result, with the reason."""


def run(*command, **options):
    """Run a program; what it printed."""
    done = subprocess.run([str(word) for word in command], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)
    if done.returncode != 0:
        raise Failed(f"{shlex.join(map(str, command))}: exit "
                     f"{done.returncode}: {done.stdout[-500:]}")
    return done.stdout


def answers(address):
    """Whether somebody accepts connections there."""
    host, port = address.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 1).close()
    except OSError:
        return False
    return True


class Stack:
    def __init__(self, directory):
        self.dir = pathlib.Path(directory)
        self.bin = pathlib.Path(os.environ["RAIN_BIN"])
        self.env = dict(line.split("=", 1) for line in
                        (self.dir / "env").read_text().splitlines())
        self.worker = None  # the settle-worker, if it was started here
        self.began = int(time.time())
        self.users = 0
        self.names = 0

    # Processes.

    def pid(self, name):
        return int((self.dir / PROCESSES[name]).read_text())

    def processes(self):
        """Names and pids; a broker that others use too has none."""
        return {name: self.pid(name) for name, file in PROCESSES.items()
                if (self.dir / file).exists()}

    def stop_worker(self):
        """The settle-worker ends; wins wait in Kafka."""
        pid = self.pid("settle-worker")
        os.kill(pid, signal.SIGTERM)
        if self.worker is not None:
            self.worker.wait(60)
        self.until("the settle-worker to stop",
                   lambda: not pathlib.Path(f"/proc/{pid}").exists())

    def start_worker(self, *options):
        with open(self.dir / "settle-worker.log", "ab") as log:
            self.worker = subprocess.Popen(
                [self.bin / "settle-worker", "--config",
                 self.dir / "settle-worker.ini", *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        (self.dir / PROCESSES["settle-worker"]).write_text(
            f"{self.worker.pid}\n")

    def ready(self):
        """Everybody has found the settle-worker that was started anew."""
        self.ctl("doctor", "--quiet", "--wait", 60)

    def assigned_at(self):
        """When the settle-worker last began to consume."""
        lines = [line for line in
                 (self.dir / "settle-worker.log").read_text().splitlines()
                 if " event=assigned " in line]
        at = lines[-1].split(" ", 1)[0].removeprefix("ts=")
        return datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp()

    @contextmanager
    def worker_paused(self):
        """The settle-worker stands still."""
        pid = self.pid("settle-worker")
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    @contextmanager
    def gateway_beside(self, conns):
        """Another gateway, for so many connections: (pid, address)."""
        address, http = (f"127.0.0.1:{port}"
                         for port in self.ctl("ports", 2).split())
        with open(self.dir / "gateway-beside.log", "ab") as log:
            server = subprocess.Popen(
                [self.bin / "rain-gateway", "--config",
                 self.dir / "rain-gateway.ini",
                 "--set", f"gateway.listen={address}",
                 "--set", f"http.listen={http}",
                 "--set", f"gateway.connections_max={conns}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.until("another gateway to answer",
                       lambda: answers(address), 20)
            yield server.pid, address
        finally:
            server.terminate()
            server.wait(60)

    # Activities.

    def ctl(self, *words):
        return run(self.bin / "rainctl", "--config",
                   self.dir / "rainctl.ini", *words)

    def name(self, kind):
        self.names += 1
        return f"{kind}-{self.began}-{self.names}"

    def create(self, name, packets):
        """Each packet 2.00 on average; the lists go when it is settled."""
        plan = self.dir / f"bench-{packets}.ini"
        if not plan.exists():
            plan.write_text("[activity]\nsponsor = sponsor:bench\n"
                            f"total = {2 * packets}.00\n"
                            f"packets = {packets}\nkeep_days = 0\n")
        self.ctl("activity", "create", "-f", plan, name)

    def opened(self, name, packets):
        self.create(name, packets)
        self.ctl("activity", "preload", name)
        self.ctl("activity", "open", name)

    def finish(self, name, winners, cents):
        """Close it; nothing counts before every cent has its place."""
        self.ctl("activity", "close", name)
        self.until(f"{name} to be settled",
                   lambda: self.state(name) == "SETTLED", 300)
        row = self.ledger(
            "SELECT funded_amount, credited_amount, refunded_amount,"
            " held_amount, final_claims, total_amount FROM red_packet_info"
            " WHERE activity_id = ?", name)[0]
        funded, credited, refunded, held, claims, total = row
        records = self.ledger(
            "SELECT count(*), count(DISTINCT account), sum(amount)"
            " FROM red_packet_record JOIN red_packet_info USING (activity)"
            " WHERE activity_id = ?", name)[0]
        if not (funded == total == credited + refunded and held == 0 and
                claims == winners and cents == credited and
                records == (winners, winners, cents or None)):
            raise Failed(f"the money of {name} does not add up: funded "
                         f"{funded} of {total}, credited {credited}, refunded "
                         f"{refunded}, held {held}, {claims} claims, records "
                         f"{records}; the users were told {winners} packets "
                         f"with {cents}")

    def state(self, name):
        return json.loads(self.ctl("--json", "activity", "show",
                                   name))["state"]

    def ledger(self, query, *values):
        db = sqlite3.connect(f"file:{self.dir}/ledger.db?mode=ro", uri=True)
        try:
            return db.execute(query, values).fetchall()
        finally:
            db.close()

    # What the services say of themselves.

    def metric(self, service, line):
        page = urllib.request.urlopen(
            f"http://{self.env[service + '_http']}/metrics", timeout=10)
        return sum(float(text.rsplit(" ", 1)[1])
                   for text in page.read().decode().splitlines()
                   if text.startswith(line))

    def credited(self, name):
        rows = self.ledger("SELECT credited_packet FROM red_packet_info"
                           " WHERE activity_id = ?", name)
        return rows[0][0] if rows else 0  # it has not heard of it yet

    def wait_credited(self, name, winners, seconds=300):
        self.until(f"{winners} wins of {name} to be credited",
                   lambda: self.credited(name) == winners, seconds)

    def until(self, what, true, seconds=60):
        deadline = time.monotonic() + seconds
        while not true():
            if time.monotonic() > deadline:
                raise Failed(f"waited {seconds} s for {what}")
            time.sleep(0.02)

    # Redis.

    def redis(self, *words, **options):
        return run("redis-cli", "-p", self.env["redis_port"], *words,
                   **options).strip()

    def script_calls(self):
        said = self.redis("INFO", "commandstats")
        return sum(int(n) for n in re.findall(
            r"cmdstat_(?:evalsha|eval|fcall):calls=(\d+)", said))

    # The generator.

    def rainbench(self, address, *options):
        """Run it against an address; its report."""
        report = json.loads(run(
            self.bin / "rainbench", "--target", f"tcp://{address}", "--json",
            "--quiet", *options))
        if report.get("wrong_answers", 0) or report.get("lost", 0):
            raise Failed(f"wrong or lost answers: {report}")
        return report

    def tap(self, *options):
        """Taps on the gateway."""
        return self.rainbench(self.env["gateway"], "--keys",
                              self.dir / "keys", *options)

    def first_user(self, count):
        """Users that have never tapped."""
        self.users += count
        return self.users - count

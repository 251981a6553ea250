"""A real rain-gateway as a process, without services unless it is told of some."""

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

BIN = os.environ["RAIN_BIN"]
SOON_S = 60


def wait_for(what, condition):
    end = time.monotonic() + SOON_S
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"not within {SOON_S} s: {what}")
        time.sleep(0.02)


class Gateway:
    def __init__(self, folder, *settings, files=None):
        self.log_path = os.path.join(folder, "log")

        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

        with open(self.log_path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [os.path.join(BIN, "rain-gateway"),
                 "--set=gateway.listen=127.0.0.1:0",
                 "--set=http.listen=127.0.0.1:0",
                 "--set=grab.addresses=127.0.0.1:1",
                 "--set=ledger.addresses=127.0.0.1:1"] +
                [s if s.startswith("--") else "--set=" + s for s in settings],
                stdout=log, stderr=log, preexec_fn=limit if files else None)
        self.wait_log("event=started")
        text = self.log()
        self.port = int(re.search(
            r'gateway serves" listen=127\.0\.0\.1:(\d+)', text).group(1))
        self.http = int(re.search(
            r'http listens" addr=127\.0\.0\.1:(\d+)', text).group(1))

    def log(self):
        with open(self.log_path, encoding="utf-8") as log:
            return log.read()

    def wait_log(self, part, times=1):
        wait_for(part, lambda: self.process.poll() is None
                 and self.log().count(part) >= times)

    def page(self, path):
        with urllib.request.urlopen(
                f"http://127.0.0.1:{self.http}{path}", timeout=SOON_S) as page:
            return page.read().decode()

    def metric(self, name):
        found = re.search(rf"^{re.escape(name)} (\S+)$", self.page("/metrics"),
                          re.M)
        return float(found.group(1))

    def refused(self, reason):
        return self.metric(f'rain_gateway_refused_total{{reason="{reason}"}}')

    def connections(self):
        return self.metric("rain_gateway_connections")

    def resident(self):
        return self.metric("process_resident_memory_bytes")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(SOON_S) != 0:
            sys.exit("the gateway did not end well:\n" + self.log())


@contextlib.contextmanager
def gateway(*settings, files=None):
    with tempfile.TemporaryDirectory() as folder:
        g = Gateway(folder, *[s.replace("DIR", folder) for s in settings],
                    files=files)
        try:
            yield g
            g.end()
        finally:
            if g.process.poll() is None:
                print(g.log()[-2000:])
                g.process.kill()

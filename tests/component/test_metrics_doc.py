"""The lists of metrics in docs/operations.md and docs/ledger.md are what the
services show on /metrics, name by name."""

import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

BIN = os.environ["RAIN_BIN"]
SOURCE = os.environ["RAIN_SOURCE"]
PORT_OF = re.compile(r'event="http listens" addr=127\.0\.0\.1:(\d+)')
SOON_S = 20


def names_on_page(program, settings):
    """Start program, read the families of its page and the reasons why it
    refuses, end it."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        with open(log, "w", encoding="utf-8") as out:
            process = subprocess.Popen(
                [os.path.join(BIN, program), "--set=http.listen=127.0.0.1:0"]
                + ["--set=" + s.replace("DIR", folder) for s in settings],
                stdout=out, stderr=out)
        try:
            end = time.monotonic() + SOON_S
            text = ""
            # Whoever registers metrics has done so when it has started.
            while "event=started" not in text:
                if process.poll() is not None or time.monotonic() > end:
                    sys.exit(f"{program} does not start:\n{text}")
                time.sleep(0.02)
                with open(log, encoding="utf-8") as lines:
                    text = lines.read()
            port = PORT_OF.search(text).group(1)
            with urllib.request.urlopen(
                    f"http://127.0.0.1:{port}/metrics", timeout=SOON_S) as page:
                body = page.read().decode()
        finally:
            process.kill()
            process.wait()
    return (set(re.findall(r"^# HELP (\S+) ", body, re.M)),
            set(re.findall(r'_refused_total{reason="([a-z_]+)"}', body)))


def names_in_section(page, title):
    """What the first column of the tables below title names."""
    with open(os.path.join(SOURCE, "docs", page), encoding="utf-8") as file:
        text = file.read()
    level = title.split(" ")[0]
    start = text.index("\n" + title + "\n") + len(title) + 2
    end = re.search(rf"^#{{1,{len(level)}}} ", text[start:], re.M)
    section = text[start:start + end.start()] if end else text[start:]
    names = set()
    for row in re.findall(r"^\| (`[^|]*) \|", section, re.M):
        names |= set(re.findall(r"`([a-z_]+)", row))
    return names


def main():
    every = names_in_section("operations.md", "### Every service")
    why = names_in_section("operations.md", "#### Why a gateway refuses")
    gateway = names_in_section("operations.md", "### rain-gateway") - why
    grab = names_in_section("operations.md", "### grab-service")
    settle = names_in_section("ledger.md", "## Watching") | {
        n for n in grab if n.startswith(("rain_kafka_", "rain_dubbo_server_"))}
    kafka = "kafka.bootstrap.servers=127.0.0.1:1"
    nobody = ["redis.url=unix:DIR/redis", "ledger.addresses=unix:DIR/ledger"]
    bad = False
    for program, settings, listed in (
            ("rain-gateway", ["gateway.trust_plain_users=true",
                              "gateway.listen=127.0.0.1:0"], gateway),
            ("grab-service", [kafka, "grab.listen=unix:DIR/grab"] + nobody,
             grab),
            ("settle-worker", [kafka, "ledger.listen=unix:DIR/listen",
                               "ledger.path=DIR/ledger.db"], settle)):
        shown, reasons = names_on_page(program, settings)
        if reasons != (why if program == "rain-gateway" else set()):
            bad = True
            print(f"{program} refuses for {sorted(reasons)}, docs list "
                  f"{sorted(why)}")
        for name in sorted(shown - listed - every):
            bad = True
            print(f"{program} shows {name}, docs do not list it")
        for name in sorted((listed | every) - shown):
            bad = True
            print(f"docs list {name}, {program} does not show it")
    sys.exit(1 if bad else 0)


main()

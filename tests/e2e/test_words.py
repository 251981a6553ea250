"""./rain demo as people use it: two at once, and Ctrl-C in the middle. Nothing
may be left running, and no directory."""

import os
import pathlib
import signal
import subprocess
import sys
import time

SOURCE = pathlib.Path(os.environ["RAIN_SOURCE"])
RUNS = SOURCE / "build" / "run"
SMALL = ["--users", "3000", "--at-once", "500"]


def start():
    """A demo in a process group of its own, as a terminal would start it."""
    env = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith("RAIN_") and k not in ("KAFKA_BOOTSTRAP", "REDIS_URL")
    }
    return subprocess.Popen(
        ["./rain", "demo", *SMALL],
        cwd=SOURCE,
        env=env,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def stacks():
    return set(RUNS.glob("stack.*"))


def strays(before):
    """Command lines of processes that a stack of this test left."""
    found = []
    for proc in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (proc / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if f"{RUNS}/stack." in line and not any(str(b) in line for b in before):
            found.append(line)
    return found


def expect_clean(before, what):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and (stacks() - before or strays(before)):
        time.sleep(0.1)
    if stacks() - before or strays(before):
        sys.exit(f"{what} left {stacks() - before} and {strays(before)}")


def finish(demo):
    out, _ = demo.communicate(timeout=180)
    good = "books: exact" in out and "verify: all 20000 packets proven" in out
    if demo.returncode != 0 or not good:
        sys.exit(f"a demo failed with {demo.returncode}:\n{out}")


def main():
    before = stacks()
    demos = [start(), start()]
    for demo in demos:
        finish(demo)
    expect_clean(before, "two demos at once")
    print("two demos at once: both exact, nothing left")

    demo = start()
    for line in demo.stdout:
        if "users done" in line:
            break
    os.killpg(demo.pid, signal.SIGINT)
    out, _ = demo.communicate(timeout=60)
    if demo.returncode == 0:
        sys.exit(f"an interrupted demo says that it went well:\n{out}")
    expect_clean(before, "Ctrl-C")
    print("Ctrl-C in the middle: nothing left")


main()

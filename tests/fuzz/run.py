#!/usr/bin/env python3
"""Lets libFuzzer look for inputs that break a target.

usage: run.py TARGET CORPUS FOLDER SECONDS
       run.py --line NAME FILE     print FILE as a line for a corpus

TARGET is a program fuzz_NAME, CORPUS its file of lines NAME HEX (those called
found_N came from a fuzzer, the others from a person). What it finds
is kept in FOLDER, never in the tree: found/ has inputs that reach new code,
crash-* those that break something; fuzz_replay_NAME FILE runs one of them.
"""
import os
import sys

# Longer inputs make it slower and find nothing more: the limits beyond this
# have unit tests.
INPUT_MAX = 5000
# A configuration of many bad lines costs a millisecond for nothing new.
INPUT_MAX_OF = {"fuzz_config": 400, "fuzz_plan_file": 600,
                "fuzz_redis_reply": 2000, "fuzz_token_keys": 800,
                # Quadratic where a stream comes byte by byte.
                "fuzz_app_frame": 1000, "fuzz_dubbo_stream": 1000,
                "fuzz_address": 600}
SECONDS_EACH = 10  # for one input: it hangs


def expand(corpus, folder):
    """Each line of the corpus as a file; old ones that have no line go."""
    os.makedirs(folder, exist_ok=True)
    names = set()
    with open(corpus, encoding="ascii") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                name, text = line.rstrip("\n").split(" ")
                names.add(name)
                with open(os.path.join(folder, name), "wb") as out:
                    out.write(bytes.fromhex(text))
    for name in set(os.listdir(folder)) - names:
        os.remove(os.path.join(folder, name))


def run(target, corpus, folder, seconds):
    seeds = os.path.join(folder, "seeds")
    found = os.path.join(folder, "found")
    expand(corpus, seeds)
    os.makedirs(found, exist_ok=True)
    # Freed memory that stays unused for long makes every allocation a new page;
    # filling them, and a stack for each, costs as much again.
    os.environ["ASAN_OPTIONS"] = ":".join(filter(None, [
        os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=8",
        "malloc_context_size=4", "max_malloc_fill_size=64"]))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    longest = INPUT_MAX_OF.get(os.path.basename(target), INPUT_MAX)
    # libFuzzer writes into the first of its folders.
    os.execv(target, [target, f"-max_total_time={seconds}",
                      f"-max_len={longest}", f"-timeout={SECONDS_EACH}",
                      f"-artifact_prefix={folder}/", "-print_final_stats=1",
                      "-verbosity=1", found, seeds])


def main(argv):
    if len(argv) == 4 and argv[1] == "--line":
        with open(argv[3], "rb") as f:
            print(argv[2], f.read().hex())
        return 0
    if len(argv) != 5:
        print(__doc__, file=sys.stderr)
        return 2
    run(argv[1], argv[2], os.path.abspath(argv[3]), int(argv[4]))
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))

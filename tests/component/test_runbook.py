"""docs/runbook.md names every error that a service logs, and nothing in it is
made up: what it calls a metric is listed in the other pages, and what it calls
a log line is in the code."""

import os
import re
import sys

SOURCE = os.environ["RAIN_SOURCE"]
FOLDERS = ("lib", "gateway", "grab-service", "settle-worker")
LITERAL = r'((?:"[^"]*"\s*)+)'


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def joined(literals):
    """The text of adjacent C string literals."""
    return "".join(re.findall(r'"([^"]*)"', literals))


def code():
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(SOURCE, folder)):
            for name in names:
                if name.endswith(".c"):
                    yield read(os.path.relpath(os.path.join(where, name),
                                               SOURCE))


def main():
    page = re.sub(r"\s+", " ", read("docs", "runbook.md"))
    listed = read("docs", "operations.md") + read("docs", "ledger.md") + read(
        "docs", "redis.md")
    errors = set()
    texts = []
    for text in code():
        errors |= {joined(m) for m in re.findall(rf"log_error\(\s*{LITERAL}",
                                                 text)}
        texts += [joined(m) for m in re.findall(LITERAL, text)]
    bad = [f"the runbook does not name the error `{e}`"
           for e in sorted(errors) if f"`{e}`" not in page]
    for name in sorted(set(re.findall(r"`(rain_[a-z_]+)", page))):
        if name not in listed:
            bad.append(f"the runbook names {name}, no page lists it")
    known = "\n".join(texts)
    for line in sorted(set(re.findall(r"log ((?:`[^`]+`(?:, | and )?)+)",
                                      page))):
        for event in re.findall(r"`([^`]+)`", line):
            if event not in known:
                bad.append(f"the runbook names a log line `{event}`, "
                           "no code writes it")
    if not errors:
        bad.append("found no errors in the code: this test is broken")
    print("\n".join(bad))
    sys.exit(1 if bad else 0)


main()

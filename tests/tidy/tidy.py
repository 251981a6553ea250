#!/usr/bin/env python3
"""House rules as a test: walks the tree and names FILE:LINE of every breach.

usage: tidy.py ROOT     exit 0: clean, 1: breaches, 2: nothing to check

A rule is a function of a File that yields (line, sentence). rules_c.py has
those about C, rules_text.py the others; test_tidy.py breaks each on purpose.
"""
import os
import subprocess
import sys

import rules_c
import rules_text

# Never part of the tree, should there be no git to ask.
SKIPPED_FOLDERS = {".git", "build", ".cache", "__pycache__", "node_modules"}
BINARY_BYTES = 1 << 20


class File:
    """One text file: its path from the root, and its content."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.lines = text.split("\n")
        if self.lines[-1] == "":
            self.lines.pop()
        self.ext = os.path.splitext(path)[1]


def from_git(root):
    """Paths that git knows or would add, None if this is no work tree."""
    try:
        out = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"], check=True, capture_output=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return [p.decode() for p in out.split(b"\0") if p]


def from_walk(root):
    paths = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f not in SKIPPED_FOLDERS]
        for name in names:
            paths.append(os.path.relpath(os.path.join(folder, name), root))
    return paths


def load(root):
    """The text files of the tree, in order."""
    has_git = os.path.exists(os.path.join(root, ".git"))
    paths = (from_git(root) if has_git else None) or from_walk(root)
    files = []
    for path in sorted(set(paths)):
        full = os.path.join(root, path)
        if not os.path.isfile(full) or os.path.islink(full):
            continue
        with open(full, "rb") as f:
            data = f.read(BINARY_BYTES + 1)
        if b"\0" in data or len(data) > BINARY_BYTES:
            continue
        files.append(File(path, data.decode("utf-8", "replace")))
    return files


def check(root):
    """All breaches as (path, line, sentence), and how many files were read."""
    files = load(root)
    breaches = []
    for f in files:
        for rule in rules_text.RULES + rules_c.RULES:
            breaches += [(f.path, line, what) for line, what in rule(f)]
    return sorted(set(breaches)), len(files)


def main(argv):
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    breaches, count = check(argv[1])
    for path, line, what in breaches:
        print(f"{path}:{line}: {what}")
    print(f"{count} files, {len(breaches)} breaches")
    # A check that looks at nothing has not passed.
    if count == 0:
        return 2
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

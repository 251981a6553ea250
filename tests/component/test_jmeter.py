"""deploy/jmeter/grab.jmx holds together, without JMeter: its columns are those of
`rainctl messages`, and its requests, in frames as JMeter makes them, are answered by a
real gateway as its assertions demand. There is no grab-service: grabs are BUSY."""

import csv
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

from gateway_process import BIN, SOON_S, gateway
from wire import fields, number, text

FOLDER = pathlib.Path(os.environ["RAIN_SOURCE"], "deploy", "jmeter")
HELLO_REPLY, GRAB_REPLY, ERROR = 2, 3, 8    # fields of ServerMessage
WON, BUSY = 1, 11
HELLO_FIRST, BAD_TOKEN = 4, 5


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"expected {what} to be {wanted!r}, it is {got!r}")


# ---- The plan ----

def below(tree):
    """The elements of a hashTree, each with the hashTree that follows it."""
    return list(zip(tree[0::2], tree[1::2]))


def values(element):
    return {prop.get("name"): prop.text or "" for prop in element
            if prop.tag.endswith("Prop")}


class Request:
    """A TCPSampler and what is demanded of its answer."""

    def __init__(self, element, tree):
        self.name = element.get("testname")
        self.values = values(element)
        for child, _ in below(tree):
            if child.tag == "ResponseAssertion":
                kind = values(child)
                expect("what is looked at", kind["Assertion.test_field"],
                       "Assertion.response_data")
                expect("how: all of it matches", kind["Assertion.test_type"], "1")
                (self.pattern,) = [p.text for p in child.find("collectionProp")]
            if child.tag == "RegexExtractor":
                self.status = values(child)["RegexExtractor.regex"]

    def good(self, answer):
        return re.fullmatch(self.pattern, answer.hex()) is not None

    def message(self, row):
        return bytes.fromhex(re.sub(r"\$\{(\w+)\}", lambda m: row[m[1]],
                                    self.values["TCPSampler.request"]))


class Plan:
    def __init__(self):
        self.text = (FOLDER / "grab.jmx").read_text(encoding="utf-8")
        ((_, tree),) = below(xml.fromstring(self.text)[0])
        ((_, tree),) = below(tree)
        parts = below(tree)
        (columns,) = [e for e, _ in parts if e.tag == "CSVDataSet"]
        self.columns = values(columns)["variableNames"].split(",")
        (config,) = [e for e, _ in parts if e.tag == "ConfigTestElement"]
        self.config = values(config)
        self.requests = [Request(*p) for p in parts if p[0].tag == "TCPSampler"]
        # JMeter's default of 2 stays unless the plan sets it.
        self.prefix = int(re.search(
            r"\{__setProperty\(tcp\.binarylength\.prefix\.length,(\d+),\)\}",
            self.text)[1])


def check_plan(plan):
    expect("requests", [r.name for r in plan.requests], ["hello", "grab"])
    expect("closed after", [r.values["TCPSampler.closeConnection"]
                            for r in plan.requests], ["false", "true"])
    expect("one connection", plan.config["TCPSampler.reUseConnection"], "true")
    expect("the client", plan.config["TCPSampler.classname"].split(".")[-1],
           "LengthPrefixedBinaryTCPClientImpl")
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name, default in re.findall(r"\$\{__P\((\w+),([^)]*)\)\}", plan.text):
        expect(f"-J{name} and {default} in README.md",
               re.search(rf"\| `{name}` \|.*\| {re.escape(default)} \|", page)
               is not None, True)


def check_patterns(plan):
    """Of answers that no gateway here gives."""
    hello, grab = plan.requests
    for size in (0, 20, 100, 200, 20000):
        packet = text(1, b"p" * 20) + number(2, 250) + number(3, 1764430000000)
        won = number(1, 2) + text(GRAB_REPLY, number(1, WON) + text(2, packet) +
                                  text(4, b"m" * size))
        expect(f"WON with {size} more", grab.good(won), True)
        expect("its status", re.search(grab.status, won.hex())[1], "01")
        expect("it as a HelloReply", hello.good(won), False)
        error = text(ERROR, number(1, 9) + text(2, b"m" * size))
        for seq in (b"", number(1, 1), number(1, 2)):
            expect("an Error", hello.good(seq + error) or grab.good(seq + error),
                   False)


# ---- The messages ----

def rainctl(keys, *words, code=0):
    run = subprocess.run([f"{BIN}/rainctl", "--set", f"gateway.keys={keys}",
                          "messages", *words], text=True, capture_output=True,
                         check=False)
    expect(f"the exit of messages {words} ({run.stderr})", run.returncode, code)
    return run.stdout if code == 0 else run.stderr


def check_command(keys):
    users = [line.split(",")[0] for line in rainctl(
        keys, "night", "--users", "3", "--first-user", "9").splitlines()]
    expect("users", users, ["u-00000009", "u-00000010", "u-00000011"])
    expect("users without options", len(rainctl(keys, "night").splitlines()), 1000)
    told = json.loads(rainctl(keys, "night", "--users", "2", "--json"))
    expect("users in JSON", [user["user"] for user in told],
           ["u-00000000", "u-00000001"])
    for words, part in ((("night", "--users", "0"), "allowed: 1 to "),
                        (("night", "--key", "none"), "none"),
                        (("a b",), "an id must be")):
        said = rainctl(keys, *words, code=2)
        expect(f"{part} in {said}", part in said, True)


# ---- Both, and a gateway ----

class Connection:
    def __init__(self, plan, port):
        self.prefix = plan.prefix
        self.sock = socket.create_connection(("127.0.0.1", port), SOON_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def exactly(self, n):
        data = b""
        while len(data) < n:
            more = self.sock.recv(n - len(data))
            if not more:
                sys.exit("the gateway closed without an answer")
            data += more
        return data

    def ask(self, message):
        self.sock.sendall(len(message).to_bytes(self.prefix, "big") + message)
        return self.exactly(int.from_bytes(self.exactly(self.prefix), "big"))


def rows(plan, keys, *words):
    for cells in csv.reader(rainctl(keys, "night", *words).splitlines()):
        expect("columns", len(cells), len(plan.columns))
        yield dict(zip(plan.columns, cells))


def check_answers(plan, keys, port):
    hello, grab = plan.requests
    for row in rows(plan, keys, "--users", "5"):
        with Connection(plan, port) as connection:
            greeted = connection.ask(hello.message(row))
            tapped = connection.ask(grab.message(row))
        expect(f"{greeted.hex()} as a HelloReply", hello.good(greeted), True)
        expect("the user", fields(fields(greeted)[HELLO_REPLY])[1].decode(),
               row["user"])
        expect(f"{tapped.hex()} as a GrabReply", grab.good(tapped), True)
        expect("the status", fields(fields(tapped)[GRAB_REPLY])[1], BUSY)
        expect("its column", int(re.search(grab.status, tapped.hex())[1], 16), BUSY)
        expect("one in place of the other", hello.good(tapped) or grab.good(greeted),
               False)
    # What the gateway refuses.
    for row in rows(plan, keys, "--users", "1", "--ttl", "0"):
        for request, code in ((hello, BAD_TOKEN), (grab, HELLO_FIRST)):
            with Connection(plan, port) as connection:
                refused = connection.ask(request.message(row))
            expect("a refusal", fields(fields(refused)[ERROR])[1], code)
            expect(f"{refused.hex()} of {request.name}", request.good(refused), False)


def main():
    plan = Plan()
    check_plan(plan)
    check_patterns(plan)
    with tempfile.TemporaryDirectory() as folder:
        keys = os.path.join(folder, "keys")
        with open(keys, "w", encoding="ascii") as out:
            os.chmod(out.fileno(), 0o600)
            out.write("k HS256 user " + "QUJDREVGR0g" * 4 + "\n")
        check_command(keys)
        with gateway("gateway.keys=" + keys) as g:
            check_answers(plan, keys, g.port)


main()

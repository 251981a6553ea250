"""Rules about all text, and about Lua."""
import re

LINES_MAX = 400
COUNTED = {".c", ".h", ".lua", ".proto", ".py", ".sh", ".cmake", ".java"}

# These files must spell out what they look for.
RULEBOOK = "tests/tidy/"

# Written such that this file does not contain them itself.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
HOME_PATH = re.compile(r"(?<![\w.$}])/(?:home|Users|root)/[\w.-]+")
URL_HOST = re.compile(r"\bhttps?://(?:[^\s/@\"']*@)?([A-Za-z0-9.-]+)")
# Somebody's cache or mirror of packages, or a machine of a private network.
PRIVATE_HOST = re.compile(
    r"(^|[.-])(artifactory|nexus|registry|mirrors?|proxy|cache)([.-]|$)"
    r"|\.(internal|local|corp|lan|intra|home)$")


def file_length(f):
    if f.ext in COUNTED and len(f.lines) > LINES_MAX:
        yield LINES_MAX + 1, f"{len(f.lines)} lines, at most {LINES_MAX}"


def unfinished(f):
    if f.path.startswith(RULEBOOK):
        return
    for n, line in enumerate(f.lines, 1):
        m = UNFINISHED.search(line)
        if m:
            yield n, f"{m.group(1)}: unfinished work is an issue"


def machine_names(f):
    if f.path.startswith(RULEBOOK):
        return
    for n, line in enumerate(f.lines, 1):
        m = HOME_PATH.search(line)
        if m:
            yield n, f"{m.group(0)}: a path of one machine"
        for host in URL_HOST.findall(line):
            if PRIVATE_HOST.search(host):
                yield n, f"{host}: a host of one network"


# What a minimal Debian does not have, and deploy/sh/packages.sh does not
# install, where a shell script would run it.
NOT_INSTALLED = re.compile(
    r"(?:^|[|;&({]|\$\(|\bif|\bthen|\bdo|!)\s*(curl|wget|jq|nc|bc|lsof|netstat|xxd)\s")


def programs(f):
    if f.ext != ".sh" or f.path.startswith(RULEBOOK):
        return
    for n, line in enumerate(f.lines, 1):
        m = NOT_INSTALLED.search(line)
        if m and not line.lstrip().startswith("#"):
            yield n, f"{m.group(1)}: nobody installs it (page, metric, field)"


# Lua: a script may touch only the keys that it was given, by their names.
CALL = re.compile(r"\b(?:redis\.p?call|call|try)\s*\(\s*([^()]*)")
KEY_EXPR = re.compile(r"KEYS\[[^\]]+\]$")
NAMED_KEYS = re.compile(r"local\s+([A-Z_, ]+?)\s*=\s*unpack\(KEYS\)")
NAMED_KEY = re.compile(r"local\s+(\w+)\s*=\s*KEYS\[\d+\]")
LOOP_KEY = re.compile(r"\bfor\s+\w+,\s*(\w+)\s+in\s+"
                      r"ipairs\((?:KEYS|\{[A-Z_, .]+\})\)")
# A parameter called key: what is handed over is checked where it is named.
PARAMETER_KEY = re.compile(r"\bfunction\s*\w*\([^)]*\b(key)\b")
KEYLESS = {"TIME", "INFO", "PING"}
# What common.lua binds for the scripts and parts that are put behind it.
COMMON = {"PACKETS", "USERS", "CLAIMS", "EVENTS", "META", "RELAY"}


def lua_key_names(text):
    names = set(COMMON)
    for group in NAMED_KEYS.findall(text):
        names |= {n.strip() for n in group.split(",")}
    for pattern in (NAMED_KEY, LOOP_KEY, PARAMETER_KEY):
        names |= set(pattern.findall(text))
    return names


def lua_code(line):
    """The line without its comment; our strings hold no "--"."""
    return line.split("--", 1)[0]


def lua_randomness(f):
    if f.ext != ".lua":
        return
    for n, line in enumerate(f.lines, 1):
        if re.search(r"\bmath\.random", lua_code(line)):
            yield n, "math.random: a script must do the same everywhere"


def lua_keys(f):
    if f.ext != ".lua":
        return
    names = lua_key_names(f.text)
    for n, line in enumerate(f.lines, 1):
        for arguments in CALL.findall(lua_code(line)):
            parts = [p.strip() for p in arguments.split(",")]
            command = re.fullmatch(r"['\"](\w+)['\"]", parts[0])
            if command is None:
                yield n, f"{parts[0]}: the command must be spelled out"
            elif command.group(1).upper() in KEYLESS:
                continue
            elif len(parts) < 2 or not (parts[1] in names or
                                        KEY_EXPR.match(parts[1])):
                key = parts[1] if len(parts) > 1 else "nothing"
                yield n, f"{command.group(1)} of {key}: not one of KEYS"


RULES = [file_length, unfinished, machine_names, programs, lua_randomness, lua_keys]

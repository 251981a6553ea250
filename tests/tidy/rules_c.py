"""Rules about C: functions, calls, headers, and who may include whom."""
import re

FUNCTION_LINES_MAX = 70

# name: what to use instead.
BANNED = {
    "strcpy": "buf or snprintf",
    "strcat": "buf or snprintf",
    "sprintf": "snprintf",
    "vsprintf": "vsnprintf",
    "gets": "fgets",
    "atoi": "bytes_to_u64 or strtol",
    "atol": "bytes_to_u64 or strtol",
    "strtok": "a loop over struct bytes",
    "alloca": "xmalloc or an array",
    "usleep": "a timer, or poll for the condition",
    "sleep": "a timer, or poll for the condition",
    "system": "fork and exec",
}
BANNED_CALL = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")

# layer: the layers whose headers it may include, besides its own. Those of
# a service (and of the tools) are nobody else's.
BELOW_SERVICES = {"base", "proto", "net", "client", "lua", "token", "plan"}
MAY_INCLUDE = {
    "base": set(),
    "proto": {"base"},
    "token": {"base"},
    "plan": {"base", "proto"},
    "net": {"base", "proto"},
    "client": {"base", "proto", "net"},
    "lua": {"base", "proto", "net", "client"},
    "gateway": BELOW_SERVICES,
    "grab-service": BELOW_SERVICES,
    "settle-worker": BELOW_SERVICES,
    "console": BELOW_SERVICES,
    "bench": BELOW_SERVICES,
}
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')


def is_c(f):
    return f.ext in (".c", ".h")


def blank(text):
    return re.sub(r"[^\n]", " ", text)


TOKEN = re.compile(
    r"/\*.*?\*/|//[^\n]*"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*'", re.S)


def code_only(text):
    """The text with comments and the insides of strings blanked, line by line
    where it was."""
    return TOKEN.sub(
        lambda m: blank(m.group(0)) if m.group(0)[0] == "/" else
        m.group(0)[0] + blank(m.group(0)[1:-1]) + m.group(0)[-1], text)


def function_length(f):
    """Bodies begin and end with a brace of their own in the first column."""
    if not is_c(f):
        return
    start = None
    for n, line in enumerate(code_only(f.text).split("\n"), 1):
        if line.startswith("{"):
            start = n
        elif line.startswith("}") and start is not None:
            if n - start + 1 > FUNCTION_LINES_MAX:
                yield start, (f"a function of {n - start + 1} lines, at most "
                              f"{FUNCTION_LINES_MAX}")
            start = None


def banned_calls(f):
    if not is_c(f):
        return
    for n, line in enumerate(code_only(f.text).split("\n"), 1):
        for name in BANNED_CALL.findall(line):
            yield n, f"{name}(): use {BANNED[name]}"


def layer_of(path):
    parts = path.split("/")
    if parts[0] == "lib" and len(parts) > 2:
        return parts[1]
    return parts[0] if len(parts) > 1 else None


def layer_of_include(name, own):
    first = name.split("/")[0] if "/" in name else None
    if first is None or first == "..":
        return own  # beside the file
    return "proto" if first == "rain" else first


def includes(f):
    own = layer_of(f.path)
    if not is_c(f) or own not in MAY_INCLUDE:
        return
    allowed = MAY_INCLUDE[own] | {own}
    for n, line in enumerate(f.lines, 1):
        m = INCLUDE.match(line)
        if not m:
            continue
        if m.group(1).startswith("."):
            yield n, f'"{m.group(1)}": name the layer, not the way to it'
            continue
        layer = layer_of_include(m.group(1), own)
        if layer not in allowed:
            yield n, (f'"{m.group(1)}": {own} may include '
                      f'{", ".join(sorted(allowed))} only')


def header_opens(f):
    if f.ext == ".h" and not f.text.startswith("/**"):
        yield 1, "a header opens with /** what it is for */"


PROTOTYPE = re.compile(r"[\w*\s]*?[\w*]\s*\b\w+\s*\(")


class Declaration:
    def __init__(self, first):
        self.first = first  # line number
        self.text = ""
        self.depth = 0

    def add(self, code):
        self.text += code + "\n"
        self.depth += code.count("{") - code.count("}")

    def complete(self):
        return self.depth <= 0 and self.text.rstrip().endswith((";", "}"))

    def is_prototype(self):
        text = self.text.strip()
        return (text.endswith(";") and "{" not in text and "=" not in text
                and not text.startswith(("typedef", "_Static_assert",
                                         "static_assert"))
                and PROTOTYPE.match(text) is not None)


def prototypes_documented(f):
    """A comment, or another documented prototype, ends on the line above."""
    if f.ext != ".h":
        return
    code = code_only(f.text).split("\n")
    decl = None
    good_above = False  # what ends on the line above documents this one
    continued = False   # inside a macro
    for n, line in enumerate(f.lines, 1):
        text = code[n - 1].strip()
        macro = continued or text.startswith("#")
        continued = macro and line.rstrip().endswith("\\")
        if macro:
            good_above = False
            continue
        if decl is None and text == "":
            good_above = line.strip() != ""  # a comment, or an empty line
            continue
        if decl is None:
            decl = Declaration(n)
        decl.add(code[n - 1])
        if decl.complete():
            if decl.is_prototype() and not good_above:
                yield decl.first, "a prototype without a comment above it"
            good_above = decl.is_prototype() and good_above
            decl = None


RULES = [function_length, banned_calls, includes, header_opens,
         prototypes_documented]

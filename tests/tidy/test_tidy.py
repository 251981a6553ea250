#!/usr/bin/env python3
"""Every rule of tidy.py must fire on a planted breach, at its line, and stay
silent on a tree that is in order."""
import os
import subprocess
import tempfile
import unittest

import tidy

GOOD_HEADER = """\
/**
 * What it is for.
 */
#ifndef BASE_X_H
#define BASE_X_H

#include "base/bytes.h"

#define TWO_LINES(x) \\
	((x) + 1)

typedef void (*x_cb)(void *ctx);

struct x {
	void (*on_end)(struct x *x);
	int n; /* inside: no prototype */
};

/** Both are told by this. */
void x_init(struct x *x);
void x_close(struct x *x,
	     int why);

static inline int x_inline(int n)
{
	return n;
}

extern int x_count;
static_assert(sizeof(int) == 4, "");

#endif
"""

GOOD_LUA = """\
#!lua
-- math.random in a comment is no call('GET', 'x')
local META, USERS = unpack(KEYS)
local call = redis.call
redis.call('HGET', KEYS[2], 'a')
call('HGET', META, ARGV[1])
call('TIME')
for _, key in ipairs(KEYS) do
	call('TYPE', key)
end
"""


def c_function(lines):
    """A function whose body has this many lines, braces included."""
    return "int f(void)\n{\n" + "\tx();\n" * (lines - 2) + "}\n"


class TidyTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = self.folder.name
        self.addCleanup(self.folder.cleanup)

    def put(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as f:
            f.write(text)

    def breaches(self, path, text):
        self.put(path, text)
        found, _ = tidy.check(self.root)
        return [(p, line) for p, line, _ in found]

    def expect(self, path, text, *lines):
        self.assertEqual(self.breaches(path, text),
                         [(path, n) for n in lines])

    def test_a_tree_in_order(self):
        self.put("lib/base/x.h", GOOD_HEADER)
        self.put("lua/x.lua", GOOD_LUA)
        self.put("lib/base/x.c", c_function(70))
        self.put("README.md", "See https://redis.io/docs and ~/x.\n")
        self.expect("console/x.c", '#include "net/x.h"\n#include "x.h"\n'
                    '#include "rain/gateway.pb-c.h"\n#include <uv.h>\n')

    def test_long_file(self):
        self.expect("lib/base/x.c", "\n" * 400)
        self.expect("lib/base/x.c", "\n" * 401, 401)

    def test_long_function(self):
        self.expect("lib/base/x.c", "int x;\n" + c_function(71), 3)

    def test_banned_calls(self):
        for call in ("strcpy(a, b)", "strcat(a, b)", "sprintf(a, b)",
                     "gets(a)", "atoi(a)", "strtok(a, b)", "alloca(9)",
                     "usleep(9)", "sleep(1)", "system(a)", "sleep (1)"):
            self.expect("lib/base/x.c", f"\n\t{call};\n", 2)

    def test_calls_that_only_look_banned(self):
        self.expect("lib/base/x.c",
                    "uv_sleep(1); snprintf(a); x->system(1); // sleep(1)\n"
                    'puts("sleep(1)"); /* system(1)\nsleep(1) */ atoi;\n')

    def test_unfinished(self):
        for word in ("TO" "DO", "FIX" "ME", "XX" "X"):
            self.expect("docs/x.md", f"a\nb {word}: c\n", 2)
        self.expect("docs/x.md", "mkstemp of /tmp/a.XXXXXX, a TODOLIST\n")

    def test_header_without_purpose(self):
        self.expect("lib/base/x.h", "/* x */\n#ifndef X\n#endif\n", 1)

    def test_prototype_without_comment(self):
        head = "/** x */\n"
        self.expect("lib/base/x.h", head + "\nvoid f(int a);\n", 3)
        self.expect("lib/base/x.h", head + "\nint *f(int a,\n\tint b);\n", 3)
        self.expect("lib/base/x.h",
                    head + "/** g */\nint g(void);\n\nint f(void);\n", 5)
        self.expect("lib/base/x.h",
                    head + "/** s */\nstruct s {\n\tint a;\n};\n"
                    "int f(void);\n", 6)
        self.expect("lib/base/x.h",
                    head + "must_check printf_like(1, 2) int\nf(int a);\n")

    def test_include_directions(self):
        for path, name in (("lib/base/x.c", "net/stream.h"),
                           ("lib/base/x.c", "rain/gateway.pb-c.h"),
                           ("proto/x.c", "net/stream.h"),
                           ("lib/token/x.c", "net/stream.h"),
                           ("lib/net/x.c", "client/redis.h"),
                           ("lib/client/x.c", "token/token.h"),
                           ("lib/client/x.c", "lua/scripts.h"),
                           ("gateway/x.c", "grab-service/step.h"),
                           ("grab-service/x.c", "settle-worker/ledger.h"),
                           ("console/x.c", "lib/http_get.h"),
                           ("bench/x.c", "console/x.h"),
                           ("gateway/x.c", "../grab-service/step.h")):
            with self.subTest(path=path, name=name):
                self.setUp()
                self.expect(path, f'\n#include "{name}"\n', 2)

    def test_lua_randomness(self):
        self.expect("lua/x.lua", "local a = 1\nmath.randomseed(1)\n", 2)

    def test_lua_keys(self):
        for call in ("redis.call('GET', 'rain:x')", "redis.pcall('GET', k)",
                     "call('DEL', ARGV[1])", "try('GET', 'a' .. id)",
                     "call('DBSIZE')", "call(ARGV[1], META)",
                     "call('GET', KEYS[1] .. 'x')"):
            self.expect("lua/x.lua", f"\n{call}\n", 2)

    def test_programs_that_are_not_there(self):
        self.expect("tests/e2e/x.sh", "# curl is not there\n"
                    "page a b | grep x\n"
                    "x=$(curl -sS a)\n"
                    "echo a | jq .x\n"
                    "if wget -q a; then\n", 3, 4, 5)

    def test_machine_names(self):
        for text in ("cp /home/me/x .", "cd /root/x", "see /Users/me",
                     "https://artifactory.example.com/x",
                     "http://user:pw@npm-mirror.example.com",
                     "url=http://build.corp/x"):
            self.expect("deploy/x.sh", f"a\n{text}\n", 2)
        self.expect("deploy/x.sh", "cd $x/home/a https://maven.apache.org\n")

    def test_only_what_git_knows(self):
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.put(".gitignore", "build*/\n")
        self.put("build-x/x.c", "gets(a);\n")
        self.expect("lib/base/new.c", "gets(a);\n", 1)

    def test_an_empty_tree_has_not_passed(self):
        self.assertEqual(tidy.main(["tidy.py", self.root]), 2)


if __name__ == "__main__":
    unittest.main()

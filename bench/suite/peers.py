"""What redrain is compared with. Packages that are not there are skipped."""
import pathlib
import re
import shutil
import signal
import subprocess
import time

from machine import cpu_of
from rounds import Meter, Side
from stack import Failed, answers, run

CONNS = 200
WRK_MOST = 60000  # a second; a round with no packet left has no result

# One user a call: the step that the articles about red packet rains show.
SCRIPT = """
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then
  return redis.call('HGET', KEYS[2], ARGV[1])
end
local packet = redis.call('RPOP', KEYS[1])
if not packet then
  return false
end
local claim = cjson.decode(packet)
claim.userId = ARGV[1]
claim = cjson.encode(claim)
redis.call('HSET', KEYS[2], ARGV[1], claim)
redis.call('LPUSH', KEYS[3], claim)
return claim
"""

WRK = """
local n = 0
function request()
  n = n + 1
  return wrk.format('GET', '{path}{tag}-' .. n)
end
"""

NGINX = """
worker_processes 1;
daemon off;
pid {dir}/nginx.pid;
error_log {dir}/nginx.log;
{modules}
events {{ worker_connections 2048; }}
http {{
  access_log off;
  lua_package_path "/usr/share/lua/5.1/?.lua;;";
  client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy;
  fastcgi_temp_path {dir}/fastcgi; uwsgi_temp_path {dir}/uwsgi;
  scgi_temp_path {dir}/scgi;
  server {{
    listen 127.0.0.1:{port} backlog=1024;
    location /grab/ {{
      default_type text/plain;
      content_by_lua_block {{
        local user = string.sub(ngx.var.uri, 7)
        local redis = ngx.socket.tcp()
        redis:settimeout(5000)
        local ok, why = redis:connect('127.0.0.1', {redis})
        if not ok then ngx.status = 502; ngx.say(why); return end
        local words = {{ 'EVALSHA', '{sha}', '3', 'peer:packets',
          'peer:users', 'peer:claims', user }}
        local text = {{ '*7\\r\\n' }}
        for i, word in ipairs(words) do
          text[i + 1] = '$' .. #word .. '\\r\\n' .. word .. '\\r\\n'
        end
        redis:send(text)
        local head = redis:receive('*l')
        local size = tonumber(string.match(head or '', '^%$(%d+)'))
        if not size then ngx.status = 404; ngx.say(head); return end
        local claim = redis:receive(size)
        redis:receive(2)
        redis:setkeepalive(60000, 256)
        ngx.say(claim)
      }}
    }}
  }}
}}
"""


class Skipped(Exception):
    """This peer is not installed, with what is missing."""


def needed(*programs):
    for program in programs:
        if shutil.which(program) is None:
            raise Skipped(f"{program} is not installed")


class Peers:
    def __init__(self, stack, seconds):
        self.stack = stack
        self.seconds = seconds
        self.rates = {}  # calls a second that were measured
        self.runs = 0
        self.sha = stack.redis("SCRIPT", "LOAD", SCRIPT)

    def fill(self, packets):
        """Fresh packets for the script, pushed a thousand at a time."""
        self.stack.redis("UNLINK", "peer:packets", "peer:users", "peer:claims")
        script = ("for i = 1, ARGV[1] do redis.call('LPUSH', KEYS[1], "
                  "'{\"redPacketId\":\"36562861788' .. (ARGV[2] + i) .. "
                  "'\",\"amount\":\"12.21\"}') end")
        for first in range(0, packets, 10000):
            self.stack.redis("EVAL", script, 1, "peer:packets",
                             min(10000, packets - first), 1000000 + first)
        self.filled = packets

    def books(self):
        """Every packet is left or has one user; how many have."""
        left, users, claims = (int(self.stack.redis(*words)) for words in (
            ("LLEN", "peer:packets"), ("HLEN", "peer:users"),
            ("LLEN", "peer:claims")))
        if users != claims or left + claims != self.filled or left == 0:
            raise Failed(f"the peer's packets do not add up: {left} left, "
                         f"{users} users, {claims} claims of {self.filled}")
        return claims

    def raw(self, pipeline=1):
        """Straight to Redis with redis-benchmark: calls a second."""
        needed("redis-benchmark")
        calls = int(self.rates.get(pipeline, 20000) * self.seconds)
        self.fill(calls + 1000)
        redis = Meter({"redis": self.stack.pid("redis")})
        said = run("redis-benchmark", "-p", self.stack.env["redis_port"],
                   "-c", 50, "-P", pipeline, "-n", calls, "-r", 10**9, "-q",
                   "EVALSHA", self.sha, 3, "peer:packets", "peer:users",
                   "peer:claims", "user-__rand_int__")
        rates = re.findall(r"([\d.]+) requests per second", said)
        if not rates:
            raise Failed(f"redis-benchmark said {said[-200:]!r}")
        side = Side(float(rates[-1]), self.books(), redis.used())
        self.rates[pipeline] = side.value
        return side

    def raw_cpu(self):
        """CPU microseconds of Redis for a win, 64 in one packet."""
        side = self.raw(64)
        side.value = 1e6 * side.cpu["redis"] / side.taps
        return side

    # Over HTTP.

    def wrk(self, port, path):
        needed("wrk")
        self.runs += 1
        script = self.stack.dir / "wrk.lua"
        script.write_text(WRK.replace("{path}", path).replace(
            "{tag}", f"u{self.runs}"))
        self.fill(int(WRK_MOST * self.seconds) + 1000)
        meter = Meter({"redis": self.stack.pid("redis")})
        said = run("wrk", "-t1", f"-c{CONNS}",
                   f"-d{max(1, round(self.seconds))}s", "-s", script,
                   f"http://127.0.0.1:{port}/")
        rate = re.search(r"Requests/sec:\s+([\d.]+)", said)
        if rate is None or "Non-2xx" in said:
            raise Failed(f"wrk said {said[-300:]!r}")
        return Side(float(rate.group(1)), self.books(), meter.used())

    def port(self):
        return int(self.stack.ctl("ports", 1).split()[0])

    def webdis(self):
        needed("webdis", "wrk")
        port = self.port()
        config = self.stack.dir / "webdis.json"
        config.write_text(
            '{"redis_host": "127.0.0.1", "redis_port": %s, "http_host": '
            '"127.0.0.1", "http_port": %d, "threads": 1, "pool_size": 20, '
            '"daemonize": false, "verbosity": 0, "logfile": "%s/webdis.log"}'
            % (self.stack.env["redis_port"], port, self.stack.dir))
        path = (f"/EVALSHA/{self.sha}/3/peer:packets/peer:users/peer:claims/")
        return self.http(["webdis", config], port, path)

    def nginx(self):
        needed("nginx", "wrk")
        modules = pathlib.Path("/usr/lib/nginx/modules")
        wanted = ["ndk_http_module.so", "ngx_http_lua_module.so"]
        if not all((modules / name).exists() for name in wanted):
            raise Skipped("libnginx-mod-http-lua is not installed")
        port = self.port()
        config = self.stack.dir / "nginx.conf"
        config.write_text(NGINX.format(
            dir=self.stack.dir, port=port, sha=self.sha,
            redis=self.stack.env["redis_port"], modules="\n".join(
                f"load_module {modules / name};" for name in wanted)))
        return self.http(["nginx", "-c", config], port, "/grab/")

    def http(self, command, port, path):
        with Running(command, port, self.stack):
            return self.wrk(port, path)

    # The limit of one loop that does nothing.

    def echo(self, *options):
        """Frames a second of rain-echo: the same generator."""
        port = self.port()
        command = [self.stack.bin / "rain-echo", "--listen",
                   f"127.0.0.1:{port}", "--loops", 2]
        with Running(command, port, self.stack) as server:
            before = cpu_of(server.pid)
            report = self.stack.rainbench(
                f"127.0.0.1:{port}", "--echo", "--conns", CONNS, "--duration",
                f"{self.seconds * 1000:.0f}ms", *options)
            cpu = {"echo": cpu_of(server.pid) - before,
                   "generator": report["generator_cpu_seconds"]}
        side = Side(report["per_second"], report["answers"], cpu)
        side.notes["p99"] = report["latency_ms"]["p99"]
        return side

    def echo_cpu(self):
        side = self.echo("--in-flight", 4)
        side.value = 1e6 * side.cpu["echo"] / side.taps
        return side

    def echo_p99(self, rate):
        side = self.echo("--rate", int(rate))
        side.value = side.notes["p99"]
        return side

    # What fills a list.

    def pipe(self, packets):
        """Packets a second of redis-cli --pipe: LPUSH, a thousand each."""
        commands = self.stack.dir / "pipe.resp"
        with open(commands, "wb") as out:
            for first in range(0, packets, 1000):
                words = [b"LPUSH", b"peer:pipe"] + [
                    b'{"redPacketId":"3656286178%09d","amount":"%d.%02d"}' %
                    (i, i % 4, i % 100)
                    for i in range(first, min(first + 1000, packets))]
                out.write(b"*%d\r\n" % len(words) + b"".join(
                    b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        began = time.monotonic()
        with open(commands, "rb") as commands_in:
            self.stack.redis("--pipe", stdin=commands_in)
        took = time.monotonic() - began
        length = int(self.stack.redis("LLEN", "peer:pipe"))
        self.stack.redis("UNLINK", "peer:pipe")
        commands.unlink()
        if length != packets:
            raise Failed(f"redis-cli --pipe left {length} of {packets}")
        return Side(packets / took, packets)


class Running:
    """A server, from when it answers until it is not needed any more."""

    def __init__(self, command, port, stack):
        self.command = [str(word) for word in command]
        self.port = port
        self.stack = stack

    def __enter__(self):
        self.server = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.stack.until(f"{self.command[0]} to answer",
                         lambda: answers(f"127.0.0.1:{self.port}"), 20)
        return self.server

    def __exit__(self, *_):
        self.server.send_signal(signal.SIGTERM)
        self.server.wait(10)

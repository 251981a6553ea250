#include "bench/options.h"

static const char *const lines[] = {
	"rainbench: taps on a gateway as an audience does, and measures what comes back",
	"",
	"usage: rainbench --target tcp://HOST:PORT --keys FILE --activity ID [OPTION]...",
	"       rainbench --target tcp://HOST:PORT --echo [OPTION]...",
	"       rainbench --target tcp://HOST:PORT --keys FILE --idle --conns N",
	"",
	"What it talks to",
	"  --target ADDRESS    tcp://HOST:PORT of a gateway; several with commas",
	"  --keys FILE         the gateway's key file with a key that signs; tokens are made from it",
	"  --activity ID       of an activity; may repeat",
	"  --activities N      with --activity night%d: night1 to nightN",
	"  --echo              the target is rain-echo, the limit that a gateway is compared with",
	"",
	"How it taps",
	"  --rate R            open loop: R taps a second whatever comes back; latency counts",
	"                      from when a tap was due",
	"  --in-flight K       closed loop, which is the default: each connection has K taps open [1]",
	"  --conns N           connections [50]",
	"  --front             connections carry all users (the key must have the scope front);",
	"                      without it each is one user, and begins anew as the next user when",
	"                      that one has tapped enough",
	"  --users N           distinct users [--front: 1000000, else one for each connection]",
	"  --first-user N      number of the first [0]: users are u-00000000, u-00000001, ...",
	"  --taps N            of each user in each activity [no end]; all tap the first activity,",
	"                      then all the next one, and so on",
	"  --retry WHEN        who is refused taps again: never, honour (when told to), ignore",
	"                      (at once) [never]",
	"  --not-after TIME    after which a tap is worth nothing [what the gateway says]",
	"  --in-step           the connections of a thread wait for one another before each tap",
	"  --uncached          taps say that the user may have won already: no answer is from a cache",
	"  --idle              no taps: hold the connections, and say how many are held",
	"",
	"How long (TIME is 10, 10s, 500ms or 2m)",
	"  --duration TIME     in all [10s]; 0: until all users have tapped",
	"  --warmup TIME       of this, not measured [0]",
	"  --ramp TIME         the rate rises from 0, or the connections begin one after the other [0]",
	"  --threads N         of the generator [1]",
	"",
	"What it tells",
	"  --watch NAME=PID    what this process uses of the processors meanwhile; may repeat",
	"  --json              one JSON object on standard output, in place of text for people",
	"  --hgrm FILE         the latencies for HdrHistogram's plotters, in ms",
	"  --quiet             no progress on standard error",
	"  --help              this",
	"",
	"exit: 0 measured, 1 no result or a wrong answer, 2 wrong usage. SIGTERM and Ctrl-C end",
	"the run as if its time was over.",
};

void options_help(FILE *out)
{
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		(void)fprintf(out, "%s\n", lines[i]);
	}
}

#include "fault/foreign.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "fault/schedule.h"
#include "fault/world_internal.h"

enum {
	PUSH_MS = 10000,
	AT_ONCE = 100,   /* packets of one LPUSH */
	CENTS_MAX = 599, /* of a packet: some three on the average */
};

struct push {
	char port[16];
	char key[96];
	char packets[AT_ONCE][80];
	const char *args[AT_ONCE + 7];
	size_t count;
};

static bool push(struct world *w, struct push *p)
{
	static const char *const head[] = { "redis-cli", "-e", "-p" };
	struct child c = { 0 };
	size_t n = 0;
	int code;

	for (; n < 3; n++) {
		p->args[n] = head[n];
	}
	p->args[n++] = p->port;
	p->args[n++] = "LPUSH";
	p->args[n++] = p->key;
	for (size_t i = 0; i < p->count; i++) {
		p->args[n++] = p->packets[i];
	}
	p->args[n] = NULL;
	p->count = 0;
	code = world_run(w, &c, p->args, PUSH_MS);
	if (code != 0) {
		world_violation(w, "LPUSH %s: exit %d: %s", p->key, code,
				child_text(&c));
	}
	child_free(&c);
	return code == 0;
}

/* Ids that no plan of ours would make. */
static bool push_all(struct world *w, struct push *p, const char *activity,
		     uint64_t packets, uint64_t rng, uint64_t *sum, FILE *out)
{
	for (uint64_t i = 0; i < packets; i++) {
		uint64_t id = seeded_next(&rng);
		uint64_t cents = seeded_between(&rng, 1, CENTS_MAX);

		*sum += cents;
		fprintf(out, "%s c-%016" PRIx64 " %" PRIu64 "\n", activity, id,
			cents);
		snprintf(p->packets[p->count++], sizeof p->packets[0],
			 "{\"redPacketId\":\"c-%016" PRIx64
			 "\",\"amount\":\"%" PRIu64 ".%02" PRIu64 "\"}",
			 id, cents / 100, cents % 100);
		if ((p->count == AT_ONCE || i + 1 == packets) && !push(w, p)) {
			return false;
		}
	}
	return true;
}

bool foreign_list(struct world *w, const char *activity, uint64_t packets,
		  uint64_t seed, uint64_t *cents)
{
	static struct push p;
	char path[PATH_BYTES];
	FILE *out;
	bool ok;

	world_path(w, "lists", path);
	out = fopen(path, "we");
	if (out == NULL) {
		world_violation(w, "%s: %s", path, strerror(errno));
		return false;
	}
	p.count = 0;
	snprintf(p.port, sizeof p.port, "%d", w->processes[PROCESS_REDIS].port);
	snprintf(p.key, sizeof p.key, "rain:{%s}:packets", activity);
	*cents = 0;
	ok = push_all(w, &p, activity, packets, seed, cents, out);
	ok = fclose(out) == 0 && ok;
	world_clock();
	printf("a foreign console: %" PRIu64 " packets, %" PRIu64
	       " cents for %s: %s\n",
	       packets, *cents, activity, ok ? "done" : "failed");
	return ok;
}

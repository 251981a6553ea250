#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fault/schedule.h"
#include "fault/world_internal.h"

enum {
	KAFKA_DIRECT,     /* listeners of Kafka, and its controller */
	KAFKA_CONTROLLER, /* the rest are told the port of a proxy */
	KAFKA_PROXIED,
	KAFKA_PORTS = 5,
	PORTS = PROCESS_COUNT + LINK_COUNT + KAFKA_PORTS,
	RUN_MS = 10000,
	/* Redis syncs always, so that nothing can be lost; a witness that was
	 * killed is not worth a long wait. */
	PATIENCE_S = 3,
};

/* The links to Kafka, in the order of its proxied listeners. */
static const enum link_id kafka_links[] = { LINK_GRAB_1_KAFKA,
					    LINK_GRAB_2_KAFKA,
					    LINK_WORKER_KAFKA };

static int link_port(const struct world *w, enum link_id id)
{
	return w->links[id].proxy.port;
}

/* Write DIR/NAME; the text is for the eyes of its owner only. */
static bool printf_like(3, 4) write_file(const struct world *w,
					 const char *name, const char *fmt, ...)
{
	char path[PATH_BYTES];
	va_list ap;
	FILE *f;
	bool ok;

	world_path(w, name, path);
	f = fopen(path, "we");
	if (f == NULL) {
		fprintf(stderr, "torture: %s: %s\n", path, strerror(errno));
		return false;
	}
	(void)fchmod(fileno(f), 0600);
	va_start(ap, fmt);
	ok = vfprintf(f, fmt, ap) >= 0;
	va_end(ap);
	return fclose(f) == 0 && ok;
}

static bool write_gateway(const struct world *w, const char *name,
			  enum process_id id, const enum link_id *grabs,
			  enum link_id ledger)
{
	return write_file(w, name,
			  "[gateway]\nlisten = 127.0.0.1:%d\n"
			  "keys = %s/keys\n"
			  "[grab]\naddresses = 127.0.0.1:%d,127.0.0.1:%d\n"
			  "[ledger]\naddresses = 127.0.0.1:%d\n"
			  "[http]\nlisten = 127.0.0.1:0\n",
			  w->processes[id].port, w->dir, link_port(w, grabs[0]),
			  link_port(w, grabs[1]), link_port(w, ledger));
}

static bool write_grab(const struct world *w, const char *name,
		       enum process_id id, enum link_id redis, int kafka,
		       enum link_id ledger)
{
	return write_file(w, name,
			  "[grab]\nlisten = 127.0.0.1:%d\n"
			  "[redis]\nurl = redis://127.0.0.1:%d\n"
			  "[kafka]\nbootstrap.servers = 127.0.0.1:%d\n"
			  "[ledger]\naddresses = 127.0.0.1:%d\n"
			  "[http]\nlisten = 127.0.0.1:0\n"
			  "[fence]\npatience = %ds\n",
			  w->processes[id].port, link_port(w, redis), kafka,
			  link_port(w, ledger), PATIENCE_S);
}

static bool write_worker(const struct world *w)
{
	return write_file(w, "settle-worker.ini",
			  "[ledger]\npath = %s/ledger.db\n"
			  "listen = 127.0.0.1:%d\naudit = 5s\n"
			  "[kafka]\nbootstrap.servers = 127.0.0.1:%d\n"
			  "[grab]\naddresses = 127.0.0.1:%d,127.0.0.1:%d\n"
			  "[http]\nlisten = 127.0.0.1:0\n",
			  w->dir, w->processes[PROCESS_WORKER].port,
			  link_port(w, LINK_WORKER_KAFKA),
			  link_port(w, LINK_WORKER_GRAB_1),
			  link_port(w, LINK_WORKER_GRAB_2));
}

/* The operator goes straight to everything but the gateways. */
static bool write_operator(const struct world *w)
{
	return write_file(w, "rainctl.ini",
			  "[gateway]\naddresses = 127.0.0.1:%d,127.0.0.1:%d\n"
			  "keys = %s/keys\n"
			  "[grab]\naddresses = 127.0.0.1:%d,127.0.0.1:%d\n"
			  "[ledger]\naddresses = 127.0.0.1:%d\n"
			  "[redis]\nurl = redis://127.0.0.1:%d\n"
			  "[kafka]\nbootstrap.servers = 127.0.0.1:%d\n",
			  link_port(w, LINK_APPS_GATEWAY_1),
			  link_port(w, LINK_APPS_GATEWAY_2), w->dir,
			  w->processes[PROCESS_GRAB_1].port,
			  w->processes[PROCESS_GRAB_2].port,
			  w->processes[PROCESS_WORKER].port,
			  w->processes[PROCESS_REDIS].port,
			  w->kafka_ports[KAFKA_DIRECT]);
}

/* Where kafka.sh learns of the listeners behind proxies. */
static void export_listeners(const struct world *w)
{
	char text[128] = "";

	for (size_t i = 0; i < 3; i++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof text - used, "%s%d:%d",
			 i > 0 ? " " : "", w->kafka_ports[KAFKA_PROXIED + i],
			 link_port(w, kafka_links[i]));
	}
	check(setenv("KAFKA_PROXIED", text, 1) == 0);
}

/* Deal out the ports that rainctl found: processes, links, Kafka. */
static bool deal(struct world *w, const char *text)
{
	long ports[PORTS];
	char *end;

	for (size_t i = 0; i < PORTS; i++) {
		ports[i] = strtol(text, &end, 10);
		if (end == text) {
			fprintf(stderr, "torture: no free ports\n");
			return false;
		}
		text = end;
	}
	for (size_t i = 0; i < PROCESS_COUNT; i++) {
		w->processes[i].port = (int)ports[i];
	}
	for (size_t i = 0; i < LINK_COUNT; i++) {
		w->links[i].proxy.port = (int)ports[PROCESS_COUNT + i];
	}
	for (size_t i = 0; i < KAFKA_PORTS; i++) {
		w->kafka_ports[i] = (int)ports[PROCESS_COUNT + LINK_COUNT + i];
	}
	w->processes[PROCESS_KAFKA].port = w->kafka_ports[KAFKA_DIRECT];
	return true;
}

/* Open the proxies on the ports that they were given. */
static bool open_links(struct world *w)
{
	static const enum process_id servers[] = {
#define X(name, text, server) PROCESS_##server,
		LINK_MAP(X)
#undef X
	};

	for (size_t i = 0; i < LINK_COUNT; i++) {
		struct proxy *p = &w->links[i].proxy;
		int target = w->processes[servers[i]].port;
		int rv;

		for (size_t k = 0; k < 3; k++) {
			if (kafka_links[k] == i) {
				target = w->kafka_ports[KAFKA_PROXIED + k];
			}
		}
		rv = proxy_open(p, &w->loop, p->port, target);
		if (rv != 0) {
			fprintf(stderr, "torture: port %d: %s\n", p->port,
				uv_strerror(rv));
			return false;
		}
	}
	return true;
}

bool world_configure(struct world *w)
{
	static const enum link_id grabs_1[] = { LINK_GATEWAY_1_GRAB_1,
						LINK_GATEWAY_1_GRAB_2 };
	static const enum link_id grabs_2[] = { LINK_GATEWAY_2_GRAB_1,
						LINK_GATEWAY_2_GRAB_2 };
	struct child c = { 0 };
	char rainctl[PATH_BYTES];
	char count[16];
	const char *args[] = { rainctl, "ports", count, NULL };
	bool ok;

	snprintf(rainctl, sizeof rainctl, "%s/rainctl", w->bin);
	snprintf(count, sizeof count, "%d", PORTS);
	ok = world_run(w, &c, args, RUN_MS) == 0 && deal(w, child_text(&c));
	if (!ok) {
		fprintf(stderr, "torture: %s ports: %s\n", rainctl,
			child_text(&c));
	}
	child_free(&c);
	if (!ok || !open_links(w)) {
		return false;
	}
	export_listeners(w);
	/* The key signs tokens of this stack only: 32 bytes of text. */
	return write_file(w, "keys", "demo HS256 front %s\n",
			  "dG9ydHVyZSB0b3J0dXJlIHRvcnR1cmUgdG9ydHVyZSE=") &&
	       write_gateway(w, "rain-gateway-1.ini", PROCESS_GATEWAY_1,
			     grabs_1, LINK_GATEWAY_1_LEDGER) &&
	       write_gateway(w, "rain-gateway-2.ini", PROCESS_GATEWAY_2,
			     grabs_2, LINK_GATEWAY_2_LEDGER) &&
	       write_grab(w, "grab-service-1.ini", PROCESS_GRAB_1,
			  LINK_GRAB_1_REDIS, link_port(w, LINK_GRAB_1_KAFKA),
			  LINK_GRAB_1_LEDGER) &&
	       write_grab(w, "grab-service-2.ini", PROCESS_GRAB_2,
			  LINK_GRAB_2_REDIS, link_port(w, LINK_GRAB_2_KAFKA),
			  LINK_GRAB_2_LEDGER) &&
	       write_worker(w) && write_operator(w);
}

#include "fault/watch.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault/schedule.h"
#include "fault/world_internal.h"

/*
 * Bounds: the first sample is taken at the end of the first whole round that a
 * process has seen, so that its pools are warm. Redis keeps what the activities
 * left, and Java its heap: their memory is told, not judged. The settle-worker
 * keeps pages of its ledger, which grows: 64 MiB at most where it writes, 4 for
 * each of three readers. The sanitizers keep freed memory on purpose.
 */
enum {
	FILES_GROWTH_MAX = 16,
	RSS_GROWTH_PERCENT = 30,
	RSS_GROWTH_KIB = 24 * 1024,
	LEDGER_PAGES_KIB = (64 + 3 * 4) * 1024,
	WARM_ROUNDS = 2, /* ends of rounds, the first may be part of one */
	LINE_BYTES = 4096,
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif

static uint64_t resident_kib(int pid)
{
	char path[64];
	uint64_t size = 0;
	uint64_t resident = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/statm", pid);
	f = fopen(path, "re");
	if (f != NULL) {
		if (fscanf(f, "%" SCNu64 " %" SCNu64, &size, &resident) != 2) {
			resident = 0;
		}
		fclose(f);
	}
	return resident * (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
}

static uint64_t open_files(int pid)
{
	char path[64];
	struct dirent *e;
	uint64_t n = 0;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/fd", pid);
	d = opendir(path);
	if (d == NULL) {
		return 0;
	}
	while ((e = readdir(d)) != NULL) {
		n += e->d_name[0] != '.';
	}
	closedir(d);
	return n;
}

/* Lines of a log that say that a program found a mistake of its own. */
static void look_at_log(struct watch *t, struct world *w,
			struct world_process *p)
{
	static const char *const complaints[] = { "Sanitizer", "runtime error",
						  "check failed" };
	char name[64];
	char path[PATH_BYTES];
	char line[LINE_BYTES];
	FILE *f;

	snprintf(name, sizeof name, "%s.log", process_name(p->id));
	world_path(w, name, path);
	f = fopen(path, "re");
	if (f == NULL) {
		return;
	}
	(void)fseeko(f, p->log_seen, SEEK_SET);
	while (fgets(line, sizeof line, f) != NULL) {
		if (strstr(line, "level=error") != NULL) {
			t->processes[p->id].errors++;
			printf("%s: %s", name, line);
		}
		for (size_t i = 0; i < 3; i++) {
			if (strstr(line, complaints[i]) != NULL) {
				world_violation(w, "%s: %s", name, line);
				break;
			}
		}
	}
	p->log_seen = ftello(f);
	fclose(f);
}

static void judge(struct world *w, const struct watch_process *t,
		  enum process_id id)
{
	uint64_t rss_max = t->first.rss_kib +
			   t->first.rss_kib * RSS_GROWTH_PERCENT / 100 +
			   RSS_GROWTH_KIB;

	if (id == PROCESS_REDIS || id == PROCESS_KAFKA) {
		return;
	}
	if (id == PROCESS_WORKER) {
		rss_max += LEDGER_PAGES_KIB;
	}
	if (t->last.files > t->first.files + FILES_GROWTH_MAX) {
		world_violation(
			w, "%s has %" PRIu64 " open files, at first %" PRIu64,
			process_name(id), t->last.files, t->first.files);
	}
	if (!sanitized && t->last.rss_kib > rss_max) {
		world_violation(w,
				"%s has grown to %" PRIu64 " KiB, from %" PRIu64
				" in %u rounds",
				process_name(id), t->last.rss_kib,
				t->first.rss_kib, t->rounds);
	}
}

void watch_round(struct watch *t, struct world *w)
{
	for (size_t i = 0; i < PROCESS_COUNT; i++) {
		struct world_process *p = &w->processes[i];
		struct watch_process *tp = &t->processes[i];
		int pid = p->child.running
				  ? uv_process_get_pid(&p->child.process)
				  : 0;

		look_at_log(t, w, p);
		if (pid == 0) {
			continue;
		}
		if (tp->starts != p->starts) {
			tp->starts = p->starts;
			tp->rounds = 0;
		}
		tp->rounds++;
		tp->last = (struct watch_sample){ resident_kib(pid),
						  open_files(pid) };
		if (tp->rounds <= WARM_ROUNDS) {
			tp->first = tp->last;
		}
		judge(w, tp, p->id);
	}
}

void watch_logs(struct watch *t, struct world *w)
{
	for (size_t i = 0; i < PROCESS_COUNT; i++) {
		look_at_log(t, w, &w->processes[i]);
	}
}

void watch_print(const struct watch *t, FILE *out)
{
	for (size_t i = 0; i < PROCESS_COUNT; i++) {
		const struct watch_process *p = &t->processes[i];

		fprintf(out,
			"  %-15s %6.1f -> %6.1f MiB, %3" PRIu64 " -> %3" PRIu64
			" files, over %u rounds of its %u. life, %" PRIu64
			" errors logged\n",
			process_name((enum process_id)i),
			(double)p->first.rss_kib / 1024,
			(double)p->last.rss_kib / 1024, p->first.files,
			p->last.files, p->rounds, p->starts, p->errors);
	}
}

#include "base/metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct metric *first_metric; /* guarded by lock */

static bool same_family(const struct metric *a, const struct metric *b)
{
	return strcmp(a->name, b->name) == 0;
}

void metrics_register(struct metric *m)
{
	struct metric **at = &first_metric;
	struct metric **end_of_family = NULL;

	check(m->name != NULL && m->help != NULL && m->labels != NULL);
	(void)pthread_mutex_lock(&lock);
	while (*at != NULL) {
		check(*at != m);
		if (same_family(*at, m)) {
			check((*at)->kind == m->kind);
			check(strcmp((*at)->labels, m->labels) != 0);
			end_of_family = &(*at)->next;
		}
		at = &(*at)->next;
	}
	at = end_of_family != NULL ? end_of_family : at;
	m->next = *at;
	*at = m;
	(void)pthread_mutex_unlock(&lock);
}

void metric_add(struct metric *m, int64_t n)
{
	check(m->kind != METRIC_KIND_HISTOGRAM);
	check(n >= 0 || m->kind == METRIC_KIND_GAUGE);
	(void)atomic_fetch_add_explicit(&m->value, n, memory_order_relaxed);
}

void metric_set(struct metric *m, int64_t v)
{
	check(m->kind == METRIC_KIND_GAUGE);
	atomic_store_explicit(&m->value, v, memory_order_relaxed);
}

void metric_observe(struct metric *m, uint64_t sample)
{
	size_t i = 0;

	check(m->kind == METRIC_KIND_HISTOGRAM);
	while (i < METRIC_BUCKETS - 1 && sample > m->first << i) {
		i++;
	}
	(void)atomic_fetch_add_explicit(&m->buckets[i], 1,
					memory_order_relaxed);
	(void)atomic_fetch_add_explicit(&m->sum, sample, memory_order_relaxed);
}

static void render_head(struct buf *out, const char *name, const char *help,
			const char *type)
{
	buf_printf(out, "# HELP %s ", name);
	for (const char *c = help; *c != '\0'; c++) {
		if (*c == '\n' || *c == '\\') {
			buf_put_bytes(out, *c == '\n' ? BYTES("\\n")
						      : BYTES("\\\\"));
		} else {
			buf_put_u8(out, (uint8_t)*c);
		}
	}
	buf_printf(out, "\n# TYPE %s %s\n", name, type);
}

static void render_plain(struct buf *out, const struct metric *m)
{
	int64_t v = atomic_load_explicit(&m->value, memory_order_relaxed);

	buf_printf(out, "%s", m->name);
	if (m->labels[0] != '\0') {
		buf_printf(out, "{%s}", m->labels);
	}
	buf_printf(out, " %" PRId64 "\n", v);
}

static void render_histogram(struct buf *out, const struct metric *m)
{
	const char *comma = m->labels[0] != '\0' ? "," : "";
	const char *open = m->labels[0] != '\0' ? "{" : "";
	const char *close = m->labels[0] != '\0' ? "}" : "";
	uint64_t count = 0;
	uint64_t sum = atomic_load_explicit(&m->sum, memory_order_relaxed);

	for (size_t i = 0; i < METRIC_BUCKETS; i++) {
		count += atomic_load_explicit(&m->buckets[i],
					      memory_order_relaxed);
		buf_printf(out, "%s_bucket{%s%sle=\"", m->name, m->labels,
			   comma);
		if (i < METRIC_BUCKETS - 1) {
			buf_printf(out, "%.10g",
				   (double)(m->first << i) * m->scale);
		} else {
			buf_printf(out, "+Inf");
		}
		buf_printf(out, "\"} %" PRIu64 "\n", count);
	}
	buf_printf(out, "%s_sum%s%s%s %.10g\n", m->name, open, m->labels, close,
		   (double)sum * m->scale);
	buf_printf(out, "%s_count%s%s%s %" PRIu64 "\n", m->name, open,
		   m->labels, close, count);
}

static void render_value(struct buf *out, const char *name, const char *help,
			 const char *type, double v)
{
	render_head(out, name, help, type);
	buf_printf(out, "%s %.15g\n", name, v);
}

/* Entries of /proc/self/fd without the one that looks. */
static double open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	double n = 0;

	if (dir == NULL) {
		return 0;
	}
	while (readdir(dir) != NULL) {
		n++;
	}
	(void)closedir(dir);
	return n - 3; /* . and .. and the directory itself */
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Memory and start time, from /proc/self/stat. */
static void render_stat(struct buf *out)
{
	char text[1024];
	unsigned long long start = 0;
	unsigned long size = 0;
	long resident = 0;
	struct timespec up;
	struct timespec wall;
	FILE *f = fopen("/proc/self/stat", "re");
	size_t n = f != NULL ? fread(text, 1, sizeof(text) - 1, f) : 0;
	const char *at;

	if (f != NULL) {
		(void)fclose(f);
	}
	text[n] = '\0';
	/* The program's name may contain spaces; it ends at the last ')'. */
	at = strrchr(text, ')');
	if (at == NULL ||
	    sscanf(at + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d"
		   " %*d %*d %*d %*d %*d %llu %lu %ld",
		   &start, &size, &resident) != 3) {
		return;
	}
	(void)clock_gettime(CLOCK_BOOTTIME, &up);
	(void)clock_gettime(CLOCK_REALTIME, &wall);
	render_value(out, "process_virtual_memory_bytes", "Virtual memory size",
		     "gauge", (double)size);
	render_value(out, "process_resident_memory_bytes",
		     "Resident memory size", "gauge",
		     (double)resident * (double)sysconf(_SC_PAGESIZE));
	render_value(out, "process_start_time_seconds",
		     "Start of the process since 1970", "gauge",
		     (double)(wall.tv_sec - up.tv_sec) +
			     (double)(wall.tv_nsec - up.tv_nsec) / 1e9 +
			     (double)start / (double)sysconf(_SC_CLK_TCK));
}

static void render_process(struct buf *out)
{
	struct rusage usage;
	struct rlimit files;

	if (getrusage(RUSAGE_SELF, &usage) == 0) {
		render_value(out, "process_cpu_seconds_total",
			     "Processor time, user and system", "counter",
			     seconds_of(usage.ru_utime) +
				     seconds_of(usage.ru_stime));
	}
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		render_value(out, "process_max_fds", "Largest number of files",
			     "gauge", (double)files.rlim_cur);
	}
	render_value(out, "process_open_fds", "Open files", "gauge",
		     open_files());
	render_stat(out);
}

void metrics_render(struct buf *out)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };
	const struct metric *before = NULL;

	(void)pthread_mutex_lock(&lock);
	for (const struct metric *m = first_metric; m != NULL; m = m->next) {
		if (before == NULL || !same_family(before, m)) {
			render_head(out, m->name, m->help, types[m->kind]);
		}
		if (m->kind == METRIC_KIND_HISTOGRAM) {
			render_histogram(out, m);
		} else {
			render_plain(out, m);
		}
		before = m;
	}
	(void)pthread_mutex_unlock(&lock);
	render_process(out);
}

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/metrics.h"

static struct metric won =
	METRIC_COUNTER("t_grabs_total", "Grabs by outcome", "outcome=\"won\"");
static struct metric lost =
	METRIC_COUNTER("t_grabs_total", "Grabs by outcome", "outcome=\"lost\"");
static struct metric depth = METRIC_GAUGE("t_depth", "Line\nand \\ slash", "");
static struct metric took = METRIC_SECONDS("t_seconds", "Time", "op=\"x\"");
static struct metric sizes = METRIC_COUNTS("t_sizes", "Sizes", "");

/* The page as text; the caller frees it. */
static char *page(void)
{
	struct buf b;
	char *text;

	buf_init(&b);
	metrics_render(&b);
	text = xstrndup(buf_live(&b).p, buf_len(&b));
	buf_close(&b);
	return text;
}

static void expect(const char *part)
{
	char *text = page();

	cr_assert_not_null(strstr(text, part), "%s not in\n%s", part, text);
	free(text);
}

Test(metrics, shows_a_family_together)
{
	metrics_register(&won);
	metrics_register(&depth);
	metrics_register(&lost);
	metric_add(&won, 2);
	metric_add(&lost, 1);
	metric_set(&depth, 9);
	metric_add(&depth, -12);
	expect("# HELP t_grabs_total Grabs by outcome\n"
	       "# TYPE t_grabs_total counter\n"
	       "t_grabs_total{outcome=\"won\"} 2\n"
	       "t_grabs_total{outcome=\"lost\"} 1\n"
	       "# HELP t_depth Line\\nand \\\\ slash\n"
	       "# TYPE t_depth gauge\n"
	       "t_depth -3\n");
}

Test(metrics, histograms_are_cumulative)
{
	metrics_register(&took);
	metric_observe(&took, 500);
	metric_observe(&took, 501);
	metric_observe(&took, 1000000000);
	expect("t_seconds_bucket{op=\"x\",le=\"0.0005\"} 1\n"
	       "t_seconds_bucket{op=\"x\",le=\"0.001\"} 2\n");
	expect("t_seconds_bucket{op=\"x\",le=\"8.192\"} 2\n"
	       "t_seconds_bucket{op=\"x\",le=\"+Inf\"} 3\n"
	       "t_seconds_sum{op=\"x\"} 1000.001001\n"
	       "t_seconds_count{op=\"x\"} 3\n");
}

Test(metrics, counts_have_whole_bounds)
{
	metrics_register(&sizes);
	metric_observe(&sizes, 0);
	metric_observe(&sizes, 128);
	expect("t_sizes_bucket{le=\"1\"} 1\n");
	expect("t_sizes_bucket{le=\"64\"} 1\nt_sizes_bucket{le=\"128\"} 2\n");
	expect("t_sizes_sum 128\nt_sizes_count 2\n");
}

static void *add_many(void *arg)
{
	for (int i = 0; i < 10000; i++) {
		metric_add(&won, 1);
		metric_observe(&sizes, 3);
	}
	return arg;
}

Test(metrics, loses_nothing_between_threads)
{
	pthread_t threads[4];

	metrics_register(&won);
	metrics_register(&sizes);
	for (int i = 0; i < 4; i++) {
		cr_assert_eq(pthread_create(&threads[i], NULL, add_many, NULL),
			     0);
	}
	for (int i = 0; i < 4; i++) {
		cr_assert_eq(pthread_join(threads[i], NULL), 0);
	}
	expect("t_grabs_total{outcome=\"won\"} 40000\n");
	expect("t_sizes_sum 120000\nt_sizes_count 40000\n");
}

Test(metrics, knows_the_process)
{
	expect("# TYPE process_cpu_seconds_total counter\n");
	expect("\nprocess_resident_memory_bytes ");
	expect("\nprocess_open_fds ");
	expect("\nprocess_max_fds ");
	expect("\nprocess_start_time_seconds 1");
}

Test(metrics, registering_twice_is_our_mistake, .signal = SIGABRT)
{
	metrics_register(&won);
	metrics_register(&won);
}

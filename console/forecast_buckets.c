/*
 * The buckets of a histogram: one for each amount while there are few, else of
 * one round width, else from one round amount to the next.
 */
#include "console/forecast.h"

enum {
	VALUES_MAX = 12, /* amounts that are few enough for a bucket each */
	LINEAR_MAX = 13, /* what a terminal shows at a glance */
	LOG_MAX = FORECAST_BUCKETS_MAX, /* the decades of all amounts */
};

int64_t forecast_rounder(int64_t x)
{
	int64_t power = 1;

	if (x < 1) {
		return 1;
	}
	while (power <= x / 10) {
		power *= 10;
	}
	return x < 2 * power   ? 2 * power
	       : x < 5 * power ? 5 * power
			       : 10 * power;
}

static bool by_values(const int64_t *sorted, size_t n,
		      struct forecast_histogram *h)
{
	*h = (struct forecast_histogram){ .scale = FORECAST_VALUES };
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || sorted[i] != sorted[i - 1]) {
			if (h->count == VALUES_MAX) {
				return false;
			}
			h->buckets[h->count].from_cents = sorted[i];
			h->buckets[h->count].to_cents = sorted[i];
			h->count++;
		}
		h->buckets[h->count - 1].packets++;
	}
	return true;
}

static void add_bucket(struct forecast_histogram *h, int64_t from, int64_t next)
{
	check(h->count < FORECAST_BUCKETS_MAX);
	h->buckets[h->count].from_cents = from;
	h->buckets[h->count].to_cents =
		next <= AMOUNT_MAX_CENTS ? next - 1 : AMOUNT_MAX_CENTS;
	h->count++;
}

/* Every bucket gets its packets; returns the most that one has. */
static uint64_t fill(const int64_t *sorted, size_t n,
		     struct forecast_histogram *h)
{
	uint64_t most = 0;
	size_t at = 0;

	for (size_t b = 0; b < h->count; b++) {
		struct forecast_bucket *bucket = &h->buckets[b];

		while (at < n && sorted[at] <= bucket->to_cents) {
			bucket->packets++;
			at++;
		}
		if (bucket->packets > most) {
			most = bucket->packets;
		}
	}
	check(at == n);
	return most;
}

static uint64_t linear(const int64_t *sorted, size_t n,
		       struct forecast_histogram *h)
{
	int64_t min = sorted[0];
	int64_t max = sorted[n - 1];
	int64_t width = 1;

	*h = (struct forecast_histogram){ .scale = FORECAST_LINEAR };
	while (max / width - min / width >= LINEAR_MAX) {
		width = forecast_rounder(width);
	}
	for (int64_t k = min / width; k <= max / width; k++) {
		/* No packet has nothing. */
		add_bucket(h, k > 0 ? k * width : 1, (k + 1) * width);
	}
	return fill(sorted, n, h);
}

/* From 1 to 2 to 5 to 10, or to every third of these only. */
static int64_t next_edge(int64_t edge, size_t steps)
{
	while (steps-- > 0) {
		edge = forecast_rounder(edge);
	}
	return edge;
}

static uint64_t logarithmic(const int64_t *sorted, size_t n,
			    struct forecast_histogram *h)
{
	int64_t max = sorted[n - 1];

	for (size_t steps = 1;; steps += 2) {
		int64_t edge = 1;
		size_t count = 1;

		while (next_edge(edge, steps) <= sorted[0]) {
			edge = next_edge(edge, steps);
		}
		for (int64_t e = next_edge(edge, steps); e <= max; count++) {
			e = next_edge(e, steps);
		}
		if (count > LOG_MAX) {
			continue;
		}
		*h = (struct forecast_histogram){ .scale = FORECAST_LOG };
		for (; edge <= max; edge = next_edge(edge, steps)) {
			add_bucket(h, edge, next_edge(edge, steps));
		}
		return fill(sorted, n, h);
	}
}

void forecast_histogram(const int64_t *sorted, size_t n,
			struct forecast_histogram *out)
{
	struct forecast_histogram other;
	uint64_t most;

	check(n > 0);
	if (by_values(sorted, n, out)) {
		return;
	}
	most = linear(sorted, n, out);
	/* One bar and the rest of nothing is no picture. */
	if (most > n - n / 4 && logarithmic(sorted, n, &other) < most) {
		*out = other;
	}
}

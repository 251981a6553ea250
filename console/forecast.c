#include "console/forecast.h"

#include <math.h>

/* Places times money. */
__extension__ typedef __int128 wide;

void forecast_init(struct forecast *f, uint64_t packets)
{
	check(packets > 0);
	*f = (struct forecast){
		.packets = packets,
		.parts = packets < FORECAST_PARTS_MAX ? (size_t)packets
						      : FORECAST_PARTS_MAX,
	};
}

/* Places of a part: those whose number * parts / packets is it. */
static uint64_t part_size(const struct forecast *f, size_t part)
{
	uint64_t parts = f->parts;
	uint64_t from = (part * f->packets + parts - 1) / parts;
	uint64_t to = ((part + 1) * f->packets + parts - 1) / parts;

	return to - from;
}

/* Returns the best. */
static int64_t add_best(struct forecast *f, const int64_t *amounts)
{
	uint64_t found[FORECAST_PARTS_MAX] = { 0 };
	int64_t largest = 0;
	uint64_t all = 0;

	for (uint64_t i = 0; i < f->packets; i++) {
		if (amounts[i] > largest) {
			largest = amounts[i];
		}
	}
	for (uint64_t i = 0; i < f->packets; i++) {
		if (amounts[i] == largest) {
			found[i * f->parts / f->packets]++;
			all++;
		}
	}
	for (size_t p = 0; p < f->parts; p++) {
		f->best[p] += (double)found[p] / (double)all;
	}
	return largest;
}

/* Ascending, by one bit after the other: qsort() may take memory for another
 * copy. */
static void sort_by_bit(int64_t *v, size_t n, int bit)
{
	size_t zeros = 0;
	size_t ones = n;

	if (n < 2 || bit < 0) {
		return;
	}
	while (zeros < ones) {
		int64_t kept = v[zeros];

		if ((kept >> bit & 1) == 0) {
			zeros++;
		} else {
			v[zeros] = v[--ones];
			v[ones] = kept;
		}
	}
	sort_by_bit(v, zeros, bit - 1);
	sort_by_bit(v + zeros, n - zeros, bit - 1);
}

void forecast_add(struct forecast *f, int64_t *amounts)
{
	double figures[FORECAST_FIGURES];
	size_t n = (size_t)f->packets;
	bool first = f->draws == 0;
	int64_t largest = add_best(f, amounts);
	int bit = 0;

	while (largest >> bit > 1) {
		bit++;
	}
	sort_by_bit(amounts, n, bit);
	forecast_figures(amounts, n, figures);
	if (first) {
		forecast_histogram(amounts, n, &f->histogram);
	}
	for (int i = 0; i < FORECAST_FIGURES; i++) {
		if (first) {
			f->first[i] = figures[i];
		}
		if (first || figures[i] < f->lowest[i]) {
			f->lowest[i] = figures[i];
		}
		if (first || figures[i] > f->highest[i]) {
			f->highest[i] = figures[i];
		}
		f->sum[i] += figures[i];
	}
	f->draws++;
}

double forecast_mean(const struct forecast *f, enum forecast_figure figure)
{
	check(f->draws > 0);
	return f->sum[figure] / (double)f->draws;
}

double forecast_best(const struct forecast *f, size_t part)
{
	double same = (double)f->packets / (double)f->parts;

	check(f->draws > 0 && part < f->parts);
	return f->best[part] / (double)f->draws * same /
	       (double)part_size(f, part);
}

double forecast_best_error(const struct forecast *f)
{
	double same = (double)f->packets / (double)f->parts;
	/* Of the smallest part, which varies most. */
	double size = floor(same);
	double odds = size / (double)f->packets;

	check(f->draws > 0);
	return sqrt(odds * (1 - odds) / (double)f->draws) * same / size;
}

void forecast_figures(const int64_t *sorted, size_t n,
		      double out[FORECAST_FIGURES])
{
	wide total = 0;
	wide ranked = 0;
	size_t low = (n - 1) / 2; /* both in the middle */
	size_t high = n / 2;
	double squares = 0;
	double mean;

	check(n > 0);
	for (size_t i = 0; i < n; i++) {
		total += sorted[i];
		ranked += (wide)sorted[i] * (int64_t)(i + 1);
	}
	mean = (double)total / (double)n;
	for (size_t i = 0; i < n; i++) {
		double d = (double)sorted[i] - mean;

		squares += d * d;
	}
	out[FORECAST_SMALLEST] = (double)sorted[0];
	out[FORECAST_LARGEST] = (double)sorted[n - 1];
	out[FORECAST_MEDIAN] = ((double)sorted[low] + (double)sorted[high]) / 2;
	out[FORECAST_MEAN] = mean;
	out[FORECAST_DEVIATION] = sqrt(squares / (double)n);
	out[FORECAST_VARIATION] = out[FORECAST_DEVIATION] / mean;
	/* Exact until here, so that equal amounts give 0 and not nearly 0. */
	out[FORECAST_GINI] = (double)(2 * ranked - ((wide)n + 1) * total) /
			     ((double)n * (double)total);
}

bool forecast_sold_out(uint64_t packets, uint64_t audience, uint64_t taps,
		       double *seconds)
{
	uint64_t taken = packets < audience ? packets : audience;
	double sum = 0;

	check(audience > 0 && taps > 0);
	for (uint64_t i = 0; i < taken; i++) {
		sum += 1 / (double)(audience - i);
	}
	*seconds = sum * (double)audience / (double)taps;
	return audience >= packets;
}

double forecast_last_free(uint64_t packets, uint64_t audience, double release)
{
	uint64_t taken = packets < audience ? packets : audience;

	check(taken > 0);
	return release * (double)(taken - 1) / (double)packets;
}

double forecast_win(uint64_t packets, uint64_t audience)
{
	check(audience > 0);
	return packets < audience ? (double)packets / (double)audience : 1;
}

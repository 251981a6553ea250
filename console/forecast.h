/**
 * What a plan would do: figures about the amounts of draws, where the best
 * packet is, and how fast an audience takes them. Pure, and for people to look
 * at: nothing here decides about money, so that figures are floating point.
 */
#ifndef CONSOLE_FORECAST_H
#define CONSOLE_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/amount.h"

enum {
	FORECAST_BUCKETS_MAX = 16,
	FORECAST_PARTS_MAX = 10,
};

/* Amounts are in cents. */
enum forecast_figure {
	FORECAST_SMALLEST,
	FORECAST_MEDIAN, /* of an even count: between the two in the middle */
	FORECAST_MEAN,
	FORECAST_LARGEST,
	FORECAST_DEVIATION, /* standard deviation, of all packets */
	FORECAST_VARIATION, /* deviation / mean */
	FORECAST_GINI,      /* 0: all the same, near 1: one has all */
	FORECAST_FIGURES
};

enum forecast_scale {
	FORECAST_VALUES, /* a bucket for each amount that there is */
	FORECAST_LINEAR, /* buckets of one width */
	FORECAST_LOG,    /* each wider than the one before */
};

struct forecast_bucket {
	int64_t from_cents;
	int64_t to_cents; /* the last that is in it */
	uint64_t packets;
};

struct forecast_histogram {
	enum forecast_scale scale;
	size_t count;
	struct forecast_bucket buckets[FORECAST_BUCKETS_MAX];
};

struct forecast {
	uint64_t packets; /* of each draw */
	uint64_t draws;
	double first[FORECAST_FIGURES]; /* of the first draw */
	double sum[FORECAST_FIGURES];   /* over all */
	double lowest[FORECAST_FIGURES];
	double highest[FORECAST_FIGURES];
	struct forecast_histogram histogram; /* of the first draw */
	size_t parts;                        /* of the places, a tenth each */
	double best[FORECAST_PARTS_MAX];     /* draws whose best was there */
};

/** packets is at least 1. */
void forecast_init(struct forecast *f, uint64_t packets);

/** Learn from one draw: f->packets amounts in cents, in the order in which they
 * are grabbed, each at least 1. They are sorted in place, without memory. */
void forecast_add(struct forecast *f, int64_t *amounts);

/** The mean of a figure over all draws, of which there is one at least. */
double forecast_mean(const struct forecast *f, enum forecast_figure figure);

/** How often the best packet was in part (below f->parts) of the places, as a
 * share of the draws. If parts cannot have the same size, as if they had. Those
 * that are equally good count a part of a draw each. Fair is 1 / f->parts. */
double forecast_best(const struct forecast *f, size_t part);

/** How far forecast_best() is from fair by chance alone: the standard error. */
double forecast_best_error(const struct forecast *f);

/** The figures of n amounts, ascending. */
void forecast_figures(const int64_t *sorted, size_t n,
		      double out[FORECAST_FIGURES]);

/** Count n amounts, ascending, in buckets that suit them. */
void forecast_histogram(const int64_t *sorted, size_t n,
			struct forecast_histogram *out);

/** The smallest of 1, 2, 5, 10, 20, 50, ... that is above x; x is one of them,
 * or 0. */
int64_t forecast_rounder(int64_t x);

/**
 * Seconds until all packets are taken, on average: audience people tap at
 * random moments, together taps times a second, and each takes one packet at
 * most, so that the next one goes to a new person after
 * audience / (people without a packet) / taps. False if there are fewer people
 * than packets: then it is when each of them has one.
 */
must_check bool forecast_sold_out(uint64_t packets, uint64_t audience,
				  uint64_t taps, double *seconds);

/**
 * Seconds after the start until the last packet is free that audience people
 * can take, of packets that are released evenly over so many seconds: the first
 * one is free at once, so the last one is before the time is over.
 */
double forecast_last_free(uint64_t packets, uint64_t audience, double release);

/** How likely one of audience people gets a packet in the end. */
double forecast_win(uint64_t packets, uint64_t audience);

#endif

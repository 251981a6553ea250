/**
 * What `rainctl plan` tells: text for people, or JSON.
 */
#ifndef CONSOLE_PLAN_REPORT_H
#define CONSOLE_PLAN_REPORT_H

#include "console/forecast.h"
#include "console/output.h"
#include "plan/plan.h"

struct plan_forecast {
	struct plan plan;
	struct forecast forecast;
	const char *note;        /* what create would say now; "" for nothing */
	const char *plot;        /* the file of the picture, NULL: none */
	struct bytes plot_error; /* why it could not be written, else empty */
	uint64_t audience;       /* people who tap, 0: not asked */
	uint64_t taps;           /* a second, of all together */
	bool taps_assumed;       /* nobody said how many */
};

/* A figure that need not be whole cents. */
enum { PLAN_AMOUNT_MAX = 40 };

/** Write an amount of cents for people, "1,234.50"; below 1.00 a figure that is
 * no whole number of cents has two more places. What would read as nothing and
 * is not is "less than 0.01". */
void plan_amount(double cents, char out[PLAN_AMOUNT_MAX]);

/** Write a number for people, "1,234". */
void plan_number(uint64_t number, char out[PLAN_AMOUNT_MAX]);

/** Whether every draw has the same amounts: only their order is drawn. */
bool plan_is_fixed(const struct plan *p);

/** Bytes of Redis that its packets take when they are loaded, none of them
 * grabbed yet: 0 if no list is made. */
static inline uint64_t plan_loaded_bytes(const struct plan *p)
{
	return plan_has_list(p) ? p->rule.count * PLAN_PACKET_BYTES : 0;
}

/** Append the plan as a sentence without its title: "100.00 CNY in 8 packets,
 * split by double_mean, each at least 0.01". */
void plan_sentence(const struct plan *p, struct buf *out);

/** As forecast_sold_out(), for the audience of p; not before the last packet
 * that they can take is released. */
must_check bool plan_sold_out(const struct plan_forecast *p, double *seconds);

/** Print it all. */
void plan_report(const struct ctl *ctl, const struct plan_forecast *p);

/** plan_report_json.c: the same as JSON. A new reference. */
json_t *plan_report_json(const struct ctl *ctl, const struct plan_forecast *p);

#endif

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/rand.h"
#include "console/command.h"
#include "console/output.h"
#include "console/plan_file.h"
#include "console/plan_svg.h"

/* So many that the means stand still, so few that it takes a second or two,
 * and seconds more with the most packets that a plan may have. */
enum { DRAWS_MIN = 3, DRAWS_MAX = 400, DRAWN_PACKETS = 8000000 };

#define AUDIENCE_MAX UINT64_C(10000000000)
#define TAPS_MAX     UINT64_C(1000000000)

/* The number of an option, untouched if it was not given. */
static bool take_number(const struct command *c, const struct arguments *a,
			const char *name, uint64_t max, uint64_t *out,
			struct buf *why)
{
	const char *text = argument_option(c, a, name);

	if (text == NULL ||
	    (bytes_to_u64(bytes_str(text), max, out) && *out > 0)) {
		return true;
	}
	buf_printf(why, "--%s %s: allowed: 1 to %" PRIu64, name, text, max);
	return false;
}

static bool take_arguments(const struct command *c, const struct arguments *a,
			   struct plan_forecast *p, struct buf *why)
{
	p->plot = argument_option(c, a, "plot");
	if (!take_number(c, a, "audience", AUDIENCE_MAX, &p->audience, why) ||
	    !take_number(c, a, "taps", TAPS_MAX, &p->taps, why)) {
		return false;
	}
	if (p->audience == 0 && p->taps > 0) {
		buf_printf(why, "--taps needs --audience N: how many people "
				"tap");
		return false;
	}
	if (p->plot != NULL && p->plot[0] == '\0') {
		buf_printf(why, "--plot: a file is missing");
		return false;
	}
	if (p->taps == 0) {
		p->taps = p->audience;
		p->taps_assumed = true;
	}
	return true;
}

/* The plan of the file, as a service would read it. */
static bool take_plan(const char *path, int64_t now_ms, struct plan *out,
		      struct buf *why)
{
	char sentence[PLAN_WHY];
	struct plan_file file;
	bool good = false;

	if (plan_file_read(path, NULL, now_ms, &file, why) == 0) {
		good = plan_read(&file.plan, out, sentence);
		if (!good) {
			buf_printf(why, "%s: %s", path, sentence);
		} else if (plan_is_adopted(out)) {
			buf_printf(why,
				   "%s: an adopted list has its packets "
				   "already, there is nothing to draw",
				   path);
			good = false;
		}
	}
	plan_file_close(&file);
	return good;
}

static void draw(const struct allocate_rule *rule, struct forecast *f)
{
	int64_t *amounts = xmalloc(rule->count * sizeof *amounts);
	uint64_t draws = DRAWN_PACKETS / rule->count;

	draws = draws < DRAWS_MIN ? DRAWS_MIN : draws;
	draws = draws > DRAWS_MAX ? DRAWS_MAX : draws;
	forecast_init(f, rule->count);
	for (uint64_t i = 0; i < draws; i++) {
		uint8_t seed[ALLOCATE_SEED];

		rand_bytes(seed, sizeof seed);
		allocate(seed, rule, amounts);
		forecast_add(f, amounts);
	}
	free(amounts);
}

/* An older picture of that name is replaced. */
static bool write_plot(const struct plan_forecast *p, struct buf *why)
{
	struct buf svg;
	struct bytes text;
	FILE *out = fopen(p->plot, "w");
	bool written;

	if (out == NULL) {
		buf_printf(why, "--plot %s: %s", p->plot, strerror(errno));
		return false;
	}
	buf_init(&svg);
	plan_svg(p, &svg);
	text = buf_live(&svg);
	written = fwrite(text.p, 1, text.n, out) == text.n;
	written = fclose(out) == 0 && written;
	if (!written) {
		buf_printf(why, "--plot %s: %s", p->plot, strerror(errno));
	}
	buf_close(&svg);
	return written;
}

int run_plan(struct ctl *ctl, const struct command *c,
	     const struct arguments *a)
{
	struct plan_forecast p = { 0 };
	int64_t now_ms = clock_wall_ms();
	char note[PLAN_WHY];
	struct buf why;
	int rc = CTL_OK;

	buf_init(&why);
	if (!take_arguments(c, a, &p, &why) ||
	    !take_plan(a->values[0], now_ms, &p.plan, &why)) {
		rc = CTL_USAGE;
	} else {
		bool future = plan_is_future(&p.plan, now_ms, note);

		p.note = future ? "" : note;
		draw(&p.plan.rule, &p.forecast);
		if (p.plot != NULL && !write_plot(&p, &why)) {
			rc = CTL_UNKNOWN;
		}
	}
	if (rc == CTL_OK) {
		plan_report(ctl, &p);
	} else {
		output_error(ctl, rc, c->words, buf_live(&why));
	}
	buf_close(&why);
	return rc;
}

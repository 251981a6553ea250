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

static bool take_arguments(const struct command *c, const struct arguments *a,
			   struct plan_forecast *p, struct buf *why)
{
	p->plot = argument_option(c, a, "plot");
	if (!argument_number(c, a, "audience", 1, AUDIENCE_MAX, &p->audience,
			     why) ||
	    !argument_number(c, a, "taps", 1, TAPS_MAX, &p->taps, why)) {
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

/* At once, for what follows may take its time; with --json the report has it.
 */
static void tell_no_plot(struct ctl *ctl, const struct command *c,
			 struct plan_forecast *p, struct buf *why)
{
	buf_printf(why, "--plot %s: %s", p->plot, strerror(errno));
	p->plot_error = buf_live(why);
	if (!ctl->json) {
		(void)output_error(ctl, CTL_UNKNOWN, c->words, p->plot_error);
	}
}

/* Closes out; false with errno. */
static bool write_plot(const struct plan_forecast *p, FILE *out)
{
	struct buf svg;
	struct bytes text;
	bool written;

	buf_init(&svg);
	plan_svg(p, &svg);
	text = buf_live(&svg);
	written = fwrite(text.p, 1, text.n, out) == text.n;
	buf_close(&svg);
	return fclose(out) == 0 && written;
}

/* An older picture of that name is replaced. The figures are told without
 * their picture too. */
static int forecast_plan(struct ctl *ctl, const struct command *c,
			 struct plan_forecast *p, struct buf *why)
{
	FILE *plot = p->plot != NULL ? fopen(p->plot, "w") : NULL;

	if (p->plot != NULL && plot == NULL) {
		tell_no_plot(ctl, c, p, why);
	}
	draw(&p->plan.rule, &p->forecast);
	if (plot != NULL && !write_plot(p, plot)) {
		tell_no_plot(ctl, c, p, why);
	}
	plan_report(ctl, p);
	return p->plot_error.n == 0 ? CTL_OK : CTL_UNKNOWN;
}

int run_plan(struct ctl *ctl, const struct command *c,
	     const struct arguments *a)
{
	struct plan_forecast p = { 0 };
	int64_t now_ms = clock_wall_ms();
	char note[PLAN_WHY];
	struct buf why;
	int rc;

	buf_init(&why);
	if (!take_arguments(c, a, &p, &why) ||
	    !take_plan(a->values[0], now_ms, &p.plan, &why)) {
		rc = output_error(ctl, CTL_USAGE, c->words, buf_live(&why));
	} else {
		bool future = plan_is_future(&p.plan, now_ms, note);

		p.note = future ? "" : note;
		rc = forecast_plan(ctl, c, &p, &why);
	}
	buf_close(&why);
	return rc;
}

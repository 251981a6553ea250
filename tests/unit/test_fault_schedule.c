/* What the torture does comes from its seed alone, and misses nothing. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "fault/schedule.h"
#include "fault/summary.h"

/* All of a schedule as text; the caller frees it. */
static char *text_of(uint64_t seed, uint64_t minutes)
{
	struct schedule s;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	schedule_make(&s, seed, minutes);
	for (size_t i = 0; i < s.round_count; i++) {
		fprintf(out, "%llu\n",
			(unsigned long long)s.rounds[i].length_ms);
		for (size_t k = 0; k < s.rounds[i].fault_count; k++) {
			fault_print(&s.rounds[i].faults[k], out);
		}
	}
	fclose(out);
	schedule_free(&s);
	return text;
}

Test(fault_schedule, a_seed_replays_its_list)
{
	char *a = text_of(7, 5);
	char *b = text_of(7, 5);
	char *c = text_of(8, 5);

	cr_assert_str_eq(a, b);
	cr_assert_str_neq(a, c);
	free(a);
	free(b);
	free(c);
}

Test(fault_schedule, the_rounds_are_the_minutes)
{
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct schedule s;
		uint64_t sum = 0;

		schedule_make(&s, seed, 1 + seed % 7);
		for (size_t i = 0; i < s.round_count; i++) {
			cr_assert_geq(s.rounds[i].length_ms, ROUND_MIN_MS);
			sum += s.rounds[i].length_ms;
		}
		cr_assert_eq(sum, s.minutes * 60000);
		schedule_free(&s);
	}
}

Test(fault_schedule, every_kind_hits_every_target_in_30_minutes)
{
	unsigned hits[FAULT_COUNT][LINK_COUNT] = { 0 };
	struct schedule s;

	schedule_make(&s, 1, 30);
	for (size_t i = 0; i < s.round_count; i++) {
		for (size_t k = 0; k < s.rounds[i].fault_count; k++) {
			const struct fault *f = &s.rounds[i].faults[k];

			hits[f->kind][f->target]++;
		}
	}
	for (unsigned i = 0; i < LINK_COUNT; i++) {
		for (int kind = FAULT_DELAY; kind <= FAULT_DROP; kind++) {
			cr_assert_gt(hits[kind][i], 0, "%s of %s",
				     fault_kind_name((enum fault_kind)kind),
				     link_name((enum link_id)i));
		}
	}
	for (unsigned i = 0; i < PROCESS_COUNT; i++) {
		bool ours = i >= PROCESS_WORKER;

		cr_assert_gt(hits[FAULT_KILL][i], 0);
		cr_assert_gt(hits[FAULT_STOP][i], 0);
		cr_assert_eq(hits[FAULT_DRAIN][i] > 0, ours);
		cr_assert_eq(hits[FAULT_HUP][i] > 0, ours);
	}
	cr_assert_gt(hits[FAULT_CLIENT_KILL][PROCESS_REDIS], 0);
	cr_assert_gt(hits[FAULT_SCRIPT_FLUSH][PROCESS_REDIS], 0);
	schedule_free(&s);
}

/* How many faults of r last at at_ms, how many of these on f's target. */
static void count(const struct round *r, const struct fault *f, unsigned *all,
		  unsigned *same)
{
	*all = *same = 0;
	for (size_t i = 0; i < r->fault_count; i++) {
		const struct fault *o = &r->faults[i];

		if (o->at_ms <= f->at_ms &&
		    f->at_ms < o->at_ms + o->duration_ms) {
			++*all;
			*same += o->target == f->target &&
				 fault_target_of(o->kind) ==
					 fault_target_of(f->kind);
		}
	}
}

Test(fault_schedule, few_at_a_time_and_one_per_target)
{
	struct schedule s;

	schedule_make(&s, 3, 30);
	for (size_t i = 0; i < s.round_count; i++) {
		const struct round *r = &s.rounds[i];

		for (size_t k = 0; k < r->fault_count; k++) {
			unsigned all;
			unsigned same;

			cr_assert_lt(r->faults[k].at_ms, r->length_ms);
			cr_assert(k == 0 ||
				  r->faults[k - 1].at_ms < r->faults[k].at_ms);
			count(r, &r->faults[k], &all, &same);
			cr_assert_leq(all, OVERLAP_MAX);
			cr_assert_leq(same, 1);
		}
	}
	schedule_free(&s);
}

/* What summary_doubt() says of tappers and a checker that told this. */
static const char *doubt(const char *tapped, const char *checked)
{
	json_t *t = json_object();
	json_t *c = json_object();
	const char *why;

	summary_add_json(t, tapped);
	summary_add_words(c, checked);
	why = summary_doubt(t, c);
	json_decref(t);
	json_decref(c);
	return why;
}

Test(fault_schedule, a_run_without_taps_or_wins_proves_nothing)
{
	const char *tapped = "{\"taps\":9,\"wins\":4}";

	cr_assert_null(doubt(tapped, "checked taps=9 wins=4 violations=0\n"));
	cr_assert_not_null(doubt(tapped, "checked taps=8 wins=4\n"));
	cr_assert_not_null(doubt(tapped, "checked taps=9 wins=3\n"));
	cr_assert_not_null(doubt(tapped, ""));
	cr_assert_not_null(
		doubt("{\"taps\":9,\"wins\":0}", "checked taps=9 wins=0\n"));
	cr_assert_not_null(doubt("", ""));
}

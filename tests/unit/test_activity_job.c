/* Chunks in flight: in order, no more than are allowed, and none after trouble
 * until all have landed. No Redis: the test is what answers. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "grab-service/activity_job.h"

enum { CHUNK = 10, COUNT = 95, SENT_MAX = 40 };

static const struct allocate_rule rule = { .count = COUNT };

static struct activity_service svc;
static struct activity_job job;
static uint64_t sent[SENT_MAX]; /* where each chunk began */
static size_t sent_count;
static size_t answered;
static int whole;
static int settled;

static void note(struct activity_job *j, uint64_t from, uint64_t n)
{
	cr_assert_eq(j, &job);
	cr_assert_eq(n, from + CHUNK > COUNT ? COUNT - from : CHUNK);
	cr_assert(sent_count < SENT_MAX);
	sent[sent_count++] = from;
}

static void is_whole(struct activity_job *j)
{
	cr_assert_eq(j->flying, 0);
	whole++;
}

static void is_settled(struct activity_job *j)
{
	cr_assert_eq(j->flying, 0);
	settled++;
}

static const struct activity_job_kind kind = { .send = note,
					       .whole = is_whole };

static void start(void)
{
	svc = (struct activity_service){ .deps.chunk = CHUNK };
	job = (struct activity_job){ .kind = &kind,
				     .svc = &svc,
				     .rule = &rule };
	sent_count = answered = 0;
	whole = settled = 0;
	job_go_on(&job);
}

TestSuite(activity_job, .init = start);

/* The oldest chunk in flight has a good reply. */
static void good(void)
{
	uint64_t end = sent[answered++] + CHUNK;

	cr_assert(job_landed(&job));
	job.done = end < COUNT ? end : COUNT;
	job_send(&job);
}

/* It has any reply, and that counts no more. */
static void unheard(void)
{
	answered++;
	cr_assert(!job_landed(&job));
}

Test(activity_job, chunks_follow_each_other)
{
	cr_assert_eq(sent_count, JOB_CHUNKS_MAX);
	for (size_t i = 0; i < 10; i++) {
		cr_assert_eq(whole, 0);
		cr_assert_leq(sent_count, i + JOB_CHUNKS_MAX);
		cr_assert_eq(sent[i], i * CHUNK);
		good();
	}
	cr_assert_eq(sent_count, 10);
	cr_assert_eq(whole, 1);
}

Test(activity_job, after_trouble_all_land_before_it_goes_on)
{
	good();
	cr_assert(job_landed(&job)); /* ORDER, or its reply is lost */
	answered++;
	job_go_on(&job);
	for (int i = 1; i < JOB_CHUNKS_MAX; i++) {
		cr_assert_eq(sent_count, JOB_CHUNKS_MAX + 1);
		unheard();
	}
	/* From what is known to be there. */
	cr_assert_eq(sent_count, 2 * JOB_CHUNKS_MAX + 1);
	cr_assert_eq(sent[JOB_CHUNKS_MAX + 1], CHUNK);
	while (job.flying > 0) {
		good();
	}
	cr_assert_eq(whole, 1);
}

Test(activity_job, the_first_trouble_decides)
{
	cr_assert(job_landed(&job));
	job_land(&job, is_settled);
	for (int i = 1; i < JOB_CHUNKS_MAX; i++) {
		cr_assert_eq(settled, 0);
		unheard();
	}
	cr_assert_eq(settled, 1);
	cr_assert_eq(sent_count, JOB_CHUNKS_MAX);
	/* Nothing is in flight: at once. */
	job_land(&job, is_settled);
	cr_assert_eq(settled, 2);
}

Test(activity_job, a_list_that_is_whole_is_not_sent)
{
	cr_assert(job_landed(&job));
	job.done = COUNT; /* somebody else has pushed the rest */
	job_go_on(&job);
	for (int i = 1; i < JOB_CHUNKS_MAX; i++) {
		unheard();
	}
	cr_assert_eq(sent_count, JOB_CHUNKS_MAX);
	cr_assert_eq(whole, 1);
}

/* It says how far it came only when it knows. */
Test(activity_job, whoever_stops_hears_of_what_is_in_flight)
{
	svc.stopping = true;
	for (int i = 1; i < JOB_CHUNKS_MAX; i++) {
		good();
	}
	cr_assert_eq(sent_count, JOB_CHUNKS_MAX);
	cr_assert_eq(job.flying, 1);
	cr_assert_eq(job.done, (JOB_CHUNKS_MAX - 1) * CHUNK);
	cr_assert_null(job.then);
}

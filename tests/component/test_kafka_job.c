#include "client/kafka_job.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "lib/turns.h"

struct task {
	atomic_bool released; /* work() may return */
	atomic_bool worked;
	atomic_int *dropped;
	int done;
	bool abandoned;
};

static void work(void *data)
{
	struct task *t = data;

	while (!atomic_load(&t->released)) {
		uv_sleep(1);
	}
	atomic_store(&t->worked, true);
}

static void done(void *data, bool abandoned)
{
	struct task *t = data;

	t->done++;
	t->abandoned = abandoned;
}

static void drop(void *data)
{
	struct task *t = data;

	atomic_fetch_add(t->dropped, 1);
}

static const struct kafka_job_ops ops = { work, done, drop };

Test(kafka_job, finishes)
{
	uv_loop_t loop;
	atomic_int dropped = 0;
	struct task t = { .released = true, .dropped = &dropped };

	cr_assert_eq(uv_loop_init(&loop), 0);
	(void)kafka_job_start(&loop, 60000, &ops, &t);
	cr_assert_eq(t.done, 0, "never from inside the start");
	RUN_UNTIL(&loop, t.done == 1);
	cr_assert(t.worked);
	cr_assert(!t.abandoned);
	RUN_UNTIL(&loop, atomic_load(&dropped) == 1);
	turns_end(&loop);
	cr_assert_eq(t.done, 1);
}

/* The loop goes on without the thread; what they share stays until both have
 * let go. */
Test(kafka_job, is_abandoned_at_its_deadline)
{
	uv_loop_t loop;
	atomic_int dropped = 0;
	struct task t = { .dropped = &dropped };

	cr_assert_eq(uv_loop_init(&loop), 0);
	(void)kafka_job_start(&loop, 20, &ops, &t);
	RUN_UNTIL(&loop, t.done == 1);
	cr_assert(t.abandoned);
	turns_end(&loop);
	cr_assert_eq(atomic_load(&dropped), 0);
	atomic_store(&t.released, true);
	for (int i = 0; i < 10000 && atomic_load(&dropped) == 0; i++) {
		uv_sleep(1);
	}
	cr_assert_eq(atomic_load(&dropped), 1);
	cr_assert_eq(t.done, 1);
}

Test(kafka_job, abandoning_twice_is_once)
{
	uv_loop_t loop;
	atomic_int dropped = 0;
	struct task t = { .dropped = &dropped };
	struct kafka_job *job;

	cr_assert_eq(uv_loop_init(&loop), 0);
	job = kafka_job_start(&loop, 60000, &ops, &t);
	kafka_job_abandon(job);
	kafka_job_abandon(job);
	cr_assert_eq(t.done, 0);
	RUN_UNTIL(&loop, t.done == 1);
	atomic_store(&t.released, true);
	turns_end(&loop);
	for (int i = 0; i < 10000 && atomic_load(&dropped) == 0; i++) {
		uv_sleep(1);
	}
	cr_assert_eq(atomic_load(&dropped), 1);
}

/* When a script call leaves, and with how many. */
#include <criterion/criterion.h>

#include "grab-service/batch.h"

Test(batch, lone_grab_goes_at_once)
{
	cr_assert_eq(batch_next(1, 0, 128), 1);
}

Test(batch, nobody_waits_nothing_goes)
{
	cr_assert_eq(batch_next(0, 0, 128), 0);
	cr_assert_eq(batch_next(0, 1, 128), 0);
	cr_assert_eq(batch_next(0, 2, 128), 0);
}

Test(batch, newcomers_gather_while_a_call_is_in_flight)
{
	cr_assert_eq(batch_next(1, 1, 128), 0);
	cr_assert_eq(batch_next(127, 1, 128), 0);
}

Test(batch, full_batch_goes_beside_one_call)
{
	cr_assert_eq(batch_next(128, 1, 128), 128);
	cr_assert_eq(batch_next(1000, 1, 128), 128);
}

Test(batch, never_three_calls)
{
	cr_assert_eq(batch_next(100000, 2, 128), 0);
}

Test(batch, what_has_gathered_goes_when_the_call_returns)
{
	cr_assert_eq(batch_next(77, 0, 128), 77);
	cr_assert_eq(batch_next(300, 0, 128), 128);
}

/* Arrivals at any rate and calls of any length: the number of calls stays far
 * below the number of grabs when they come faster than calls return, and none
 * is left behind. */
Test(batch, batches_form_under_load)
{
	size_t waiting = 0;
	size_t flying[2] = { 0 };
	size_t calls = 0;
	size_t sent = 0;
	size_t started = 0;

	for (size_t turn = 0; turn < 1010; turn++) {
		size_t n;

		waiting += turn < 1000 ? 10 : 0;
		/* A call takes five turns. */
		for (size_t i = 0; i < 2; i++) {
			if (flying[i] > 0 && --flying[i] == 0) {
				calls--;
			}
		}
		while ((n = batch_next(waiting, calls, 128)) > 0) {
			waiting -= n;
			sent += n;
			started++;
			flying[flying[0] == 0 ? 0 : 1] = 5;
			calls++;
		}
	}
	cr_assert_eq(sent, 10000);
	cr_assert_eq(waiting, 0);
	cr_assert(sent / started > 8, "%zu calls", started);
}

/* What scripts are told of how an activity ended. */
#include <criterion/criterion.h>

#include "console/activity_json.h"
#include "proto/proto_util.h"

/* Closed with 5 claims and 3 packets left, counted as 46.07. */
static Rain__Activity ended(void)
{
	Rain__Activity a = RAIN__ACTIVITY__INIT;

	a.state = RAIN__STATE__SETTLED;
	a.seed = to_pb_str("00010203040506070809"
			   "0a0b0c0d0e0f1011121314151617"
			   "18191a1b1c1d1e1f");
	a.final_claims = 5;
	a.final_left = 3;
	a.leftover_cents = 4607;
	return a;
}

/* The three, as JSON text; "" if none of them is there. */
static void expect(const Rain__Activity *a, const char *text)
{
	static const char *const names[] = { "final_claims", "final_left",
					     "leftover" };
	struct ctl ctl = { .json = true };
	json_t *o = activity_json(&ctl, a);
	json_t *found = json_object();
	char *dumped;

	for (size_t i = 0; i < 3; i++) {
		if (json_object_get(o, names[i]) != NULL) {
			json_object_set(found, names[i],
					json_object_get(o, names[i]));
		}
	}
	dumped = json_dumps(found, JSON_COMPACT | JSON_SORT_KEYS);
	cr_assert_str_eq(dumped, text);
	free(dumped);
	json_decref(found);
	json_decref(o);
}

Test(activity_json, the_end_of_a_closed_one)
{
	Rain__Activity a = ended();

	expect(&a,
	       "{\"final_claims\":5,\"final_left\":3,\"leftover\":\"46.07\"}");
	a.leftover_cents = 0;
	expect(&a,
	       "{\"final_claims\":5,\"final_left\":3,\"leftover\":\"0.00\"}");
	a.state = RAIN__STATE__CLOSED;
	a.leftover_cents = -1;
	expect(&a, "{\"final_claims\":5,\"final_left\":3,\"leftover\":null}");
	/* Its seed has been public since it was closed. */
	a.state = RAIN__STATE__HALTED;
	expect(&a, "{\"final_claims\":5,\"final_left\":3,\"leftover\":null}");
}

Test(activity_json, no_end_of_one_that_was_not_closed)
{
	Rain__Activity a = ended();

	a.leftover_cents = -1;
	expect(&a, "{}"); /* settled after it was cancelled */
	a.state = RAIN__STATE__CANCELLED;
	expect(&a, "{}");
	a.state = RAIN__STATE__OPEN;
	a.seed = to_pb_str("");
	expect(&a, "{}");
}

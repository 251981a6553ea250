#include "lib/verify_case.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/proto_util.h"

/* The split of docs/fairness.md: seed 000102…1f, 100.00 in 8 packets. */
const int64_t amounts[COUNT] = { 1570, 169, 854, 1942, 858, 1630, 1820, 1157 };

struct verify v;

static void read_good_plan(struct plan *out)
{
	Rain__Plan m = RAIN__PLAN__INIT;
	char why[PLAN_WHY];

	m.activity_id = to_pb_str("quiz-1");
	m.title = to_pb_str("Quiz night \xe6\xb5\x8b\xe8\xaf\x95");
	m.sponsor = to_pb_str("acme");
	m.currency = to_pb_str("CNY");
	m.total_cents = 10000;
	m.packets = COUNT;
	m.algorithm = to_pb_str("double_mean");
	m.min_cents = 1;
	m.end_ms = INT64_C(1764430000000);
	m.ack = to_pb_str("redis");
	m.keep_days = 7;
	cr_assert(plan_read(&m, out, why), "%s", why);
}

void enter(struct verify_list *list, uint64_t k, bool user)
{
	char packet[24], name[24];

	(void)snprintf(packet, sizeof(packet), "%d", BASE + (int)k - 1);
	(void)snprintf(name, sizeof(name), "u%d", (int)k);
	verify_enter(list, user ? k : 0, bytes_str(packet),
		     bytes_str(user ? name : ""), amounts[k - 1]);
}

void published(void)
{
	verify_init(&v, "quiz-1");
	read_good_plan(&v.plan);
	for (int i = 0; i < ALLOCATE_SEED; i++) {
		v.seed[i] = v.mixed[i] = (uint8_t)i;
	}
	(void)snprintf(v.commitment, sizeof(v.commitment), COMMITMENT);
	v.ledger_commitment = xstrndup(COMMITMENT, strlen(COMMITMENT));
	v.ledger_entropy = xstrndup("", 0);
	v.ledger_claims = CLAIMS;
	v.id_base = BASE;
	v.settled = true;
	v.final_claims = CLAIMS;
	v.leftover_cents = 1630 + 1820 + 1157;
}

void sound(void)
{
	published();
	for (uint64_t k = 1; k <= CLAIMS; k++) {
		enter(&v.claims, k, true);
		enter(&v.credits, k, true);
	}
	for (uint64_t k = CLAIMS + 1; k <= COUNT; k++) {
		enter(&v.left, k, false);
	}
}

void says(const char *text)
{
	char summary[VERIFY_SUMMARY];

	verify_summary(&v, summary);
	cr_assert_str_eq(summary, text);
}

void proven(const char *summary)
{
	verify_judge(&v);
	cr_assert_eq(v.differences, 0, "%s", v.lines[0]);
	says(summary);
	verify_close(&v);
}

void differs(uint64_t differences, const char *line)
{
	char summary[VERIFY_SUMMARY];

	verify_judge(&v);
	cr_assert(v.lines[0] != NULL, "no difference, but not: %s", line);
	cr_assert_str_eq(v.lines[0], line);
	cr_assert_eq(v.differences, differences, "%d; the second: %s",
		     (int)v.differences, v.lines[1]);
	(void)snprintf(summary, sizeof(summary), "verify: %d difference%s",
		       (int)differences, differences == 1 ? "" : "s");
	says(summary);
	verify_close(&v);
}

void drop_last(struct verify_list *list)
{
	list->count--;
	free(list->entries[list->count].packet);
	free(list->entries[list->count].user);
}

void set_text(char **text, const char *to)
{
	free(*text);
	*text = xstrndup(to, strlen(to));
}

void gone(void)
{
	published();
	v.lists_gone = true;
	for (uint64_t k = 1; k <= CLAIMS; k++) {
		enter(&v.credits, k, true);
	}
}

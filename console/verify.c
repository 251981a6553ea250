#include "console/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void verify_init(struct verify *v, const char *activity)
{
	*v = (struct verify){ .leftover_cents = -1 };
	check(strlen(activity) <= ID_MAX);
	memcpy(v->activity, activity, strlen(activity));
}

static void close_list(struct verify_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->entries[i].packet);
		free(list->entries[i].user);
	}
	free(list->entries);
}

void verify_close(struct verify *v)
{
	close_list(&v->claims);
	close_list(&v->left);
	close_list(&v->credits);
	free(v->ledger_commitment);
	for (size_t i = 0; i < VERIFY_LINES; i++) {
		free(v->lines[i]);
	}
}

void verify_enter(struct verify_list *list, uint64_t seq, struct bytes packet,
		  struct bytes user, int64_t amount_cents)
{
	if (list->count == list->room) {
		list->room = list->room > 0 ? list->room * 2 : 1024;
		list->entries = xrealloc(list->entries,
					 list->room * sizeof(*list->entries));
	}
	list->entries[list->count++] = (struct verify_entry){
		.packet = xstrndup(packet.p, packet.n),
		.user = xstrndup(user.p, user.n),
		.seq = seq,
		.amount_cents = amount_cents,
	};
}

void verify_differ(struct verify *v, const char *fmt, ...)
{
	char line[512];
	va_list args;

	if (v->differences++ >= VERIFY_LINES) {
		return;
	}
	va_start(args, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	v->lines[v->differences - 1] = xstrndup(line, strlen(line));
}

/* Packets, and the id of the first, of tranche t from 0. */
static uint64_t tranche_of(const struct verify *v, size_t t, uint64_t *id_base)
{
	const struct verify_topup *more = &v->topups[t > 0 ? t - 1 : 0];

	*id_base = t > 0 ? more->id_base : v->id_base;
	return t > 0 ? more->tranche.rule.count : v->plan.rule.count;
}

uint64_t verify_packets(const struct verify *v)
{
	uint64_t sum = 0;
	uint64_t base;

	for (size_t t = 0; t <= v->topup_count; t++) {
		sum += tranche_of(v, t, &base);
	}
	return sum;
}

void verify_amounts(const struct verify *v, int64_t *amounts)
{
	allocate(v->mixed, &v->plan.rule, amounts);
	amounts += v->plan.rule.count;
	for (size_t i = 0; i < v->topup_count; i++) {
		const struct allocate_rule *rule = &v->topups[i].tranche.rule;

		allocate(v->topups[i].seed, rule, amounts);
		amounts += rule->count;
	}
}

uint64_t verify_id(const struct verify *v, uint64_t k)
{
	size_t t = 0;
	uint64_t base;
	uint64_t count = tranche_of(v, t, &base);

	while (k > count && t < v->topup_count) {
		k -= count;
		count = tranche_of(v, ++t, &base);
	}
	return base + k - 1;
}

uint64_t verify_packet(const struct verify *v, uint64_t id)
{
	uint64_t before = 0;

	for (size_t t = 0; t <= v->topup_count; t++) {
		uint64_t base;
		uint64_t count = tranche_of(v, t, &base);

		if (id >= base && id - base < count) {
			return before + (id - base) + 1;
		}
		before += count;
	}
	return 0;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void verify_summary(const struct verify *v, char out[VERIFY_SUMMARY])
{
	uint64_t count = v->packets;
	char later[64] = "", never[64] = "";
	const char *heard = v->ledger_commitment != NULL
				    ? ""
				    : "; the ledger has no commitment yet";

	if (v->uncredited > 0) {
		(void)snprintf(later, sizeof(later),
			       ", %" PRIu64 " not credited yet", v->uncredited);
	}
	if (v->unloaded > 0) {
		(void)snprintf(never, sizeof(never),
			       ", %" PRIu64 " never loaded", v->unloaded);
	}
	if (v->differences > 0) {
		(void)snprintf(out, VERIFY_SUMMARY,
			       "verify: %" PRIu64 " difference%s",
			       v->differences, plural(v->differences));
	} else if (v->cancelled) {
		(void)snprintf(out, VERIFY_SUMMARY,
			       "verify: proven: it was cancelled, %" PRIu64
			       " of %" PRIu64 " packets are in Redis, none was "
			       "claimed%s",
			       v->unclaimed, count, heard);
	} else {
		(void)snprintf(out, VERIFY_SUMMARY,
			       "verify: all %" PRIu64 " packets proven%s: "
			       "%" PRIu64 " claimed, %" PRIu64 " left%s%s%s",
			       count,
			       v->lists_gone ? " from the ledger alone, the "
					       "lists have left Redis"
					     : "",
			       v->claimed, v->unclaimed, never, later, heard);
	}
}

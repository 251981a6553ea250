#include "console/verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void verify_init(struct verify *v, const char *activity)
{
	*v = (struct verify){ .ledger_claims = -1, .leftover_cents = -1 };
	check(strlen(activity) <= ID_MAX);
	memcpy(v->activity, activity, strlen(activity));
}

static void close_list(struct verify_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->entries[i].packet);
		free(list->entries[i].user);
		free(list->entries[i].told);
	}
	free(list->entries);
}

void verify_close(struct verify *v)
{
	close_list(&v->claims);
	close_list(&v->left);
	close_list(&v->credits);
	free(v->ledger_commitment);
	free(v->ledger_entropy);
	free(v->heard);
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

bool verify_unreadable(struct verify *v, struct verify_list *list,
		       struct bytes why)
{
	const uint8_t *colon = memchr(why.p, ':', why.n);
	size_t n = colon != NULL ? (size_t)(colon - why.p) : why.n;

	verify_differ(v, "%.*s cannot be read%.*s", (int)n, (const char *)why.p,
		      (int)(why.n - n), (const char *)why.p + n);
	list->unreadable++;
	if (list->unreadable < VERIFY_LINES) {
		return true;
	}
	verify_differ(v,
		      "the list was not read to its end: %d elements of it "
		      "cannot be read",
		      VERIFY_LINES);
	return false;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* What is only a matter of time. */
static void not_heard(const struct verify *v, char *out, size_t size)
{
	uint32_t tranche = verify_unheard(v);

	out[0] = '\0';
	if (v->ledger_commitment == NULL) {
		(void)snprintf(out, size, "; the ledger has no commitment yet");
	} else if (v->entropy[0] != '\0' && v->ledger_entropy == NULL) {
		(void)snprintf(out, size, "; the ledger has no entropy yet");
	} else if (tranche != 0) {
		(void)snprintf(out, size,
			       "; the ledger has not heard yet of tranche "
			       "%" PRIu32,
			       tranche);
	} else if (v->cancelled && !v->ledger_cancelled) {
		(void)snprintf(out, size,
			       "; the ledger has not heard yet that it was "
			       "cancelled");
	}
}

void verify_summary(const struct verify *v, char out[VERIFY_SUMMARY])
{
	uint64_t count = v->packets;
	char later[64] = "", never[64] = "", heard[64];

	not_heard(v, heard, sizeof(heard));
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
			       " of %" PRIu64 " packets %s, none was claimed%s",
			       v->unclaimed, count,
			       v->plan.rule.live ? "could be drawn"
						 : "are in Redis",
			       heard);
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

/* Whether the options go together, and what was left out. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bench/options_internal.h"

enum { USERS_OF_FRONT = 1000000 };

static bool add_activity(struct options *o, struct buf *name, struct buf *why)
{
	struct bytes id = buf_live(name);

	if (!id_valid(id)) {
		buf_printf(why, "--activity: '%.*s' is not an id: " ID_RULE,
			   BYTES_FMT(id));
		return false;
	}
	memcpy(o->activities[o->activity_count], id.p, id.n);
	o->activities[o->activity_count++][id.n] = '\0';
	return true;
}

/* "night%d" is night1, night2, ...; as many as --activities says. */
static bool add_pattern(struct options *o, const char *pattern, uint64_t count,
			struct buf *why)
{
	const char *mark = strstr(pattern, "%d");
	bool ok = true;

	o->activities = xcalloc(count, sizeof o->activities[0]);
	for (uint64_t i = 1; i <= count && ok; i++) {
		struct buf name;

		buf_init(&name);
		buf_printf(&name, "%.*s%" PRIu64 "%s", (int)(mark - pattern),
			   pattern, i, mark + 2);
		ok = add_activity(o, &name, why);
		buf_close(&name);
	}
	return ok;
}

static bool settle_activities(struct options *o, const struct given *g,
			      struct buf *why)
{
	bool pattern = g->activity_count == 1 &&
		       strstr(g->activities[0], "%d") != NULL;
	bool ok = true;

	if (pattern != (g->pattern > 0)) {
		buf_printf(why,
			   "--activity with one %%d in it and --activities N "
			   "go together: --activity night%%d --activities 40");
		return false;
	}
	if (pattern) {
		return add_pattern(o, g->activities[0], g->pattern, why);
	}
	o->activities = xcalloc(g->activity_count + 1, sizeof o->activities[0]);
	if (g->echo && g->activity_count == 0) {
		/* Frames as long as those of a gateway. */
		(void)snprintf(o->activities[o->activity_count++], ID_MAX,
			       "bench");
	}
	for (size_t i = 0; i < g->activity_count && ok; i++) {
		struct buf name;

		buf_init(&name);
		buf_put_bytes(&name, bytes_str(g->activities[i]));
		ok = add_activity(o, &name, why);
		buf_close(&name);
	}
	return ok;
}

static void settle_users(struct options *o, const struct given *g)
{
	o->scope = g->echo ? SCOPE_ECHO : g->front ? SCOPE_FRONT : SCOPE_USER;
	if (!g->duration) {
		o->duration_ms = 10000;
	}
	if (o->users == 0) {
		o->users = o->scope == SCOPE_USER ? o->conns : USERS_OF_FRONT;
	}
}

/* What must not be: a sentence for each. */
static const char *contradiction(const struct options *o, const struct given *g)
{
	bool gateway = o->scope != SCOPE_ECHO;

	if (o->target_count == 0) {
		return "--target is missing: tcp://HOST:PORT of a gateway, or "
		       "with --echo of rain-echo";
	}
	if (gateway && o->keys == NULL) {
		return "--keys is missing: a file with a key that signs, as "
		       "gateway.keys names it";
	}
	if (!gateway && (o->keys != NULL || g->front)) {
		return "--echo says no Hello: --keys and --front have no "
		       "meaning with it";
	}
	if (!gateway && (o->taps > 0 || o->retry != RETRY_NEVER)) {
		return "rain-echo knows no users: --taps and --retry have no "
		       "meaning with --echo";
	}
	if (gateway && !o->idle && g->activity_count == 0) {
		return "--activity is missing: the activity to grab in";
	}
	if (o->idle && (o->rate > 0 || g->in_flight || g->activity_count > 0 ||
			o->taps > 0 || o->ramp_ms > 0 || o->warmup_ms > 0)) {
		return "--idle sends no taps: --rate, --in-flight, --taps, "
		       "--ramp, --warmup and --activity have no meaning with "
		       "it";
	}
	if (o->rate > 0 && g->in_flight) {
		return "--rate and --in-flight exclude one another: an open "
		       "loop does not wait for answers";
	}
	if (o->in_step && (o->scope != SCOPE_USER || o->rate > 0 || o->idle ||
			   o->in_flight > 1 || o->ramp_ms > 0)) {
		return "--in-step is for connections that are a user each, with "
		       "one tap in flight: --front, --echo, --rate, --idle, "
		       "--ramp and --in-flight have no meaning with it";
	}
	return NULL;
}

static const char *out_of_range(const struct options *o)
{
	if (o->threads > o->conns) {
		return "--threads is more than --conns: a thread needs a "
		       "connection";
	}
	if (o->scope != SCOPE_USER && o->threads > o->users) {
		return "--threads is more than --users: a thread needs a user";
	}
	if (o->duration_ms == 0 && (o->taps == 0 || o->idle)) {
		return "--duration 0 is until all users have tapped: say how "
		       "often with --taps N";
	}
	if (o->duration_ms > 0 && o->warmup_ms >= o->duration_ms) {
		return "--warmup is a part of --duration, and shorter";
	}
	if (o->duration_ms > 0 && o->ramp_ms >= o->duration_ms) {
		return "--ramp is a part of --duration, and shorter";
	}
	if (o->activity_count > 0 && o->users > PAIRS_MAX / o->activity_count) {
		return "--users times the number of activities is at most "
		       "200000000: 4 bytes each are kept of who has which "
		       "packet";
	}
	return NULL;
}

bool options_settle(struct options *o, const struct given *g, struct buf *why)
{
	const char *wrong;

	if (!settle_activities(o, g, why)) {
		return false;
	}
	settle_users(o, g);
	wrong = contradiction(o, g);
	if (wrong == NULL) {
		wrong = out_of_range(o);
	}
	if (wrong != NULL) {
		buf_printf(why, "%s", wrong);
	}
	return wrong == NULL;
}

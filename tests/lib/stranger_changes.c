#include "lib/stranger_changes.h"

#include <stdio.h>

const char *const state_names[STATES] = { "OPEN", "PAUSED", "CLOSED" };

/* The word for what begins at *in, which goes on to its end; else NULL. */
static const char *word(const struct change_words *w, const char **in)
{
	static char packet[24];
	const char *at = *in;

	if (*at == '@') {
		return w->id;
	}
	if (*at == 'W' && (at[-1] == ' ' || at[-1] == '"')) {
		return "w0";
	}
	if (*at != '%' && *at != '&' && *at != '$') {
		return NULL;
	}
	++*in;
	if (*at == '%') {
		return w->claims[at[1] - '1'];
	}
	if (*at == '$') {
		return at[1] == 'R' ? w->revision : w->state;
	}
	(void)snprintf(packet, sizeof packet, "%lld",
		       w->first_packet + (at[1] - '0'));
	return packet;
}

void change_fill(const struct change_words *w, const char *in, char *out,
		 size_t size)
{
	size_t n = 0;

	for (; *in != '\0' && n + 1 < size; in++) {
		const char *text = word(w, &in);

		if (text == NULL) {
			out[n++] = *in;
			continue;
		}
		n += (size_t)snprintf(out + n, size - n, "%s", text);
	}
	out[n] = '\0';
}

const struct change changes[] = {
	/* packets */
	{ .name = "packets: deleted",
	  { "DEL rain:{@}:packets" },
	  ALL(HALTS),
	  COUNTS },
	{ .name = "packets: a string",
	  { "DEL rain:{@}:packets", "SET rain:{@}:packets x" },
	  ALL(HALTS),
	  "wrong type" },
	{ .name = "packets: renamed",
	  { "RENAME rain:{@}:packets rain:{@}:gone" },
	  ALL(HALTS),
	  COUNTS },
	{ .name = "packets: one taken",
	  { "RPOP rain:{@}:packets" },
	  ALL(HALTS),
	  COUNTS },
	{ .name = "packets: one returned",
	  { "RPUSH rain:{@}:packets "
	    "{\"redPacketId\":\"&0\",\"amount\":\"1.00\"}" },
	  ALL(HALTS),
	  COUNTS },
	{ .name = "packets: cut",
	  { "LTRIM rain:{@}:packets 0 2" },
	  ALL(HALTS),
	  COUNTS },
	{ .name = "packets: the next is worth more",
	  { "LSET rain:{@}:packets -1 "
	    "{\"redPacketId\":\"&4\",\"amount\":\"9.99\"}" },
	  { HALTS, QUIET, QUIET },
	  /* 1004, or what comes behind one that was in flight. */
	  "with 9.99, and packet 100" },
	{ .name = "packets: the next is one that is taken",
	  { "LSET rain:{@}:packets -1 "
	    "{\"redPacketId\":\"&0\",\"amount\":\"1.00\"}" },
	  { HALTS, QUIET, QUIET },
	  "it is packet &0" },
	{ .name = "packets: the next is no packet",
	  { "LSET rain:{@}:packets -1 nonsense" },
	  { HALTS, QUIET, QUIET },
	  "is no" },

	/* users */
	{ .name = "users: deleted",
	  { "DEL rain:{@}:users" },
	  ALL(HALTS),
	  COUNTS },
	{ .name = "users: a string",
	  { "DEL rain:{@}:users", "SET rain:{@}:users x" },
	  ALL(HALTS),
	  "wrong type" },
	{ .name = "users: renamed",
	  { "RENAME rain:{@}:users rain:{@}:gone" },
	  ALL(HALTS),
	  COUNTS },
	{ .name = "users: one forgotten",
	  { "HDEL rain:{@}:users W" },
	  ALL(HALTS),
	  COUNTS },
	{ .name = "users: one more",
	  { "HSET rain:{@}:users ghost x" },
	  ALL(HALTS),
	  COUNTS },
	{ .name = "users: another amount",
	  { "HSET rain:{@}:users W "
	    "{\"redPacketId\":\"&0\",\"amount\":\"9.99\",\"userId\":\"W\","
	    "\"seq\":1,\"atMs\":1,\"tranche\":1}" },
	  ALL(HALTS),
	  "with 9.99, and packet &0 with 1.00 in the plan" },
	{ .name = "users: another's packet",
	  { "HSET rain:{@}:users W "
	    "{\"redPacketId\":\"&1\",\"amount\":\"1.00\",\"userId\":\"W\","
	    "\"seq\":2,\"atMs\":1,\"tranche\":1}" },
	  ALL(HALTS),
	  "it was another user's" },
	{ .name = "users: a packet that nobody has",
	  { "HSET rain:{@}:users W "
	    "{\"redPacketId\":\"&8\",\"amount\":\"1.00\",\"userId\":\"W\","
	    "\"seq\":9,\"atMs\":1,\"tranche\":1}" },
	  ALL(HALTS),
	  "the user has claim 1 already" },
	{ .name = "users: another's claim",
	  { "HSET rain:{@}:users W %2" },
	  ALL(HALTS),
	  "no claim of his" },
	{ .name = "users: nonsense",
	  { "HSET rain:{@}:users W nonsense" },
	  ALL(HALTS),
	  "no claim of his" },
	{ .name = "users: one forgotten and one more",
	  { "HDEL rain:{@}:users W", "HSET rain:{@}:users ghost %1" },
	  ALL(HALTS),
	  "user w0" },

	/* claims */
	{ .name = "claims: deleted",
	  { "DEL rain:{@}:claims" },
	  ALL(HALTS),
	  COUNTS },
	{ .name = "claims: a string",
	  { "DEL rain:{@}:claims", "SET rain:{@}:claims x" },
	  ALL(HALTS),
	  "wrong type" },
	{ .name = "claims: renamed",
	  { "RENAME rain:{@}:claims rain:{@}:gone" },
	  ALL(HALTS),
	  COUNTS },
	{ .name = "claims: the last taken",
	  { "LPOP rain:{@}:claims" },
	  ALL(HALTS),
	  COUNTS },
	{ .name = "claims: cut",
	  { "LTRIM rain:{@}:claims 0 1" },
	  ALL(HALTS),
	  COUNTS },
	{ .name = "claims: one more",
	  { "LPUSH rain:{@}:claims x" },
	  ALL(HALTS),
	  COUNTS },
	{ .name = "claims: a published one edited",
	  { "LSET rain:{@}:claims -1 %2" },
	  ALL(QUIET),
	  NULL },
	{ .name = "claims: the first one taken back",
	  { "RPOP rain:{@}:claims", "HDEL rain:{@}:users W",
	    "RPUSH rain:{@}:packets "
	    "{\"redPacketId\":\"&0\",\"amount\":\"1.00\"}" },
	  { HALTS, HALTS, HALTS },
	  NULL },

	/* events */
	{ .name = "events: deleted",
	  { "DEL rain:{@}:events" },
	  ALL(HALTS),
	  "events" },
	{ .name = "events: a string",
	  { "RENAME rain:{@}:events rain:{@}:kept", "SET rain:{@}:events x" },
	  ALL(MENDED),
	  NULL,
	  { "DEL rain:{@}:events", "RENAME rain:{@}:kept rain:{@}:events" } },
	{ .name = "events: one taken",
	  { "LPOP rain:{@}:events" },
	  ALL(HALTS),
	  "events" },
	{ .name = "events: cut",
	  { "LTRIM rain:{@}:events 0 0" },
	  ALL(HALTS),
	  "events" },
	{ .name = "events: it was cancelled, says somebody",
	  { "LPUSH rain:{@}:events "
	    "{\"type\":\"cancelled\",\"revision\":99,\"atMs\":1,\"reason\":"
	    "\"x\"}" },
	  ALL(HALTS),
	  "events do not fit revision" },
	{ .name = "events: a published one edited",
	  { "LSET rain:{@}:events -1 x" },
	  ALL(QUIET),
	  NULL },

	/* meta */
	{ .name = "meta: away for a while",
	  { "RENAME rain:{@}:meta rain:{@}:kept" },
	  ALL(MENDED),
	  NULL,
	  { "RENAME rain:{@}:kept rain:{@}:meta" } },
	{ .name = "meta: a string",
	  { "RENAME rain:{@}:meta rain:{@}:kept", "SET rain:{@}:meta x" },
	  ALL(MENDED),
	  NULL,
	  { "DEL rain:{@}:meta", "RENAME rain:{@}:kept rain:{@}:meta" } },
	{ .name = "meta: another schema",
	  { "HSET rain:{@}:meta schema 2" },
	  ALL(MENDED),
	  NULL,
	  { "HSET rain:{@}:meta schema 1" } },
	{ .name = "meta: no revision",
	  { "HDEL rain:{@}:meta revision" },
	  ALL(MENDED),
	  NULL,
	  { "HSET rain:{@}:meta revision $R" } },
	{ .name = "meta: no state",
	  { "HDEL rain:{@}:meta state" },
	  ALL(MENDED),
	  NULL,
	  { "HSET rain:{@}:meta state $S" } },
	{ .name = "meta: an unknown state",
	  { "HSET rain:{@}:meta state RAINING" },
	  ALL(MENDED),
	  NULL,
	  { "HSET rain:{@}:meta state $S" } },
	{ .name = "meta: an end that is no number",
	  { "HSET rain:{@}:meta end_ms soon" },
	  ALL(MENDED),
	  NULL,
	  { "HSET rain:{@}:meta end_ms 0" } },
	{ .name = "meta: no tranche",
	  { "HSET rain:{@}:meta tranche_ends 3" },
	  { MENDED, QUIET, QUIET },
	  NULL,
	  { "HSET rain:{@}:meta tranche_ends 12" } },
	{ .name = "meta: closed",
	  { "HSET rain:{@}:meta state CLOSED" },
	  { HALTS, HALTS, SKIP },
	  "nothing closed it" },
	{ .name = "meta: open again",
	  { "HSET rain:{@}:meta state OPEN" },
	  { SKIP, SKIP, HALTS },
	  "it was closed" },
	{ .name = "meta: paused again",
	  { "HSET rain:{@}:meta state PAUSED" },
	  { SKIP, SKIP, HALTS },
	  "it was closed" },
	{ .name = "meta: loaded again",
	  { "HSET rain:{@}:meta state LOADED" },
	  ALL(HALTS),
	  "it has claims" },
	{ .name = "meta: being loaded again",
	  { "HSET rain:{@}:meta state LOADING" },
	  ALL(HALTS),
	  "it has claims" },
	{ .name = "meta: cancelled",
	  { "HSET rain:{@}:meta state CANCELLED" },
	  ALL(HALTS),
	  "it has claims" },
	{ .name = "meta: settled",
	  { "HSET rain:{@}:meta state SETTLED" },
	  ALL(HALTS),
	  "nothing settled it" },
	{ .name = "meta: a packet fewer",
	  { "HSET rain:{@}:meta packets 11" },
	  { HALTS, HALTS, QUIET },
	  COUNTS },
	{ .name = "meta: a packet more",
	  { "HSET rain:{@}:meta packets 13" },
	  { HALTS, HALTS, QUIET },
	  COUNTS },
	{ .name = "meta: no number of packets",
	  { "HDEL rain:{@}:meta packets" },
	  { HALTS, HALTS, QUIET },
	  COUNTS },
	{ .name = "meta: an old revision",
	  { "HSET rain:{@}:meta revision 2" },
	  ALL(HALTS),
	  "events do not fit revision" },
	{ .name = "meta: a revision to come",
	  { "HSET rain:{@}:meta revision 99" },
	  ALL(HALTS),
	  "events do not fit revision" },
	{ .name = "meta: other final numbers",
	  { "HSET rain:{@}:meta final_claims 3 final_left 9" },
	  { HALTS, HALTS, HALTS },
	  NULL },
	{ .name = "meta: another incarnation",
	  { "HSET rain:{@}:meta incarnation x/y" },
	  ALL(QUIET),
	  NULL },
	{ .name = "meta: no incarnation",
	  { "HDEL rain:{@}:meta incarnation" },
	  ALL(QUIET),
	  NULL },

	/* relay */
	{ .name = "relay: deleted",
	  { "DEL rain:{@}:relay" },
	  ALL(QUIET),
	  NULL },
	{ .name = "relay: a string",
	  { "DEL rain:{@}:relay", "SET rain:{@}:relay x" },
	  ALL(HALTS),
	  "wrong type" },
	{ .name = "relay: all claims again",
	  { "HSET rain:{@}:relay claims 0 events 0" },
	  ALL(QUIET),
	  NULL },
	{ .name = "relay: claims that are not there",
	  { "HSET rain:{@}:relay claims 999" },
	  ALL(HALTS),
	  "999 claims were published" },
	{ .name = "relay: events that are not there",
	  { "HSET rain:{@}:relay events 999" },
	  ALL(HALTS),
	  "999 events were published" },
	{ .name = "relay: a cursor that is no number",
	  { "HSET rain:{@}:relay claims many" },
	  ALL(HALTS),
	  "many claims were published",
	  .again = true },
	{ .name = "relay: somebody has it for ever",
	  { "HSET rain:{@}:relay owner x lease_until 9999999999999" },
	  ALL(QUIET),
	  NULL },
	{ .name = "relay: fields that are no numbers",
	  { "HSET rain:{@}:relay lease_until x generation y" },
	  ALL(QUIET),
	  NULL },

	/* the set */
	{ .name = "set: deleted", { "DEL rain:activities" }, ALL(QUIET), NULL },
	{ .name = "set: without it",
	  { "SREM rain:activities @" },
	  ALL(QUIET),
	  NULL },
	{ .name = "set: a string",
	  { "DEL rain:activities", "SET rain:activities x" },
	  ALL(QUIET),
	  NULL,
	  { "DEL rain:activities", "SADD rain:activities @" } },
};

const size_t change_count = sizeof changes / sizeof changes[0];

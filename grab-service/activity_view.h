/**
 * What Redis knows about an activity, read with two plain commands: the fields
 * of meta as lua/README.md names them, and how many packets are pushed.
 */
#ifndef GRAB_ACTIVITY_VIEW_H
#define GRAB_ACTIVITY_VIEW_H

#include "client/redis.h"

#include "plan/tranche.h"

#include "list_digest.h"

enum { VIEW_REASON_MAX = 512 };

/* A tranche after the first. */
struct view_topup {
	struct tranche tranche;
	uint8_t seed[ALLOCATE_SEED];
	char commitment[PLAN_COMMITMENT];
	uint64_t id_base;
	uint64_t loaded; /* packets of it pushed so far */
};

struct activity_view {
	bool known;        /* there is a meta; else the rest is empty */
	char problem[128]; /* why meta cannot be used, "" if it can */
	int state;         /* rain.State */
	uint64_t revision;
	struct plan plan;
	uint8_t seed[ALLOCATE_SEED];
	uint8_t mixed[ALLOCATE_SEED];           /* the seed with the entropy */
	char entropy[2 * PLAN_ENTROPY_MAX + 1]; /* "": none */
	char entropy_by[ID_MAX + 1];
	int64_t entropy_ms;
	char commitment[PLAN_COMMITMENT];
	uint64_t id_base;            /* id of the first packet */
	char list[LIST_DIGEST_TEXT]; /* of an adopted list, "": not opened */
	char incarnation[96];
	char reason[VIEW_REASON_MAX];
	uint64_t left;                              /* of a live one: packets */
	int64_t balance_cents;                      /* and their money */
	uint64_t loaded;                            /* packets pushed so far */
	uint64_t tranches;                          /* that are whole */
	struct view_topup topups[TRANCHES_MAX - 1]; /* from number 2 on */
	size_t topup_count;                         /* that are announced */
	int64_t unloaded_cents;                     /* of the last of them */
	int64_t created_ms;
	int64_t updated_ms;
	bool closed; /* the two below are final */
	uint64_t final_claims;
	uint64_t final_left;
	int64_t leftover_cents; /* -1 until counted */
	bool unlinked;          /* the lists are gone */
};

/** Fill from the reply to HGETALL, an array. */
void view_parse(const redisReply *meta, struct activity_view *out);

/** view is NULL if Redis did not answer; then why says so. Both valid during
 * the call. */
typedef void (*view_cb)(void *ctx, const struct activity_view *view,
			const char *why);

/** Read the activity; done is called later. Reading never changes anything. */
void view_read(struct redis *r, struct bytes activity_id, uint64_t timeout_ms,
	       view_cb done, void *ctx);

/* A message that points into a view, which must outlive it. */
struct view_message {
	Rain__Activity activity;
	Rain__Plan plan;
	struct plan_tiers tiers;
	char seed[2 * ALLOCATE_SEED + 1];
	char id_base[24];
	struct view_tranche_message {
		Rain__Tranche tranche;
		struct plan_tiers tiers;
		char seed[2 * ALLOCATE_SEED + 1];
		char id_base[24];
	} topups[TRANCHES_MAX - 1];
	Rain__Tranche *topup_list[TRANCHES_MAX - 1];
};

/** Money of all tranches that are announced, and their packets. */
int64_t view_cents(const struct activity_view *v);
/** See view_cents(). */
uint64_t view_packets(const struct activity_view *v);

/** The value of a field of meta, p NULL if there is none. */
struct bytes view_field(const redisReply *meta, const char *name);

/** activity_topups.c: read the tranches after the first. False if what is there
 * can't be. */
must_check bool view_topups_parse(const redisReply *meta,
				  struct activity_view *out);
/** activity_topups.c: let the message have them; seeds if public. */
void view_topups_message(const struct activity_view *v, bool public,
			 struct view_message *out);
/** activity_topups.c: whether the seeds of all are those of the commitments. */
bool view_topups_committed(const struct activity_view *v);

/** The seeds are told from CLOSED and CANCELLED on: before, it would tell what
 * the packets to come are worth. */
void view_message(const struct activity_view *v, struct view_message *out);

/** Whether seeds and plans are those that the commitments were made of. */
bool view_is_committed(const struct activity_view *v);

#endif

/**
 * What a claim must be: the packets of the plan, recomputed from the seed of
 * the commitment, and the users of the claims that this process has seen.
 *
 * Redis hands out what lies in its lists, and its counts do not tell whether
 * somebody else has edited an element. So each claim is held against the roll
 * before a user is told it and before it is published: the claim with seq n is
 * packet n of the plan, it has one user, and the user has no other.
 *
 * The packets of an adopted list can't be recomputed: they are read again, and
 * must have the digest that they had when they were opened. Until they are
 * read, no claim is told (it is PENDING) and none is published.
 *
 * The relay makes the roll of each activity that it looks after; without one,
 * nothing is compared. Costs up to 32 bytes a packet.
 */
#ifndef GRAB_ROLL_H
#define GRAB_ROLL_H

#include "plan/plan.h"

struct activity;
struct answer;
struct claim;
struct grab_env;
struct packet;
struct roll;
struct track;
struct verdict;

enum { ROLL_WHY = 200 };

/* A claim, or an answer with a packet. */
struct roll_entry {
	uint64_t seq;
	struct bytes red_packet_id;
	int64_t amount_cents;
	uint32_t tranche; /* 0: not told */
	struct bytes user;
};

/** The roll of a plan whose first packet has the id id_base. Recomputes the
 * amounts: not for a loop's thread. */
struct roll *roll_new(const uint8_t seed[ALLOCATE_SEED],
		      const struct allocate_rule *rule, uint64_t id_base);
/** The roll of an adopted list, to be filled packet by packet. */
struct roll *roll_new_adopted(uint64_t count);
/** Packet seq, from 1, of a roll that is made so. */
void roll_add(struct roll *r, uint64_t seq, const struct packet *p);
/** NULL is fine. */
void roll_free(struct roll *r);

/** Whether the entry can be; then it is remembered. Else why says what is
 * wrong. Without a roll everything can be. */
must_check bool roll_fits(struct roll *r, const struct roll_entry *e,
			  char why[ROLL_WHY]);

/** Whether the user has a claim, as far as is known. NULL is fine. */
bool roll_has_user(const struct roll *r, struct bytes user);

/** Forget the users: a person has decided that the claims are what they are
 * now. NULL is fine. */
void roll_forget_users(struct roll *r);

/** Packets in the plan. */
uint64_t roll_packets(const struct roll *r);

/** roll_judge.c: an answer with the claim seq (0: without one) is remembered as
 * seen, or halts the activity and becomes PENDING. */
void roll_judge(struct grab_env *env, struct activity *a, uint64_t seq,
		const struct verdict *v, struct answer *answer);
/** roll_judge.c: whether the claim may be published; if not, the activity is
 * halted. */
must_check bool roll_judge_claim(struct grab_env *env, struct activity *a,
				 const struct claim *c);

/** roll_load.c: make the roll of t's activity if it needs one. What is found
 * wrong with its plan halts it. */
void roll_step(struct track *t);
/** roll_load.c: it is not needed any more, or is another activity's. */
void roll_drop(struct track *t);
/** roll_load.c: whether claims may be published: they are compared, or it is
 * known that they can't be. */
bool roll_settled(const struct track *t);

#endif

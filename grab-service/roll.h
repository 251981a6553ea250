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
 * nothing is compared. Costs up to 32 bytes a packet. It grows with each
 * tranche that is announced. A reply of Redis that is of a later revision than
 * the roll may have claims of a tranche that the roll does not know yet: these
 * are told, as without a roll, but not published before it does.
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
	uint32_t tranche;
	struct bytes user;
};

/** The roll of a tranche whose first packet has the id id_base, the first one
 * until it is appended. Recomputes the amounts: not for a loop's thread. */
struct roll *roll_new(const uint8_t seed[ALLOCATE_SEED],
		      const struct allocate_rule *rule, uint64_t id_base);
/** The roll of an adopted list, to be filled packet by packet. */
struct roll *roll_new_adopted(uint64_t count);
/** Packet seq, from 1, of a roll that is made so. */
void roll_add(struct roll *r, uint64_t seq, const struct packet *p);
/** Let more, which may be several and has no users yet, be the next tranche of
 * r, which owns it then. */
void roll_append(struct roll *r, struct roll *more);
/** All tranches. NULL is fine. */
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

/** Packets of all tranches, and how many these are: 0 of NULL. */
uint64_t roll_packets(const struct roll *r);
/** See roll_packets(). */
size_t roll_tranches(const struct roll *r);

/** The revision at which the roll had all tranches, 0 of NULL or before it was
 * said by roll_as_of(). */
uint64_t roll_revision(const struct roll *r);
/** See roll_revision(). */
void roll_as_of(struct roll *r, uint64_t revision);
/** Whether the roll can tell whether there is a claim seq in a reply of that
 * revision: else it may be of a tranche that was announced since. */
bool roll_knows(const struct roll *r, uint64_t seq, uint64_t revision);

/** roll_judge.c: an answer with a claim (seq 0: without one) is remembered as
 * seen, or halts the activity and becomes PENDING. */
void roll_judge(struct grab_env *env, struct activity *a, const struct claim *c,
		const struct verdict *v, struct answer *answer);
/** roll_judge.c: whether the claim, read at that revision, may be published; if
 * not, the activity is halted. */
must_check bool roll_judge_claim(struct grab_env *env, struct activity *a,
				 const struct claim *c, uint64_t revision);

/** roll_load.c: make the roll of t's activity if it needs one. What is found
 * wrong with its plan halts it. */
void roll_step(struct track *t);
/** roll_load.c: it is not needed any more, or is another activity's. */
void roll_drop(struct track *t);
/** roll_load.c: whether claims may be published: they are compared with all
 * tranches, or it is known that they can't be. */
bool roll_settled(const struct track *t);

#endif

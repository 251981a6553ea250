/**
 * Verification of one activity: the packets that its published seed and its
 * plan make, against those that were claimed, that are left, and that were
 * credited. Reading is verify_read.c; what was read is taken by verify_take.c and
 * judged by verify_publish.c and verify_judge.c, which are pure.
 *
 * Redis is what a stranger may have written to: wherever the ledger has heard of
 * a thing too, the two are compared.
 */
#ifndef CONSOLE_VERIFY_H
#define CONSOLE_VERIFY_H

#include "base/buf.h"
#include "console/ctl.h"
#include "plan/tranche.h"
#include "rain/activity_service.pb-c.h"
#include "rain/ledger_service.pb-c.h"

enum { VERIFY_LINES = 100, VERIFY_SUMMARY = 256 };

/* A claim, a packet that is left, or a credit, as one place tells it. */
struct verify_entry {
	char *packet;
	char *user;   /* "" for a packet that is left */
	uint64_t seq; /* 0 for one */
	int64_t amount_cents;
	char *told; /* to the user instead of this claim, NULL: nothing else */
};

struct verify_list {
	struct verify_entry *entries;
	size_t count;
	size_t room;
	uint64_t unreadable; /* further elements, which are no entries */
};

/* A tranche after the first. */
struct verify_topup {
	struct tranche tranche;
	uint8_t seed[ALLOCATE_SEED];
	char commitment[PLAN_COMMITMENT];
	uint64_t id_base;
	uint64_t loaded; /* packets of it that were ever in Redis */
};

/* How the ledger heard of one. */
struct verify_heard {
	uint32_t number;
	uint64_t packets;
	int64_t total_cents;
	char commitment[PLAN_COMMITMENT + 1]; /* one more character shows */
};

struct verify {
	char activity[ID_MAX + 1];
	/* What was published: the packets follow from it. */
	struct plan plan;
	uint8_t seed[ALLOCATE_SEED];  /* that the commitment was made of */
	uint8_t mixed[ALLOCATE_SEED]; /* that the packets were made of */
	char commitment[PLAN_COMMITMENT];
	char entropy[2 * PLAN_ENTROPY_MAX + 1]; /* hex, "": none */
	uint64_t id_base;                       /* id of packet 1 */
	struct verify_topup topups[TRANCHES_MAX - 1];
	size_t topup_count;
	/* How it ended. */
	bool cancelled; /* never opened, maybe not all loaded */
	bool settled;   /* before the credits were read: they are all there */
	uint64_t final_claims;
	uint64_t undrawn; /* of a live one: packets and money that are left */
	int64_t undrawn_cents;
	/* What became of the packets. */
	bool lists_gone; /* Redis has given the lists up */
	struct verify_list claims;
	struct verify_list left;    /* as they would be taken */
	struct verify_list credits; /* of the ledger */
	/* What the ledger heard of it. */
	char *ledger_commitment;    /* NULL: it does not have it yet */
	char *ledger_entropy;       /* hex, "": none; NULL: too early to say */
	struct verify_heard *heard; /* in the order of the events */
	size_t heard_count;
	bool ledger_cancelled;
	int64_t ledger_claims;  /* when it was closed; -1: not yet */
	int64_t leftover_cents; /* -1: not counted yet */
	/* Since verify_judge(). */
	uint64_t packets;  /* of all tranches */
	uint64_t unloaded; /* of these, never in Redis */
	uint64_t claimed;
	uint64_t unclaimed;        /* packets that are left */
	uint64_t credited;         /* claims that are */
	uint64_t uncredited;       /* claims that are not yet: no difference */
	uint64_t differences;      /* 0: proven */
	char *lines[VERIFY_LINES]; /* a sentence for each of the first */
};

/** Start empty; activity is a valid id. */
void verify_init(struct verify *v, const char *activity);
/** Free everything. */
void verify_close(struct verify *v);

/** Enter one element, in the list's order; packet and user are copied. */
void verify_enter(struct verify_list *list, uint64_t seq, struct bytes packet,
		  struct bytes user, int64_t amount_cents);

/** One element of a list (named by why, "element 4 of claims: …") can't be read:
 * a difference. False if there were so many that the list should be given up. */
bool verify_unreadable(struct verify *v, struct verify_list *list,
		       struct bytes why);

/** Take what was published and how it ended. CTL_NO with a sentence in why if
 * that cannot be verified, or not yet. */
int verify_take_activity(struct verify *v, const Rain__Activity *a,
			 struct buf *why);
/** Take what the ledger knows of the activity. */
void verify_take_totals(struct verify *v, const Rain__TotalsReply *t);
/** Enter a claim, with what its user is told. */
void verify_take_claim(struct verify *v, const Rain__Claim *c);

/** verify_topup.c: take the tranches after the first; as verify_take_activity().
 */
int verify_take_topups(struct verify *v, const Rain__Activity *a,
		       struct buf *why);
/** verify_topup.c: take what the ledger knows of them; for
 * verify_take_totals(). */
void verify_take_heard(struct verify *v, const Rain__TotalsReply *t);
/** verify_topup.c: for verify_judge(): what was published of them, here and in
 * the ledger, and the numbers of packets. */
void verify_judge_topups(struct verify *v);
/** The first tranche of which the ledger has not heard yet; 0: none. */
uint32_t verify_unheard(const struct verify *v);

/** verify_topup.c: packets of all tranches. */
uint64_t verify_packets(const struct verify *v);
/** Write the amounts of all of them, in order. */
void verify_amounts(const struct verify *v, int64_t *amounts);
/** The id of packet k, from 1 to verify_packets(). */
uint64_t verify_id(const struct verify *v, uint64_t k);
/** Which packet has the id, or 0. */
uint64_t verify_packet(const struct verify *v, uint64_t id);

/** For the judges: one more difference, a sentence without a line's end. */
void printf_like(2, 3) verify_differ(struct verify *v, const char *fmt, ...);

/** For verify_judge(): commitment, entropy and end, here and in the ledger. */
void verify_judge_published(struct verify *v);

/** Judge: make the packets again and compare. Once, after all was entered; the
 * plan is one that plan_read() accepted. */
void verify_judge(struct verify *v);

/** One line, without its end, that says what was proven or how many
 * differences there are. */
void verify_summary(const struct verify *v, char out[VERIFY_SUMMARY]);

/** Read everything and judge; v was initialised. CTL_OK, or another CTL_ with
 * a sentence in why: CTL_NO too if the seed is not published yet. */
int verify_read(struct ctl *ctl, struct verify *v, struct buf *why);

/** Differences and summary as lines of text. */
void verify_print(const struct verify *v);

#endif

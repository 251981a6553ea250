/**
 * The lists of one activity, read page by page: claims and the packets that
 * are left from Redis through ActivityService, records from the ledger.
 *
 * Each gives every element to take, in the list's order; what it is given is
 * the reply's and lives until take returns. CTL_OK, or another CTL_ with a
 * sentence in why: then some may have been given already.
 */
#ifndef CONSOLE_PAGES_H
#define CONSOLE_PAGES_H

#include "console/ctl.h"
#include "rain/activity_service.pb-c.h"
#include "rain/ledger_service.pb-c.h"

typedef void (*claim_cb)(void *ctx, const Rain__Claim *c);
typedef void (*packet_cb)(void *ctx, const Rain__Packet *p);
typedef void (*record_cb)(void *ctx, const Rain__LedgerRecord *r);
/** An element that can't be read: why says which and what is wrong with it.
 * Whether to go on behind it. */
typedef bool (*bad_cb)(void *ctx, struct bytes why);

/** Oldest first. None once the lists have left Redis. */
int pages_claims(struct ctl *ctl, const char *activity, claim_cb take,
		 void *ctx, struct buf *why);

/** As they would be taken. None once the lists have left Redis. */
int pages_packets(struct ctl *ctl, const char *activity, packet_cb take,
		  void *ctx, struct buf *why);

/** The same for who goes on past elements that can't be read; bad has ctx. */
int pages_claims_past(struct ctl *ctl, const char *activity, claim_cb take,
		      bad_cb bad, void *ctx, struct buf *why);
int pages_packets_past(struct ctl *ctl, const char *activity, packet_cb take,
		       bad_cb bad, void *ctx, struct buf *why);

/** What was credited, by ascending seq. */
int pages_records(struct ctl *ctl, const char *activity, record_cb take,
		  void *ctx, struct buf *why);

#endif

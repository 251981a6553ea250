/**
 * Who has which packet: counts users with a packet and their money, however
 * often and over whichever connection they are told it, and notices who is told
 * another one. Shared by all threads.
 */
#ifndef BENCH_WINNERS_H
#define BENCH_WINNERS_H

#include <stdint.h>

#include "base/bytes.h"

struct winners;

enum winners_outcome {
	WINNERS_NEW,   /* the first packet of the user in this activity */
	WINNERS_AGAIN, /* the same again */
	WINNERS_OTHER, /* not the same: a packet too many */
};

/** Nobody has one yet. The caller frees it; memory is taken as users win. */
struct winners *winners_new(uint64_t users, uint64_t activities);
void winners_free(struct winners *w);

/** User (from 0) was told this packet. Safe from all threads at once. */
enum winners_outcome winners_told(struct winners *w, uint64_t user,
				  uint64_t activity, struct bytes packet,
				  int64_t cents);

#endif

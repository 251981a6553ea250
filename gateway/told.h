/**
 * Who was told a word about an activity: a table of fixed size, in which who
 * comes may take the place of somebody who was not here for long.
 */
#ifndef GATEWAY_TOLD_H
#define GATEWAY_TOLD_H

#include "base/id.h"

struct told_table;

/* That a user was told a word. */
struct told {
	uint64_t word;
	uint64_t until_ms;
	uint64_t used_ms; /* when the user was here last */
	uint32_t place;   /* the number of the activity */
	uint8_t user_len;
	char user[ID_MAX];
};

/** For so many users. The caller frees it. */
struct told_table *told_new(size_t users);
void told_free(struct told_table *t);

/** What user was told about place, or NULL; valid until the next note. */
struct told *told_find(struct told_table *t, uint32_t place, struct bytes user);

/** The same, made if there is none: what it says is for the caller to set. */
struct told *told_note(struct told_table *t, uint32_t place, struct bytes user);

/** Nothing is known of user in place any more. */
void told_forget(struct told_table *t, uint32_t place, struct bytes user);

#endif

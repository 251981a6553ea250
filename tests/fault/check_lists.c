#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "fault/check.h"

int check_read_lists(const char *path, struct check *c, struct buf *why)
{
	FILE *f = fopen(path, "re");
	struct check_activity *a;
	char id[ID_MAX + 1], packet[CHECK_PACKET_MAX + 1];
	int64_t cents;
	int found;

	_Static_assert(ID_MAX == 64 && CHECK_PACKET_MAX == 64,
		       "the widths below");
	if (f == NULL) {
		buf_printf(why, "%s: %s", path, strerror(errno));
		return CTL_UNKNOWN;
	}
	while ((found = fscanf(f, "%64s %64s %" SCNd64, id, packet, &cents)) ==
	       3) {
		HASH_FIND_STR(c->activities, id, a);
		if (a != NULL) {
			check_enter_plan(a, bytes_str(packet), cents);
		}
	}
	(void)fclose(f);
	if (found != EOF) {
		buf_printf(why, "%s: a line is not ACTIVITY PACKET CENTS",
			   path);
		return CTL_UNKNOWN;
	}
	return CTL_OK;
}

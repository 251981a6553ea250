/*
 * Whether the files that were opened are still the ones of that name. SQLite
 * goes on with files that were deleted, and all that it writes then is gone
 * with the process.
 */
#include <stdio.h>

#include <sys/stat.h>

#include "base/err.h"
#include "ledger_sqlite.h"

static bool look(const char *path, struct ledger_sqlite_file *now)
{
	struct stat st;

	if (stat(path, &st) != 0) {
		return false;
	}
	*now = (struct ledger_sqlite_file){ true, st.st_dev, st.st_ino };
	return true;
}

/* The first that is seen is the one. */
static bool stays(const char *path, struct ledger_sqlite_file *known)
{
	struct ledger_sqlite_file now;
	bool there = look(path, &now);

	if (!known->known && there) {
		*known = now;
	}
	return !known->known || (there && now.device == known->device &&
				 now.inode == known->inode);
}

int ledger_sqlite_files(struct ledger_sqlite *l)
{
	char wal[LEDGER_PATH_MAX + sizeof "-wal"];
	const char *gone = NULL;

	(void)snprintf(wal, sizeof wal, "%s-wal", l->path);
	if (!stays(l->path, &l->file)) {
		gone = l->path;
	} else if (!stays(wal, &l->wal)) {
		gone = wal;
	}
	if (gone == NULL) {
		return 0;
	}
	l->q.code = 0;
	(void)snprintf(l->base.why, sizeof l->base.why,
		       "%s was moved, deleted or replaced while in use: put "
		       "that very file back, or restart to read on from what "
		       "is there",
		       gone);
	return ERR_STORE;
}

/* What an error reply means: the table of docs/redis.md, as data. */
#include "client/redis.h"

struct row {
	const char *code; /* the reply's first word */
	enum redis_reaction reaction;
	bool before_any_write; /* holds for an error inside a script too */
};

/* In a script these refuse whichever write comes first, so nothing was
 * written: OOM too, since Redis lets a script that has written go on. */
static const struct row rows[] = {
	{ "NOSCRIPT", REDIS_REACT_SCRIPT, false },
	{ "LOADING", REDIS_REACT_WAIT, true },
	{ "BUSY", REDIS_REACT_WAIT, true },
	{ "TRYAGAIN", REDIS_REACT_WAIT, false },
	{ "CLUSTERDOWN", REDIS_REACT_WAIT, false },
	{ "READONLY", REDIS_REACT_RECONNECT, true },
	{ "MASTERDOWN", REDIS_REACT_RECONNECT, true },
	{ "OOM", REDIS_REACT_FULL, true },
	{ "MISCONF", REDIS_REACT_FULL, true },
	{ "NOREPLICAS", REDIS_REACT_FULL, true },
	{ "NOAUTH", REDIS_REACT_CONFIG, false },
	{ "NOPERM", REDIS_REACT_CONFIG, false },
	{ "WRONGPASS", REDIS_REACT_CONFIG, false },
	{ "MOVED", REDIS_REACT_CONFIG, false },
	{ "ASK", REDIS_REACT_CONFIG, false },
	{ "CROSSSLOT", REDIS_REACT_CONFIG, false },
};

/* Sentences behind the general code ERR. */
static const struct row sentences[] = {
	{ "ERR max number of clients reached", REDIS_REACT_RECONNECT, false },
	{ "ERR Client sent AUTH, but no password is set", REDIS_REACT_CONFIG,
	  false },
	{ "ERR AUTH <password> called without any password", REDIS_REACT_CONFIG,
	  false },
};

/* Redis 7 and Valkey append where a script stopped, Redis 6 begins with it. */
static bool from_script(struct bytes error)
{
	static const char after[] = " script: ";
	static const char before[] = "Error running script";

	return memmem(error.p, error.n, after, sizeof(after) - 1) != NULL ||
	       memmem(error.p, error.n, before, sizeof(before) - 1) != NULL;
}

static bool begins_with(struct bytes error, const char *text)
{
	size_t n = strlen(text);

	return error.n >= n && memcmp(error.p, text, n) == 0;
}

static const struct row *find(struct bytes error)
{
	const uint8_t *space =
		error.n > 0 ? memchr(error.p, ' ', error.n) : NULL;
	struct bytes word = { error.p, space != NULL ? (size_t)(space - error.p)
						     : error.n };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (bytes_eq(word, bytes_str(rows[i].code))) {
			return &rows[i];
		}
	}
	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++) {
		if (begins_with(error, sentences[i].code)) {
			return &sentences[i];
		}
	}
	return NULL;
}

enum redis_reaction redis_classify(struct bytes error,
				   enum redis_outcome *outcome)
{
	/* Redis kills only scripts that have written nothing. */
	static const char killed[] = "Script killed by user";
	static const char aborted[] =
		"EXECABORT Transaction discarded because of: ";
	const struct row *row;

	if (begins_with(error, aborted)) {
		error = bytes_make(error.p + sizeof(aborted) - 1,
				   error.n - (sizeof(aborted) - 1));
	}
	row = find(error);

	*outcome = REDIS_NOT_EXECUTED;
	if (error.n > 0 && from_script(error) &&
	    (row == NULL || !row->before_any_write) &&
	    memmem(error.p, error.n, killed, sizeof(killed) - 1) == NULL) {
		*outcome = REDIS_PARTIAL;
		return REDIS_REACT_PARTIAL;
	}
	return row != NULL ? row->reaction : REDIS_REACT_NONE;
}

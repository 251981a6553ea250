/* The reaction table of docs/redis.md, row by row. */
#include <criterion/criterion.h>

#include "client/redis.h"

struct row {
	const char *text;
	enum redis_outcome outcome;
	enum redis_reaction reaction;
};

#define NE REDIS_NOT_EXECUTED
#define SCRIPT_END                                               \
	" script: 8a2f221803757b26fc7d283bec7ba834d91202c9, on " \
	"@user_script:1."

static const struct row rows[] = {
	{ "NOSCRIPT No matching script. Please use EVAL.", NE,
	  REDIS_REACT_SCRIPT },
	{ "LOADING Redis is loading the dataset in memory", NE,
	  REDIS_REACT_WAIT },
	{ "BUSY Redis is busy running a script. You can only call SCRIPT KILL "
	  "or SHUTDOWN NOSAVE.",
	  NE, REDIS_REACT_WAIT },
	{ "TRYAGAIN Multiple keys request during rehashing of slot", NE,
	  REDIS_REACT_WAIT },
	{ "CLUSTERDOWN Hash slot not served", NE, REDIS_REACT_WAIT },
	{ "READONLY You can't write against a read only replica.", NE,
	  REDIS_REACT_RECONNECT },
	{ "READONLY You can't write against a read only replica." SCRIPT_END,
	  NE, REDIS_REACT_RECONNECT },
	{ "MASTERDOWN Link with MASTER is down and replica-serve-stale-data "
	  "is set to 'no'.",
	  NE, REDIS_REACT_RECONNECT },
	{ "ERR max number of clients reached", NE, REDIS_REACT_RECONNECT },
	{ "OOM command not allowed when used memory > 'maxmemory'.", NE,
	  REDIS_REACT_FULL },
	{ "OOM allow-oom flag is not set on the script, can not run it when "
	  "used memory > 'maxmemory'",
	  NE, REDIS_REACT_FULL },
	{ "OOM command not allowed when used memory > 'maxmemory'." SCRIPT_END,
	  NE, REDIS_REACT_FULL },
	{ "MISCONF Redis is configured to save RDB snapshots, but it's "
	  "currently unable to persist to disk.",
	  NE, REDIS_REACT_FULL },
	{ "NOREPLICAS Not enough good replicas to write." SCRIPT_END, NE,
	  REDIS_REACT_FULL },
	{ "EXECABORT Transaction discarded because of: OOM command not allowed "
	  "when used memory > 'maxmemory'.",
	  NE, REDIS_REACT_FULL },
	{ "EXECABORT Transaction discarded because of previous errors.", NE,
	  REDIS_REACT_NONE },
	{ "NOAUTH Authentication required.", NE, REDIS_REACT_CONFIG },
	{ "WRONGPASS invalid username-password pair or user is disabled.", NE,
	  REDIS_REACT_CONFIG },
	{ "NOPERM this user has no permissions to run the 'set' command", NE,
	  REDIS_REACT_CONFIG },
	{ "MOVED 3999 127.0.0.1:6381", NE, REDIS_REACT_CONFIG },
	{ "ASK 3999 127.0.0.1:6381", NE, REDIS_REACT_CONFIG },
	{ "CROSSSLOT Keys in request don't hash to the same slot", NE,
	  REDIS_REACT_CONFIG },
	{ "ERR AUTH <password> called without any password configured for the "
	  "default user. Are you sure your configuration is correct?",
	  NE, REDIS_REACT_CONFIG },
	{ "WRONGTYPE Operation against a key holding the wrong kind of value",
	  NE, REDIS_REACT_NONE },
	{ "WRONGTYPE Operation against a key holding the wrong kind of "
	  "value" SCRIPT_END,
	  REDIS_PARTIAL, REDIS_REACT_PARTIAL },
	{ "ERR user_script:1: boom" SCRIPT_END, REDIS_PARTIAL,
	  REDIS_REACT_PARTIAL },
	{ "ERR The user executing the script can't run this command or "
	  "subcommand" SCRIPT_END,
	  REDIS_PARTIAL, REDIS_REACT_PARTIAL },
	{ "ERR Error running script (call to f_8a2f): @user_script:1: "
	  "WRONGTYPE Operation against a key",
	  REDIS_PARTIAL, REDIS_REACT_PARTIAL },
	{ "ERR Script killed by user with SCRIPT KILL..." SCRIPT_END, NE,
	  REDIS_REACT_NONE },
	{ "ERR Error compiling script (new function): user_script:1: '='", NE,
	  REDIS_REACT_NONE },
	{ "ERR unknown command 'FOO'", NE, REDIS_REACT_NONE },
	{ "OOMPH is another word", NE, REDIS_REACT_NONE },
	{ "BUSYGROUP Consumer Group name already exists", NE,
	  REDIS_REACT_NONE },
	{ "LOADING", NE, REDIS_REACT_WAIT },
	{ "", NE, REDIS_REACT_NONE },
};

Test(redis_classify, every_row)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum redis_outcome outcome = REDIS_DONE;
		enum redis_reaction reaction =
			redis_classify(bytes_str(rows[i].text), &outcome);

		cr_expect_eq(outcome, rows[i].outcome, "%s", rows[i].text);
		cr_expect_eq(reaction, rows[i].reaction, "%s", rows[i].text);
	}
}

Test(redis_classify, no_bytes_at_all)
{
	enum redis_outcome outcome;

	cr_assert_eq(redis_classify((struct bytes){ NULL, 0 }, &outcome),
		     REDIS_REACT_NONE);
	cr_assert_eq(outcome, REDIS_NOT_EXECUTED);
}

/* The embedded scripts have the SHA1 that Redis computes for them. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/check.h"
#include "lib/lua_run.h"

static struct redis_server s;

static void start(void)
{
	redis_server_start(&s, NULL);
}

static void stop(void)
{
	redis_server_close(&s);
}

TestSuite(lua_embed, .init = start, .fini = stop);

Test(lua_embed, sha1_is_that_of_script_load)
{
	const struct redis_script *all[] = { &lua_grab,       &lua_result,
					     &lua_activity,   &lua_preload,
					     &lua_relay_read, &lua_relay,
					     &lua_fence,      &lua_topup };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char *source = xstrndup(all[i]->source.p, all[i]->source.n);

		cr_expect_str_eq(redis_server_ask(&s, "SCRIPT LOAD %s", source),
				 all[i]->sha1, "%s", all[i]->name);
		cr_expect(strncmp(source, "#!lua", 5) == 0, "%s", all[i]->name);
		free(source);
	}
}

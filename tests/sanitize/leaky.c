/* A test that forgets what it allocated: it must not pass where leaks are
 * looked for; see test_noticed.sh. */
#include <stdlib.h>

#include <criterion/criterion.h>

static void *volatile kept;

static void forget(void)
{
	for (int i = 0; i < 10; i++) {
		kept = malloc(100);
	}
	kept = NULL;
}

Test(leaky, forgets)
{
	forget();
}

Test(leaky, frees)
{
	free(malloc(100));
}

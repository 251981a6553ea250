/*
 * Whether the tests would notice a race. Says, by its argument, what it does:
 *
 *   locked    two threads of C11 count under a lock: nothing to report
 *   race      the same without the lock: must be reported
 *   leak      forgets what it allocated: must be reported
 *   idle      nothing
 *
 * and then stops as the services do: on SIGTERM, with 0.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

static mtx_t lock;
static int counter;
static bool locked;
static void *volatile kept;

static int count(void *arg)
{
	(void)arg;
	for (int i = 0; i < 1000; i++) {
		if (locked) {
			(void)mtx_lock(&lock);
		}
		counter++;
		if (locked) {
			(void)mtx_unlock(&lock);
		}
	}
	return 0;
}

static void count_twice(void)
{
	thrd_t threads[2];

	(void)mtx_init(&lock, mtx_plain);
	for (size_t i = 0; i < 2; i++) {
		(void)thrd_create(&threads[i], count, NULL);
	}
	for (size_t i = 0; i < 2; i++) {
		(void)thrd_join(threads[i], NULL);
	}
	mtx_destroy(&lock);
}

static void forget(void)
{
	for (int i = 0; i < 10; i++) {
		kept = malloc(100);
	}
	kept = NULL;
}

static void wait_for_term(void)
{
	sigset_t set;
	int number;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)puts("ready");
	(void)fflush(stdout);
	(void)sigwait(&set, &number);
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	locked = strcmp(what, "locked") == 0;
	if (locked || strcmp(what, "race") == 0) {
		count_twice();
	} else if (strcmp(what, "leak") == 0) {
		forget();
	} else if (strcmp(what, "idle") != 0) {
		return 2;
	}
	wait_for_term();
	return 0;
}

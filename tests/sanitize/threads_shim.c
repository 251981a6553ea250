/*
 * What libraries do behind the back of ThreadSanitizer, done so that it sees
 * it.
 *
 * C11 threads on top of POSIX threads, for programs under ThreadSanitizer:
 * that of gcc knows pthread_create() and its kin, but not thrd_create() and
 * its kin, which librdkafka uses. Its threads would crash in the runtime, and
 * what its locks order would look like races. A program that defines these
 * functions comes before the C library, for its libraries too.
 *
 * In glibc each type is that of POSIX by another name, of the same size.
 *
 * And syscall(): libuv closes by it, and the next file that another thread gets
 * by the same number would look like the one before.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "mtx_t");
_Static_assert(sizeof(cnd_t) == sizeof(pthread_cond_t), "cnd_t");
_Static_assert(sizeof(thrd_t) == sizeof(pthread_t), "thrd_t");
_Static_assert(sizeof(tss_t) == sizeof(pthread_key_t), "tss_t");
_Static_assert(sizeof(once_flag) == sizeof(pthread_once_t), "once_flag");

static int word(int code)
{
	switch (code) {
	case 0:
		return thrd_success;
	case ENOMEM:
		return thrd_nomem;
	case ETIMEDOUT:
		return thrd_timedout;
	case EBUSY:
		return thrd_busy;
	default:
		return thrd_error;
	}
}

/* ---- Threads ---- */

struct start {
	thrd_start_t function;
	void *arg;
};

static void *run(void *arg)
{
	struct start start = *(struct start *)arg;

	free(arg);
	return (void *)(intptr_t)start.function(start.arg);
}

int thrd_create(thrd_t *thread, thrd_start_t function, void *arg)
{
	struct start *start = malloc(sizeof *start);
	int rv;

	if (start == NULL) {
		return thrd_nomem;
	}
	*start = (struct start){ function, arg };
	rv = pthread_create(thread, NULL, run, start);
	if (rv != 0) {
		free(start);
	}
	return rv == EAGAIN ? thrd_nomem : word(rv);
}

int thrd_join(thrd_t thread, int *result)
{
	void *value = NULL;
	int rv = pthread_join(thread, &value);

	if (rv == 0 && result != NULL) {
		*result = (int)(intptr_t)value;
	}
	return word(rv);
}

int thrd_detach(thrd_t thread)
{
	return word(pthread_detach(thread));
}

void thrd_exit(int result)
{
	pthread_exit((void *)(intptr_t)result);
}

/* ---- Locks ---- */

int mtx_init(mtx_t *lock, int type)
{
	pthread_mutexattr_t attr;
	int rv;

	(void)pthread_mutexattr_init(&attr);
	(void)pthread_mutexattr_settype(&attr, (type & mtx_recursive) != 0
						       ? PTHREAD_MUTEX_RECURSIVE
						       : PTHREAD_MUTEX_NORMAL);
	rv = pthread_mutex_init((pthread_mutex_t *)lock, &attr);
	(void)pthread_mutexattr_destroy(&attr);
	return word(rv);
}

int mtx_lock(mtx_t *lock)
{
	return word(pthread_mutex_lock((pthread_mutex_t *)lock));
}

int mtx_trylock(mtx_t *lock)
{
	return word(pthread_mutex_trylock((pthread_mutex_t *)lock));
}

int mtx_timedlock(mtx_t *lock, const struct timespec *until)
{
	return word(pthread_mutex_timedlock((pthread_mutex_t *)lock, until));
}

int mtx_unlock(mtx_t *lock)
{
	return word(pthread_mutex_unlock((pthread_mutex_t *)lock));
}

void mtx_destroy(mtx_t *lock)
{
	(void)pthread_mutex_destroy((pthread_mutex_t *)lock);
}

/* ---- Conditions ---- */

int cnd_init(cnd_t *cond)
{
	return word(pthread_cond_init((pthread_cond_t *)cond, NULL));
}

int cnd_signal(cnd_t *cond)
{
	return word(pthread_cond_signal((pthread_cond_t *)cond));
}

int cnd_broadcast(cnd_t *cond)
{
	return word(pthread_cond_broadcast((pthread_cond_t *)cond));
}

int cnd_wait(cnd_t *cond, mtx_t *lock)
{
	return word(pthread_cond_wait((pthread_cond_t *)cond,
				      (pthread_mutex_t *)lock));
}

int cnd_timedwait(cnd_t *cond, mtx_t *lock, const struct timespec *until)
{
	return word(pthread_cond_timedwait((pthread_cond_t *)cond,
					   (pthread_mutex_t *)lock, until));
}

void cnd_destroy(cnd_t *cond)
{
	(void)pthread_cond_destroy((pthread_cond_t *)cond);
}

/* ---- Once, and what is a thread's own ---- */

void call_once(once_flag *flag, void (*function)(void))
{
	(void)pthread_once((pthread_once_t *)flag, function);
}

int tss_create(tss_t *key, tss_dtor_t destructor)
{
	return word(pthread_key_create(key, destructor));
}

void *tss_get(tss_t key)
{
	return pthread_getspecific(key);
}

int tss_set(tss_t key, void *value)
{
	return word(pthread_setspecific(key, value));
}

void tss_delete(tss_t key)
{
	(void)pthread_key_delete(key);
}

/* ---- Close ---- */

long syscall(long number, ...)
{
	long (*next)(long, ...);
	long a[6];
	va_list list;

	va_start(list, number);
	for (size_t i = 0; i < 6; i++) {
		a[i] = va_arg(list, long);
	}
	va_end(list);
	if (number == SYS_close) {
		return close((int)a[0]);
	}
	*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

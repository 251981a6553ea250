/**
 * Checks for our own mistakes, and the attributes that help to avoid them.
 * check() stays on in every build: what the world can do wrong is an error
 * code, what only we can do wrong stops the process.
 */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

#include <stddef.h>

#define must_check             __attribute__((warn_unused_result))
#define printf_like(fmt, args) __attribute__((format(printf, fmt, args)))

/** From a pointer to a member to the struct that contains it. */
#define container_of(ptr, type, member) \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define check(cond) ((cond) ? (void)0 : check_failed(#cond, __FILE__, __LINE__))

/** Print the broken expectation to stderr and abort. */
_Noreturn void check_failed(const char *cond, const char *file, int line);

/** malloc, calloc and realloc that abort when there is no memory. */
void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
/** A NUL-terminated copy of n bytes; the caller frees it. */
char *xstrndup(const void *p, size_t n);

#endif

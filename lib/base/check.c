#include "base/check.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_failed(const char *cond, const char *file, int line)
{
	/* One call, so that the line stays whole beside other threads'. */
	(void)fprintf(stderr, "check failed: %s (%s:%d)\n", cond, file, line);
	abort();
}

void *xmalloc(size_t n)
{
	void *p = malloc(n > 0 ? n : 1);

	check(p != NULL);
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = n > 0 && size > 0 ? calloc(n, size) : calloc(1, 1);

	check(p != NULL);
	return p;
}

void *xrealloc(void *p, size_t n)
{
	void *q = realloc(p, n > 0 ? n : 1);

	check(q != NULL);
	return q;
}

char *xstrndup(const void *p, size_t n)
{
	char *s;

	check(n < SIZE_MAX);
	s = xmalloc(n + 1);
	if (n > 0) {
		(void)memcpy(s, p, n);
	}
	s[n] = '\0';
	return s;
}

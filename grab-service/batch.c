#include "batch.h"

#include "base/check.h"

size_t batch_next(size_t waiting, size_t calls, size_t max)
{
	size_t full = waiting < max ? waiting : max;

	check(max > 0);
	check(calls <= BATCH_CALLS_MAX);
	if (calls == 0) {
		return full;
	}
	if (calls < BATCH_CALLS_MAX && waiting >= max) {
		return full;
	}
	return 0;
}

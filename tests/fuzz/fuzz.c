#include "fuzz/fuzz.h"

#include <stdlib.h>

struct bytes fuzz_copy(struct bytes b)
{
	uint8_t *copy;

	if (b.n == 0) {
		return bytes_make(NULL, 0);
	}
	copy = xmalloc(b.n);
	memcpy(copy, b.p, b.n);
	return bytes_make(copy, b.n);
}

void fuzz_drop(struct bytes copy)
{
	free((void *)(uintptr_t)copy.p);
}

uint8_t fuzz_choice(struct bytes *input)
{
	uint8_t first;

	if (input->n == 0) {
		return 0;
	}
	first = input->p[0];
	input->p++;
	input->n--;
	return first;
}

size_t fuzz_piece(uint8_t choice, size_t left)
{
	return choice == 0 || choice > left ? left : choice;
}

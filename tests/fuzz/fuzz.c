#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PIECES_MAX = 100 };

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

size_t fuzz_piece(uint8_t choice, size_t n)
{
	size_t least = (n + PIECES_MAX - 1) / PIECES_MAX;

	if (choice == 0 || choice > n) {
		return n;
	}
	return choice < least ? least : choice;
}

const char *fuzz_file(struct bytes content)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		check(fd >= 0);
		(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	}
	check(ftruncate(fd, 0) == 0);
	check(content.n == 0 ||
	      pwrite(fd, content.p, content.n, 0) == (ssize_t)content.n);
	return path;
}

bool fuzz_is_lines(struct bytes text)
{
	return text.n > 0 && text.p[text.n - 1] == '\n' &&
	       memchr(text.p, 0, text.n) == NULL;
}

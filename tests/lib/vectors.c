#include "lib/vectors.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"

struct buf vector_load(const char *file, const char *name)
{
	const char *source = getenv("RAIN_SOURCE");
	size_t name_len = strlen(name);
	char path[512];
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	struct buf b;
	FILE *f;

	buf_init(&b);
	snprintf(path, sizeof(path), "%s/tests/unit/dubbo_vectors/%s",
		 source != NULL ? source : ".", file);
	f = fopen(path, "r");
	cr_assert(f != NULL, "cannot open %s (RAIN_SOURCE names the tree)",
		  path);
	while ((n = getline(&line, &size, f)) > 0) {
		const char *hex = line + name_len + 1;
		size_t len = strcspn(hex, "\n");

		if (strncmp(line, name, name_len) == 0 &&
		    line[name_len] == ' ') {
			cr_assert(hex_decode(hex, len, buf_room(&b, len / 2),
					     len / 2) == 0);
			buf_wrote(&b, len / 2);
			break;
		}
	}
	free(line);
	fclose(f);
	cr_assert(buf_len(&b) > 0, "no %s in %s", name, path);
	return b;
}

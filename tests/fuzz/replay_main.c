/*
 * Runs a fuzz target over saved inputs, in any build: every input, and every
 * prefix of it (1,024 of a long one), since a message that was cut off is what
 * parsers get wrong.
 * A file *.txt has a line NAME HEX for each input; any other is one input.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rand.h"
#include "fuzz/fuzz.h"

enum { FILE_MAX = 1 << 20, PREFIXES_MAX = 1024 };

/* What is being run, for whoever looks at an abort. */
static char where[256];
static size_t inputs;

static void on_abort(int sig)
{
	(void)!write(STDERR_FILENO, where, strlen(where));
	(void)signal(sig, SIG_DFL);
	(void)raise(sig);
}

static void run(const char *name, struct bytes input)
{
	size_t step = 1 + input.n / PREFIXES_MAX;

	/* From the whole down, so that it is among them in any case. */
	for (size_t cut = 0; cut <= input.n; cut += step) {
		size_t n = input.n - cut;
		struct bytes copy = fuzz_copy(bytes_make(input.p, n));

		(void)snprintf(where, sizeof where,
			       "in the first %zu bytes of %s\n", n, name);
		check(LLVMFuzzerTestOneInput(copy.p, copy.n) == 0);
		fuzz_drop(copy);
	}
	inputs++;
}

/* A line NAME HEX, an empty one or a comment. False if it is none of these. */
static bool run_line(char *line)
{
	char *hex;
	uint8_t *bytes;
	size_t n;
	bool good;

	line[strcspn(line, "\n")] = '\0';
	if (line[0] == '\0' || line[0] == '#') {
		return true;
	}
	hex = strchr(line, ' ');
	if (hex == NULL) {
		return false;
	}
	*hex++ = '\0';
	n = strlen(hex) / 2;
	bytes = xmalloc(n + 1);
	good = hex_decode(hex, strlen(hex), bytes, n) == 0;
	if (good) {
		run(line, bytes_make(bytes, n));
	}
	free(bytes);
	return good;
}

static bool run_lines(const char *path, FILE *in)
{
	char *line = NULL;
	size_t size = 0;
	size_t number = 0;
	bool good = true;

	while (good && getline(&line, &size, in) > 0) {
		number++;
		good = run_line(line);
	}
	free(line);
	if (!good) {
		(void)fprintf(stderr, "%s:%zu: not NAME HEX\n", path, number);
	}
	return good;
}

static bool run_file(const char *path, FILE *in)
{
	uint8_t *bytes = xmalloc(FILE_MAX);
	size_t n = fread(bytes, 1, FILE_MAX, in);

	run(path, bytes_make(bytes, n));
	free(bytes);
	return true;
}

static bool replay(const char *path)
{
	size_t len = strlen(path);
	bool lines = len > 4 && strcmp(path + len - 4, ".txt") == 0;
	FILE *in = fopen(path, "re");
	bool good;

	if (in == NULL) {
		(void)fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return false;
	}
	good = lines ? run_lines(path, in) : run_file(path, in);
	(void)fclose(in);
	return good;
}

int main(int argc, char **argv)
{
	bool good = true;

	(void)signal(SIGABRT, on_abort);
	for (int i = 1; i < argc; i++) {
		good = replay(argv[i]) && good;
	}
	(void)printf("%zu inputs and their prefixes\n", inputs);
	/* A replay of nothing has not passed. */
	return good && inputs > 0 ? 0 : 1;
}

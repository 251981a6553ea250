/* What somebody who wrote an unknown name may have meant. */
#include "base/config_state.h"

enum { NAME_MAX_LEN = 64 };

size_t config_section_len(const char *name)
{
	return strcspn(name, ".");
}

bool config_same_section(const char *a, const char *b)
{
	size_t n = config_section_len(a);

	return n == config_section_len(b) && strncmp(a, b, n) == 0;
}

bool config_opens_section(const struct config_key *keys, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (config_same_section(keys[j].name, keys[i].name)) {
			return false;
		}
	}
	return true;
}

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* How many letters must be changed, added or left out; or SIZE_MAX as soon as
 * that is plainly not below limit: each letter of difference in length is one
 * to add, and no row's least is below that of the row before. */
static size_t distance(const char *a, const char *b, size_t limit)
{
	size_t row[NAME_MAX_LEN + 1];
	size_t n = strlen(a);
	size_t m = strlen(b);

	if (m > NAME_MAX_LEN || n >= m + limit || m >= n + limit) {
		return SIZE_MAX;
	}
	for (size_t j = 0; j <= m; j++) {
		row[j] = j;
	}
	for (size_t i = 1; i <= n; i++) {
		size_t corner = row[0];
		size_t least = i;

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t same = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			row[j] = min3(same, row[j] + 1, row[j - 1] + 1);
			least = row[j] < least ? row[j] : least;
		}
		if (least >= limit) {
			return SIZE_MAX;
		}
	}
	return row[m];
}

void config_suggest(const struct config *c, const char *name, struct buf *out)
{
	const struct config_state *st = config_state(c);
	const char *best = NULL;
	size_t best_distance = 4; /* more is no slip of the finger */
	const char *comma = "; allowed: ";

	for (size_t i = 0; i < st->entry_count; i++) {
		size_t d =
			distance(name, st->entries[i].key->name, best_distance);

		if (d < best_distance) {
			best_distance = d;
			best = st->entries[i].key->name;
		}
	}
	if (best != NULL) {
		buf_printf(out, "; did you mean %s?", best);
	}
	for (size_t i = 0; i < st->entry_count; i++) {
		const char *key = st->entries[i].key->name;

		if (config_same_section(name, key)) {
			buf_printf(out, "%s%s", comma, key);
			comma = ", ";
		}
	}
	if (comma[0] == ',') {
		return;
	}
	buf_printf(out, "; allowed sections: ");
	for (size_t i = 0; c->keys[i].name != NULL; i++) {
		if (config_opens_section(c->keys, i)) {
			buf_printf(out, "%s%.*s", i > 0 ? ", " : "",
				   (int)config_section_len(c->keys[i].name),
				   c->keys[i].name);
		}
	}
	if (c->pass_section != NULL) {
		buf_printf(out, ", %s", c->pass_section);
	}
}

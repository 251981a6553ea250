/* The C code against allocate_vectors.txt, whose head says what its lines mean.
 * Another program computed them, from docs/fairness.md alone. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/rand.h"
#include "plan/plan.h"
#include "proto/proto_util.h"

enum { LIST_MAX = 16, WORDS_MAX = 9, FIELDS = 16 };

/* The file, and the line that was read last, cut into its words. */
struct vectors {
	FILE *f;
	char *line;
	size_t size;
	int number;
	int n;
	char *words[WORDS_MAX];
};

static void vectors_open(struct vectors *v)
{
	const char *source = getenv("RAIN_SOURCE");
	char path[512];

	*v = (struct vectors){ 0 };
	snprintf(path, sizeof(path), "%s/tests/unit/allocate_vectors.txt",
		 source != NULL ? source : ".");
	v->f = fopen(path, "r");
	cr_assert(v->f != NULL, "cannot open %s (RAIN_SOURCE names the tree)",
		  path);
}

static void vectors_close(struct vectors *v)
{
	free(v->line);
	fclose(v->f);
}

/* The next line without its end, false at the end of the file. */
static bool next_line(struct vectors *v)
{
	ssize_t n = getline(&v->line, &v->size, v->f);

	if (n <= 0) {
		return false;
	}
	v->number++;
	v->line[strcspn(v->line, "\n")] = '\0';
	return true;
}

/* The next line whose first word is kind, with n words behind it. */
static bool next_vector(struct vectors *v, const char *kind, int n)
{
	while (next_line(v)) {
		char *rest = NULL;
		char *word = strtok_r(v->line, " ", &rest);

		if (word == NULL || strcmp(word, kind) != 0) {
			continue;
		}
		v->n = 0;
		while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
			cr_assert(v->n < WORDS_MAX, "line %d", v->number);
			v->words[v->n++] = word;
		}
		cr_assert_eq(v->n, n, "line %d has %d words behind %s, not %d",
			     v->number, v->n, kind, n);
		return true;
	}
	return false;
}

static void seed_of(const struct vectors *v, const char *hex,
		    uint8_t seed[ALLOCATE_SEED])
{
	cr_assert_eq(hex_decode(hex, strlen(hex), seed, ALLOCATE_SEED), 0,
		     "line %d: %s is no seed", v->number, hex);
}

static struct buf text_of(const int64_t *amounts, uint64_t count)
{
	struct buf text;

	buf_init(&text);
	for (uint64_t i = 0; i < count; i++) {
		buf_printf(&text, "%s%" PRId64, i > 0 ? "," : "", amounts[i]);
	}
	return text;
}

static struct buf hash_of(const int64_t *amounts, uint64_t count)
{
	uint8_t *le = xmalloc(count * 8);
	uint8_t digest[32];
	char hex[65];
	struct buf text;

	for (uint64_t i = 0; i < count * 8; i++) {
		le[i] = (uint8_t)((uint64_t)amounts[i / 8] >> (8 * (i % 8)));
	}
	cr_assert_eq(
		EVP_Digest(le, count * 8, digest, NULL, EVP_sha256(), NULL), 1);
	free(le);
	hex_encode(digest, sizeof(digest), hex);
	buf_init(&text);
	buf_printf(&text, "sha256:%s", hex);
	return text;
}

/* False if there can be no such rule. */
static bool read_rule(const struct vectors *v, struct allocate_rule *rule)
{
	const char *tiers = strcmp(v->words[6], "-") == 0 ? "" : v->words[6];
	size_t name = strcspn(v->words[0], ":");
	const char *mode = v->words[0] + name;
	char why[ALLOCATE_WHY];

	cr_assert(mode[0] == '\0' || strcmp(mode, ":live") == 0, "line %d: %s",
		  v->number, v->words[0]);
	*rule = (struct allocate_rule){
		.live = mode[0] != '\0',
		.total_cents = strtoll(v->words[2], NULL, 10),
		.count = strtoull(v->words[3], NULL, 10),
		.min_cents = strtoll(v->words[4], NULL, 10),
		.max_cents = strtoll(v->words[5], NULL, 10),
	};
	cr_assert(allocate_by_name(bytes_make(v->words[0], name),
				   &rule->algorithm),
		  "line %d: %s", v->number, v->words[0]);
	return plan_tiers_read(bytes_str(tiers), rule) &&
	       allocate_possible(rule, why);
}

/* What the C code says, in the words of the file. */
static struct buf answer(const struct vectors *v)
{
	uint8_t seed[ALLOCATE_SEED];
	struct allocate_rule rule;
	int64_t *amounts;
	struct buf text;

	if (!read_rule(v, &rule)) {
		buf_init(&text);
		buf_printf(&text, "refused");
		return text;
	}
	seed_of(v, v->words[1], seed);
	amounts = xcalloc(rule.count, sizeof(*amounts));
	allocate(seed, &rule, amounts);
	text = rule.count <= LIST_MAX ? text_of(amounts, rule.count)
				      : hash_of(amounts, rule.count);
	free(amounts);
	return text;
}

Test(allocate_vectors, splits)
{
	bool seen[ALLOCATE_ALGORITHMS] = { false };
	int live = 0, refused = 0;
	struct vectors v;

	vectors_open(&v);
	while (next_vector(&v, "split", 8)) {
		struct buf found = answer(&v);
		enum allocate_algorithm algorithm;

		cr_expect(bytes_eq(buf_live(&found), bytes_str(v.words[7])),
			  "line %d: %.*s, not %s", v.number,
			  BYTES_FMT(buf_live(&found)), v.words[7]);
		buf_close(&found);
		if (allocate_by_name(bytes_str(v.words[0]), &algorithm)) {
			seen[algorithm] = true;
		} else {
			*(strcmp(v.words[7], "refused") == 0 ? &refused
							     : &live) += 1;
		}
	}
	cr_assert(live > 0 && refused > 0);
	for (int i = 0; i < ALLOCATE_ALGORITHMS; i++) {
		cr_assert(seen[i], "no vector of %s",
			  allocate_name((enum allocate_algorithm)i));
	}
	vectors_close(&v);
}

/* The fields of a plan as the file has them, names and values. */
struct fields {
	struct buf text; /* each line with its end */
	char values[FIELDS][PLAN_TIERS_TEXT];
};

static const char *const names[FIELDS] = {
	"activity_id", "title",    "sponsor",    "currency",
	"total_cents", "packets",  "algorithm",  "min_cents",
	"max_cents",   "start_ms", "end_ms",     "ack",
	"keep_days",   "tiers",    "release_ms", "mode",
};

static void read_fields(struct vectors *v, struct fields *out)
{
	memset(out, 0, sizeof(*out));
	buf_init(&out->text);
	while (next_line(v) && v->line[0] != '\0') {
		size_t n = strcspn(v->line, "=");
		size_t i = 0;

		buf_printf(&out->text, "%s\n", v->line);
		while (i < FIELDS && (strlen(names[i]) != n ||
				      strncmp(names[i], v->line, n) != 0)) {
			i++;
		}
		cr_assert(i < FIELDS && v->line[n] == '=', "line %d: %s",
			  v->number, v->line);
		snprintf(out->values[i], sizeof(out->values[i]), "%s",
			 v->line + n + 1);
	}
}

/* As a service gets it. */
static struct plan read_plan(const struct vectors *v, const struct fields *f)
{
	Rain__Plan m = RAIN__PLAN__INIT;
	struct allocate_rule rule = { 0 };
	struct plan_tiers tiers;
	struct plan plan;
	char why[PLAN_WHY];

	m.activity_id = to_pb_str(f->values[0]);
	m.title = to_pb_str(f->values[1]);
	m.sponsor = to_pb_str(f->values[2]);
	m.currency = to_pb_str(f->values[3]);
	m.total_cents = strtoll(f->values[4], NULL, 10);
	m.packets = strtoull(f->values[5], NULL, 10);
	m.algorithm = to_pb_str(f->values[6]);
	m.min_cents = strtoll(f->values[7], NULL, 10);
	m.max_cents = strtoll(f->values[8], NULL, 10);
	m.start_ms = strtoll(f->values[9], NULL, 10);
	m.end_ms = strtoll(f->values[10], NULL, 10);
	m.ack = to_pb_str(f->values[11]);
	m.keep_days = (uint32_t)strtoul(f->values[12], NULL, 10);
	m.release_ms = strtoll(f->values[14], NULL, 10);
	m.mode = to_pb_str(f->values[15]);
	cr_assert(plan_tiers_read(bytes_str(f->values[13]), &rule));
	plan_tiers_message(&rule, &tiers, &m);
	cr_assert(plan_read(&m, &plan, why), "line %d: %s", v->number, why);
	return plan;
}

Test(allocate_vectors, plans_and_commitments)
{
	int with_tiers = 0, live = 0, others = 0;
	struct vectors v;

	vectors_open(&v);
	while (next_vector(&v, "plan", 2)) {
		char text[PLAN_TEXT_MAX], commitment[PLAN_COMMITMENT];
		char expected[PLAN_COMMITMENT];
		uint8_t seed[ALLOCATE_SEED];
		struct fields f;
		struct plan plan;

		seed_of(&v, v.words[0], seed);
		snprintf(expected, sizeof(expected), "%s", v.words[1]);
		read_fields(&v, &f);
		plan = read_plan(&v, &f);
		cr_expect(bytes_eq(bytes_make(text, plan_text(&plan, text)),
				   buf_live(&f.text)),
			  "before line %d: %s", v.number, text);
		plan_commitment(seed, &plan, commitment);
		cr_expect_str_eq(commitment, expected, "before line %d: %s",
				 v.number, commitment);
		*(plan.rule.tier_count > 0 ? &with_tiers
		  : plan.rule.live         ? &live
					   : &others) += 1;
		buf_close(&f.text);
	}
	cr_assert(with_tiers > 0 && live > 0 && others > 0);
	vectors_close(&v);
}

Test(allocate_vectors, mixed_seeds)
{
	struct vectors v;
	int n = 0;

	vectors_open(&v);
	while (next_vector(&v, "mix", 3)) {
		uint8_t seed[ALLOCATE_SEED], out[ALLOCATE_SEED];
		uint8_t entropy[PLAN_ENTROPY_MAX];
		size_t len = strlen(v.words[1]);
		char hex[2 * ALLOCATE_SEED + 1];

		seed_of(&v, v.words[0], seed);
		cr_assert(len / 2 <= sizeof(entropy) &&
			  hex_decode(v.words[1], len, entropy, len / 2) == 0);
		plan_mix(seed, entropy, len / 2, out);
		hex_encode(out, sizeof(out), hex);
		cr_expect_str_eq(hex, v.words[2], "line %d: %s", v.number, hex);
		n++;
	}
	cr_assert(n > 0);
	vectors_close(&v);
}

/*
 * fault_tappers: usage() says how. Taps until SIGTERM, then asks until every
 * outcome is known, and prints one line of JSON.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "fault/tappers.h"
#include "proto/proto_util.h"

static int usage(const char *why)
{
	fprintf(stderr,
		"fault_tappers: %s\n"
		"usage: fault_tappers --gateways H:P,H:P --keys FILE\n"
		"  --activities A,B --users N --connections N --rate TAPS_PER_S"
		"\n  --seed N --log FILE [--patience SECONDS]\n"
		"exit: 0 every outcome is known, 3 some are not, 2 usage\n",
		why);
	return 2;
}

/* Cut a list at its commas: the n-th part into out. False at its end, or if a
 * part does not fit. */
static bool part(const char **list, char *out, size_t size)
{
	size_t n = strcspn(*list, ",");

	if (n == 0 || n >= size) {
		return false;
	}
	memcpy(out, *list, n);
	out[n] = '\0';
	*list += n + ((*list)[n] == ',');
	return true;
}

static bool take_gateways(struct tappers_options *o, const char *list)
{
	while (o->gateway_count < TAPPERS_GATEWAYS_MAX &&
	       part(&list, o->gateways[o->gateway_count],
		    sizeof o->gateways[0])) {
		o->gateway_count++;
	}
	return o->gateway_count > 0 && *list == '\0';
}

static bool take_activities(struct tappers_options *o, const char *list)
{
	while (o->activity_count < TAPPERS_ACTIVITIES_MAX - 1 &&
	       part(&list, o->activities[o->activity_count],
		    sizeof o->activities[0])) {
		o->activity_count++;
	}
	return o->activity_count > 0 && *list == '\0';
}

static bool take_number(const char *text, uint64_t max, uint64_t *out)
{
	return bytes_to_u64(bytes_str(text), max, out);
}

static bool take_option(struct tappers_options *o, const char *name,
			const char *value)
{
	if (strcmp(name, "--gateways") == 0) {
		return take_gateways(o, value);
	}
	if (strcmp(name, "--activities") == 0) {
		return take_activities(o, value);
	}
	if (strcmp(name, "--keys") == 0) {
		o->keys = value;
		return true;
	}
	if (strcmp(name, "--log") == 0) {
		o->log = value;
		return true;
	}
	if (strcmp(name, "--users") == 0) {
		return take_number(value, TAPPERS_PERSONS_MAX, &o->users);
	}
	if (strcmp(name, "--connections") == 0) {
		return take_number(value, TAPPERS_CONNECTIONS_MAX,
				   &o->connections);
	}
	if (strcmp(name, "--rate") == 0) {
		return take_number(value, 1000000, &o->rate);
	}
	if (strcmp(name, "--seed") == 0) {
		return take_number(value, UINT64_MAX, &o->seed);
	}
	if (strcmp(name, "--patience") == 0) {
		uint64_t seconds;

		if (!take_number(value, 86400, &seconds)) {
			return false;
		}
		o->patience_ms = seconds * 1000;
		return true;
	}
	return false;
}

static void print(const struct tappers *t, bool whole)
{
	const struct tappers_counts *c = &t->counts;
	json_t *statuses = json_object();
	json_t *out;

	for (int i = 0; i < TAPPERS_STATUSES; i++) {
		const ProtobufCEnumValue *v =
			protobuf_c_enum_descriptor_get_value(
				&rain__status__descriptor, i);

		if (c->statuses[i] > 0) {
			json_object_set_new(
				statuses, v != NULL ? v->name : "?",
				json_integer((json_int_t)c->statuses[i]));
		}
	}
	out = json_pack("{s:I,s:I,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:b}",
			"taps", (json_int_t)c->taps, "queries",
			(json_int_t)c->queries, "answers", statuses, "errors",
			(json_int_t)c->errors, "persons",
			(json_int_t)c->persons, "wins", (json_int_t)c->wins,
			"unresolved", (json_int_t)c->unresolved, "connections",
			(json_int_t)t->connections, "reconnects",
			(json_int_t)c->reconnects, "closed_unanswered",
			(json_int_t)c->closed, "strays", (json_int_t)c->strays,
			"skipped", (json_int_t)c->skipped, "log_whole", whole);
	json_dumpf(out, stdout, JSON_COMPACT);
	printf("\n");
	json_decref(out);
}

int main(int argc, char **argv)
{
	struct tappers *t = calloc(1, sizeof *t);
	struct tappers_options *o = &t->options;
	int rc;

	check(t != NULL);
	o->patience_ms = 60000;
	for (int i = 1; i < argc; i += 2) {
		if (i + 1 == argc || !take_option(o, argv[i], argv[i + 1])) {
			free(t);
			return usage(argv[i]);
		}
	}
	if (o->gateway_count == 0 || o->activity_count == 0 ||
	    o->keys == NULL || o->log == NULL || o->users == 0 ||
	    o->connections == 0 || o->rate == 0 ||
	    (o->activity_count + 1) * o->users > TAPPERS_PERSONS_MAX) {
		free(t);
		return usage("an option is missing, 0 or too large");
	}
	/* Some taps go where there is nothing. */
	snprintf(o->activities[o->activity_count++], sizeof o->activities[0],
		 "no-such-activity");
	rc = tappers_run(t);
	if (t->log != NULL) {
		print(t, rc == 0);
	}
	if (rc == 0 && t->counts.unresolved > 0) {
		rc = 3;
	}
	free(t);
	return rc;
}

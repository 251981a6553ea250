#include "console/plan_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/amount.h"
#include "base/err.h"
#include "proto/proto_util.h"

#define KEY(n, t, def) "activity." #n, t, offsetof(struct plan_values, n), def

/* How money is split: all that a further tranche can say. */
static const struct config_key split_keys[] = {
	{ KEY(total, CONFIG_STRING, ""),
	  .help = "of all packets, 100000.00; with tiers their sum" },
	{ KEY(packets, CONFIG_STRING, ""),
	  .help = "how many; empty: 1, or as many as the tiers have" },
	{ KEY(algorithm, CONFIG_STRING, "double_mean"),
	  .help = "how the total is split: " ALLOCATE_NAMES },
	{ KEY(tiers, CONFIG_STRING, ""),
	  .help = "of the algorithm tiers: 1000.00 x 1, 10.00 x 200" },
	{ KEY(min, CONFIG_STRING, "0.01"), .help = "of one packet" },
	{ KEY(max, CONFIG_STRING, "0"), .help = "of one packet; 0: no bound" },
	{ 0 },
};

/* What is the activity's. */
static const struct config_key activity_keys[] = {
	{ KEY(id, CONFIG_STRING, ""), .help = "the id; empty: a new one" },
	{ KEY(prefix, CONFIG_STRING, "activity"), .help = "of a new id" },
	{ KEY(title, CONFIG_STRING, ""), .help = "for people" },
	{ KEY(sponsor, CONFIG_STRING, ""), .flags = CONFIG_REQUIRED,
	  .help = "the account that pays" },
	{ KEY(currency, CONFIG_STRING, "CNY"), .help = "ISO 4217" },
	{ KEY(mode, CONFIG_CHOICE, "list"), .choices = "list|live",
	  .help = "list: all packets lie in Redis before; live: each is drawn "
		  "when it is grabbed" },
	{ KEY(start, CONFIG_STRING, ""), .help = "grabs are taken from then" },
	{ KEY(end, CONFIG_STRING, ""), .help = "grabs are taken until then" },
	{ KEY(ack, CONFIG_STRING, "redis"),
	  .help = "when an answer with a packet may be given" },
	{ KEY(release, CONFIG_TIME, "0ms"), .min = 0,
	  .max = PLAN_RELEASE_MAX_MS,
	  .help = "over which the packets are released evenly; 0: at once" },
	{ KEY(keep_days, CONFIG_INT, "7"), .min = 0, .max = 3650,
	  .help = "the lists stay in Redis" },
	{ 0 },
};

/* "", "Z" or an offset such as +08:00, in seconds east of Greenwich. */
static bool read_offset(const char *text, int *east_s)
{
	int hours, minutes, n = 0;

	*east_s = 0;
	if (text[0] == '\0' || strcmp(text, "Z") == 0) {
		return true;
	}
	if ((text[0] != '+' && text[0] != '-') ||
	    strspn(text + 1, "0123456789:") != 5 ||
	    sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &n) != 2 ||
	    n != 5 || text[6] != '\0' || hours > 14 || minutes > 59) {
		return false;
	}
	*east_s = (hours * 60 + minutes) * 60 * (text[0] == '-' ? -1 : 1);
	return true;
}

/* "20:00" or "20:00:00"; the rest of the text, or NULL. */
static const char *read_clock(const char *text, struct tm *tm)
{
	const char *end = strptime(text, "%H:%M", tm);

	if (end != NULL && *end == ':') {
		end = strptime(end, ":%S", tm);
	}
	return end;
}

/* "", "+90" or "2026-01-31 20:00:00": UTC unless it has an offset. */
static bool read_time(int64_t now_ms, const char *value, int64_t *ms)
{
	struct tm tm = { 0 };
	struct tm again;
	uint64_t seconds;
	const char *end;
	int east_s;
	time_t at;

	if (value[0] == '\0') {
		*ms = 0;
		return true;
	}
	if (value[0] == '+') {
		if (!bytes_to_u64(bytes_str(value + 1), 366 * 86400,
				  &seconds)) {
			return false;
		}
		*ms = now_ms + (int64_t)seconds * 1000;
		return true;
	}
	end = strptime(value, "%Y-%m-%d", &tm);
	if (end == NULL || (*end != ' ' && *end != 'T')) {
		return false;
	}
	end = read_clock(end + 1, &tm);
	if (end == NULL || !read_offset(end + (*end == ' '), &east_s)) {
		return false;
	}
	again = tm;
	at = timegm(&again);
	/* The 31st of April has become the 1st of May. */
	if (again.tm_mday != tm.tm_mday) {
		return false;
	}
	*ms = ((int64_t)at - east_s) * 1000;
	return *ms > 0;
}

/* "1000.00 x 1, 10 x 200", with their sums. */
static bool read_tiers(const char *text, struct allocate_rule *out)
{
	const char *at = text;

	*out = (struct allocate_rule){ 0 };
	while (*at != '\0') {
		struct allocate_tier *t = &out->tiers[out->tier_count];
		char amount[32], count[32];
		int n = 0;

		if (out->tier_count == ALLOCATE_TIERS_MAX ||
		    sscanf(at, " %31[0-9.] x %31[0-9]%n", amount, count, &n) !=
			    2 ||
		    !amount_parse(bytes_str(amount), &t->amount_cents) ||
		    !bytes_to_u64(bytes_str(count), ALLOCATE_COUNT_MAX,
				  &t->count) ||
		    (t->count > 0 &&
		     t->amount_cents > (AMOUNT_MAX_CENTS - out->total_cents) /
					       (int64_t)t->count)) {
			return false;
		}
		out->tier_count++;
		out->total_cents += t->amount_cents * (int64_t)t->count;
		out->count += t->count;
		at += (size_t)n + strspn(at + n, " ");
		if (*at == ',' && at[1] != '\0') {
			at++;
		} else if (*at != '\0') {
			return false;
		}
	}
	return true;
}

static void complain(struct buf *why, const char *path, const char *name,
		     const char *value, const char *allowed)
{
	buf_printf(why, "%s: activity.%s = %s; allowed: %s\n", path, name,
		   value, allowed);
}

/* How money is split. */
static void fill_split(const char *path, struct plan_file *f, struct buf *why)
{
	static const char amounts[] = "an amount such as 12 or 12.50";
	static const char tiers[] =
		"at most 32 of AMOUNT x PACKETS, a comma between two; in all "
		"at most 90071992547409.91 and 10000000 packets";
	const struct plan_values *v = &f->values;
	Rain__Plan *p = &f->plan;

	if (!read_tiers(v->tiers, &f->tiers)) {
		complain(why, path, "tiers", v->tiers, tiers);
	}
	plan_tiers_message(&f->tiers, &f->tier_memory, p);
	if (v->total[0] == '\0' && v->tiers[0] != '\0') {
		p->total_cents = f->tiers.total_cents;
	} else if (!amount_parse(bytes_str(v->total), &p->total_cents)) {
		complain(why, path, "total", v->total, amounts);
	}
	if (!amount_parse(bytes_str(v->min), &p->min_cents)) {
		complain(why, path, "min", v->min, amounts);
	}
	if (!amount_parse(bytes_str(v->max), &p->max_cents)) {
		complain(why, path, "max", v->max, amounts);
	}
	if (v->packets[0] == '\0') {
		p->packets = f->tiers.tier_count > 0 ? f->tiers.count : 1;
	} else if (!bytes_to_u64(bytes_str(v->packets), ALLOCATE_COUNT_MAX,
				 &p->packets) ||
		   p->packets == 0) {
		complain(why, path, "packets", v->packets, "1 to 10000000");
	}
	p->algorithm = to_pb_str(v->algorithm);
}

static void fill_rest(const char *path, int64_t now_ms, struct plan_file *f,
		      struct buf *why)
{
	static const char times[] =
		"empty, +SECONDS or 2026-01-31 20:00 (UTC; or with an offset, "
		"2026-01-31 20:00:00+08:00)";
	const struct plan_values *v = &f->values;
	Rain__Plan *p = &f->plan;

	if (!read_time(now_ms, v->start, &p->start_ms)) {
		complain(why, path, "start", v->start, times);
	}
	if (!read_time(now_ms, v->end, &p->end_ms)) {
		complain(why, path, "end", v->end, times);
	}
	p->keep_days = (uint32_t)v->keep_days;
	p->release_ms = v->release;
	p->mode = to_pb_str(v->mode);
	p->activity_id = to_pb_str(f->id);
	p->title = to_pb_str(v->title);
	p->sponsor = to_pb_str(v->sponsor);
	p->currency = to_pb_str(v->currency);
	p->ack = to_pb_str(v->ack);
}

/* 0, or ERR_CONFIG with what is wrong in why. */
static int read_keys(const char *path, bool activity, struct plan_file *f,
		     struct buf *why)
{
	*f = (struct plan_file){ .plan = RAIN__PLAN__INIT };
	config_init(&f->config, split_keys, &f->values, NULL);
	if (activity) {
		config_add(&f->config, activity_keys, &f->values);
	}
	if (config_read_file(&f->config, path) != 0 ||
	    config_finish(&f->config) != 0) {
		buf_put_bytes(why, buf_live(&f->config.errors));
		return ERR_CONFIG;
	}
	return 0;
}

int topup_file_read(const char *path, struct plan_file *f, struct buf *why)
{
	size_t before = buf_len(why);

	if (read_keys(path, false, f, why) != 0) {
		buf_printf(why,
			   "a top-up has only total, packets, algorithm, "
			   "tiers, min and max: the rest is the activity's\n");
		return ERR_CONFIG;
	}
	fill_split(path, f, why);
	return buf_len(why) == before ? 0 : ERR_CONFIG;
}

int plan_file_read(const char *path, const char *id, int64_t now_ms,
		   struct plan_file *f, struct buf *why)
{
	size_t before = buf_len(why);

	if (read_keys(path, true, f, why) != 0) {
		return ERR_CONFIG;
	}
	if (id != NULL || f->values.id[0] != '\0') {
		snprintf(f->id, sizeof f->id, "%s",
			 id != NULL ? id : f->values.id);
	} else {
		snprintf(f->id, sizeof f->id, "%.64s-%" PRId64,
			 f->values.prefix, now_ms);
	}
	fill_split(path, f, why);
	fill_rest(path, now_ms, f, why);
	return buf_len(why) == before ? 0 : ERR_CONFIG;
}

void plan_file_close(struct plan_file *f)
{
	config_close(&f->config);
}

#include "ledger.h"

#include "ledger_sqlite.h"

int ledger_open(const char *location, struct ledger **out)
{
	return ledger_sqlite_open(location, out);
}

void ledger_close(struct ledger *l)
{
	if (l != NULL) {
		l->ops->close(l);
	}
}

const char *ledger_id(const struct ledger *l)
{
	return l->id;
}

const char *ledger_why(const struct ledger *l)
{
	return l->why;
}

int ledger_positions(struct ledger *l, struct bytes cluster_id,
		     struct ledger_position *positions, size_t n)
{
	return l->ops->positions(l, cluster_id, positions, n);
}

int ledger_apply(struct ledger *l, const struct ledger_batch *b,
		 struct ledger_result *result)
{
	return l->ops->apply(l, b, result);
}

int ledger_dead_letters(struct ledger *l, struct ledger_dead_letter *out,
			size_t max, size_t *n)
{
	return l->ops->dead_letters(l, out, max, n);
}

int ledger_dead_letter_sent(struct ledger *l, int64_t number, int64_t now_ms)
{
	return l->ops->dead_letter_sent(l, number, now_ms);
}

int ledger_reader_open(struct ledger *l, struct ledger_reader **out)
{
	return l->ops->reader(l, out);
}

void ledger_reader_close(struct ledger_reader *r)
{
	if (r != NULL) {
		r->ops->close(r);
	}
}

int ledger_balance(struct ledger_reader *r, struct bytes user_id,
		   int64_t *cents, char currency[8])
{
	return r->ops->balance(r, user_id, cents, currency);
}

int ledger_records(struct ledger_reader *r, const struct ledger_page *page,
		   struct ledger_record *out, size_t *n)
{
	check(page->limit >= 1 && page->limit <= LEDGER_PAGE_MAX);
	return r->ops->records(r, page, out, n);
}

int ledger_record(struct ledger_reader *r, struct bytes activity_id,
		  struct bytes user_id, struct ledger_record *out, bool *found)
{
	return r->ops->record(r, activity_id, user_id, out, found);
}

int ledger_totals(struct ledger_reader *r, struct bytes activity_id,
		  struct ledger_totals *out, bool *known)
{
	return r->ops->totals(r, activity_id, out, known);
}

int ledger_activities(struct ledger_reader *r, struct bytes after, size_t limit,
		      struct ledger_totals *out, size_t *n)
{
	check(limit >= 1 && limit <= LEDGER_PAGE_MAX);
	return r->ops->activities(r, after, limit, out, n);
}

int ledger_reader_positions(struct ledger_reader *r, struct bytes cluster_id,
			    struct ledger_position *out, size_t max, size_t *n)
{
	return r->ops->positions(r, cluster_id, out, max, n);
}

int ledger_watch(struct ledger_reader *r, struct ledger_watch *out, size_t max,
		 size_t *n)
{
	return r->ops->watch(r, out, max, n);
}

int ledger_parked(struct ledger_reader *r, struct ledger_parked *out)
{
	return r->ops->parked(r, out);
}

int ledger_audit(struct ledger_reader *r, struct audit *a, uint64_t budget_us)
{
	return r->ops->audit(r, a, budget_us);
}

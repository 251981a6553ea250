/* Parked claims, settled again page by page. */
#include <stdlib.h>

#include "ledger_sqlite_tx.h"

enum { UNPARK_PAGE = 500 };

static void take_id(const struct sql *q, int column, struct event_id *id)
{
	sql_copy(q, S_PARKED_PAGE, column, id->s, sizeof id->s);
	id->n = (uint8_t)strlen(id->s);
}

static int read_page(struct tx *tx, const struct tx_activity *a, int64_t seq,
		     int64_t *parked, struct event_claim *page, size_t *n)
{
	struct sql *q = tx->q;
	int rv = sql_first(q, S_PARKED_PAGE, "iiii", a->number, seq, *parked,
			   (int64_t)UNPARK_PAGE);

	*n = 0;
	while (rv == 1) {
		struct event_claim *c = &page[(*n)++];

		take_id(q, 0, &c->red_packet_id);
		take_id(q, 1, &c->user_id);
		c->amount_cents = sql_int(q, S_PARKED_PAGE, 2);
		c->seq = sql_int(q, S_PARKED_PAGE, 3);
		c->tranche = sql_int(q, S_PARKED_PAGE, 4);
		c->at_ms = sql_int(q, S_PARKED_PAGE, 5);
		*parked = sql_int(q, S_PARKED_PAGE, 6);
		rv = sql_next(q, S_PARKED_PAGE);
	}
	if (rv == 0) {
		sql_done(q, S_PARKED_PAGE);
	}
	return rv;
}

int tx_unpark(struct tx *tx, struct tx_activity *a)
{
	struct event_claim *page = xcalloc(UNPARK_PAGE, sizeof *page);
	int64_t replays = tx->result->replays;
	int64_t seq = 0;
	int64_t parked = 0;
	size_t n;
	int rv;

	do {
		rv = read_page(tx, a, seq, &parked, page, &n);
		for (size_t i = 0; rv == 0 && i < n; i++) {
			rv = tx_claim(tx, a, &page[i]);
		}
		if (rv == 0) {
			rv = tx_group_flush(tx);
		}
		if (n > 0) {
			seq = page[n - 1].seq;
		}
	} while (rv == 0 && n == UNPARK_PAGE);
	/* One that goes on waiting is no replay. */
	tx->result->replays = replays;
	free(page);
	return rv;
}

#include "auditor.h"

#include <stdio.h>

#include "base/log.h"
#include "settle_metrics.h"

/* Whoever settles at the same time shares the machine: a twentieth of one
 * processor at most, until the round is through. */
enum { STEP_US = 50000, TICK_MS = 1000, REST = 19 };

static void maybe_end(struct auditor *a)
{
	if (a->closed && !a->busy) {
		a->stopped(a->stopped_ctx);
	}
}

static int step_work(struct read_job *job, struct ledger_reader *r)
{
	struct auditor *a = container_of(job, struct auditor, job);
	uint64_t began = uv_hrtime();
	int rv = ledger_audit(r, &a->round, STEP_US);

	a->took_ms = (uv_hrtime() - began) / 1000000;
	return rv;
}

/* Only what an earlier round had not found. */
static void name_findings(struct auditor *a)
{
	for (; a->named < a->round.count; a->named++) {
		const struct audit_finding *f = &a->round.findings[a->named];

		if (audit_known(&a->last, f)) {
			continue;
		}
		log_error("the books are not sound",
			  log_str("where", f->subject),
			  log_str("what", f->what),
			  log_int("expected", f->expected),
			  log_str("by", f->by), log_int("found", f->found));
	}
}

static void tell(struct auditor *a)
{
	if (a->round.done && a->last.violations != a->round.violations) {
		if (a->round.violations == 0) {
			log_info("the books are sound again");
		} else {
			log_error("the audit is through",
				  log_int("violations", a->round.violations));
		}
	}
	if (a->round.done) {
		a->last = a->round;
	}
	a->news = a->round;
	a->told = true;
	metric_set(&settle_violations, a->news.violations);
}

static void step_done(struct read_job *job, int rv)
{
	struct auditor *a = container_of(job, struct auditor, job);

	a->busy = false;
	a->rest_until = uv_now(a->timer.loop) + REST * a->took_ms;
	if (rv != 0 && !a->failing) {
		log_warn("the audit cannot read the ledger");
	}
	a->failing = rv != 0;
	if (rv == 0) {
		name_findings(a);
		/* A partial round tells what is worse, never what is better. */
		if (a->round.done || a->round.violations > a->news.violations) {
			tell(a);
		}
	}
	maybe_end(a);
}

static void timer_cb(uv_timer_t *timer)
{
	struct auditor *a = timer->data;
	uint64_t now = uv_now(timer->loop);

	if (a->busy || now < a->rest_until ||
	    (a->round.done && now - a->began < a->every_ms)) {
		return;
	}
	if (a->round.done) {
		a->round = (struct audit){ 0 };
		a->named = 0;
		a->began = now;
	}
	a->busy = reads_submit(a->reads, &a->job);
}

void auditor_start(struct auditor *a, uv_loop_t *loop, struct reads *reads,
		   const struct settle_options *options)
{
	uint64_t every = (uint64_t)options->audit_ms;
	int rv = uv_timer_init(loop, &a->timer);

	check(rv == 0); /* it only fills in the handle */
	a->reads = reads;
	a->every_ms = every;
	a->job.work = step_work;
	a->job.done = step_done;
	a->began = uv_now(loop);
	a->timer.data = a;
	rv = uv_timer_start(&a->timer, timer_cb, 0,
			    every < TICK_MS ? every : TICK_MS);
	check(rv == 0); /* it is not closing */
}

static void closed_cb(uv_handle_t *handle)
{
	struct auditor *a = handle->data;

	a->closed = true;
	maybe_end(a);
}

void auditor_stop(struct auditor *a, void (*done)(void *ctx), void *ctx)
{
	a->stopped = done;
	a->stopped_ctx = ctx;
	uv_close((uv_handle_t *)&a->timer, closed_cb);
}

int64_t auditor_violations(const struct auditor *a)
{
	return a->told ? a->news.violations : -1;
}

void auditor_first(const struct auditor *a, struct buf *out)
{
	if (a->news.count > 0) {
		audit_say(&a->news.findings[0], out);
	}
}

void auditor_alarm(const struct auditor *a, struct ledger_totals *t)
{
	struct buf text;

	buf_init(&text);
	for (size_t i = 0; i < a->news.count; i++) {
		const struct audit_finding *f = &a->news.findings[i];

		if (strcmp(f->activity_id, t->activity_id) == 0) {
			buf_printf(&text, "the audit found: ");
			audit_say(f, &text);
			buf_printf(&text, "; ");
		}
	}
	if (buf_len(&text) > 0) {
		size_t n = strlen(t->alarm);

		(void)snprintf(t->alarm + n, sizeof t->alarm - n, "%.*s",
			       BYTES_FMT(buf_live(&text)));
	}
	buf_close(&text);
}

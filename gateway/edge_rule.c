#include "gateway/edge_rule.h"

bool edge_may_answer(const struct edge_view *v)
{
	uint64_t age = v->now_ms - v->asked_ms;

	if (v->word == 0 || v->told != v->word) {
		return false;
	}
	if (v->now_ms >= v->until_ms || v->now_ms >= v->told_until_ms) {
		return false;
	}
	if (v->now_ms < v->asked_ms || age >= EDGE_ROUNDS * v->fresh_ms) {
		return false;
	}
	return age < v->fresh_ms || v->asking;
}

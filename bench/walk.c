#include "bench/walk.h"

#include "base/check.h"

bool walk_over(const struct walk *w)
{
	return w->taps > 0 && w->at / w->users / w->activities >= w->taps;
}

bool walk_next(struct walk *w, struct step *step)
{
	check(w->users > 0 && w->activities > 0);
	if (walk_over(w)) {
		return false;
	}
	step->user = w->at % w->users;
	step->activity = w->at / w->users % w->activities;
	w->at++;
	return true;
}

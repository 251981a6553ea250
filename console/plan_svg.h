/**
 * A picture of a plan's amounts, as SVG, to put into a report.
 */
#ifndef CONSOLE_PLAN_SVG_H
#define CONSOLE_PLAN_SVG_H

#include "base/buf.h"
#include "console/plan_report.h"

/** Append the picture: a whole document, UTF-8, without scripts or links. */
void plan_svg(const struct plan_forecast *p, struct buf *out);

#endif

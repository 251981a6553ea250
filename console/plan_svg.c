#include "console/plan_svg.h"

#include <inttypes.h>
#include <stdio.h>

#include "console/wrap.h"

/* In pixels of the picture as it is; it can be drawn in any size. */
enum {
	WIDTH = 900,
	LEFT = 90,   /* of the bars */
	RIGHT = 846, /* room for half a label */
	PLOT = 330,  /* the height of the largest bar's axis */
	TITLE_LINE = 22,
	TITLE_COLUMNS = 70,
	SMALL = 12,    /* letters of labels */
	TICKS_MAX = 8, /* of the axis of packets, above 0 */
	CAPTION_LINE = 18,
	CAPTION_COLUMNS = 110,
};

struct canvas {
	struct buf *out;
	const struct forecast_histogram *h;
	int top;      /* of the bars' area */
	int bottom;   /* and where the bars stand */
	double width; /* of a bucket */
	uint64_t most;
	uint64_t step; /* between two lines of the axis of packets */
	uint64_t high; /* the value at the top */
};

/* A label, and how wide it is at most, as a rule: fonts differ. */
struct label {
	char text[PLAN_AMOUNT_MAX];
	double width;
};

static void measure(struct label *l)
{
	/* The digits of DejaVu Sans, which are wide ones. */
	l->width = 0.64 * SMALL * (double)strlen(l->text);
}

/* Text as XML has it. What XML cannot have, a title may still hold. */
static void put_text(struct buf *out, struct bytes text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '<') {
			buf_put_bytes(out, BYTES("&lt;"));
		} else if (text.p[i] == '>') {
			buf_put_bytes(out, BYTES("&gt;"));
		} else if (text.p[i] == '&') {
			buf_put_bytes(out, BYTES("&amp;"));
		} else if (text.n - i >= 3 && text.p[i] == 0xef &&
			   text.p[i + 1] == 0xbf && text.p[i + 2] >= 0xbe) {
			buf_put_u8(out, '?'); /* U+FFFE, U+FFFF */
			i += 2;
		} else {
			buf_put_u8(out, text.p[i]);
		}
	}
}

static void put_label(struct canvas *c, double x, double y, const char *anchor,
		      const char *more, struct bytes text)
{
	buf_printf(c->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>",
		   x, y, anchor, more);
	put_text(c->out, text);
	buf_put_bytes(c->out, BYTES("</text>\n"));
}

static void put_line(struct canvas *c, double x1, double y1, double x2,
		     double y2, const char *colour)
{
	buf_printf(c->out,
		   "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
		   "stroke=\"%s\"/>\n",
		   x1, y1, x2, y2, colour);
}

/* A tick of whole amounts without decimals, and large ones short if that says
 * the same: "0.50", "200", "10,000", "2.5M". */
static struct label tick(int64_t cents)
{
	static const struct {
		int64_t size;
		const char *name;
	} shorter[] = { { 1000000000000, "T" },
			{ 1000000000, "G" },
			{ 1000000, "M" } };
	int64_t units = cents / 100;
	struct label l;

	plan_amount((double)cents, l.text);
	if (cents % 100 == 0) {
		plan_number((uint64_t)units, l.text);
		for (size_t i = 0; i < 3; i++) {
			if (units >= shorter[i].size &&
			    units % (shorter[i].size / 1000) == 0) {
				(void)snprintf(l.text, sizeof l.text, "%g%s",
					       (double)units /
						       (double)shorter[i].size,
					       shorter[i].name);
				break;
			}
		}
	}
	measure(&l);
	return l;
}

static double bucket_x(const struct canvas *c, size_t i)
{
	return LEFT + c->width * (double)i;
}

static double height(const struct canvas *c, uint64_t packets)
{
	return (double)(c->bottom - c->top) * (double)packets / (double)c->high;
}

static void put_head(struct canvas *c, const struct plan *p, int total_height)
{
	struct bytes title =
		bytes_str(p->title[0] != '\0' ? p->title : "Packets of a plan");
	int y = 34;

	buf_printf(c->out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		   "height=\"%d\" viewBox=\"0 0 %d %d\" "
		   "font-family=\"sans-serif\" font-size=\"%d\" "
		   "fill=\"#333333\">\n<title>",
		   WIDTH, total_height, WIDTH, total_height, SMALL);
	put_text(c->out, title);
	buf_printf(c->out,
		   "</title>\n<rect width=\"%d\" height=\"%d\" "
		   "fill=\"#ffffff\"/>\n",
		   WIDTH, total_height);
	while (title.n > 0) {
		put_label(c, WIDTH / 2.0, y, "middle",
			  " font-size=\"17\" font-weight=\"bold\"",
			  wrap_line(&title, TITLE_COLUMNS));
		y += TITLE_LINE;
	}
}

static int title_lines(const struct plan *p)
{
	struct bytes title = bytes_str(p->title);
	int lines = 0;

	while (title.n > 0) {
		struct bytes line = wrap_line(&title, TITLE_COLUMNS);

		lines += line.n > 0;
	}
	return lines > 0 ? lines : 1;
}

static void put_counts_axis(struct canvas *c)
{
	for (uint64_t v = 0; v <= c->high; v += c->step) {
		double y = c->bottom - height(c, v);
		char text[PLAN_AMOUNT_MAX];

		put_line(c, LEFT, y, RIGHT, y, v == 0 ? "#333333" : "#dddddd");
		plan_number(v, text);
		put_label(c, LEFT - 8, y + 4, "end", "", bytes_str(text));
	}
	put_label(c, LEFT - 8, c->top - 16, "end", " fill=\"#666666\"",
		  BYTES("packets"));
}

static void put_bars(struct canvas *c)
{
	double gap = c->h->scale == FORECAST_VALUES ? c->width * 0.15 : 1;

	/* One bar is no wall. */
	if (c->h->count == 1) {
		gap = c->width * 0.35;
	}
	for (size_t i = 0; i < c->h->count; i++) {
		uint64_t packets = c->h->buckets[i].packets;
		double tall = height(c, packets);
		struct label l;

		if (packets == 0) {
			continue;
		}
		/* What there is is seen. */
		tall = tall < 1.5 ? 1.5 : tall;
		buf_printf(c->out,
			   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			   "height=\"%.1f\" fill=\"#c0392b\"/>\n",
			   bucket_x(c, i) + gap, c->bottom - tall,
			   c->width - 2 * gap, tall);
		plan_number(packets, l.text);
		measure(&l);
		put_label(c, bucket_x(c, i) + c->width / 2,
			  c->bottom - tall - 5, "middle",
			  l.width > c->width ? " font-size=\"9\"" : "",
			  bytes_str(l.text));
	}
}

/* Below the middle of each bar, slanted if they would not fit; returns how far
 * down they reach. */
static double put_values(struct canvas *c)
{
	double widest = 0;

	for (size_t i = 0; i < c->h->count; i++) {
		struct label l = tick(c->h->buckets[i].from_cents);

		widest = l.width > widest ? l.width : widest;
	}
	for (size_t i = 0; i < c->h->count; i++) {
		struct label l = tick(c->h->buckets[i].from_cents);
		double x = bucket_x(c, i) + c->width / 2;
		char slant[64];

		if (widest + 6 < c->width) {
			put_label(c, x, c->bottom + 18, "middle", "",
				  bytes_str(l.text));
			continue;
		}
		(void)snprintf(slant, sizeof slant,
			       " transform=\"rotate(-30 %.1f %d)\"", x + 4,
			       c->bottom + 16);
		put_label(c, x + 4, c->bottom + 16, "end", slant,
			  bytes_str(l.text));
	}
	return widest + 6 < c->width ? 18 : 16 + widest / 2;
}

/* Where a label can stand in the middle of, without being cut. */
static double inside(double x, const struct label *l)
{
	double half = l->width / 2 + 4;

	return x < half ? half : x > WIDTH - half ? WIDTH - half : x;
}

/* Below the edges of the buckets, as many as fit. */
static double put_edges(struct canvas *c)
{
	size_t n = c->h->count;
	double widest = 0;
	size_t every = 1;

	for (size_t i = 0; i < n; i++) {
		struct label l = tick(c->h->buckets[i].to_cents + 1);

		widest = l.width > widest ? l.width : widest;
	}
	while (c->width * (double)every < widest + 10) {
		every++;
	}
	for (size_t i = 0; i <= n; i++) {
		double x = bucket_x(c, i);
		struct label l =
			tick(i < n ? c->h->buckets[i].from_cents
				   : c->h->buckets[n - 1].to_cents + 1);

		put_line(c, x, c->bottom, x, c->bottom + 5, "#333333");
		if (i % every == 0) {
			put_label(c, inside(x, &l), c->bottom + 20, "middle",
				  "", bytes_str(l.text));
		}
	}
	return 20;
}

/* Returns where the next line would be. */
static int put_caption(struct canvas *c, const struct plan_forecast *p, int y)
{
	const char *drawn =
		plan_is_fixed(&p->plan)
			? "Every draw has these amounts; their order is drawn."
			: "One possible draw of many: the seed is drawn when "
			  "the activity is created.";
	struct bytes rest;
	struct buf text;

	buf_init(&text);
	plan_sentence(&p->plan, &text);
	buf_printf(&text, ". Gini coefficient %.3f.",
		   p->forecast.first[FORECAST_GINI]);
	rest = buf_live(&text);
	while (rest.n > 0) {
		put_label(c, WIDTH / 2.0, y, "middle", " fill=\"#666666\"",
			  wrap_line(&rest, CAPTION_COLUMNS));
		y += CAPTION_LINE;
	}
	put_label(c, WIDTH / 2.0, y, "middle", " fill=\"#666666\"",
		  bytes_str(drawn));
	buf_close(&text);
	return y + CAPTION_LINE;
}

/* The axis of packets ends at a round number. */
static void scale(struct canvas *c)
{
	int64_t step = 1;

	for (size_t i = 0; i < c->h->count; i++) {
		if (c->h->buckets[i].packets > c->most) {
			c->most = c->h->buckets[i].packets;
		}
	}
	while (c->most > TICKS_MAX * (uint64_t)step) {
		step = forecast_rounder(step);
	}
	c->step = (uint64_t)step;
	c->high = (c->most + c->step - 1) / c->step * c->step;
}

void plan_svg(const struct plan_forecast *p, struct buf *out)
{
	const struct forecast_histogram *h = &p->forecast.histogram;
	struct canvas c = { .out = out, .h = h };
	struct buf body;
	char axis[64];
	int y;

	check(h->count > 0);
	c.top = 34 + TITLE_LINE * title_lines(&p->plan) + 20;
	c.bottom = c.top + PLOT;
	c.width = (double)(RIGHT - LEFT) / (double)h->count;
	scale(&c);
	/* What is below decides how high all is. */
	buf_init(&body);
	c.out = &body;
	put_counts_axis(&c);
	put_bars(&c);
	y = c.bottom +
	    (int)(h->scale == FORECAST_VALUES ? put_values(&c) : put_edges(&c));
	(void)snprintf(axis, sizeof axis, "amount of a packet, %s%s",
		       p->plan.currency,
		       h->scale == FORECAST_LOG ? " (logarithmic)" : "");
	put_label(&c, (LEFT + RIGHT) / 2.0, y + 24, "middle", "",
		  bytes_str(axis));
	y = put_caption(&c, p, y + 56);
	c.out = out;
	put_head(&c, &p->plan, y + 6);
	buf_put_bytes(out, buf_live(&body));
	buf_put_bytes(out, BYTES("</svg>\n"));
	buf_close(&body);
}

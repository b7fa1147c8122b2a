/* Drawings in SVG, in a page or as files of their own.
 *
 * What is drawn has a class, and a style sheet says what a class looks like, in light and in dark:
 * svg_style() for drawings, which pages take over. Coordinates are CSS pixels from the upper left
 * corner.
 */
#ifndef TL_REPORT_SVG_H
#define TL_REPORT_SVG_H

#include "lib/base/buf.h"

/* Text as XML and HTML have it: & < > " become entities, control characters spaces. */
void xml_text(struct buf *out, const char *text);

/* title and what it shows, for those who do not see it. alone: a file of its own. */
void svg_open(struct buf *out, int width, int height, const char *title, int alone);
void svg_close(struct buf *out);
/* Rules of CSS, without a <style> element. */
const char *svg_style(void);

enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };
void svg_text(struct buf *out, double x, double y, enum svg_anchor anchor, const char *class,
	      const char *text);
void svg_line(struct buf *out, double x0, double y0, double x1, double y1, const char *class);
/* hint: what a pointer on it shows. */
void svg_rect(struct buf *out, double x, double y, double width, double height, const char *class,
	      const char *hint);
void svg_circle(struct buf *out, double x, double y, double radius, const char *class,
		const char *hint);
/* A line through points, between these two calls. */
void svg_path_open(struct buf *out, const char *class);
void svg_path_to(struct buf *out, double x, double y);
void svg_path_close(struct buf *out);

#endif

/* The drawings of a tuning report. */
#ifndef TL_REPORT_PLOT_H
#define TL_REPORT_PLOT_H

#include "lib/report/figures.h"

enum plot { PLOT_OPERATORS, PLOT_CONVERGENCE, PLOT_ROOFLINE, PLOT_SAVINGS, PLOTS };

/* The plot of a name ("operators"); PLOTS if it is none. */
enum plot plot_find(const char *name);
const char *plot_title(enum plot p);
/* What it shows, as a sentence. */
const char *plot_caption(enum plot p);
/* Can it be drawn? NULL, or a sentence that says what is missing. */
const char *plot_lacks(enum plot p, const struct figures *f);
/* Appends an <svg> element; alone: a file of its own. */
void plot_svg(enum plot p, const struct figures *f, int alone, struct buf *out);

#endif

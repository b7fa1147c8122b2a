/* The drawings of a tuning report for gnuplot, whose terminal "dumb" draws them with letters. */
#ifndef TL_REPORT_GNUPLOT_H
#define TL_REPORT_GNUPLOT_H

#include "lib/report/plot.h"

/* Letters a line, and lines; a drawing that needs a line for each of its bars takes those. */
struct gnuplot_size {
	int columns, rows;
};

/* Appends a script with all its data, for `gnuplot`. */
void gnuplot_script(enum plot p, const struct figures *f, const struct gnuplot_size *size,
		    struct buf *out);
/* Appends what gnuplot makes of a script. It sets LC_ALL for all children to come. -1: gnuplot is
 * not installed, or fails. */
int gnuplot_draw(const struct buf *script, struct buf *out, struct err *e);

#endif

/* Tiles that run over the ends of lines.
 *
 * Lines lie one behind the other, with the padding between them: in a copy (band.h), or in an image
 * that has none. A tile of tile registers (lib/nest/tmul.h) takes the same time for 12 rows as for
 * 16, so lines of 35 pixels cost as much as lines of 48. Here a tile's rows are positions that
 * follow each other, from one line to the next. All tiles are full, because the last one of a band
 * begins earlier. Sums of positions in the padding are computed and not stored (lib/tile/brgemm.h).
 */
#ifndef TL_SCHEDULE_OVERRUN_H
#define TL_SCHEDULE_OVERRUN_H

#include "lib/schedule/block.h"
#include "lib/schedule/conv.h"
#include "lib/schedule/range.h"

/* A knob has these values: a tile has lines that are apart, lines that are one run of rows, or runs
 * over their ends. */
enum { RUN_APART, RUN_LINES, RUN_OVER };

/* Counts the positions of so many lines, up to the last one's last pixel. */
int64_t overrun_positions(const struct conv *p, int64_t lines);
/* Are there fewer full tiles than those that end with a line? */
int overrun_pays(const struct conv *p);
/* Checks tiles of so many rows, of bands of `lines` lines, of an input that is copied or not. */
void overrun_check(struct range *r, const struct conv *p, int64_t rows, int64_t lines, int copied);
/* Opens a loop over a band's tiles of so many rows, and sets g->over. Returns its variable. */
int overrun_open(struct nest *n, const struct conv *p, const struct block *band, int64_t rows,
		 struct brgemm *g);

#endif

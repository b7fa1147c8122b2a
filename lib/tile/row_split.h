/* Rows by register tiles of nearly one height. */
#ifndef TL_TILE_ROW_SPLIT_H
#define TL_TILE_ROW_SPLIT_H

#include <stdint.h>

/* Rows in near-equal parts: `tiles` tiles, the first `rest` of them rows + 1 high, the others rows.
 * Tile t begins at row t * rows + min(t, rest). So 49 rows by at most 6 are 4 x 6 and 5 x 5: two
 * bodies and no masks. */
struct row_split {
	int64_t tiles, rest;
	int rows;
};
struct row_split row_split(int64_t extent, int64_t max_rows);

#endif

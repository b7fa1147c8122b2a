#include "lib/tile/row_split.h"

struct row_split row_split(int64_t extent, int64_t max_rows)
{
	struct row_split s;

	s.tiles = (extent + max_rows - 1) / max_rows;
	s.rows = (int)(extent / s.tiles);
	s.rest = extent % s.tiles;
	return s;
}

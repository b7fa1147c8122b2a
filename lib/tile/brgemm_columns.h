/* How a register tile of brgemm is loaded and stored: whole or with its last columns masked,
 * through the post-ops or as a partial sum. For brgemm.c alone.
 *
 * Post-ops that wait for their own results (activation_waits()) are applied a few rows at a time:
 * the tile is put down in near memory first.
 */
#ifndef TL_TILE_BRGEMM_COLUMNS_H
#define TL_TILE_BRGEMM_COLUMNS_H

#include "lib/tile/brgemm_types.h"

/* What a tile is when it is stored: a partial sum; finished, begun with the tensor that is added
 * where it may be (begin_tile()); or whole, and that tensor is still to be added. */
enum brgemm_stage { BRGEMM_PARTIAL, BRGEMM_FINISHED, BRGEMM_WHOLE };

/* Register number of acc[row, vector]. */
struct affine brgemm_acc_at(const struct brgemm *g, struct affine row, int vec);
/* Valid lanes of vector vec where `columns` are left from the tile's first column on; NULL if all
 * are. */
const struct affine *brgemm_lanes_left(struct nest *n, const struct brgemm *g,
				       const struct affine *columns, int vec);
/* Unrolled loops over a tile's rows and vectors. */
void brgemm_open_tile(struct nest *n, const struct brgemm *g, int rows, int *row, int *vec);
void brgemm_close_tile(struct nest *n);
/* Prefetches a step's share of the panel that the next tiles will read, if they say so. */
void brgemm_prefetch_panel(struct nest *n, const struct brgemm *g);
/* acc = what lies at o; or += (onto). */
void brgemm_load_columns(struct nest *n, const struct brgemm *g, int rows,
			 const struct brgemm_out *o, int onto);
void brgemm_store_columns(struct nest *n, const struct brgemm *g, int rows,
			  const struct brgemm_out *o, enum brgemm_stage stage);
/* Do any of the post-ops wait? */
int brgemm_waits(const struct brgemm_out *o);

#endif

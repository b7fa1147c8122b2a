/* Tiles: how brgemm (brgemm.h) multiplies in registers, each a file that defines `const struct tile
 * tile_NAME`. What is summed is of single precision, or, where source and weights are whole numbers
 * of 8 bits, whole numbers of 32 bits, and loaded and stored alike.
 *
 * The right side has `group` values of k side by side for each column. A step takes so many values
 * of k, its depth; or, of a tile that has tile registers, some such groups, as brgemm's `depth`
 * says. A tile says for which types it multiplies, and has its registers and its step. A new type,
 * or a new instruction, is a tile.
 */
#ifndef TL_TILE_TILE_H
#define TL_TILE_TILE_H

#include "lib/space/types.h"
#include "lib/tile/brgemm_types.h"

struct tile {
	const char *name;
	int group;
	int most; /* values of k in a step, of tile registers; 0: it has none */
	/* It multiplies sources and weights of these types. takes_all: it multiplies all that loads
	 * make single precision. takes_whole: it multiplies all whole numbers of 8 bits. A tile of
	 * one type needs the machine's instruction for the source's type. */
	enum dtype type, weights;
	int takes_all, takes_whole;
	enum elem sum;	       /* of what it sums: ELEM_F32 or ELEM_S32 */
	enum elem left, right; /* what its registers hold of both sides */
	int halves;    /* both sides are f32 that is split in halves of bf16 (lib/nest/tmul.h) */
	int64_t lanes; /* that vectors must have; 0: any */
	int spare;     /* registers that its step needs beside sums and right side, if more than
			* brgemm_fits() counts */
	/* acc += A[.., depth values of k] * B[the same], the first ones at a_at and b_at. */
	void (*step)(struct nest *n, const struct brgemm *g, int rows, struct affine a_at,
		     struct affine b_at);
	/* Functions of a tile that has tile registers: the first declares them and the memory for
	 * sums; the next begins the sums with the bias (-1: with zero); the next puts them down in
	 * that memory; and the last keeps what is summed until now where brgemm says, or goes on
	 * with it. NULL: it has vectors.
	 */
	void (*registers)(struct nest *n, struct brgemm *g, int max_rows);
	void (*begin)(struct nest *n, const struct brgemm *g, int rows, int bias, struct affine at);
	void (*end)(struct nest *n, const struct brgemm *g, int rows);
	void (*keep)(struct nest *n, const struct brgemm *g, int rows, int goes_on);
};

extern const struct tile tile_fma, tile_fma_whole, tile_dot_bf16, tile_dot_u8, tile_dot_s16;
extern const struct tile tile_tmul_bf16, tile_tmul_bf16x2, tile_tmul_u8, tile_tmul_s8;

/* The tile that multiplies these types in steps of so many values; NULL: there is none. */
const struct tile *tile_of(const struct dtypes *d, int64_t depth);
/* The depth of the tile that suits these types best on a machine whose instructions sum products of
 * groups of the types `dots` (limits.h), where there are k values. */
int64_t tile_depth(const struct dtypes *d, unsigned dots, int64_t k);
/* The same of tile registers, on a machine whose registers multiply the types `tiles`; 0: there is
 * none that pays. */
int64_t tile_tmul_depth(const struct dtypes *d, unsigned tiles, int64_t k);
/* Returns the wider type that loads make of a source's and weights' elements of this type, or this
 * type itself. */
enum elem tile_wide(const struct tile *t, enum dtype d);
/* The type of the elements that it multiplies, where the source's is this. */
enum elem tile_elem(const struct tile *t, enum dtype source);

#endif

/* Edges: a tile that leaves an image or a tensor has a body of its own, without the accesses that
 *would be outside.
 *
 * Each struct here goes through such bodies, and opens and closes the loops and branches around
 *them: for (struct site x = {..}; site_next(n, &x);) body Set its first fields before, and zero the
 *rest. The other fields are valid in the body.
 */
#ifndef TL_SCHEDULE_EDGE_H
#define TL_SCHEDULE_EDGE_H

#include "lib/schedule/block.h"
#include "lib/schedule/conv.h"
#include "lib/schedule/range.h"

/* The panels of an open block: the whole ones, then the last one if it has fewer channels. */
struct panel {
	const struct block *block; /* its units are panels */
	int64_t channels, nr;	   /* in all, and of a whole panel */
	struct affine index;	   /* of the panel */
	int64_t width;		   /* channels that it has */
	int body;
};
int panel_next(struct nest *n, struct panel *x);

/* The tiles of a row of output pixels, and how many at its left and right have taps that leave the
 * image. */
struct edges {
	struct row_split split;
	int left, right;
};
struct edges edge_find(const struct conv *p, struct row_split split);
/* Can kernel rows outside the image be left out, or are there none? */
int edge_rows_can_go(const struct conv *p);
/* Refuses rows of which more tiles, of so many pixels, have such taps than may have a body each. */
void edge_limit(struct range *r, const struct conv *p, int64_t pixels);
/* Tiles with one body: each one at an edge, and those between which are of one width. */
struct stretch {
	const struct edges *edges;
	struct affine ow;   /* first pixel */
	struct affine tile; /* its number in the row */
	int pixels;	    /* of a tile */
	int64_t edge;	    /* ow, where taps may leave the image; -1: none does */
	int64_t next;
};
int stretch_next(struct nest *n, struct stretch *x);
/* Pixels [from, to) of the tile whose tap in kernel column kw lies inside the image. */
void stretch_inside(const struct stretch *x, const struct conv *p, int kw, int64_t *from,
		    int64_t *to);

/* The vectors of a register tile's rows [from, to): row m, vector v. */
struct site {
	int lanes, nv;
	int64_t columns; /* valid ones of the tile: whole vectors, and one with a mask */
	int64_t from, to;
	struct affine m, v;
	const struct affine *valid; /* NULL: all lanes are */
	int body;
};
int site_next(struct nest *n, struct site *x);
/* Vectors that have a valid lane. */
int64_t site_vectors(const struct site *x);

#endif

/* RoiAlign and MaxRoiPool, as one step of plain C (regions.h). */
#include <string.h>

#include "lib/run/lower.h"
#include "lib/run/regions.h"

static const char bad_box[] = "a box is of no image, has NaN or infinity, or lies too far away";

/* Reads the attributes of RoiAlign. */
static int read_align(const struct lowering *l, const struct graph_node *n, struct regions *r,
		      struct err *e)
{
	const char *mode = node_str(n, "mode", "avg");
	/* Before operator set 16 there was no other way. */
	const char *at = node_str(n, "coordinate_transformation_mode",
				  l->opset < 16 ? "output_half_pixel" : "half_pixel");

	r->is_max = !strcmp(mode, "max");
	r->is_half = !strcmp(at, "half_pixel");
	r->samples = node_int(n, "sampling_ratio", 0);
	if ((!r->is_max && strcmp(mode, "avg") != 0) ||
	    (!r->is_half && strcmp(at, "output_half_pixel") != 0))
		return lower_bad(l, n, e, "has a mode that is not known");
	return r->samples < 0 || r->samples > 1024
		       ? lower_bad(l, n, e, "has a sampling_ratio out of range")
		       : 0;
}

int lower_regions(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int is_align = node_is(n, OP_RoiAlign);
	struct regions *r = arena_new(l->p->a, struct regions);
	struct place operand[REGIONS_OPERANDS], to;

	if (lower_shape(l, n->in[0], &operand[0], e) || lower_shape(l, n->in[1], &operand[1], e) ||
	    lower_shape(l, n->out[0], &to, e) || (is_align && read_align(l, n, r, e)))
		return -1;
	if (operand[0].rank != 4 || operand[1].rank != 2 ||
	    operand[1].dim[1] != (is_align ? 4 : 5) ||
	    (is_align &&
	     !shape_equal(&l->g->value[n->in[2]]->shape, &(struct shape){1, {operand[1].dim[0]}})))
		return lower_bad(l, n, e,
				 "has boxes of another shape than N x %d, or not one image number "
				 "for each",
				 is_align ? 4 : 5);
	if (!place_count(&operand[0]))
		return lower_bad(l, n, e, "has images without elements");
	if (lower_get_image(l, n->in[0], &operand[REGIONS_IMAGES], e) ||
	    lower_get_dense(l, n->in[1], NULL, &operand[REGIONS_BOXES], e))
		return -1;
	operand[REGIONS_BATCH] = (struct place){.memory = MEMORY_NONE};
	if (is_align && lower_get_dense(l, n->in[2], NULL, &operand[REGIONS_BATCH], e))
		return -1;
	r->images = operand[0].dim[0];
	r->channels = operand[0].dim[1];
	r->pixel = operand[0].stride[3];
	r->regions = to.dim[0];
	r->scale = node_float(n, "spatial_scale", 1);
	for (int d = 0; d < 2; d++) {
		r->size[d] = operand[0].dim[2 + d];
		r->out[d] = to.dim[2 + d];
	}
	lower_room(l, &to);
	operand[REGIONS_TO] = to;
	lower_put(l, n->out[0], &to);
	plan_plain(l->p, node_label(l->g, n), n->type,
		   &(struct plain){is_align ? regions_align : regions_pool, r, bad_box}, operand,
		   REGIONS_OPERANDS);
	return 0;
}

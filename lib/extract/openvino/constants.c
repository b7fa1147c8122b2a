/* Elements of small constants, out of the file of weights. */
#include "lib/extract/graph/element.h"
#include "lib/extract/openvino/openvino.h"
#include "lib/io/file.h"

enum { WIDEST = 8 }; /* bytes of an element */

int openvino_keep(struct arena *a, const struct ir_layer *l, struct value *v, struct ov_weights *w,
		  struct err *e)
{
	const size_t size = value_elem_size(v->elem);
	const int is_real = v->elem == VALUE_F16 || v->elem == VALUE_F32 || v->elem == VALUE_F64;
	unsigned char raw[KEEP_INTS * WIDEST];
	const char *text = ir_attr(l, "offset");
	int64_t n, offset;
	int r;

	if (w->fd < 0 || !size || size > WIDEST || !shape_known(&v->shape) ||
	    (!is_real && !elem_is_int(v->elem)))
		return 0;
	n = shape_count(&v->shape);
	if (n > (is_real ? KEEP_REALS : KEEP_INTS) || n > KEEP_CONSTANTS - w->kept || !text ||
	    ir_number(text, &offset))
		return 0;
	if (offset < 0 || offset > INT64_MAX - (int64_t)sizeof raw)
		return 0;
	r = file_read_at(w->fd, raw, (size_t)n * size, offset, w->path, e);
	if (r <= 0)
		return r;
	w->kept += n;
	v->kept = arena_array(a, union scalar, n);
	for (int64_t i = 0; i < n; i++)
		v->kept[i] = element_at(v->elem, raw, i);
	return 0;
}

/* Elements of small constants, out of the file of weights. */
#include <errno.h>
#include <unistd.h>

#include "lib/extract/graph/element.h"
#include "lib/extract/openvino/openvino.h"

enum { WIDEST = 8 }; /* bytes of an element */

/* 1: the elements are there; 0: the file ends before; -1. */
static int read_at(const struct ov_weights *w, unsigned char *to, size_t n, int64_t offset,
		   struct err *e)
{
	if (offset < 0 || offset > INT64_MAX - (int64_t)n)
		return 0;
	while (n) {
		ssize_t got = pread(w->fd, to, n, offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(e, "cannot read %s", w->path);
		if (!got)
			return 0;
		to += got;
		n -= (size_t)got;
		offset += got;
	}
	return 1;
}

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
	r = read_at(w, raw, (size_t)n * size, offset, e);
	if (r <= 0)
		return r;
	w->kept += n;
	v->kept = arena_array(a, union scalar, n);
	for (int64_t i = 0; i < n; i++)
		v->kept[i] = element_at(v->elem, raw, i);
	return 0;
}

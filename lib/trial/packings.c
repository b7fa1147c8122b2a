#include "lib/trial/packings.h"

#include <stdlib.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/trial/crew.h"

static const int64_t MAX_PACKED = (int64_t)1 << 30; /* bytes */

void packings_forget(struct packings *p)
{
	for (size_t i = 0; i < p->packed.n; i++) {
		fence_close(p->packed.item[i].value);
		free(p->packed.item[i].value);
	}
	map_free(&p->packed);
	p->bytes = p->hidden = 0;
}

void packings_bound(struct packings *p)
{
	if (p->bytes > MAX_PACKED)
		packings_forget(p);
}

struct packing_work {
	const struct packing *p;
	const float *from;
	const int64_t *stride; /* of the logical dimensions in from; NULL: dense */
	const struct fence *to;
	int64_t each; /* elements of a position of the outer axis */
};

static void pack_stretch(void *work, int64_t first, int64_t end)
{
	const struct packing_work *x = work;

	fence_populate_part(x->to, first * x->each, end * x->each);
	packing_run_part(x->p, x->from, x->stride, first, end,
			 (float *)x->to->data + first * x->each);
}

static void pack(const struct packings *by, const struct packing *p, const float *from,
		 const int64_t *stride, const struct fence *to)
{
	const int64_t n = p->axis[packing_outer(p)].n;
	struct packing_work x = {p, from, stride, to, to->n / n};

	crew_run(by->runner, crew_size(by->threads, to->n), n, pack_stretch, &x);
	swizzle_floats(&p->swizzle, to->data, to->n);
}

static void inherit(struct packings *p, struct fence *f, int inherited)
{
	const int64_t bytes = (int64_t)fence_bytes(f);

	if (f->hidden == inherited)
		p->hidden += inherited ? -bytes : bytes;
	fence_inherit(f, inherited);
}

static struct fence *make(struct packings *p, const struct packing *packing, const float *from,
			  const int64_t *stride)
{
	struct fence *f = xmalloc(sizeof *f);

	fence_open(f, "the packed weights", packing_size(packing), sizeof(float));
	p->bytes += (int64_t)fence_bytes(f);
	pack(p, packing, from, stride, f);
	fence_arm(f);
	fence_freeze(f);
	inherit(p, f, !p->hides);
	return f;
}

/* A packing of this role's tensor, made if it is not there. */
static struct fence *packed(struct packings *p, int role, const struct packing *packing,
			    const float *from, const int64_t *stride)
{
	struct buf key = BUF_INIT;
	void **place;

	buf_fmt(&key, "%d ", role);
	packing_text(packing, &key);
	place = map_put(&p->packed, key.s, key.n, NULL);
	buf_free(&key);
	if (!*place)
		*place = make(p, packing, from, stride);
	return *place;
}

/* A packing that would read the plain tensor across its order, as one by output channels does, is
 * made from one in which its runs are contiguous, which all such packings share. */
const struct fence *packings_of(struct packings *p, const struct buffer *b,
				const struct fence *plain)
{
	const int64_t bytes = p->bytes;
	int64_t stride[LAYOUT_RANK];
	const float *from = plain->data;
	struct packing turned;
	struct fence *f;
	const int turn = packing_turned(b->packing, &turned, stride);

	if (turn) {
		from = packed(p, b->role, &turned, from, NULL)->data;
		p->bytes = bytes;
	}
	f = packed(p, b->role, b->packing, from, turn ? stride : NULL);
	inherit(p, f, 1);
	return f;
}

void packings_hide(struct packings *p)
{
	for (size_t i = 0; i < p->packed.n && p->hides; i++)
		inherit(p, p->packed.item[i].value, 0);
}

const struct fence *packings_locate(const struct packings *p, const void *address, int64_t *bytes)
{
	for (size_t i = 0; i < p->packed.n; i++)
		if (fence_locate(p->packed.item[i].value, address, bytes))
			return p->packed.item[i].value;
	return NULL;
}

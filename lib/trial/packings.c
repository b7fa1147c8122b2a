#include "lib/trial/packings.h"

#include <stdlib.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

static const int64_t MAX_PACKED = (int64_t)1 << 30; /* bytes */

void packings_forget(struct packings *p)
{
	for (size_t i = 0; i < p->packed.n; i++) {
		fence_close(p->packed.item[i].value);
		free(p->packed.item[i].value);
	}
	map_free(&p->packed);
	p->bytes = 0;
}

void packings_bound(struct packings *p)
{
	if (p->bytes > MAX_PACKED)
		packings_forget(p);
}

const struct fence *packings_of(struct packings *p, const struct buffer *b,
				const struct fence *plain)
{
	struct buf key = BUF_INIT;
	void **place;

	buf_fmt(&key, "%d ", b->role);
	packing_text(&b->packing, &key);
	place = map_put(&p->packed, key.s, key.n, NULL);
	buf_free(&key);
	if (!*place) {
		struct fence *f = *place = xmalloc(sizeof *f);

		p->bytes += b->size * (int64_t)sizeof(float);
		fence_open(f, "the packed weights", b->size, sizeof(float));
		packing_run(&b->packing, plain->data, f->data);
		fence_arm(f);
		fence_freeze(f);
	}
	return *place;
}

const struct fence *packings_locate(const struct packings *p, const void *address, int64_t *bytes)
{
	for (size_t i = 0; i < p->packed.n; i++)
		if (fence_locate(p->packed.item[i].value, address, bytes))
			return p->packed.item[i].value;
	return NULL;
}

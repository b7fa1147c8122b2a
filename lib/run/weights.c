#include "lib/run/weights.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/err.h"

/* What the operator's sums are multiplied with, and what is added then, by channel. */
struct affinity {
	double *scale, *shift;
	int scales; /* some factor is not 1 */
};

static double at(const struct plan *p, int memory, int64_t i)
{
	const struct memory *m = &p->memory[memory];

	return elem_read(m->elem, plan_data(p, memory), m->size == 1 ? 0 : i);
}

/* Changes channel i by element k of vectors. */
static void change(const struct plan *p, const struct weights_change *c, int64_t i, int64_t k,
		   struct affinity *a)
{
	double factor;

	switch (c->kind) {
	case WEIGHTS_BIAS:
		a->shift[i] += c->factor * at(p, c->a, k);
		return;
	case WEIGHTS_SCALE:
		factor = at(p, c->a, k);
		a->shift[i] *= factor;
		break;
	case WEIGHTS_NORM:
		factor = at(p, c->a, k) / sqrt(at(p, c->d, k) + c->epsilon);
		a->shift[i] = (a->shift[i] - at(p, c->c, k)) * factor + at(p, c->b, k);
		break;
	default:
		return;
	}
	a->scale[i] *= factor;
}

static struct affinity affinity_of(const struct plan *p, const struct weights_plan *w)
{
	size_t n = (size_t)w->channels;
	struct affinity a = {xcalloc(n, sizeof *a.scale), xcalloc(n, sizeof *a.shift), 0};

	for (int64_t i = 0; i < w->channels; i++) {
		const int64_t element = i / (w->times * w->run) * w->run + i % w->run;

		a.scale[i] = w->alpha;
		for (int k = 0; k < w->nchange; k++)
			change(p, &w->change[k], i, element, &a);
		a.scales |= a.scale[i] != 1;
	}
	return a;
}

/* The weights as the file has them, times the scales: theirs, or a copy in *made. A convolution's
 * channels are outermost, as are those of a transposed matrix. */
static const float *scaled(const struct plan *p, const struct weights_plan *w,
			   const struct workload *load, const struct affinity *a, float **made)
{
	const float *from = plan_data(p, w->memory) + w->at;
	int64_t n = workload_size(load, TENSOR_WEIGHTS), per = n / w->channels;
	int outermost = load->op == &op_conv2d || w->transposed;

	*made = NULL;
	if (!a->scales)
		return from;
	*made = xmalloc((size_t)n * sizeof **made);
	for (int64_t i = 0; i < n; i++)
		(*made)[i] =
			(float)((double)from[i] * a->scale[outermost ? i / per : i % w->channels]);
	return *made;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Pages that lie in these floats as a whole hold nothing any more. */
static void forget(const float *from, const float *end)
{
	const uintptr_t page = 4096;
	uintptr_t first = ((uintptr_t)from + page - 1) / page * page;
	uintptr_t last = (uintptr_t)end / page * page;

	if (first < last)
		madvise((void *)first, last - first, MADV_DONTNEED);
}

/* Strides of the logical dimensions; of a transposed matrix the last two are in each other's place.
 */
static void logical_strides(const struct packing *k, int transposed, int64_t *stride)
{
	int64_t step = 1;

	for (int d = k->rank - 1; d >= 0; d--) {
		int i = !transposed || d < k->rank - 2 ? d : 2 * k->rank - 3 - d;

		stride[i] = step;
		step *= k->extent[i];
	}
}

struct pack {
	const float *from;
	float *to;
	int is_transposed; /* a matrix is stored so */
	int spent;   /* the source has no other reader: its memory may be freed during packing */
	int is_made; /* it has the bits of the kernel's type, which is as wide as a float */
};

/* By the team, a stretch of the outer axis a thread. What is spent can go with it where this axis
 * goes through the file's order. */
static void pack_all(const struct pack *k, const struct packing *p, int threads)
{
	const int outer = packing_outer(p), dim = p->axis[outer].dim;
	int64_t n = p->axis[outer].n, each = packing_size(p) / n, stride[LAYOUT_RANK], step, size;
	const int64_t stretch = least(PACKING_ACROSS, ceil_div(n, threads));
	int in_order = k->spent && !p->nmaps && dim != PACKING_HALVES; /* each half is of all */

	logical_strides(p, k->is_transposed, stride);
	for (int d = 0; d < p->rank && in_order; d++)
		in_order = d == dim || p->extent[d] == 1 || stride[d] < stride[dim];
	step = in_order ? stride[dim] * p->axis[outer].step : 0;
	size = in_order ? stride[dim] * p->extent[dim] : 0; /* positions behind it are padding */
	assert(!p->swizzle.row);			    /* of GPUs alone */
#pragma omp parallel for num_threads(threads) schedule(static)
	for (int64_t j = 0; j < n; j += stretch) {
		const int64_t end = least(j + stretch, n);

		packing_run_part(p, k->from, stride, j, end, k->to + j * each);
		if (in_order)
			forget(k->from + j * step, k->from + least(end * step, size));
	}
}

/* Of a tensor that keeps the workload's own order. */
static struct packing dense_packing(int64_t rows, int64_t size)
{
	struct packing p = {0};

	packing_dim(&p, rows);
	packing_dim(&p, size / rows);
	packing_axis(&p, 0, rows, 1);
	packing_axis(&p, 1, size / rows, 1);
	return p;
}

/* Packed in single precision, and then made elements of the kernel's type, if it has no bits of
 * them yet. */
static int add_packed(struct plan *p, struct step *s, int slot, enum elem elem,
		      const struct pack *from, const struct packing *packing, struct err *e)
{
	const int64_t size = packing_size(packing);
	struct pack k = *from;
	int m = plan_memory(p, elem, size);
	float *made = NULL;

	p->memory[m].is_const = 1;
	if (plan_alloc(p, m, e))
		return -1;
	if (!elem_is_float(elem) && !from->is_made) {
		made = plan_map(size);
		if (!made)
			return err_sys(e, "there is no memory for the weights of %s", s->name);
	}
	k.to = made ? made : p->memory[m].data;
	pack_all(&k, packing, p->threads);
	if (made) {
		elem_from_floats(elem, made, p->memory[m].data, size);
		plan_unmap(made, size);
	}
	p->memory[m].readers = 1;
	s->operand[slot] = (struct place){.memory = m, .elem = elem};
	return 0;
}

/* What is packed, by the elements that it is made of, and how: of two steps with the same it is
 * packed once. */
static void pack_key(const struct step *s, const struct buffer *b, const struct packing *packing,
		     struct buf *out)
{
	const struct weights_plan *w = s->weights;

	buf_fmt(out, "%d %d %d %lld %d %a %lld %lld %lld", b->role, b->elem, w->memory,
		(long long)w->at, w->transposed, w->alpha, (long long)w->channels,
		(long long)w->times, (long long)w->run);
	for (int i = 0; i < w->nchange; i++) {
		const struct weights_change *c = &w->change[i];

		buf_fmt(out, " %d %d %d %d %d %a %a", c->kind, c->a, c->b, c->c, c->d, c->epsilon,
			c->factor);
	}
	if (w->groups.packed)
		buf_fmt(out, " groups %d %d %d %lld", w->groups.scales, w->groups.zeros,
			w->groups.packed->bits, (long long)w->groups.packed->block);
	if (w->scales.is)
		buf_fmt(out, " scales %d %d %d %d %d %d", w->scales.x_scale, w->scales.x_zero,
			w->scales.w_scale, w->scales.y_scale, w->scales.y_zero, w->scales.bias);
	buf_ch(out, ' ');
	packing_text(packing, out);
}

static int prepare_slot(struct plan *p, struct step *s, const struct buffer *b, int slot,
			struct pack *k, struct err *e)
{
	struct packing dense =
		dense_packing(k->is_transposed ? s->workload->dim[MATMUL_K] : 1, b->size);
	const struct packing *packing = b->kind == BUFFER_PACKED ? b->packing : &dense;
	struct buf key = BUF_INIT;
	int isnew, rc = 0;
	void **at;

	pack_key(s, b, packing, &key);
	at = map_put(&p->packed, key.s, key.n, &isnew);
	if (isnew)
		rc = add_packed(p, s, slot, b->elem, k, packing, e);
	else
		s->operand[slot] = (struct place){.memory = (int)(intptr_t)*at, .elem = b->elem};
	if (isnew)
		*at = (void *)(intptr_t)s->operand[slot].memory;
	buf_free(&key);
	return rc;
}

/* What a kernel or the library is given. */
struct effective {
	const float *weights; /* as the file has them, but scaled; NULL: they are no constant */
	float *made;	      /* the same, if it was made for it; numbers of groups */
	float *bias;
	float *words; /* of products in 8 bits: the bits of the same bias as whole numbers */
	float *scale, *shift, *pad; /* of products in 8 bits, else NULL; scale: of groups, too */
	float *zeros;		    /* of groups */
	int64_t unfit; /* the first channel whose bias such sums cannot hold, and 1; 0: none */
};

static double number(const struct plan *p, int memory, int64_t i, double otherwise)
{
	return memory < 0 ? otherwise : at(p, memory, i);
}

/* Returns the sums of the weights by channel, and behind them those of their magnitudes. */
static double *sums_of(const float *weights, const struct workload *load,
		       const struct weights_plan *w)
{
	const int64_t size = workload_size(load, TENSOR_WEIGHTS), per = size / w->channels;
	const int outermost = load->op == &op_conv2d || w->transposed;
	double *sum = xcalloc(2 * (size_t)w->channels, sizeof *sum);

	for (int64_t i = 0; i < size; i++) {
		const int64_t channel = outermost ? i / per : i % w->channels;

		sum[channel] += (double)weights[i];
		sum[w->channels + channel] += fabs((double)weights[i]);
	}
	return sum;
}

/* Returns the bits of the nearest whole number of 32 bits. */
static float word_of(double x)
{
	const int32_t word = (int32_t)elem_round(ELEM_S32, x);
	float bits;

	memcpy(&bits, &word, sizeof bits);
	return bits;
}

/* Returns the bias of channel i in units of the sums: that of whole numbers, unless the reals have
 * become others than it stands for, or the real one. */
static double whole_bias(const struct plan *p, const struct weights_plan *w, int64_t i, double real)
{
	const double near = nearbyint(real), whole = number(p, w->scales.bias, i, near);

	if (!w->nchange)
		return whole;
	return w->nchange == 1 && fabs(whole - real) <= 0.5 + fabs(real) * 0x1p-21 ? whole : near;
}

/* Makes the operands of a product in 8 bits (lib/extract/task/task_scale.c): a unit of its sum is
 * the scale of the source by that of the weights. The factors are rounded in single precision after
 * each operation, as onnxruntime rounds them: the result of a sum that lies halfway between two
 * whole numbers hangs on that. */
static void make_whole(const struct plan *p, const struct weights_plan *w,
		       const struct workload *load, const struct affinity *a, struct effective *x)
{
	const struct weights_scales *s = &w->scales;
	const int64_t pads = workload_size(load, TENSOR_PAD);
	const double x_scale = number(p, s->x_scale, 0, 1), zero = number(p, s->x_zero, 0, 0);
	const double most = 255; /* of a source without its zero point */
	double *sum;

	x->weights = plan_data(p, w->memory) + w->at;
	x->scale = xmalloc((size_t)w->channels * sizeof *x->scale);
	x->shift = xmalloc((size_t)w->channels * sizeof *x->shift);
	x->pad = xmalloc((size_t)(pads + 1) * sizeof *x->pad);
	x->words = xmalloc((size_t)w->channels * sizeof *x->words);
	sum = sums_of(x->weights, load, w);
	for (int64_t i = 0; i < w->channels; i++) {
		const double w_scale = number(p, s->w_scale, i, 1);
		const double unit = x_scale * w_scale * a->scale[i];
		const double real = unit == 0 ? 0 : a->shift[i] / unit;
		const double bias = whole_bias(p, w, i, real);

		if (!x->unfit && ((unit == 0 && a->shift[i] != 0) ||
				  fabs(bias) + most * sum[w->channels + i] >= 0x1p31))
			x->unfit = i + 1;
		x->bias[i] = (float)(bias - zero * sum[i]);
		x->words[i] = word_of(bias - zero * sum[i]);
		x->scale[i] = (float)(a->scale[i] * x_scale) * (float)w_scale /
			      (float)number(p, s->y_scale, 0, 1);
		x->shift[i] = (float)number(p, s->y_zero, 0, 0);
	}
	for (int64_t i = 0; i < pads; i++)
		x->pad[i] = (float)zero;
	free(sum);
}

/* Weights in groups stay the numbers that they are, and what scales them goes into their scales. */
static void make_grouped(const struct plan *p, const struct weights_plan *w,
			 const struct affinity *a, struct effective *x)
{
	const struct dequantize_packed *d = w->groups.packed;
	const int64_t scales = d->groups * d->columns;
	float *buffers[] = {plan_data(p, w->memory), NULL, NULL,
			    xmalloc((size_t)(d->rows * d->columns) * sizeof(float))};

#pragma omp parallel for num_threads(p->threads)
	for (int thread = 0; thread < p->threads; thread++)
		dequantize_packed_run(d, buffers, thread, p->threads);
	x->weights = x->made = buffers[3];
	x->scale = xmalloc((size_t)scales * sizeof *x->scale);
	dequantize_scales(d, plan_data(p, w->groups.scales), x->scale);
	for (int64_t i = 0; i < scales; i++)
		x->scale[i] = (float)((double)x->scale[i] * a->scale[i % d->columns]);
	if (w->groups.zeros < 0)
		return;
	x->zeros = xmalloc((size_t)scales * sizeof *x->zeros);
	dequantize_zeros(d, plan_data(p, w->groups.zeros), x->zeros);
}

static void effective_free(struct effective *x)
{
	free(x->made);
	free(x->bias);
	free(x->words);
	free(x->scale);
	free(x->shift);
	free(x->pad);
	free(x->zeros);
}

static struct effective effective_of(const struct plan *p, const struct weights_plan *w,
				     const struct workload *load)
{
	struct affinity a = affinity_of(p, w);
	struct effective x = {.bias = xmalloc((size_t)w->channels * sizeof *x.bias)};

	if (w->scales.is) {
		make_whole(p, w, load, &a, &x);
	} else {
		if (w->groups.packed)
			make_grouped(p, w, &a, &x);
		else if (w->memory >= 0)
			x.weights = scaled(p, w, load, &a, &x.made);
		/* A kernel that rounds to bf16 by hand would carry other bits of NaN to the sign.
		 */
		for (int64_t i = 0; i < w->channels; i++)
			x.bias[i] = isnan(a.shift[i]) ? (float)NAN : (float)a.shift[i];
	}
	free(a.scale);
	free(a.shift);
	return x;
}

void weights_plain(const struct plan *p, const struct weights_plan *w, const struct workload *load,
		   float **weights, float **bias)
{
	struct effective x = effective_of(p, w, load);

	*bias = x.bias;
	*weights = NULL;
	if (x.weights) {
		int64_t size = workload_size(load, TENSOR_WEIGHTS);
		struct packing dense = dense_packing(w->transposed ? load->dim[MATMUL_K] : 1, size);
		struct pack k = {.from = x.weights, .is_transposed = w->transposed};

		k.to = *weights = xmalloc((size_t)size * sizeof **weights);
		pack_all(&k, &dense, p->threads);
	}
	x.bias = NULL; /* the caller has it */
	effective_free(&x);
}

int weights_prepare(struct plan *p, struct step *s, const struct nest *n, struct err *e)
{
	const struct weights_plan *w = s->weights;
	struct effective x = effective_of(p, w, s->workload);
	int rc = 0;

	if (x.unfit)
		rc = err_set(e,
			     "%s: sums of 32 bits cannot hold the bias of output channel %lld, in "
			     "units of its scale",
			     s->name, (long long)x.unfit - 1);
	for (int slot = 0; !rc && slot < n->nslots; slot++) {
		const struct buffer *b = operand_buffer(n, slot);
		struct pack k = {0};

		if (b->kind != BUFFER_PACKED && b->kind != BUFFER_ARG)
			continue;
		if (b->role == TENSOR_BIAS && x.words && b->elem == ELEM_S32)
			k = (struct pack){.from = x.words, .is_made = 1};
		else if (b->role == TENSOR_BIAS)
			k.from = x.bias;
		else if (b->role == TENSOR_SCALE)
			k.from = x.scale;
		else if (b->role == TENSOR_SHIFT)
			k.from = x.shift;
		else if (b->role == TENSOR_PAD)
			k.from = x.pad;
		else if (b->role == TENSOR_ZEROS)
			k.from = x.zeros;
		else if (b->role == TENSOR_WEIGHTS && x.weights)
			k = (struct pack){.from = x.weights,
					  .is_transposed = w->transposed,
					  .spent = !x.made && plan_is_spent(p, w->memory)};
		if (k.from)
			rc = prepare_slot(p, s, b, slot, &k, e);
	}
	effective_free(&x);
	return rc;
}

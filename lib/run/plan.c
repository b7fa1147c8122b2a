#include "lib/run/plan.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/baseline/baseline.h"
#include "lib/io/memory.h"
#include "lib/nest/check.h"
#include "lib/run/effort.h"
#include "lib/run/permute.h"
#include "lib/run/pointwise.h"

enum { LINE = 16 /* floats */, HUGE_PAGE = 1 << 21, ASKED_FROM = 1 << 26 /* floats */ };

/* One thread has done so many operations before a second one would have begun. Of a workload's
 * kernel it is less, because two threads wait less for its weights. */
enum { ALONE = 4000, ALONE_WEIGHTS = 1000 };

void plan_init(struct plan *p, const struct runner *r, const struct limits *limits, struct cache *c,
	       struct arena *a)
{
	*p = (struct plan){.a = a, .runner = r, .limits = *limits, .cache = c};
	p->threads = limits->threads;
	p->nest = xmalloc(sizeof *p->nest);
}

static void release(struct memory *m)
{
	if (m->owned && m->data)
		plan_unmap(m->data, memory_floats(m));
	m->data = NULL;
	m->owned = 0;
}

void plan_free(struct plan *p)
{
	for (int i = 0; i < p->nmemory; i++)
		release(&p->memory[i]);
	for (int i = 0; i < plan_count_kernels(p); i++) {
		struct step *s = plan_kernel_at(p, i);

		if (s->build && s->kernel.handle)
			p->runner->unload(&s->kernel);
		baseline_close(s->baseline);
	}
	if (p->block)
		plan_unmap(p->block, p->block_size);
	if (p->scratch)
		plan_unmap(p->scratch, p->scratch_size);
	map_free(&p->packed);
	free(p->memory);
	free(p->step);
	free(p->rival);
	arena_free(&p->nest_arena);
	free(p->nest);
	*p = (struct plan){0};
}

/* ---- memory ---- */

int plan_has_room(int64_t n)
{
	const double all = n >= ASKED_FROM ? memory_total() : -1;

	return all <= 0 || (double)n * sizeof(float) <= all;
}

float *plan_map(int64_t n)
{
	size_t bytes = (size_t)(n ? n : 1) * sizeof(float);
	void *p;

	if (!plan_has_room(n)) {
		errno = ENOMEM;
		return NULL;
	}
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (bytes >= HUGE_PAGE)
		madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

void plan_unmap(float *x, int64_t n)
{
	munmap(x, (size_t)(n ? n : 1) * sizeof *x);
}

static void *grown(void *old, int n, int *cap, size_t size)
{
	if (n < *cap)
		return old;
	*cap = *cap ? 2 * *cap : 64;
	return xrealloc(old, (size_t)*cap * size);
}

int64_t memory_floats(const struct memory *m)
{
	return (m->size * elem_size(m->elem) + (int64_t)sizeof(float) - 1) / (int64_t)sizeof(float);
}

int plan_memory(struct plan *p, enum elem elem, int64_t size)
{
	p->memory = grown(p->memory, p->nmemory, &p->memory_cap, sizeof *p->memory);
	p->memory[p->nmemory] = (struct memory){
		.size = size, .elem = elem, .first = -1, .last = -1, .within = MEMORY_NONE};
	return p->nmemory++;
}

int plan_const(struct plan *p, float *data, int64_t size)
{
	int m = plan_memory(p, ELEM_F32, size);

	p->memory[m].is_const = 1;
	p->memory[m].data = data;
	return m;
}

int plan_filled(struct plan *p, plan_fill *fill, void *with, int64_t size)
{
	int m = plan_const(p, NULL, size);

	p->memory[m].fill = fill;
	p->memory[m].fill_with = with;
	return m;
}

int plan_alloc(struct plan *p, int m, struct err *e)
{
	struct memory *k = &p->memory[m];

	if (k->data)
		return 0;
	k->data = plan_map(memory_floats(k));
	if (!k->data)
		return err_sys(e, "there is no memory for %lld floats",
			       (long long)memory_floats(k));
	k->owned = 1;
	if (k->fill)
		k->fill(k->fill_with, k->data, k->size);
	return 0;
}

float *plan_data(const struct plan *p, int m)
{
	const struct memory *k = &p->memory[m];

	return k->data ? k->data : p->block + k->at;
}

void *plan_address(const struct plan *p, const struct place *o)
{
	return (char *)plan_data(p, o->memory) + o->at * elem_size(o->elem);
}

int plan_is_spent(const struct plan *p, int m)
{
	return p->memory[m].readers == 1;
}

void plan_leave(struct plan *p, int m)
{
	struct memory *k = &p->memory[m];

	if (k->is_const && --k->readers == 0) {
		if (!k->owned && k->data && k->drop)
			k->drop(k->drop_with);
		else
			release(k);
		k->data = NULL;
	}
}

/* ---- steps ---- */

struct nest *plan_nest(struct plan *p, const char *name)
{
	arena_reset(&p->nest_arena);
	nest_init(p->nest, &p->nest_arena, name);
	return p->nest;
}

static struct step *add_step(struct plan *p, const char *name, const char *what)
{
	struct step *s;

	p->step = grown(p->step, p->nstep, &p->step_cap, sizeof *p->step);
	s = &p->step[p->nstep++];
	*s = (struct step){.name = name, .what = what, .predicted_s = NAN};
	return s;
}

static struct place *places(struct plan *p, struct step *s, int n)
{
	s->nslots = n;
	return s->operand = arena_array(p->a, struct place, n ? n : 1);
}

static void note_write(struct memory *m, int once)
{
	*(once ? &m->written_once : &m->written_again) = 1;
	m->is_const = m->written_once && !m->written_again;
}

/* Notes what the last step uses; and whether it can run once, unless it must run each time. */
static void note_uses(struct plan *p, struct step *s, int result, int each_time)
{
	int at = p->nstep - 1;

	s->is_constant = !each_time;
	s->result = result;
	for (int i = 0; i < s->nslots; i++) {
		int m = s->operand[i].memory;

		if (m >= 0 && i != result)
			s->is_constant &= p->memory[m].is_const;
	}
	for (int i = 0; i < s->nslots; i++) {
		struct memory *m =
			s->operand[i].memory < 0 ? NULL : &p->memory[s->operand[i].memory];

		if (!m)
			continue;
		assert(s->operand[i].elem == m->elem);
		if (i == result)
			note_write(m, s->is_constant);
		else
			m->readers++;
		m->first = m->first < 0 ? at : m->first;
		m->last = at;
	}
}

int64_t plan_round(int64_t n)
{
	return (n + LINE - 1) / LINE * LINE;
}

/* Workspace: behind each other in the scratch memory, which all steps share. */
static void place_work(struct plan *p, struct step *s, const struct nest *n)
{
	for (int i = 0; i < n->nslots; i++) {
		const struct buffer *b = operand_buffer(n, i);

		if (b->kind != BUFFER_WORK && b->kind != BUFFER_TEAM)
			continue;
		s->operand[i] = (struct place){.memory = MEMORY_SCRATCH, .at = s->scratch};
		s->own[i] = b->kind == BUFFER_WORK ? buffer_bytes(b) : 0;
		s->scratch += plan_round(operand_size(n, i, s->threads));
	}
	if (s->scratch > p->scratch_size)
		p->scratch_size = s->scratch;
}

/* The kernel reads or writes elements of the place's type. */
static void take_operand(const struct nest *n, struct step *s, int slot, const struct place *from)
{
	assert(from->memory < 0 || from->elem == operand_buffer(n, slot)->elem);
	s->operand[slot] = *from;
}

/* Gives a step the kernel of the nest at hand, and its workspace. The arguments are in the order of
 * their slots. */
static int make_kernel(struct plan *p, struct step *s, const struct place *argument, struct err *e)
{
	const struct nest *n = p->nest;
	struct buf text = BUF_INIT;
	const char *why;
	int rc;

	if (check_nest(n, e))
		return err_in(e, "%s (%s)", s->name, s->what);
	why = p->runner->target->print(n, &p->limits, &text);
	rc = text.n ? 0 : err_set(e, "%s cannot be printed: %s", s->name, why ? why : "");
	if (!rc) {
		s->build = cache_add(p->cache, text.s, text.n, why);
		s->threads = effort_is_below(n, s->weights ? ALONE_WEIGHTS : ALONE)
				     ? 1
				     : nest_threads(n, p->threads);
		s->phases = n->nphases;
		p->runner->params(n, s->params);
		places(p, s, n->nslots);
		for (int i = 0; i < n->nslots; i++)
			s->operand[i].memory = MEMORY_NONE;
		for (int i = 0; argument && i < n->nslots; i++)
			if (operand_buffer(n, i)->kind == BUFFER_ARG)
				take_operand(n, s, i, argument++);
		place_work(p, s, n);
	}
	buf_free(&text);
	return rc;
}

static int written_slot(const struct nest *n)
{
	for (int i = n->nslots; i-- > 0;) {
		const struct buffer *b = operand_buffer(n, i);

		if (b->kind == BUFFER_ARG && b->written)
			return i;
	}
	return -1;
}

struct step *plan_kernel(struct plan *p, const char *name, const char *what,
			 const struct place *operand, struct err *e)
{
	struct step *s = add_step(p, name, what);

	if (make_kernel(p, s, operand, e))
		return NULL;
	note_uses(p, s, written_slot(p->nest), 0);
	return s;
}

void plan_copy(struct plan *p, const char *name, const struct place *from, const struct place *to,
	       int each_time)
{
	struct step *s = add_step(p, name, "copy");

	s->is_copy = s->elementwise = 1;
	places(p, s, 2);
	s->operand[0] = *from;
	s->operand[1] = *to;
	note_uses(p, s, 1, each_time);
}

/* Makes a copy of bytes a step in plain C. 0: it is no such one. */
static int permute(struct plan *p, struct step *s)
{
	struct permute *with = arena_new(p->a, struct permute);
	struct plain *plain;

	if (!permute_of(&s->operand[0], &s->operand[1], with))
		return 0;
	plain = arena_new(p->a, struct plain);
	*plain = (struct plain){.run = permute_run, .with = with, .is_typed = 1};
	s->plain = plain;
	s->threads = place_count(&s->operand[1]) < ALONE / 2 ? 1 : p->threads;
	return 1;
}

int plan_make_copies(struct plan *p, struct err *e)
{
	for (int i = 0; i < p->nstep; i++) {
		struct step *s = &p->step[i];
		struct pointwise m = {0};

		if (!s->is_copy || s->is_idle || permute(p, s))
			continue;
		m.out = s->operand[1];
		pointwise_input(&m, &s->operand[0]);
		pointwise_nest(&m, p->limits.lanes, plan_nest(p, "pointwise"));
		if (make_kernel(p, s, (struct place[]){s->operand[0], s->operand[1]}, e))
			return -1;
	}
	return 0;
}

/* The numbers that whole ones stand for reals by. */
static int units_read(const struct weights_plan *w, int i)
{
	const struct weights_scales *s = &w->scales;
	const int of_bytes[] = {s->x_scale, s->x_zero, s->w_scale, s->y_scale, s->y_zero, s->bias};
	const int of_groups[] = {w->groups.scales, w->groups.zeros};
	const int *memory = s->is ? of_bytes : of_groups;
	const size_t n = s->is		    ? sizeof of_bytes / sizeof *of_bytes
			 : w->groups.packed ? sizeof of_groups / sizeof *of_groups
					    : 0;

	if ((size_t)i >= n)
		return MEMORY_NONE;
	return memory[i] >= 0 ? memory[i] : MEMORY_SCRATCH;
}

int plan_weights_read(const struct weights_plan *w, int i)
{
	const struct weights_change *c;

	if (!i)
		return w->memory >= 0 ? w->memory : MEMORY_SCRATCH;
	if (i > 4 * w->nchange)
		return units_read(w, i - 4 * w->nchange - 1);
	c = &w->change[(i - 1) / 4];
	if ((i - 1) % 4 && c->kind != WEIGHTS_NORM)
		return MEMORY_SCRATCH;
	return (const int[]){c->a, c->b, c->c, c->d}[(i - 1) % 4];
}

/* Gives a step the kernel of a workload. s->by_role and s->weights are set. */
static int make_candidate(struct plan *p, struct step *s, const struct candidate *c, struct err *e)
{
	const struct weights_plan *w = s->weights;
	struct nest *n = plan_nest(p, "kernel");
	struct candidate *kept = arena_new(p->a, struct candidate);
	int result = -1;

	*kept = *c;
	n->pitch = s->pitch;
	if (candidate_build(c, n, e) || make_kernel(p, s, NULL, e))
		return -1;
	s->candidate = kept;
	s->workload = &kept->w;
	s->adds = s->by_role[TENSOR_ADD].memory >= 0;
	for (int i = 0; i < s->nslots; i++) {
		const struct buffer *b = operand_buffer(n, i);

		if (b->kind == BUFFER_ARG)
			take_operand(n, s, i, &s->by_role[b->role]);
		if (b->kind == BUFFER_ARG && b->role == TENSOR_DST)
			result = i;
	}
	note_uses(p, s, result, 1);
	for (int k = 0, m; (m = plan_weights_read(w, k)) != MEMORY_NONE; k++) {
		if (m < 0)
			continue;
		if (!p->memory[m].is_const) {
			err_set(e,
				"%s (%s) has weights or a bias that are not known before it runs",
				s->name, s->what);
			return -1;
		}
		p->memory[m].readers++;
	}
	return 0;
}

struct step *plan_candidate(struct plan *p, const char *name, const char *what,
			    const struct candidate *c, const struct weights_plan *w,
			    const struct place by_role[TENSOR_ROLES], int64_t pitch, struct err *e)
{
	struct place *roles = arena_array(p->a, struct place, TENSOR_ROLES);
	struct step *s = add_step(p, name, what);

	memcpy(roles, by_role, sizeof *roles * TENSOR_ROLES);
	s->weights = w;
	s->by_role = roles;
	s->pitch = pitch;
	return make_candidate(p, s, c, e) ? NULL : s;
}

/* ---- rivals ---- */

struct step *plan_rival(struct plan *p, const struct candidate *c, struct err *e)
{
	const int step = p->nstep - 1;
	const struct step *s = &p->step[step];
	const struct rival *before = p->nrival ? &p->rival[p->nrival - 1] : NULL;
	const int number = before && before->step == step ? before->number + 1 : 1;
	struct rival *r;

	p->rival = grown(p->rival, p->nrival, &p->rival_cap, sizeof *p->rival);
	r = &p->rival[p->nrival++];
	*r = (struct rival){.step = step,
			    .number = number,
			    .with = {.name = s->name,
				     .what = s->what,
				     .weights = s->weights,
				     .by_role = s->by_role,
				     .pitch = s->pitch,
				     .predicted_s = NAN}};
	return make_candidate(p, &r->with, c, e) ? NULL : &r->with;
}

static void exchange(struct plan *p, struct rival *r)
{
	const struct step s = p->step[r->step];

	p->step[r->step] = r->with;
	r->with = s;
	r->is_in = !r->is_in;
}

void plan_take(struct plan *p, int step, int number)
{
	for (int i = 0; i < p->nrival; i++)
		if (p->rival[i].step == step && p->rival[i].is_in && p->rival[i].number != number)
			exchange(p, &p->rival[i]);
	for (int i = 0; i < p->nrival; i++)
		if (p->rival[i].step == step && !p->rival[i].is_in && p->rival[i].number == number)
			exchange(p, &p->rival[i]);
}

int plan_count_kernels(const struct plan *p)
{
	return p->nstep + p->nrival;
}

struct step *plan_kernel_at(const struct plan *p, int i)
{
	return i < p->nstep ? &p->step[i] : &p->rival[i - p->nstep].with;
}

struct step *plan_plain(struct plan *p, const char *name, const char *what, const struct plain *c,
			const struct place *operand, int n)
{
	struct step *s = add_step(p, name, what);
	struct plain *kept = arena_new(p->a, struct plain);
	int64_t elements = 0;

	*kept = *c;
	s->plain = kept;
	for (int i = 0; i < n; i++) {
		assert(c->is_typed || operand[i].memory < 0 || operand[i].elem == ELEM_F32);
		elements += operand[i].memory < 0 ? 0 : place_count(&operand[i]);
	}
	s->threads = elements < ALONE / 16 ? 1 : p->threads;
	memcpy(places(p, s, n), operand, sizeof *operand * (size_t)n);
	note_uses(p, s, n - 1, 0);
	return s;
}

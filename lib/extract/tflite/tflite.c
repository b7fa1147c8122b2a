#include "lib/extract/tflite/tflite.h"

#include <string.h>

#include "lib/extract/graph/element.h"
#include "lib/extract/tflite/reader.h"

/* Fields of the tables, in the schema's order. */
enum { MODEL_CODES = 1, MODEL_GRAPHS = 2 };
enum { CODE_DEPRECATED = 0, CODE_CUSTOM = 1, CODE_BUILTIN = 3 };
enum { GRAPH_TENSORS, GRAPH_INPUTS, GRAPH_OUTPUTS, GRAPH_OPERATORS };
enum {
	TENSOR_SHAPE,
	TENSOR_TYPE,
	TENSOR_BUFFER,
	TENSOR_NAME,
	TENSOR_QUANTIZATION,
	TENSOR_IS_VARIABLE,
	TENSOR_SIGNATURE = 7
};
enum { QUANTIZATION_SCALE = 2 };
enum {
	OPERATOR_CODE,
	OPERATOR_INPUTS,
	OPERATOR_OUTPUTS,
	OPERATOR_OPTIONS = 4,
	OPERATOR_OPTIONS_2 = 12 /* of newer operators */
};

enum {
	CUSTOM = 32,	       /* the builtin operator that stands for all others */
	MOST = 50000,	       /* tensors and operators of a graph: more is absurd */
	MOST_LINKS = 4 * MOST, /* inputs and outputs of all operators, and tensors of all graphs */
};

int tflite_claims(const unsigned char *head, size_t n)
{
	return n >= 8 && !memcmp(head + 4, "TFL3", 4);
}

static int element(int64_t type)
{
	static const unsigned char elem[] = {
		VALUE_F32,  VALUE_F16,	   VALUE_I32,	  VALUE_U8,  VALUE_I64, VALUE_STRING,
		VALUE_BOOL, VALUE_I16,	   VALUE_C64,	  VALUE_I8,  VALUE_F64, VALUE_C128,
		VALUE_U64,  VALUE_UNKNOWN, VALUE_UNKNOWN, VALUE_U32, VALUE_U16, VALUE_I4,
		VALUE_BF16, VALUE_UNKNOWN, VALUE_U4,
	};

	return type >= 0 && type < (int64_t)sizeof elem ? elem[type] : VALUE_UNKNOWN;
}

static void read_codes(struct reader *r)
{
	struct flat *f = &r->f;

	r->type = arena_array(r->b.a, const char *, r->codes.n);
	for (uint32_t i = 0; i < r->codes.n && !f->bad; i++) {
		uint64_t at = flat_list_table(f, &r->codes, i);
		int64_t old = flat_byte(f, at, CODE_DEPRECATED, 0);
		int64_t code = flat_int(f, at, CODE_BUILTIN, 0);

		/* Files from before there was a second field have the code in the first alone. */
		code = code > old ? code : old;
		r->type[i] = operator_name(code, r->b.a);
		if (code == CUSTOM)
			r->type[i] = flat_string(f, at, CODE_CUSTOM, r->b.a);
	}
}

static void read_shape(struct reader *r, uint64_t at, struct shape *s)
{
	struct flat *f = &r->f;
	struct flat_list now = flat_list(f, at, TENSOR_SHAPE, 4);
	struct flat_list signature = flat_list(f, at, TENSOR_SIGNATURE, 4);
	struct flat_list *l = signature.n == now.n ? &signature : &now;

	s->rank = l->n <= GRAPH_MAX_RANK ? (int)l->n : RANK_UNKNOWN;
	for (int i = 0; i < s->rank; i++) {
		s->dim[i] = flat_list_int(f, l, (uint32_t)i);
		s->dim[i] = s->dim[i] < 0 ? DIM_UNKNOWN : s->dim[i];
	}
}

/* Integers and reals of small constants, as shapes are computed from them. */
static void read_elements(struct reader *r, struct value *v, const struct flat_list *data)
{
	int64_t n = shape_count(&v->shape);
	int is_real = v->elem == VALUE_F32;
	const unsigned char *s;

	if ((!is_real && !elem_is_int(v->elem)) || n > (is_real ? KEEP_REALS : KEEP_INTS) ||
	    data->n != value_elems_size(v->elem, n) || r->kept + n > KEEP_CONSTANTS ||
	    !(s = kept_at(r->f.kept, data->at, data->n)))
		return;
	r->kept += n;
	v->kept = arena_array(r->b.a, union scalar, n);
	for (int64_t i = 0; i < n; i++)
		v->kept[i] = element_at(v->elem, s, i);
}

/* The elements of a buffer: where, and how many bytes; none if there are none in the file. */
static struct flat_list find_elements(struct reader *r, uint32_t buffer)
{
	const struct flat_list none = {0, 0};

	if (buffer == 0 || buffer >= r->buffers.n)
		return none;
	return flat_span(&r->f, flat_list_table(&r->f, &r->buffers, buffer), BUFFER_DATA);
}

static int read_tensor(struct reader *r, uint64_t at, int i, struct err *e)
{
	struct declared *d = arena_new(r->b.a, struct declared);
	struct flat *f = &r->f;
	uint64_t scales = flat_table(f, at, TENSOR_QUANTIZATION);
	struct flat_list data = find_elements(r, flat_uint(f, at, TENSOR_BUFFER, 0));
	int64_t count = 1;
	struct value *v;

	r->declared[i] = d;
	r->value[i] = build_value(&r->b, flat_string(f, at, TENSOR_NAME, r->b.a));
	v = r->b.g->value[r->value[i]];
	d->elem = element(flat_byte(f, at, TENSOR_TYPE, 0));
	d->quantized = !elem_is_real(d->elem) && scales &&
		       flat_list(f, scales, QUANTIZATION_SCALE, 4).n > 0;
	read_shape(r, at, &d->shape);
	v->declared = d;
	v->is_input = flat_ubyte(f, at, TENSOR_IS_VARIABLE, 0) != 0;
	v->elem = d->elem;
	v->quantized = d->quantized;
	for (int k = 0; k < d->shape.rank; k++) {
		int64_t size = d->shape.dim[k] < 0 ? 1 : d->shape.dim[k];

		if (size && count > MAX_ELEMENTS / size)
			return err_set(e, "the tensor '%s' has an absurd dimension, %lld", v->name,
				       (long long)size);
		count *= size;
	}
	if (!data.n)
		return flat_check(f, e);
	v->is_const = 1;
	v->shape = d->shape;
	if (shape_known(&v->shape))
		read_elements(r, v, &data);
	return flat_check(f, e);
}

/* Values of a list of tensors, such as an operator's inputs. */
static int *read_values(struct reader *r, uint64_t at, int field, int *n)
{
	struct flat_list l = flat_list(&r->f, at, field, 4);
	int *v = arena_array(r->b.a, int, l.n);

	for (uint32_t i = 0; i < l.n; i++) {
		int32_t k = flat_list_int(&r->f, &l, i);

		v[i] = k >= 0 && k < r->ntensor ? r->value[k] : -1;
	}
	*n = (int)l.n;
	return v;
}

static int count_links(struct reader *r, int64_t n, struct err *e)
{
	r->links += n;
	return r->links <= MOST_LINKS
		       ? 0
		       : err_set(e,
				 "its graphs have more than %d inputs and outputs of operators, "
				 "and tensors",
				 MOST_LINKS);
}

static int put_operator(struct reader *r, const struct call *o, struct err *e)
{
	const struct tflite_inner *row = tflite_has_graphs(o->type);

	if (row && ((const struct options *)o->at)->at && o->nin)
		return tflite_inner(r, o, row, e);
	if (!strcmp(o->type, "READ_VARIABLE"))
		tflite_variable(r, o);
	else if (strcmp(o->type, "VAR_HANDLE") != 0 && strcmp(o->type, "CALL_ONCE") != 0)
		rewrite_operation(o);
	return 0;
}

/* The operator's type, NULL: the file has no such one. */
static const char *type_of(struct reader *r, uint64_t at)
{
	const uint32_t code = flat_uint(&r->f, at, OPERATOR_CODE, 0);

	return code < r->codes.n ? r->type[code] : NULL;
}

static uint64_t options_of(struct flat *f, uint64_t at)
{
	const uint64_t options = flat_table(f, at, OPERATOR_OPTIONS);

	return options ? options : flat_table(f, at, OPERATOR_OPTIONS_2);
}

static int read_operator(struct reader *r, uint64_t at, struct err *e)
{
	struct flat *f = &r->f;
	const struct options options = {f, options_of(f, at)};
	struct call o = {.b = &r->b,
			 .type = type_of(r, at),
			 .domain = "tflite",
			 .read = rewrite_option,
			 .at = &options};

	o.in = read_values(r, at, OPERATOR_INPUTS, &o.nin);
	o.out = read_values(r, at, OPERATOR_OUTPUTS, &o.nout);
	if (flat_check(f, e))
		return -1;
	if (count_links(r, o.nin + o.nout, e))
		return -1;
	if (!o.type)
		return err_set(e,
			       "it is no TFLite model, or damaged (an operator of kind %u, of %u)",
			       flat_uint(f, at, OPERATOR_CODE, 0), r->codes.n);
	return put_operator(r, &o, e) ? -1 : flat_check(f, e);
}

/* The graph's ends. */
static void mark(struct reader *r, uint64_t at, int field, int is_input)
{
	struct graph *g = r->b.g;
	int n, *v = read_values(r, at, field, &n);

	for (int i = 0; i < n; i++) {
		struct value *to = v[i] >= 0 ? g->value[v[i]] : NULL;

		if (to && is_input && !to->is_const)
			to->is_input = 1;
		else if (to && !is_input)
			to->is_output = 1;
		if (to && r->depth)
			graph_add_end(g, is_input ? &g->inputs : &g->outputs, v[i]);
	}
}

/* What nothing makes is a constant whose elements were left out of the file; open dimensions are
 * said by a 0 from here on. */
static void settle(struct reader *r)
{
	struct graph *g = r->b.g;

	graph_mark_producers(g);
	for (int i = 0; i < r->ntensor; i++) {
		struct value *v = g->value[r->value[i]];
		struct shape *s = &r->declared[i]->shape;

		if (v->producer >= 0 && !v->is_const) {
			v->elem = VALUE_UNKNOWN;
			v->is_input = 0;
			if (!s->rank) /* or unknown: there is no telling */
				s->rank = RANK_UNKNOWN;
		} else if (!v->is_const) {
			v->is_const = !v->is_input;
			/* A variable of a graph inside is no end that others give a shape. */
			if (v->is_const || r->depth)
				v->shape = *s;
		}
		for (int k = 0; k < s->rank; k++)
			s->dim[k] = s->dim[k] < 0 ? 0 : s->dim[k];
	}
	for (int i = 0; i < g->nvalue; i++)
		g->value[i]->producer = -1;
}

/* Is a variable changed by a graph, or by one that it runs? CALL_ONCE runs before all of them. */
static void look_for_assignments(struct reader *r, uint32_t which, int depth)
{
	struct flat *f = &r->f;
	struct flat_list operators;

	if (which >= r->graphs.n || r->is_searched[which] || depth > TFLITE_DEEPEST)
		return;
	r->is_searched[which] = 1;
	operators = flat_list(f, flat_list_table(f, &r->graphs, which), GRAPH_OPERATORS, 4);
	for (uint32_t i = 0; i < operators.n && !r->assigns && !f->bad; i++) {
		const uint64_t at = flat_list_table(f, &operators, i);
		const uint64_t options = options_of(f, at);
		const char *type = type_of(r, at);
		const struct tflite_inner *row = type ? tflite_has_graphs(type) : NULL;

		if (type && !strcmp(type, "ASSIGN_VARIABLE"))
			r->assigns = 1;
		for (int k = 0; row && options && k < row->n; k++)
			look_for_assignments(r, flat_uint(f, options, row->option[k], 0),
					     depth + 1);
	}
}

int tflite_graph(struct reader *r, uint32_t which, struct err *e)
{
	struct flat *f = &r->f;
	const uint64_t at = which < r->graphs.n ? flat_list_table(f, &r->graphs, which) : 0;
	struct flat_list tensors, operators;

	if (!at && !f->bad)
		return err_set(e, "it is no TFLite model, or damaged (it has no graph %u)", which);
	tensors = flat_list(f, at, GRAPH_TENSORS, 4);
	operators = flat_list(f, at, GRAPH_OPERATORS, 4);
	if (flat_check(f, e))
		return -1;
	if (count_links(r, tensors.n, e))
		return -1;
	if (tensors.n > MOST || operators.n > MOST)
		return err_set(e, "its graph has more than %d tensors or operators", MOST);
	if (!operators.n && !r->depth)
		return err_set(e, "its graph has no operators");
	r->is_read[which] = 1;
	if (!r->depth)
		look_for_assignments(r, which, 0);
	r->value = arena_array(r->b.a, int, tensors.n);
	r->declared = arena_array(r->b.a, struct declared *, tensors.n);
	for (uint32_t i = 0; i < tensors.n; i++, r->ntensor++)
		if (read_tensor(r, flat_list_table(f, &tensors, i), (int)i, e))
			return -1;
	mark(r, at, GRAPH_INPUTS, 1);
	mark(r, at, GRAPH_OUTPUTS, 0);
	for (uint32_t i = 0; i < operators.n; i++)
		if (read_operator(r, flat_list_table(f, &operators, i), e))
			return -1;
	settle(r);
	return 0;
}

static int read_model(struct tflite_model *m, const struct kept *k, struct arena *a, struct err *e)
{
	struct reader r = {.b = {.a = a, .g = &m->graph}};
	const unsigned char *head = kept_at(k, 0, 8);

	if (!head || !tflite_claims(head, 8))
		return err_set(e, "it is no TFLite model (its head is not that of one)");
	flat_init(&r.f, k);
	r.model = flat_root(&r.f, 0);
	r.codes = flat_list(&r.f, r.model, MODEL_CODES, 4);
	r.buffers = flat_list(&r.f, r.model, MODEL_BUFFERS, 4);
	r.graphs = flat_list(&r.f, r.model, MODEL_GRAPHS, 4);
	m->graphs = r.graphs.n;
	read_codes(&r);
	if (flat_check(&r.f, e))
		return -1;
	if (!r.graphs.n)
		return err_set(e, "it is no TFLite model, or damaged (it holds no graph)");
	r.is_read = arena_array(a, unsigned char, r.graphs.n + 1);
	r.is_searched = arena_array(a, unsigned char, r.graphs.n + 1);
	if (tflite_graph(&r, 0, e))
		return -1;
	for (uint32_t i = 0; i < r.graphs.n; i++)
		m->read += r.is_read[i];
	return graph_link(&m->graph, e);
}

/* Hashes all that was kept, and the places where something was passed over. */
static void digest(struct kept *k, struct id *hash)
{
	buf_add(&k->bytes, k->gaps.s ? k->gaps.s : "", k->gaps.n);
	hash_id(hash, k->bytes.s, k->bytes.n);
}

int tflite_read(struct tflite_model *m, struct pull *in, struct arena *a, struct err *e)
{
	struct kept k;
	int r;

	*m = (struct tflite_model){0};
	graph_init(&m->graph, a);
	kept_init(&k, in);
	r = load_model(&k, e);
	if (!r)
		r = read_model(m, &k, a, e);
	if (!r)
		digest(&k, &m->hash);
	kept_free(&k);
	return r;
}

void tflite_free(struct tflite_model *m)
{
	graph_free(&m->graph);
}

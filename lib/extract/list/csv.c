/* Lists of workloads as comma-separated values: a header of op, prob and, where wanted, layout,
 * post, rhs (const or computed), dtype and count in any order, then a row for each. Post-ops are
 * joined by '+' (or by commas, quoted): "bias+relu". Instead of op and prob there may be a column
 * for each dimension. Semicolons or tabs may separate values in the place of commas,
 * and a row whose first value begins with '#' is a comment. */
#include <csv.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/words.h"
#include "lib/extract/list/listing.h"

/* Columns that name dimensions, as benchmarks such as DeepBench have them: m, n, k of a product;
 * n, c, h, w, k, r, s, stride, pad and the like of a convolution, whose batch is n, too, and whose
 * output channels are k. Their names stand here without underscores. KERNEL, STRIDE, PAD and
 * DILATION are of both sides. */
#define COLUMN_LIST(COLUMN)                                                                        \
	COLUMN(M, "m")                                                                             \
	COLUMN(N, "n")                                                                             \
	COLUMN(K, "k")                                                                             \
	COLUMN(BATCH, "b mb batch batchsize batchcount minibatch")                                 \
	COLUMN(GROUPS, "g groups group groupcount")                                                \
	COLUMN(IC, "c ic cin inc inchannels inputchannels channels")                               \
	COLUMN(IH, "h ih hin inh inheight inputheight height")                                     \
	COLUMN(IW, "w iw win inw inwidth inputwidth width")                                        \
	COLUMN(OC, "oc cout outc outchannels outputchannels filters numfilters")                   \
	COLUMN(KH, "r kh fh filterh filterheight kernelh kernelheight")                            \
	COLUMN(KW, "s kw fw filterw filterwidth kernelw kernelwidth")                              \
	COLUMN(KERNEL, "kernel kernelsize filtersize")                                             \
	COLUMN(SH, "sh hstride strideh strideheight verticalstride")                               \
	COLUMN(SW, "sw wstride stridew stridewidth horizontalstride")                              \
	COLUMN(STRIDE, "stride strides")                                                           \
	COLUMN(PH, "ph padh hpad paddingh padheight")                                              \
	COLUMN(PW, "pw padw wpad paddingw padwidth")                                               \
	COLUMN(PAD, "pad padding")                                                                 \
	COLUMN(DH, "dh dilationh hdilation")                                                       \
	COLUMN(DW, "dw dilationw wdilation")                                                       \
	COLUMN(DILATION, "dilation")

#define NUMBER(column, names) COLUMNS_##column,
#define NAMES(column, names) names,
enum columns { COLUMN_LIST(NUMBER) COLUMNS_COUNT };
static const char *const column_names[COLUMNS_COUNT] = {COLUMN_LIST(NAMES)};
#undef NUMBER
#undef NAMES

/* Finds the column that a name of n letters means, in capitals or not; -1: none. */
static int columns_find(const char *name, size_t n)
{
	char plain[32];
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (name[i] == '_' || name[i] == ' ')
			continue;
		if (k == sizeof plain)
			return -1;
		plain[k++] = name[i];
	}
	for (int c = 0; k && c < COLUMNS_COUNT; c++)
		if (words_have_like(column_names[c], plain, k))
			return c;
	return -1;
}

/* The operator whose dimensions the columns name, each with how often it is there; NULL: none. */
static const char *columns_op(const int seen[COLUMNS_COUNT])
{
	if (seen[COLUMNS_IC] && (seen[COLUMNS_IH] || seen[COLUMNS_IW]) &&
	    (seen[COLUMNS_OC] || seen[COLUMNS_K]) &&
	    (seen[COLUMNS_KH] || seen[COLUMNS_KW] || seen[COLUMNS_KERNEL]))
		return "conv2d";
	return seen[COLUMNS_M] && seen[COLUMNS_N] && seen[COLUMNS_K] ? "matmul" : NULL;
}

/* The number in the first of three columns that has one, or other. */
static int number_of(const struct buf *value, int a, int b, int c, int64_t other, int64_t *v,
		     struct err *e)
{
	const int column[] = {a, b, c};

	*v = other;
	for (int i = 0; i < 3; i++) {
		const struct buf *at = &value[column[i]];
		char *end;

		if (!at->n)
			continue;
		*v = strtoll(at->s, &end, 10);
		if (end == at->s || *end || *v < 0 || *v > INT32_MAX)
			return err_set(e, "\"%.40s\" is no size", at->s);
		return 0;
	}
	return *v < 0 ? err_set(e, "it lacks a size (%.*s)", (int)strcspn(column_names[a], " "),
				column_names[a])
		      : 0;
}

static int product_prob(const struct buf *value, struct buf *prob, struct err *e)
{
	int64_t b, m, n, k;

	if (number_of(value, COLUMNS_BATCH, COLUMNS_BATCH, COLUMNS_BATCH, 1, &b, e) ||
	    number_of(value, COLUMNS_M, COLUMNS_M, COLUMNS_M, -1, &m, e) ||
	    number_of(value, COLUMNS_N, COLUMNS_N, COLUMNS_N, -1, &n, e) ||
	    number_of(value, COLUMNS_K, COLUMNS_K, COLUMNS_K, -1, &k, e))
		return -1;
	buf_fmt(prob, "%lldx%lldx%lld:%lldx%lldx%lld", (long long)b, (long long)m, (long long)k,
		(long long)b, (long long)k, (long long)n);
	return 0;
}

static int conv_prob(const struct buf *value, struct buf *prob, struct err *e)
{
	static const struct {
		const char *name;
		int own, both, other; /* columns, the first that is there */
		int missing;	      /* -1: it must be there */
		int minus;
	} dims[] = {{"mb", COLUMNS_BATCH, COLUMNS_N, COLUMNS_N, 1, 0},
		    {"g", COLUMNS_GROUPS, COLUMNS_GROUPS, COLUMNS_GROUPS, 1, 0},
		    {"ic", COLUMNS_IC, COLUMNS_IC, COLUMNS_IC, -1, 0},
		    {"ih", COLUMNS_IH, COLUMNS_IW, COLUMNS_IW, -1, 0},
		    {"iw", COLUMNS_IW, COLUMNS_IH, COLUMNS_IH, -1, 0},
		    {"oc", COLUMNS_OC, COLUMNS_K, COLUMNS_K, -1, 0},
		    {"kh", COLUMNS_KH, COLUMNS_KERNEL, COLUMNS_KW, -1, 0},
		    {"kw", COLUMNS_KW, COLUMNS_KERNEL, COLUMNS_KH, -1, 0},
		    {"sh", COLUMNS_SH, COLUMNS_STRIDE, COLUMNS_SW, 1, 0},
		    {"sw", COLUMNS_SW, COLUMNS_STRIDE, COLUMNS_SH, 1, 0},
		    {"ph", COLUMNS_PH, COLUMNS_PAD, COLUMNS_PW, 0, 0},
		    {"pw", COLUMNS_PW, COLUMNS_PAD, COLUMNS_PH, 0, 0},
		    {"dh", COLUMNS_DH, COLUMNS_DILATION, COLUMNS_DW, 1, 1},
		    {"dw", COLUMNS_DW, COLUMNS_DILATION, COLUMNS_DH, 1, 1}};

	for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
		int64_t v;

		if (number_of(value, dims[i].own, dims[i].both, dims[i].other, dims[i].missing, &v,
			      e))
			return -1;
		if (v < dims[i].minus)
			return err_set(e, "a dilation of 0 is none; without gaps it is 1");
		buf_fmt(prob, "%s%lld", dims[i].name, (long long)v - dims[i].minus);
	}
	return 0;
}

/* Appends the problem of a row. An empty value is as if the column were not there. */
static int columns_prob(const char *op, const struct buf value[COLUMNS_COUNT], struct buf *prob,
			struct err *e)
{
	return !strcmp(op, "matmul") ? product_prob(value, prob, e) : conv_prob(value, prob, e);
}

/* Behind these stand the columns of dimensions. */
enum column { OP, PROB, LAYOUT, POST, RHS, COUNT, DTYPE, DIMS, COLUMNS = DIMS + COLUMNS_COUNT };
enum { FIELDS_MAX = 64, FIELD_MAX_BYTES = 1000 };

static const char *const names[] = {"op", "prob", "layout", "post", "rhs", "count", "dtype"};

struct reader {
	struct listing l; /* its lines are rows, the header included */
	int header_done, broken;
	const char *op;			/* of all rows, where columns are dimensions; else NULL */
	enum column column[FIELDS_MAX]; /* what stands in each field; COLUMNS: not for us */
	int nfields, at, too_long;
	int is_comment, is_in_row; /* the row at hand; it has begun */
	struct buf value[COLUMNS];
	struct err e;
};

/* COLUMNS: none of ours. */
static enum column column_of(const char *s, size_t n)
{
	int dim = columns_find(s, n);

	for (int i = 0; i < DIMS; i++)
		if (strlen(names[i]) == n && !strncasecmp(names[i], s, n))
			return (enum column)i;
	return dim < 0 ? COLUMNS : (enum column)(DIMS + dim);
}

static void header_field(struct reader *r, const char *s, size_t n)
{
	if (r->nfields == FIELDS_MAX) {
		r->broken = 1;
		return;
	}
	r->column[r->nfields++] = column_of(s, n);
}

static void on_field(void *text, size_t n, void *ctx)
{
	struct reader *r = ctx;
	const char *s = text;

	if (!r->l.line && !r->is_in_row && n >= 3 && !memcmp(s, "\xef\xbb\xbf", 3)) {
		s += 3; /* a byte-order mark */
		n -= 3;
	}
	if (!r->is_in_row)
		r->is_comment = n && *s == '#';
	r->is_in_row = 1;
	if (r->is_comment)
		return;
	if (!r->header_done) {
		header_field(r, s, n);
		return;
	}
	if (n > FIELD_MAX_BYTES)
		r->too_long = 1;
	else if (r->at < r->nfields && r->column[r->at] != COLUMNS)
		buf_add(&r->value[r->column[r->at]], s, n);
	r->at++;
}

static void check_header(struct reader *r)
{
	int seen[COLUMNS + 1] = {0};

	for (int i = 0; i < r->nfields; i++)
		seen[r->column[i]]++;
	r->header_done = 1;
	if (!seen[OP] || !seen[PROB])
		r->op = columns_op(seen + DIMS);
	for (int i = 0; i < (r->op ? COLUMNS : DIMS); i++)
		if (seen[i] > 1)
			r->broken = 1;
	if (!r->op && (!seen[OP] || !seen[PROB]))
		r->broken = 1;
	if (r->broken)
		err_set(&r->e,
			"its first line does not name the columns op and prob once each (and "
			"layout, post, rhs, dtype and count, if there are any), nor the dimensions of a "
			"product (m,n,k) or a convolution (such as n,c,h,w,k,r,s,stride,pad)");
}

static const char *text(const struct reader *r, enum column c)
{
	return r->value[c].n ? r->value[c].s : NULL;
}

/* The workload that op and prob tell, or the dimensions. */
static int row_workload(struct reader *r, struct workload *w, struct err *e)
{
	struct buf prob = BUF_INIT;
	int s = 0;

	if (r->op)
		s = columns_prob(r->op, &r->value[DIMS], &prob, e);
	else if (!text(r, OP) || !text(r, PROB))
		s = err_set(e, "it names no op or no prob");
	if (!s)
		s = workload_from_text(w, r->op ? r->op : text(r, OP),
				       r->op ? prob.s : text(r, PROB), text(r, LAYOUT),
				       text(r, POST), e);
	buf_free(&prob);
	return s;
}

static int row_count(const struct reader *r, int64_t *count, struct err *e)
{
	const char *s = text(r, COUNT);
	char *end;

	*count = s ? strtoll(s, &end, 10) : 1;
	if (s && (*end || *count < 1 || *count > LISTING_COUNT_MAX))
		return err_set(e, "the count \"%s\" is no number from 1 to %d", s,
			       LISTING_COUNT_MAX);
	return 0;
}

static int row_types(const struct reader *r, struct workload *w, struct err *e)
{
	const char *s = text(r, DTYPE), *why = s ? dtypes_parse(&w->dtype, s, strlen(s)) : NULL;

	if (why)
		return err_set(e, "the element type \"%.40s\" %s", s, why);
	return s ? workload_finish(w, e) : 0;
}

/* Is the right side of a product constant? */
static int row_rhs(const struct reader *r, struct workload *w, struct err *e)
{
	const char *s = text(r, RHS);

	if (!s || (w->op == &op_matmul && !strcmp(s, "const")))
		return 0;
	if (w->op != &op_matmul || strcmp(s, "computed") != 0)
		return err_set(e, "the rhs \"%s\" is neither const nor computed, of a matmul", s);
	w->rhs_const = 0;
	return workload_finish(w, e);
}

static void on_row(int terminator, void *ctx)
{
	struct reader *r = ctx;
	struct err e = ERR_INIT;
	struct workload w;
	int64_t count;

	(void)terminator;
	r->l.line++;
	r->is_in_row = 0;
	if (r->is_comment)
		return;
	if (!r->header_done) {
		check_header(r);
		return;
	}
	for (size_t i = 0; i < r->value[POST].n; i++)
		if (strchr("+; ", r->value[POST].s[i]))
			r->value[POST].s[i] = ',';
	if (r->broken)
		return;
	if (r->too_long)
		err_set(&e, "a field is longer than %d bytes", FIELD_MAX_BYTES);
	else if (r->at != r->nfields)
		err_set(&e, "it has %d fields, and the first line %d", r->at, r->nfields);
	else if (!row_workload(r, &w, &e) && !row_types(r, &w, &e) && !row_rhs(r, &w, &e) &&
		 !row_count(r, &count, &e))
		listing_take(&r->l, &w, "", 0, count);
	if (e.status)
		listing_bad(&r->l, &e);
	for (int i = 0; i < COLUMNS; i++)
		buf_clear(&r->value[i]);
	r->at = r->too_long = 0;
}

static int parse(struct reader *r, struct csv_parser *p, struct err *e)
{
	int s;

	while ((s = pull_fill(&r->l.m->bytes, e)) > 0 && !r->broken) {
		struct pull *in = &r->l.m->bytes;
		size_t n = (size_t)(in->end - in->at);

		collect_bytes(&r->l.found, (const char *)in->at, n);
		if (csv_parse(p, in->at, n, on_field, on_row, r) != n) {
			err_set(&r->e, "%s", csv_strerror(csv_error(p)));
			r->l.line++;
			listing_bad(&r->l, &r->e);
			return 0;
		}
		in->at = in->end;
	}
	if (s < 0)
		return -1;
	if (csv_fini(p, on_field, on_row, r) && r->header_done) {
		err_set(&r->e, "a quote has no end");
		r->l.line++;
		listing_bad(&r->l, &r->e);
		return 0;
	}
	if (!r->header_done)
		check_header(r);
	if (r->broken)
		*e = r->e;
	return r->broken ? -1 : 0;
}

/* The sign that separates values is the first of these in the first line that is no comment. */
static char separator(const unsigned char *head, size_t n)
{
	int is_first = 1, is_comment = 0;

	for (size_t i = 0; i < n; i++) {
		if (is_first && head[i] == '#')
			is_comment = 1;
		if (!is_comment && head[i] && strchr(",;\t", head[i]))
			return (char)head[i];
		is_first = head[i] == '\n' || head[i] == '\r';
		is_comment &= !is_first;
	}
	return ',';
}

static int read(struct extract *x, struct member *m, struct err *e)
{
	struct reader r = {0};
	struct csv_parser p;
	const unsigned char *head;
	size_t n;
	int s;

	if (pull_head(&m->bytes, &head, &n, e))
		return -1;
	if (csv_init(&p, CSV_STRICT | CSV_APPEND_NULL | CSV_STRICT_FINI))
		die_no_memory();
	csv_set_delim(&p, (unsigned char)separator(head, n));
	listing_begin(&r.l, x, m);
	s = parse(&r, &p, e);
	csv_free(&p);
	if (r.broken)
		listing_drop(&r.l);
	else
		listing_end(&r.l);
	for (int i = 0; i < COLUMNS; i++)
		buf_free(&r.value[i]);
	return s;
}

const struct format format_csv = {"csv", "a list", {".csv"}, NULL, read};

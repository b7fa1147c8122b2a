/* Command lines of rocblas-bench, hipblas-bench and hipblaslt-bench, which the libraries' logs
 * print, too, and what rocBLAS counts at a program's end (ROCBLAS_LAYER=4):
 *
 *   ./rocblas-bench -f gemm_strided_batched_ex --transposeA T --transposeB N -m 64 -n 64 -k 32
 *       --a_type f32_r ... --batch_count 12
 *   - { rocblas_function: "rocblas_sgemm", transA: 'N', transB: 'T', M: 64, N: 64, K: 32, ...,
 *       call_count: 12 }
 */
#include <stdlib.h>
#include <string.h>

#include "lib/extract/list/blas.h"
#include "lib/extract/list/command.h"
#include "lib/extract/list/dialect.h"
#include "lib/extract/list/told.h"

enum option {
	FUNCTION,
	PRECISION,
	M,
	N,
	K,
	BATCH,
	TYPE_A,
	TYPE_B,
	TYPE_C,
	STRIDE_A,
	BETA,
	BIAS,
	ACTIVATION,
	OPTIONS
};

static const struct command_name names[OPTIONS] = {
	{"f", "function"},
	{"r", "precision"},
	{"m", "sizem"},
	{"n", "sizen"},
	{"k", "sizek"},
	{NULL, "batch_count"},
	{NULL, "a_type"},
	{NULL, "b_type"},
	{NULL, "c_type"},
	{NULL, "stride_a"},
	{NULL, "beta"},
	{NULL, "bias_vector"},
	{NULL, "activation_type"},
};

static const char mark[] = "rocblas_function:";

static char *find(char *line)
{
	static const char *const programs[] = {"rocblas-bench ", "hipblas-bench ",
					       "hipblaslt-bench "};

	char *at = told_find(line, programs, sizeof programs / sizeof *programs);

	return at ? at : strstr(line, mark);
}

/* The type that option i names, or the one for all; -1: none of ours. */
static int type_of(const struct command *c, int i)
{
	if (!c->value[i])
		i = PRECISION;
	return c->value[i] ? told_dtype(c->value[i], c->length[i]) : DTYPE_F32;
}

/* Is a text with what is behind it, "T" or "0.000", the number 0? */
static int is_zero(const struct command *c, int i)
{
	return !c->value[i] || (c->length[i] && strtod(c->value[i], NULL) == 0);
}

static void take_command(struct listing *l, const char *line)
{
	struct blas_product p = {.name = "gemm"};
	int lt = !strncmp(line, "hipblaslt", 9);
	char name[40] = "matmul";
	struct command c;

	command_read(&c, names, OPTIONS, line);
	if (!lt && c.value[FUNCTION]) {
		told_copy(name, sizeof name, c.value[FUNCTION], c.length[FUNCTION]);
		if (!strstr(name, "gemm")) {
			listing_leave(l, name, "", 1, 0);
			return;
		}
	}
	p.name = name;
	p.m = command_int(&c, M, 128);
	p.n = command_int(&c, N, 128);
	p.k = command_int(&c, K, 128);
	p.batch = command_int(&c, BATCH, 1);
	blas_types(&p, type_of(&c, TYPE_A), type_of(&c, TYPE_B), type_of(&c, TYPE_C));
	p.is_shared = p.batch > 1 && command_int(&c, STRIDE_A, 1) == 0;
	p.is_added = !is_zero(&c, BETA);
	if (lt && (c.value[BIAS] || c.value[ACTIVATION])) {
		int relu = command_is(&c, ACTIVATION, "relu"),
		    gelu = command_is(&c, ACTIVATION, "gelu");
		int none = !c.value[ACTIVATION] || command_is(&c, ACTIVATION, "none");
		int bias = c.value[BIAS] && !command_is(&c, BIAS, "0");

		p.epilogue = relu   ? bias ? "RELU_BIAS" : "RELU"
			     : gelu ? bias ? "GELU_BIAS" : "GELU"
			     : none ? bias ? "BIAS" : "NONE"
				    : "other";
	}
	blas_take(l, &p, 1);
}

/* What is behind "NAME:" of a line in YAML; NULL: the name is not there. */
static const char *behind(const char *line, const char *name)
{
	size_t n = strlen(name);

	for (const char *s = strstr(line, name); s; s = strstr(s + 1, name))
		if (s > line && strchr(" {,", s[-1]) && s[n] == ':')
			return s + n + 1;
	return NULL;
}

/* The number there, or other; -1: it is none, or absurd. */
static int64_t number_of(const char *line, const char *name, int64_t other)
{
	const char *s = behind(line, name);

	return s ? told_size(s, -1) : other;
}

/* The type there, as "f32_r" is one; -1: none of ours. */
static int yaml_type(const char *line, const char *name)
{
	const char *s = behind(line, name);

	if (!s)
		return -1;
	s += strspn(s, " \"'");
	return told_dtype(s, strcspn(s, "\"', }"));
}

static void take_counted(struct listing *l, const char *line)
{
	const char *s = line + sizeof mark - 1;
	int64_t count = number_of(line, "call_count", 1);
	struct blas_product p = {.batch = number_of(line, "batch_count", 1),
				 .m = number_of(line, "M", -1),
				 .n = number_of(line, "N", -1),
				 .k = number_of(line, "K", -1)};
	const char *beta = behind(line, "beta");
	char name[40];

	s += strspn(s, " \"'");
	told_copy(name, sizeof name, s, strcspn(s, "\"', }"));
	p.name = name;
	if (strstr(name, "gemm_ex") || strstr(name, "batched_ex"))
		blas_types(&p, yaml_type(line, "a_type"), yaml_type(line, "b_type"),
			   yaml_type(line, "c_type"));
	else
		p.is_other = !strstr(name, "sgemm");
	p.is_shared = p.batch > 1 && number_of(line, "stride_a", 1) == 0;
	p.is_added = beta && strtod(beta, NULL) != 0;
	if (count < 1 || count > LISTING_COUNT_MAX)
		count = 1;
	if (strstr(name, "gemm"))
		blas_take(l, &p, count);
	else
		listing_leave(l, name, "", count, 0);
}

/* Where a log has both, the counts at its end are those of the calls above. */
static void read(struct listing *l, void *state, char *line)
{
	int *has_calls = state;

	if (strncmp(line, mark, sizeof mark - 1) != 0) {
		*has_calls = 1;
		take_command(l, line);
	} else if (*has_calls) {
		listing_leave(l, "sums of calls", "the calls stand above", 1, 0);
	} else {
		take_counted(l, line);
	}
}

const struct dialect dialect_rocblas = {find, read, NULL, sizeof(int), 0, 1};

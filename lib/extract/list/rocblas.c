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

static const char mark[] = "rocblas_function:";

static char *find(char *line)
{
	static const char *const programs[] = {"rocblas-bench ", "hipblas-bench ",
					       "hipblaslt-bench "};

	char *at = told_find(line, programs, sizeof programs / sizeof *programs);

	return at ? at : strstr(line, mark);
}

/* The type that an option names, or the one for all; -1: none of ours. */
static int type_of(const struct command *c, const char *name)
{
	const struct command_option *o = command_get(c, name);

	if (!o)
		o = command_get(c, "-r --precision");
	return o ? told_dtype(o->value, o->length) : DTYPE_F32;
}

static void take_command(struct listing *l, const char *line)
{
	struct blas_product p = {.name = "gemm"};
	int lt = !strncmp(line, "hipblaslt", 9);
	const struct command_option *function, *beta, *bias, *activation;
	char name[40] = "matmul";
	struct command c;

	if (command_read(&c, line) < 0) {
		listing_leave(l, name, "more options than are read", 1, -1);
		return;
	}
	function = command_get(&c, "-f --function");
	if (!lt && function) {
		told_copy(name, sizeof name, function->value, function->length);
		if (!strstr(name, "gemm")) {
			listing_leave(l, name, "", 1, 0);
			return;
		}
	}
	p.name = name;
	p.m = command_int(&c, "-m --sizem", 128);
	p.n = command_int(&c, "-n --sizen", 128);
	p.k = command_int(&c, "-k --sizek", 128);
	p.batch = command_int(&c, "--batch_count", 1);
	blas_types(&p, type_of(&c, "--a_type"), type_of(&c, "--b_type"), type_of(&c, "--c_type"));
	p.is_shared = p.batch > 1 && command_int(&c, "--stride_a", 1) == 0;
	beta = command_get(&c, "--beta");
	p.is_added = beta && (!beta->length || strtod(beta->value, NULL) != 0);
	bias = command_get(&c, "--bias_vector");
	activation = command_get(&c, "--activation_type");
	if (lt && (bias || activation)) {
		int relu = command_is(&c, "--activation_type", "relu");
		int gelu = command_is(&c, "--activation_type", "gelu");
		int none = !activation || command_is(&c, "--activation_type", "none");
		int adds = bias && !command_is(&c, "--bias_vector", "0");

		p.epilogue = relu   ? adds ? "RELU_BIAS" : "RELU"
			     : gelu ? adds ? "GELU_BIAS" : "GELU"
			     : none ? adds ? "BIAS" : "NONE"
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

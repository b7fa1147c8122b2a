/* Logs of cuBLASLt (CUBLASLT_LOG_LEVEL=2 and more) and hipBLASLt (HIPBLASLT_LOG_LEVEL=2): a line
 * for each product,
 *
 *   [TIME][cublasLt][PID][Trace][cublasLtMatmul] A=0X.. Adesc=[type=R_32F rows=64 cols=32 ld=64]
 *       B=.. Bdesc=[..] C=.. Cdesc=[..] D=.. Ddesc=[type=R_32F rows=64 cols=128 ld=64]
 *       computeDesc=[computeType=COMPUTE_32F scaleType=R_32F transa=OP_T] .. beta=0 ..
 */
#include <stdlib.h>
#include <string.h>

#include "lib/extract/list/blas.h"
#include "lib/extract/list/dialect.h"
#include "lib/extract/list/told.h"

static const char *const functions[] = {"[Trace][cublasLtMatmul] ", "[Trace][cublasLtTSTMatmul] ",
					"[Trace][rocblaslt_matmul] "};

static char *find(char *line)
{
	return told_find(line, functions, sizeof functions / sizeof *functions);
}

/* The text of "Adesc=[..]", from the '[' on; NULL: there is none. */
static const char *group_of(const char *line, const char *name)
{
	const char *s = strstr(line, name);

	return s ? s + strlen(name) : NULL;
}

/* The value of a field inside of a group, "" if it has none; n: its length. */
static const char *field_of(const char *group, const char *name, size_t *n)
{
	size_t length = strlen(name);

	*n = 0;
	for (const char *s = group; s && *s && *s != ']'; s += *s != 0 && *s != ']') {
		if (!strncmp(s, name, length) && s[length] == '=') {
			*n = strcspn(s + length + 1, " ]");
			return s + length + 1;
		}
		s += strcspn(s, " ]");
	}
	return "";
}

static int64_t number_of(const char *group, const char *name, int64_t other)
{
	size_t n;
	const char *s = field_of(group, name, &n);

	return n ? told_size(s, -1) : other;
}

static int is_value(const char *group, const char *name, const char *value)
{
	size_t n;
	const char *s = field_of(group, name, &n);

	return n == strlen(value) && !memcmp(s, value, n);
}

/* -1: none of ours. */
static int type_of(const char *group)
{
	size_t n;
	const char *s = field_of(group, "type", &n);

	return told_dtype(s, n);
}

static int is_transposed(const char *compute, const char *lower, const char *upper)
{
	return is_value(compute, lower, "OP_T") || is_value(compute, upper, "OP_T") ||
	       is_value(compute, lower, "OP_C") || is_value(compute, upper, "OP_C");
}

/* The epilogue without EPILOGUE_, in name, or NULL. */
static const char *epilogue_of(const char *compute, char *name, size_t size)
{
	size_t n;
	const char *s = field_of(compute, "epilogue", &n);

	if (!n)
		return NULL;
	if (n > 9 && !memcmp(s, "EPILOGUE_", 9)) {
		s += 9;
		n -= 9;
	}
	told_copy(name, size, s, n);
	return name;
}

static void read(struct listing *l, void *state, char *line)
{
	const char *a = group_of(line, " Adesc=["), *b = group_of(line, " Bdesc=[");
	const char *d = group_of(line, " Ddesc=["), *compute = group_of(line, " computeDesc=[");
	const char *beta = strstr(line, " beta=");
	struct blas_product p = {.name = "matmul"};
	struct err e = ERR_INIT;
	char epilogue[32];

	(void)state;
	if (!a || !b || !d || !compute) {
		err_set(&e, "this product of cuBLASLt's lacks its descriptors");
		listing_bad(l, &e);
		return;
	}
	p.batch = number_of(d, "batchCount", 1);
	p.m = number_of(d, "rows", -1);
	p.n = number_of(d, "cols", -1);
	p.k = is_transposed(compute, "transa", "transA") ? number_of(a, "rows", -1)
							 : number_of(a, "cols", -1);
	if (is_value(d, "order", "ORDER_ROW")) { /* then it is as ours, and only named otherwise */
		int64_t rows = p.m;

		p.m = p.n;
		p.n = rows;
	}
	blas_types(&p, type_of(a), type_of(b), type_of(d));
	p.is_shared = p.batch > 1 && number_of(a, "stridedBatchOffset", 1) == 0;
	p.is_added = beta && strtod(beta + 6, NULL) != 0;
	p.epilogue = epilogue_of(compute, epilogue, sizeof epilogue);
	blas_take(l, &p, 1);
}

const struct dialect dialect_cublaslt = {find, read, NULL, 0, 0};

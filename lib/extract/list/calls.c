/* Logs of calls of cuDNN 7 to 9 (CUDNN_LOGINFO_DBG=1) and cuBLAS (CUBLAS_LOGINFO_DBG=1). A call has
 * a line with the function's name, and one for each argument, those of a descriptor further to the
 * right:
 *
 *   I! CuDNN (v8005) function cudnnConvolutionForward() called:
 *   i!     xDesc: type=cudnnTensorDescriptor_t:
 *   i!         dataType: type=cudnnDataType_t; val=CUDNN_DATA_FLOAT (0);
 *   i!         dimA: type=int; val=[32,64,56,56];
 *   i! Time: 2021-04-19T10:00:00.000000 (0d+0h+0m+1s since start)
 *
 * Calls of cuDNN's graphs tell no tensors where they are executed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/words.h"
#include "lib/extract/list/blas.h"
#include "lib/extract/list/dialect.h"
#include "lib/extract/list/told.h"

enum { ARGUMENTS = 80, NAME = 48, VALUE = 80, RANK = 8 };

/* The call whose lines are read. */
struct call {
	char function[NAME]; /* "": none */
	int64_t line;
	int n;
	struct argument {
		char name[NAME]; /* "xDesc.dimA" */
		char value[VALUE];
	} argument[ARGUMENTS];
	char outer[NAME]; /* the descriptor whose fields come, */
	size_t indent;	  /* and where its name stands */
};

static char *find(char *line)
{
	char *at = strstr(line, "! CuDNN (v");

	if (!at)
		at = strstr(line, "! cuBLAS (v");
	if (at && at > line && at[-1] == 'I' && strstr(at, " function "))
		return at - 1;
	at = line + strspn(line, " ");
	return !strncmp(at, "i!", 2) ? at : NULL;
}

static const char *value_of(const struct call *c, const char *name)
{
	for (int i = 0; i < c->n; i++)
		if (!strcmp(c->argument[i].name, name))
			return c->argument[i].value;
	return "";
}

/* "CUDNN_DATA_FLOAT (0)" and "CUDA_R_32F(0)" are what stands before the blank or parenthesis. */
static int is_value(const struct call *c, const char *name, const char *want)
{
	const char *s = value_of(c, name);
	size_t n = strlen(want);

	return !strncmp(s, want, n) && strchr(" (;", s[n]) != NULL;
}

static int64_t number_of(const struct call *c, const char *name, int64_t other)
{
	return told_size(value_of(c, name), other);
}

/* "[1,3,224,224]"; how many numbers. */
static int list_of(const struct call *c, const char *name, int64_t v[RANK])
{
	const char *s = value_of(c, name);
	int n = 0;

	if (*s++ != '[')
		return 0;
	while (n < RANK) {
		char *end;

		v[n] = strtoll(s, &end, 10);
		if (end == s || v[n] < 0 || v[n] > INT32_MAX)
			return 0;
		n++;
		if (*end != ',')
			return *end == ']' ? n : 0;
		s = end + 1;
	}
	return 0;
}

/* cuDNN */

/* The convolution of a call. image: the descriptor of what it reads, or of its gradient. */
static int conv_of(const struct call *c, const char *image, struct told_conv *t, int *is_last)
{
	int64_t x[RANK], strides[RANK], w[RANK], pad[RANK], stride[RANK], dilation[RANK];
	char name[NAME];
	int rank, n;

	snprintf(name, sizeof name, "%s.dimA", image);
	rank = list_of(c, name, x);
	snprintf(name, sizeof name, "%s.strideA", image);
	*is_last = list_of(c, name, strides) == rank && rank > 1 && strides[1] == 1 && x[1] > 1;
	n = list_of(c, "convDesc.padA", pad);
	if (rank < 3 || rank > 2 + TOLD_SPACE || n != rank - 2 ||
	    (list_of(c, "wDesc.dimA", w) != rank && list_of(c, "dwDesc.dimA", w) != rank) ||
	    list_of(c, "convDesc.strideA", stride) != n ||
	    list_of(c, "convDesc.dilationA", dilation) != n)
		return -1;
	*t = told_conv_plain(n);
	t->mb = x[0];
	t->ic = x[1];
	t->oc = w[0];
	t->groups = number_of(c, "convDesc.groupCount", w[1] > 0 ? x[1] / w[1] : 1);
	for (int i = 0; i < n; i++) {
		t->in[i] = x[2 + i];
		t->kernel[i] = w[2 + i];
		t->stride[i] = stride[i];
		t->before[i] = t->after[i] = pad[i];
		t->dilation[i] = dilation[i];
	}
	return 0;
}

/* cudnnConvolutionBiasActivationForward(): act(conv + alpha2 z + bias). -1: another act. */
static int add_posts(const struct call *c, struct workload *w)
{
	const char *mode = "activationDesc.mode";

	w->post[w->npost++].kind = POST_BIAS;
	if (strtod(value_of(c, "alpha2"), NULL) != 0)
		w->post[w->npost++].kind = POST_ADD;
	if (is_value(c, mode, "CUDNN_ACTIVATION_IDENTITY"))
		return 0;
	if (!is_value(c, mode, "CUDNN_ACTIVATION_RELU"))
		return -1;
	w->post[w->npost++].kind = POST_RELU;
	return 0;
}

/* -1: of types that we have no names for. */
static int types_of(const struct call *c, struct dtypes *to)
{
	const char *names[] = {"xDesc.dataType", "wDesc.dataType", "yDesc.dataType"};
	char type[3][VALUE];

	for (int i = 0; i < 3; i++) {
		const char *s = value_of(c, names[i]);

		if (!*s && i == 2)
			s = type[0];
		told_copy(type[i], VALUE, s, strcspn(s, " (;"));
	}
	return told_dtypes(type[0], type[1], type[2], to);
}

static void take_conv(struct listing *l, const struct call *c)
{
	int fused = strstr(c->function, "BiasActivation") != NULL;
	int is_last;
	struct told_conv t;
	struct err e = ERR_INIT;
	struct workload w;
	const char *why = NULL;
	int64_t macs;

	if (conv_of(c, "xDesc", &t, &is_last)) {
		listing_leave(l, c->function, "its descriptors are not told", 1, -1);
		return;
	}
	macs = told_conv_macs(&t);
	if (types_of(c, &t.dtype))
		why = "of other types";
	else if (told_conv(&t, is_last, &w, &e))
		why = e.msg;
	else if (fused && add_posts(c, &w))
		why = "with another activation";
	else if (workload_finish(&w, &e))
		why = e.msg;
	if (why)
		listing_leave(l, c->function, why, 1, macs);
	else
		listing_take(l, &w, "", 0, 1);
}

static void leave_backward(struct listing *l, const struct call *c)
{
	int is_last;
	struct told_conv t;
	const char *image = strstr(c->function, "Filter") ? "xDesc" : "dxDesc";

	listing_leave(l, c->function, "backward", 1,
		      conv_of(c, image, &t, &is_last) ? -1 : told_conv_macs(&t));
}

static void leave_unknown(struct listing *l, const struct call *c)
{
	listing_leave(l, c->function, "the log does not tell its tensors", 1, -1);
}

/* Other calls that compute; those that only ask and set are no operators. */
static void leave_other(struct listing *l, const struct call *c)
{
	if (!words_begin("cudnnGet cudnnFind cudnnSet cudnnCreate cudnnDestroy", c->function) &&
	    words_in("Forward Inference Backward OpTensor AddTensor ReduceTensor TransformTensor",
		     c->function))
		listing_leave(l, c->function, "", 1, 0);
}

/* cuBLAS */

/* The types of the matrices of a product: by the letter in the function's name, or as arguments.
 * The library's left side is our right one. */
static int gemm_types(const struct call *c, struct dtypes *to)
{
	char type[3][VALUE];
	const char *names[] = {"Btype", "Atype", "Ctype"};

	*to = (struct dtypes){DTYPE_F32, DTYPE_F32, DTYPE_F32};
	if (!strncmp(c->function, "cublasHgemm", 11))
		*to = (struct dtypes){DTYPE_F16, DTYPE_F16, DTYPE_F16};
	if (!*value_of(c, "Atype"))
		return !strncmp(c->function, "cublasSgemm", 11) ||
				       !strncmp(c->function, "cublasHgemm", 11)
			       ? 0
			       : -1;
	for (int i = 0; i < 3; i++)
		told_copy(type[i], VALUE, value_of(c, names[i]),
			  strcspn(value_of(c, names[i]), " (;"));
	return told_dtypes(type[0], type[1], type[2], to);
}

static void take_gemm(struct listing *l, const struct call *c)
{
	struct blas_product p = {.name = c->function,
				 .batch = number_of(c, "batchCount", 1),
				 .m = number_of(c, "m", -1),
				 .n = number_of(c, "n", -1),
				 .k = number_of(c, "k", -1)};

	p.is_other = gemm_types(c, &p.dtype) != 0;
	p.is_shared = p.batch > 1 && number_of(c, "strideA", 1) == 0;
	blas_take(l, &p, 1);
}

static void end_call(struct listing *l, struct call *c)
{
	static const struct {
		const char *begins; /* the first that the name begins with counts */
		void (*take)(struct listing *l, const struct call *c);
	} functions[] = {{"cudnnConvolutionForward", take_conv},
			 {"cudnnConvolutionBiasActivationForward", take_conv},
			 {"cudnnConvolutionBackwardData", leave_backward},
			 {"cudnnConvolutionBackwardFilter", leave_backward},
			 {"cudnnBackendExecute", leave_unknown},
			 {"cudnnRNN", leave_unknown},
			 {"cudnnMultiHeadAttn", leave_unknown},
			 {"cudnn", leave_other},
			 {"cublas", NULL}};
	int64_t at = l->line;

	for (size_t i = 0; *c->function && i < sizeof functions / sizeof *functions; i++) {
		if (strncmp(c->function, functions[i].begins, strlen(functions[i].begins)) != 0)
			continue;
		l->line = c->line;
		if (functions[i].take)
			functions[i].take(l, c);
		else if (strstr(c->function, "gemm") || strstr(c->function, "Gemm"))
			take_gemm(l, c);
		break;
	}
	l->line = at;
	*c->function = 0;
}

/* "I! cuBLAS (v11.0) function cublasStatus_t cublasGemmEx(cublasHandle_t, ...) called:" */
static void begin_call(struct call *c, int64_t line, const char *s)
{
	const char *stop, *start;

	s = strstr(s, " function ") + strlen(" function ");
	stop = s + strcspn(s, "(");
	start = stop;
	while (start > s && start[-1] != ' ')
		start--;
	told_copy(c->function, sizeof c->function, start, (size_t)(stop - start));
	c->line = line;
	c->n = 0;
	c->indent = 0;
	*c->outer = 0;
}

/* "i!         dimA: type=int; val=[1,3,224,224];" */
static void add_argument(struct call *c, const char *s)
{
	size_t indent = strspn(s, " "), n;
	struct argument *a = &c->argument[c->n];
	const char *name = s + indent, *value;
	char inner[NAME];

	n = strcspn(name, ": ");
	if (name[n] != ':' || c->n == ARGUMENTS)
		return;
	if (*c->outer && indent <= c->indent)
		*c->outer = 0;
	told_copy(inner, sizeof inner, name, n);
	value = strstr(name, "val=");
	if (!value) {
		if (!*c->outer && strstr(name, "type=")) {
			told_copy(c->outer, sizeof c->outer, inner, strlen(inner));
			c->indent = indent;
		}
		return;
	}
	value += 4;
	snprintf(a->name, sizeof a->name, "%.20s%s%.20s", c->outer, *c->outer ? "." : "", inner);
	told_copy(a->value, sizeof a->value, value, strcspn(value, ";"));
	c->n++;
}

static void read(struct listing *l, void *state, char *s)
{
	struct call *c = state;

	if (*s == 'I') {
		end_call(l, c);
		begin_call(c, l->line, s);
		return;
	}
	s += 2;
	if (!*c->function)
		return;
	if (!strncmp(s + strspn(s, " "), "Time:", 5))
		end_call(l, c);
	else
		add_argument(c, s);
}

static void end(struct listing *l, void *state)
{
	end_call(l, state);
}

const struct dialect dialect_calls = {find, read, end, sizeof(struct call), 0};

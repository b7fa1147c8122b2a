/* One table of calls of operators, which the test of each format says in the words of its format.
 *
 * A model of the table is lines "NAME OPERATOR SHAPE OPERAND.. ATTRIBUTE=VALUE..". A shape with 'x'
 * is that of an image, whose channels are last: a format that has them second says so. A shape with
 * ',' stays as it is. Filters have the outputs first and the inputs last.
 *
 * A format has a row for each operator: the lines that say it, with these words in them.
 *     $y $Y        the name of what is made, and its shape
 *     $a $b ..     its sizes, as the table has them
 *     $0 $1 ..     the name of an operand
 *     $0a $1c ..   a size of an operand
 *     $PAD         padding in the format's words: of a call without padding, or with it
 *     $stride ..   an attribute
 * A format tests the operators that it has rows for, and says how many these are.
 */
#ifndef TL_TESTS_CALLS_H
#define TL_TESTS_CALLS_H

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tests/extracting.h"

struct spelling_row {
	const char *op, *text;
};

struct spelling {
	const struct spelling_row *row;
	size_t nrow;
	int channels_second, cases;
	char between;	    /* the sizes of a shape */
	const char *pad[2]; /* none, and as much as keeps the size */
	void (*expect)(const char *text, const char *want, const char *what);
};

struct call_case {
	const char *what, *want, *model;
	const char *said; /* NULL: whatever is said */
};

#define CASE_CONV "mb1_ic8ih14_oc8oh14_kh3ph1"
#define CASE_IMAGE "x image 1x14x14x8\nw filter 8,3,3,8\n"
#define CASE_TWO CASE_IMAGE "v filter 8,3,3,8\na conv 1x14x14x8 x w pad=1\n"
/* A convolution, and what its output is handed to. */
#define CASE_BEHIND(text) CASE_IMAGE "a conv 1x14x14x8 x w pad=1\n" text
/* An image of 7 x 7 is made; a convolution shows it. */
#define CASE_SHOWN(text) "x image 1x14x14x8\nk filter 4,1,1,8\n" text "z conv 1x7x7x4 y k\n"
#define CASE_7X7 "mb1_ic8ih7_oc4oh7_kh1"

static const struct call_case call_cases[] = {
	{"a convolution with bias and relu", CASE_CONV " bias,relu",
	 CASE_IMAGE "c vector 8\na conv_bias 1x14x14x8 x w c pad=1\nb relu 1x14x14x8 a\n"},
	{"without padding, in strides", "mb1_ic8ih14_oc4oh6_kh3sh2",
	 "x image 1x14x14x8\nw filter 4,3,3,8\na conv 1x6x6x4 x w stride=2\n"},
	{"dilation, and width from height", "mb1_ic8ih14iw20_oc4oh14ow16_kh1kw3dh0dw1",
	 "x image 1x14x20x8\nw filter 4,1,3,8\na conv 1x14x16x4 x w dilation=2\n"},
	{"depthwise", "mb1g8_ic8ih14_oc8oh14_kh3ph1",
	 "x image 1x14x14x8\nw each 8,3,3,8,1\na depthwise 1x14x14x8 x w pad=1\n"},
	{"depthwise, two filters a channel", "mb1g8_ic8ih14_oc16oh14_kh3ph1",
	 "x image 1x14x14x8\nw each 16,3,3,8,2\na depthwise 1x14x14x16 x w pad=1\n"},
	{"groups", "mb1g4_ic8ih14_oc4oh14_kh3ph1",
	 "x image 1x14x14x8\nw grouped 4,3,3,2,4,1\na groups 1x14x14x4 x w pad=1\n"},
	{"a convolution in three dimensions",
	 "mb1_ic8id4ih14iw14_oc8od4oh14ow14_kd3kh3kw3pd1ph1pw1",
	 "x image 1x4x14x14x8\nw volume 8,3,3,3,8\na conv3d 1x4x14x14x8 x w pad=1\n"},
	{"and along one", "mb2_ic8ih1iw50_oc4oh1ow46_kh1kw5",
	 "x image 2x50x8\nw line 4,5,8\na conv1d 2x46x4 x w\n"},
	{"a transposed convolution, and behind one", "49x4:4x32; " CASE_CONV,
	 "x image 1x7x7x4\nw turned 8,2,2,4\nv filter 8,3,3,8\ny transposed 1x14x14x8 x w stride=2\n"
	 "a conv 1x14x14x8 y v pad=1\n",
	 "100.0 % of the model's 119168 multiply-adds"},
	{"a padding of zeros before it is the convolution's own", CASE_CONV,
	 CASE_IMAGE "q zeros 1x16x16x8 x\na conv 1x14x14x8 q w\n"},
	{"a normalization is folded", CASE_CONV " bias",
	 CASE_BEHIND("g vector 8\nb batch_norm 1x14x14x8 a g\n")},
	{"a residual goes to the later producer", CASE_CONV "; " CASE_CONV " add,relu",
	 CASE_TWO "b conv 1x14x14x8 a v pad=1\nd add 1x14x14x8 b a\ny relu 1x14x14x8 d\n"},
	{"a scale and a shift for each channel", CASE_CONV " bias,relu",
	 CASE_BEHIND(
		 "c channel 8\nb mul 1x14x14x8 a c\nd add 1x14x14x8 b c\ny relu 1x14x14x8 d\n")},
	{"a concatenation of channels", CASE_CONV " x2; mb1_ic16ih14_oc8oh14_kh1",
	 CASE_TWO "k filter 8,1,1,16\nb conv 1x14x14x8 x v pad=1\ne concat 1x14x14x16 a b\n"
		  "d conv 1x14x14x8 e k\n"},
	{"x * sigmoid(x)", CASE_CONV " silu",
	 CASE_BEHIND("b sigmoid 1x14x14x8 a\nd mul 1x14x14x8 a b\n")},
	{"relu6", CASE_CONV " relu6", CASE_BEHIND("b relu6 1x14x14x8 a\n")},
	{"silu", CASE_CONV " silu", CASE_BEHIND("b silu 1x14x14x8 a\n")},
	{"hardswish", CASE_CONV " hardswish", CASE_BEHIND("b hardswish 1x14x14x8 a\n")},
	{"gelu", CASE_CONV " gelu", CASE_BEHIND("b gelu 1x14x14x8 a\n")},
	{"tanh", CASE_CONV " tanh", CASE_BEHIND("b tanh 1x14x14x8 a\n")},
	{"sigmoid", CASE_CONV " sigmoid", CASE_BEHIND("b sigmoid 1x14x14x8 a\n")},
	{"a group of channels at a time", CASE_CONV,
	 CASE_IMAGE
	 "s vector 8\nn group_norm 1x14x14x8 x s groups=4\na conv 1x14x14x8 n w pad=1\n"},
	{"the largest of each window", CASE_7X7,
	 CASE_SHOWN("y max_pool 1x7x7x8 x size=2 stride=2\n")},
	{"the average of each window", CASE_7X7,
	 CASE_SHOWN("y avg_pool 1x7x7x8 x size=2 stride=2\n")},
	{"a larger image", "mb1_ic8ih28_oc4oh28_kh1",
	 "x image 1x14x14x8\nk filter 4,1,1,8\ny resize 1x28x28x8 x\nz conv 1x28x28x4 y k\n"},
	{"a linear layer, whose batch becomes rows", "10x16:16x32 bias,relu",
	 "x data 2,5,16\nw matrix 32,16\nc row 32\ny linear_bias 2,5,32 x w c\nz relu 2,5,32 y\n"},
	{"a linear layer behind all of an image", "1x1568:1568x5",
	 "x image 1x14x14x8\nw matrix 5,1568\nr flat 1,1568 x\ny linear 1,5 r w\n"},
	{"behind a mean", "2x8:8x5",
	 "x data 2,6,8\nw matrix 5,8\nm mean 2,8 x\ny linear 2,5 m w\n"},
	{"behind a reshape and a transpose", "8x6:6x5",
	 "x data 1,6,8\nr reshape 6,8 x\nz transpose 8,6 r\nw matrix 5,6\ny linear 8,5 z w\n"},
	{"a product of what is computed", "3x8x8:3x8x8 computed",
	 "x data 3,8,8\nz abs 3,8,8 x\ny product 3,8,8 x z\n"},
	{"a product with a transposed right side", "3x6x8:3x8x6 computed",
	 "x data 3,6,8\nz abs 3,6,8 x\ny product_of_turned 3,6,6 x z\n"},
	{"attention is its two products", "2x5x16:2x16x5 computed; 2x5x5:2x5x16 computed",
	 "x data 2,5,16\na attention 2,5,16 x\n"},
	{"a product that is written as Einsum", "2x3x4:2x4x5 computed",
	 "x data 2,3,4\nv data 2,5,4\ny einsum 2,3,5 x v\n"},
	{"an LSTM", "15x8:8x64; 3x16:16x64 x5",
	 "x data 3,5,8\nw matrix 64,8\nr matrix 64,16\na lstm 3,5,16 x w r\n"},
};

/* ---- saying them ---- */

enum { CALL_LINES = 16, CALL_WORDS = 8, CALL_SIZES = 6 };

struct call_line {
	char name[8], shape[32];
	int dim[CALL_SIZES], rank, is_image;
	const char *word[CALL_WORDS]; /* operands and attributes */
	int nword;
};

struct speaker {
	const struct spelling *s;
	struct call_line line[CALL_LINES];
	int n; /* the last one is the one at hand */
	struct buf *out;
};

static inline const char *call_attribute(const struct call_line *l, const char *name, size_t n)
{
	for (int i = 0; i < l->nword; i++)
		if (!strncmp(l->word[i], name, n) && l->word[i][n] == '=')
			return l->word[i] + n + 1;
	if (n == 3 && !memcmp(name, "pad", 3))
		return "0";
	return (n == 6 && !memcmp(name, "stride", 6)) || (n == 8 && !memcmp(name, "dilation", 8))
		       ? "1"
		       : NULL;
}

static inline void say_shape(struct speaker *k, const struct call_line *l)
{
	const int moves = l->is_image && k->s->channels_second;

	for (int i = 0; i < l->rank; i++) {
		const int from = !moves || !i ? i : i == 1 ? l->rank - 1 : i - 1;

		if (i)
			buf_ch(k->out, k->s->between);
		buf_fmt(k->out, "%d", l->dim[from]);
	}
}

static inline const struct call_line *call_operand(const struct speaker *k, int i)
{
	const struct call_line *now = &k->line[k->n - 1];

	for (int j = 0; j < k->n - 1 && i < now->nword; j++)
		if (!strncmp(now->word[i], k->line[j].name, strcspn(now->word[i], " \n")))
			return &k->line[j];
	bail_out("%s has no operand %d", now->name, i);
}

/* A word behind '$'; returns its length. */
static inline size_t say_word(struct speaker *k, const char *s)
{
	const struct call_line *now = &k->line[k->n - 1], *l = now;
	const char *value;
	size_t n = 0;

	while (isalpha((unsigned char)s[n]))
		n++;
	if (isdigit((unsigned char)*s)) {
		const int has_size = s[1] >= 'a' && s[1] < 'a' + CALL_SIZES;

		l = call_operand(k, *s - '0');
		if (has_size)
			buf_fmt(k->out, "%d", l->dim[s[1] - 'a']);
		else
			buf_str(k->out, l->name);
		return 1 + (size_t)has_size;
	}
	value = call_attribute(now, s, n);
	if (value)
		buf_add(k->out, value, strcspn(value, " \n"));
	else if (n == 3 && !memcmp(s, "PAD", 3))
		buf_str(k->out, k->s->pad[*call_attribute(now, "pad", 3) != '0']);
	else
		n = 1;
	if (n > 1)
		return n;
	if (*s == 'y')
		buf_str(k->out, now->name);
	else if (*s == 'Y')
		say_shape(k, now);
	else if (*s >= 'a' && *s < 'a' + CALL_SIZES)
		buf_fmt(k->out, "%d", now->dim[*s - 'a']);
	else
		bail_out("%s has no word for %.9s", now->name, s);
	return 1;
}

static inline void read_call_line(struct call_line *l, char op[24], const char *s)
{
	const char *const end = s + strcspn(s, "\n");

	*l = (struct call_line){.nword = 0};
	if (sscanf(s, "%7s %23s %31s", l->name, op, l->shape) != 3)
		bail_out("no call: %s", s);
	l->is_image = strchr(l->shape, 'x') != NULL;
	for (char *at = l->shape; *at && l->rank < CALL_SIZES; at += *at != 0)
		l->dim[l->rank++] = (int)strtol(at, &at, 10);
	for (int i = 0; (s = memchr(s, ' ', (size_t)(end - s))); i++, s++)
		if (i > 1 && l->nword < CALL_WORDS)
			l->word[l->nword++] = s + 1;
}

/* 0: the format has no words for it. */
static inline int say_model(struct speaker *k, const char *model)
{
	for (const char *s = model; *s; s += strcspn(s, "\n") + 1) {
		const char *text = NULL;
		char op[24];

		read_call_line(&k->line[k->n++], op, s);
		for (size_t i = 0; i < k->s->nrow && !text; i++)
			if (!strcmp(k->s->row[i].op, op))
				text = k->s->row[i].text;
		if (!text)
			return 0;
		while (*text)
			if (*text == '$')
				text += 1 + say_word(k, text + 1);
			else
				buf_ch(k->out, *text++);
	}
	return 1;
}

/* All cases that the format has words for. */
static inline void test_calls(const struct spelling *s)
{
	int said_cases = 0;

	for (size_t i = 0; i < sizeof call_cases / sizeof *call_cases; i++) {
		const struct call_case *c = &call_cases[i];
		struct buf text = BUF_INIT;
		struct speaker k = {.s = s, .out = &text};

		if (say_model(&k, c->model)) {
			s->expect(text.s, c->want, c->what);
			if (c->said)
				ok(was_said(c->said), "and it is said: %s", c->said);
			said_cases++;
		}
		buf_free(&text);
	}
	ok(said_cases == s->cases, "%d cases of the table are said", said_cases);
}

#define SPELLING(rows) .row = rows, .nrow = sizeof rows / sizeof *rows

#endif

/* Problems in letters: convolutions and inner products, "mb1_ic3ih224oc64oh112kh7sh2ph3". */
#include <ctype.h>
#include <string.h>

#include "lib/extract/list/onednn.h"

enum { UNSET = -1 };
enum along { IN, OUT, KERNEL, STRIDE, PAD, DILATION, ALONG };
enum { AXES = 3 };
static const char along_letters[] = "iokspd", axis_letters[] = "dhw";

struct letters {
	int64_t mb, g, ic, oc;
	int64_t at[AXES][ALONG];
};

/* Where the size of this name goes; NULL: there is none of the name. */
static int64_t *find(struct letters *x, const char *name, size_t n)
{
	struct {
		const char *name;
		int64_t *to;
	} const first[] = {{"mb", &x->mb}, {"g", &x->g}, {"ic", &x->ic}, {"oc", &x->oc}};
	const char *along, *axis;

	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		if (strlen(first[i].name) == n && !memcmp(first[i].name, name, n))
			return first[i].to;
	if (n != 2)
		return NULL;
	along = memchr(along_letters, name[0], ALONG);
	axis = memchr(axis_letters, name[1], AXES);
	return along && axis ? &x->at[axis - axis_letters][along - along_letters] : NULL;
}

/* One NAME and its number; moves *s behind them. */
static int read_size(const char **s, struct letters *x, struct err *e)
{
	size_t n = strspn(*s, "abcdefghijklmnopqrstuvwxyz");
	int64_t v = 0, *to = find(x, *s, n);
	const char *digit = *s + n;

	if (!to)
		return err_set(e, "\"%.20s\" is no size of a convolution or an inner product", *s);
	if (!isdigit((unsigned char)*digit))
		return err_set(e, "the size %.*s has no number", (int)n, *s);
	for (; isdigit((unsigned char)*digit); digit++) {
		v = 10 * v + (*digit - '0');
		if (v > OP_MOST_DIM)
			return err_set(e, "the size %.*s is beyond 2^31-1", (int)n, *s);
	}
	*to = v; /* the last one counts */
	*s = digit;
	return 0;
}

/* A name, n"..", ends the text. */
static int read_letters(const char *text, struct letters *x, struct err *e)
{
	memset(x, UNSET, sizeof *x); /* all bits */
	for (const char *s = text; *s && *s != 'n';)
		if (*s == '_')
			s++;
		else if (read_size(&s, x, e))
			return -1;
	return 0;
}

static void set_default(int64_t *size, int64_t value)
{
	if (*size == UNSET)
		*size = value;
}

/* Is a size there, and more than none? name: of two letters. */
static int need(int64_t size, char first, char second, struct err *e)
{
	if (size == UNSET)
		return err_set(e, "the problem has no %c%c", first, second);
	return size ? 0 : err_set(e, "the size %c%c is 0, but must be 1 or more", first, second);
}

static int is_axis_there(const int64_t a[ALONG])
{
	return a[IN] > 0 || a[OUT] > 0 || a[KERNEL] > 0 || a[DILATION] > 0 || a[PAD] > 0 ||
	       (a[STRIDE] != UNSET && a[STRIDE] != 1);
}

/* Fills in what the text leaves out of an axis that it has: the output follows from the padding, or
 * the padding from the output. */
static int complete_axis(int64_t a[ALONG], char axis, struct err *e)
{
	int64_t window, room;

	set_default(&a[STRIDE], 1);
	set_default(&a[DILATION], 0);
	if (need(a[IN], 'i', axis, e) || need(a[KERNEL], 'k', axis, e) ||
	    need(a[STRIDE], 's', axis, e))
		return -1;
	window = (a[KERNEL] - 1) * (a[DILATION] + 1) + 1; /* below 2^62 */
	if (a[OUT] > 0) {
		int64_t pad = ((a[OUT] - 1) * a[STRIDE] - a[IN] + window) / 2;

		set_default(&a[PAD], pad > 0 ? pad : 0);
		return 0;
	}
	set_default(&a[PAD], 0);
	room = a[IN] - window + 2 * a[PAD];
	if (room < 0)
		return err_set(e, "the kernel is larger along %c than the padded input", axis);
	a[OUT] = room / a[STRIDE] + 1;
	return 0;
}

/* Axes that the text does not name: the lower ones of a cube or a square are as the one above them,
 * and others have nothing. *axes becomes how many there are, from the width up. */
static int complete_axes(struct letters *x, int *axes, struct err *e)
{
	int there[AXES];

	for (int i = 0; i < AXES; i++) {
		there[i] = is_axis_there(x->at[i]);
		if (there[i] && complete_axis(x->at[i], axis_letters[i], e))
			return -1;
	}
	if (!there[0] && !there[1] && !there[2])
		return err_set(e, "the problem has no ih");
	if (there[0] && there[1] != there[2])
		return err_set(e, "the problem has depth, and %s, but no %s",
			       there[1] ? "height" : "width", there[1] ? "width" : "height");
	*axes = there[0] ? 3 : there[1] ? 2 : 1;
	for (int i = AXES - *axes + 1; i < AXES; i++)
		if (!there[i])
			memcpy(x->at[i], x->at[i - 1], sizeof x->at[i]);
	if (*axes == 1) /* an image of one row */
		memcpy(x->at[1], (const int64_t[ALONG]){1, 1, 1, 1, 0, 0}, sizeof x->at[1]);
	return 0;
}

static void put(struct buf *out, char first, char second, int64_t size)
{
	buf_ch(out, first);
	buf_ch(out, second);
	buf_int(out, size);
}

const char *onednn_conv(const char *text, int64_t mb, struct buf *out, struct onednn_shape *shape,
			struct err *e)
{
	struct letters x;
	int axes = 0;

	if (read_letters(text, &x, e) || need(x.ic, 'i', 'c', e) || need(x.oc, 'o', 'c', e))
		return NULL;
	if (complete_axes(&x, &axes, e))
		return NULL;
	set_default(&x.mb, mb);
	set_default(&x.g, 1);
	*shape = (struct onednn_shape){2, {x.mb, x.oc}};
	for (int i = AXES - axes; i < AXES; i++)
		shape->dim[shape->rank++] = x.at[i][OUT];
	put(out, 'm', 'b', x.mb);
	buf_fmt(out, "g%lld", (long long)x.g);
	put(out, 'i', 'c', x.ic);
	put(out, 'o', 'c', x.oc);
	for (int i = axes == 3 ? 0 : 1; i < AXES; i++)
		for (int k = 0; k < ALONG; k++)
			put(out, along_letters[k], axis_letters[i], x.at[i][k]);
	return axes == 3 ? "conv3d" : "conv2d";
}

/* The sizes of the input that one output reads: ic of each position. */
static int64_t inner_size(const struct letters *x, struct err *e)
{
	int64_t k = x->ic, d = x->at[0][IN], h = x->at[1][IN], w = x->at[2][IN];

	if (d > 0 && (h > 0) != (w > 0)) {
		err_set(e, "the problem has depth, but only one of height and width");
		return -1;
	}
	if (d > 0 && h < 1)
		h = w = d;
	else if (h > 0 && w < 1)
		w = h;
	if ((d > 0 && __builtin_mul_overflow(k, d, &k)) ||
	    (h > 0 && __builtin_mul_overflow(k, h, &k)) ||
	    (w > 0 && __builtin_mul_overflow(k, w, &k)) || k > OP_MOST_DIM)
		return err_set(e, "an output reads more than 2^31-1 numbers");
	return k;
}

int onednn_inner_product(const char *text, int64_t mb, struct buf *out, struct onednn_shape *shape,
			 struct err *e)
{
	struct letters x;
	int64_t k;

	if (read_letters(text, &x, e) || need(x.ic, 'i', 'c', e) || need(x.oc, 'o', 'c', e))
		return -1;
	for (int i = 0; i < AXES; i++)
		for (int a = 0; a < ALONG; a++)
			if (a != IN && x.at[i][a] != UNSET)
				return err_set(e, "an inner product has no size %c%c",
					       along_letters[a], axis_letters[i]);
	set_default(&x.mb, mb);
	if (need(x.mb, 'm', 'b', e) || x.g != UNSET)
		return x.g != UNSET ? err_set(e, "an inner product has no groups") : -1;
	k = inner_size(&x, e);
	if (k < 0)
		return -1;
	*shape = (struct onednn_shape){2, {x.mb, x.oc}};
	buf_fmt(out, "%lldx%lld:%lldx%lld", (long long)x.mb, (long long)k, (long long)k,
		(long long)x.oc);
	return 0;
}

int64_t onednn_conv_macs(const char *text, int is_transposed)
{
	struct err e = ERR_INIT;
	struct letters x;
	int64_t n;

	if (read_letters(text, &x, &e) || x.ic < 1 || x.oc < 1)
		return -1;
	set_default(&x.g, 1);
	set_default(&x.mb, 1);
	if (x.g < 1 || __builtin_mul_overflow(x.mb, x.ic, &n) ||
	    __builtin_mul_overflow(n, x.oc, &n))
		return -1;
	for (int i = 0; i < AXES; i++) {
		int64_t kernel = x.at[i][KERNEL], image = x.at[i][is_transposed ? IN : OUT];

		set_default(&kernel, 1);
		set_default(&image, 1);
		if (__builtin_mul_overflow(n, kernel, &n) || __builtin_mul_overflow(n, image, &n))
			return -1;
	}
	return n > 0 ? n / x.g : -1;
}

const char *onednn_name(const char *problem)
{
	const char *s = problem;

	if (isdigit((unsigned char)*s))
		return strchr(s, 'n');
	while (*(s += strspn(s, "_")) && *s != 'n') {
		size_t letters = strspn(s, "abcdefghijklmnopqrstuvwxyz");
		size_t digits = strspn(s + letters, "0123456789");

		if (!letters || !digits)
			return NULL;
		s += letters + digits;
	}
	return *s ? s : NULL;
}

#include "lib/run/arrays.h"

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/extract/graph/element.h"
#include "lib/extract/read/archive.h"
#include "lib/io/file.h"
#include "lib/io/record.h"
#include "lib/io/zip.h"

enum { MAGIC = 10, HEADER_MAX = 1 << 16 };
static const char magic[] = "\x93NUMPY";

/* ---- reading ---- */

/* What stands behind 'KEY': in the header, which is a literal of Python's. NULL: it is not there.
 */
static const char *entry(const char *header, const char *key)
{
	const char *at = strstr(header, key);

	at = at ? strchr(at + strlen(key), ':') : NULL;
	return at ? at + 1 + strspn(at + 1, " ") : NULL;
}

static int parse_shape(const char *s, struct array *a, struct err *e)
{
	a->size = 1;
	if (!s || *s++ != '(')
		return err_set(e, "its header has no shape");
	for (s += strspn(s, " "); *s && *s != ')'; s += strspn(s, ", ")) {
		char *end;
		int64_t d = strtoll(s, &end, 10);

		if (end == s || d < 0 || a->rank == ARRAY_RANK ||
		    __builtin_mul_overflow(a->size, d, &a->size) || a->size > (int64_t)1 << 40)
			return err_set(e, "its header has a shape that is none");
		a->dim[a->rank++] = d;
		s = end;
	}
	return 0;
}

/* Kinds of elements, as the header writes them. */
static const struct kind {
	const char *name;
	int elem;
} kinds[] = {{"<f2", VALUE_F16},  {"<f4", VALUE_F32}, {"<f8", VALUE_F64}, {"<i8", VALUE_I64},
	     {"<i4", VALUE_I32},  {"<i2", VALUE_I16}, {"|i1", VALUE_I8},  {"|u1", VALUE_U8},
	     {"|b1", VALUE_BOOL}, {"<u2", VALUE_U16}, {"<u4", VALUE_U32}, {"<u8", VALUE_U64}};

static int read_elements(struct pull *in, const struct kind *k, struct array *a, struct err *e)
{
	unsigned char block[4096];
	const int64_t size = (int64_t)value_elem_size(k->elem), most = sizeof block / size;
	int64_t cap = 0;

	for (int64_t i = 0; i < a->size;) {
		int64_t n = a->size - i < most ? a->size - i : most;

		if (pull_copy(in, block, (size_t)(n * size), e))
			return -1;
		if (i + n > cap) {
			cap = cap ? 2 * cap : most;
			cap = cap < a->size ? cap : a->size;
			a->data = xrealloc(a->data, (size_t)cap * sizeof *a->data);
		}
		for (int64_t j = 0; j < n; j++, i++) {
			const union scalar x = element_at(k->elem, block, j);

			if (element_is_cut(k->elem, x))
				return err_set(e,
					       "element %lld, about %.0f, is a whole number "
					       "beyond 2^24 that a float does not hold",
					       (long long)i, element_number(k->elem, x));
			a->data[i] = (float)element_number(k->elem, x);
		}
	}
	return 0;
}

/* Are the first bytes those of an array, as far as there are any? */
static int check_magic(struct pull *in, struct err *e)
{
	const size_t whole = sizeof magic - 1;
	const unsigned char *first;
	size_t n;

	if (pull_head(in, &first, &n, e))
		return -1;
	if (!n || memcmp(first, magic, n < whole ? n : whole) != 0)
		return err_set(e,
			       "it is no array of NumPy's, as np.save() and np.savez() write it");
	return 0;
}

static int read_array(struct pull *in, struct array *a, struct err *e)
{
	unsigned char head[MAGIC + 2];
	const struct kind *k = kinds;
	char *header;
	const char *kind, *fortran;
	size_t n;
	int rc = -1;

	if (check_magic(in, e) || pull_copy(in, head, MAGIC, e))
		return -1;
	n = head[8] | (size_t)head[9] << 8;
	if (head[6] > 1) { /* versions 2 and 3: four bytes of length */
		if (pull_copy(in, head + MAGIC, 2, e))
			return -1;
		n |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
	}
	if (n > HEADER_MAX)
		return err_set(e, "its header is longer than %d bytes", HEADER_MAX);
	header = xcalloc(n + 1, 1);
	if (!pull_copy(in, header, n, e)) {
		kind = entry(header, "'descr'");
		fortran = entry(header, "'fortran_order'");
		while (k < kinds + sizeof kinds / sizeof *kinds &&
		       (!kind || strncmp(kind + 1, k->name, 3) != 0))
			k++;
		if (k == kinds + sizeof kinds / sizeof *kinds)
			err_set(e, "its elements are no floats or integers that are read here");
		else if (fortran && !strncmp(fortran, "True", 4))
			err_set(e, "it is in Fortran's order; np.ascontiguousarray() makes it C's");
		else
			rc = parse_shape(entry(header, "'shape'"), a, e);
	}
	free(header);
	return rc ? -1 : read_elements(in, k, a, e);
}

/* An array fills its member. Only at the member's end does an archive look at its checksum. */
static int read_end(struct pull *in, struct err *e)
{
	int rc = pull_fill(in, e);

	return rc > 0 ? err_set(e, "something stands behind the array") : rc;
}

int arrays_read(struct arrays *a, const char *path, struct err *e)
{
	struct input *in;
	struct member *m;
	int rc = -1;

	*a = (struct arrays){0};
	if (file_check("the arrays of", path, e))
		return -1;
	in = input_open(path, NULL, e);
	while (in && (rc = input_next(in, &m, e)) > 0) {
		struct array *one;
		size_t n = strlen(m->name);

		a->array = xrealloc(a->array, (size_t)(a->n + 1) * sizeof *a->array);
		one = &a->array[a->n++];
		*one = (struct array){.name = xstrdup(m->name)};
		a->is_named |= !m->alone;
		if (n > 4 && !strcmp(m->name + n - 4, ".npy"))
			one->name[n - 4] = 0;
		if (read_array(&m->bytes, one, e) || read_end(&m->bytes, e)) {
			err_in(e, "%s", m->label);
			rc = -1;
			break;
		}
	}
	input_close(in);
	if (!rc && !a->n)
		rc = err_set(e, "%s holds no array", path);
	if (rc)
		arrays_free(a);
	return rc;
}

const struct array *arrays_find(const struct arrays *a, const char *name)
{
	for (int i = 0; i < a->n; i++)
		if (!strcmp(a->array[i].name, name))
			return &a->array[i];
	return NULL;
}

void arrays_free(struct arrays *a)
{
	for (int i = 0; i < a->n; i++) {
		free(a->array[i].name);
		free(a->array[i].data);
	}
	free(a->array);
	*a = (struct arrays){0};
}

/* ---- writing ---- */

/* NULL: it is written as floats. */
static const struct kind *whole_kind(const struct array *a)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].elem == a->elem && elem_is_int(a->elem))
			return &kinds[i];
	return NULL;
}

/* Elements as they are written. */
struct written {
	const void *at;
	size_t bytes;
	void *made; /* the caller's to free */
};

/* Returns the nearest element, as 64 bits of which a type has the low ones. A float that rounding
 * took to the type's end, 2^63 of 2^63 - 1, becomes the type's last one. */
static uint64_t whole(const struct kind *k, float v)
{
	const int bits = 8 * (int)value_elem_size(k->elem), is_signed = k->name[1] == 'i';
	const float end = ldexpf(1, bits - is_signed), least = is_signed ? -end : 0;

	if (k->elem == VALUE_BOOL)
		return v != 0;
	if (isnan(v)) /* as NumPy casts */
		return is_signed ? (uint64_t)1 << (bits - 1) : 0;
	if (v >= end)
		return UINT64_MAX >> (64 - bits + is_signed);
	v = v < least ? least : v;
	return v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
}

static struct written written(const struct array *a)
{
	const struct kind *k = whole_kind(a);
	const size_t n = (size_t)a->size, size = k ? value_elem_size(k->elem) : sizeof *a->data;
	struct written w = {a->data, n * size, NULL};

	if (!k)
		return w;
	w.at = w.made = xcalloc(n ? n : 1, size);
	for (size_t i = 0; i < n; i++) {
		const uint64_t x = whole(k, a->data[i]);

		memcpy((char *)w.made + i * size, &x, size);
	}
	return w;
}

/* Magic, version 1, and the header, filled up to a multiple of 64 bytes. */
static void print_header(const struct array *a, struct buf *out)
{
	const struct kind *k = whole_kind(a);
	size_t n;

	buf_add(out, magic, 6);
	buf_add(out, "\x01\x00\x00\x00", 4);
	buf_fmt(out, "{'descr': '%s', 'fortran_order': False, 'shape': (", k ? k->name : "<f4");
	for (int i = 0; i < a->rank; i++)
		buf_fmt(out, "%lld,%s", (long long)a->dim[i], i + 1 < a->rank ? " " : "");
	buf_str(out, "), }");
	while ((out->n + 1) % 64)
		buf_ch(out, ' ');
	buf_ch(out, '\n');
	n = out->n - MAGIC;
	out->s[8] = (char)(n & 255);
	out->s[9] = (char)(n >> 8);
}

static int write_one(FILE *f, arrays_next *next, void *ctx, struct err *e)
{
	struct buf header = BUF_INIT;
	struct array a = {0};
	int rc = next(ctx, 0, &a, e);

	if (!rc) {
		struct written w = written(&a);

		print_header(&a, &header);
		if (fwrite(header.s, 1, header.n, f) != header.n ||
		    fwrite(w.at, 1, w.bytes, f) != w.bytes)
			rc = err_sys(e, "cannot write an array");
		free(w.made);
	}
	buf_free(&header);
	return rc;
}

static int write_all(FILE *f, int n, arrays_next *next, void *ctx, struct err *e)
{
	struct zip z;
	int rc = 0;

	zip_begin(&z, f);
	for (int i = 0; !rc && i < n; i++) {
		struct buf header = BUF_INIT, name = BUF_INIT;
		struct array a = {0};

		rc = next(ctx, i, &a, e);
		if (!rc) {
			struct written w = written(&a);

			print_header(&a, &header);
			buf_fmt(&name, "%s.npy", a.name);
			rc = zip_add(
				&z, name.s,
				(const struct zip_part[]){{header.s, header.n}, {w.at, w.bytes}}, 2,
				e);
			free(w.made);
		}
		buf_free(&header);
		buf_free(&name);
	}
	if (!rc)
		rc = zip_end(&z, e);
	zip_free(&z);
	return rc;
}

/* The bytes of all arrays, by a stream of its own. */
static int write_arrays(int fd, int is_npy, int n, arrays_next *next, void *ctx, struct err *e)
{
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "wb");
	int rc;

	if (!f) {
		rc = err_sys(e, "cannot write arrays");
		if (copy >= 0)
			close(copy);
		return rc;
	}
	rc = is_npy ? write_one(f, next, ctx, e) : write_all(f, n, next, ctx, e);
	if (!rc && (fflush(f) || ferror(f)))
		rc = err_sys(e, "cannot write arrays");
	if (fclose(f) && !rc)
		rc = err_sys(e, "cannot write arrays");
	return rc;
}

/* An .npy, or an .npz, which is a zip file. */
static int is_arrays(const char *head, size_t n)
{
	return (n >= sizeof magic - 1 && !memcmp(head, magic, sizeof magic - 1)) ||
	       (n >= 4 && !memcmp(head, "PK\3\4", 4));
}

int arrays_write(const char *path, int n, arrays_next *next, void *ctx, struct err *e)
{
	size_t len = strlen(path);
	int is_npy = len > 4 && !strcmp(path + len - 4, ".npy"), rc;
	struct rec_out *out;

	if (is_npy && n != 1)
		return err_set(e, "%s can hold one array, and there are %d: .npz holds more", path,
			       n);
	out = rec_create_as(path, is_arrays, e);
	if (!out)
		return -1;
	rc = write_arrays(rec_out_fd(out), is_npy, n, next, ctx, e);
	if (rc)
		err_in(e, "%s", path);
	else
		rc = rec_commit(out, e);
	rec_discard(out);
	return rc;
}

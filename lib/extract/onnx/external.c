#include "lib/extract/onnx/external.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io/file.h"

static int number(const char *s, int64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoll(s, &end, 10);
	return errno || end == s || *end || *v < 0 ? -1 : 0;
}

static int take(struct external *x, const char *key, const char *value, struct err *e)
{
	if (!strcmp(key, "location"))
		x->location = value;
	else if ((!strcmp(key, "offset") && number(value, &x->offset)) ||
		 (!strcmp(key, "length") && number(value, &x->length)))
		return err_set(e, "a tensor in another file has the %s '%s'", key, value);
	return 0;
}

int external_parse(struct wire *w, const struct wire_field *f, void *external, struct err *e)
{
	struct proto_pair pair;

	return proto_pair(w, f, &pair, e) ? -1 : take(external, pair.key, pair.value, e);
}

/* No model may name files elsewhere. */
static int is_inside(const char *location)
{
	if (*location == '/' || !*location)
		return 0;
	for (const char *s = location; s; s = strchr(s, '/')) {
		s += *s == '/';
		if (!strncmp(s, "..", 2) && (!s[2] || s[2] == '/'))
			return 0;
	}
	return 1;
}

static int read_file(const char *path, const struct external *x, int must, struct value *v,
		     size_t bytes, struct err *e)
{
	int fd = file_open("the weights in", path, e), rc;
	void *to;

	if (fd < 0 && errno == ENOENT && !must)
		return 0;
	if (fd < 0)
		return err_in(e, "the elements of '%s'", v->name);
	to = value_room(v, bytes);
	rc = to ? file_read_at(fd, to, bytes, x->offset, path, e)
		: err_set(e, "there is no memory for a tensor of %zu bytes", bytes);
	if (!rc)
		rc = err_set(e, "%s ends within a tensor", path);
	close(fd);
	return rc < 0 ? -1 : 0;
}

int external_read(const struct external *x, const char *folder, int must, struct value *v,
		  struct err *e)
{
	const size_t bytes = value_elems_size(v->elem, shape_count(&v->shape));
	struct buf path = BUF_INIT;
	int rc;

	if (!folder && !must)
		return 0;
	if (!folder)
		return err_set(e,
			       "the elements of '%s' are in another file, which is looked for "
			       "beside a model alone, not in an archive",
			       v->name);
	if (!x->location || !is_inside(x->location))
		return err_set(
			e, "the elements of '%s' are in a file that is not beside the model: '%s'",
			v->name, x->location ? x->location : "");
	if (!bytes)
		return 0;
	if (x->length >= 0 && (size_t)x->length != bytes)
		return err_set(e,
			       "the tensor '%s' has %lld bytes, which is not what its shape says",
			       v->name, (long long)x->length);
	buf_fmt(&path, "%s/%s", folder, x->location);
	rc = read_file(path.s, x, must, v, bytes, e);
	buf_free(&path);
	return rc;
}

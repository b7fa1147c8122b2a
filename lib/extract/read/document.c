#include "lib/extract/read/document.h"

#include <string.h>

enum { LARGEST = 64 << 20 };

int document_text(struct buf *text, struct id *hash, struct pull *in, const char *what,
		  struct err *e)
{
	int r;

	while ((r = pull_fill(in, e)) > 0) {
		size_t n = (size_t)(in->end - in->at);

		if (text->n + n > LARGEST)
			return err_set(e, "it is %s of more than %d MB", what, LARGEST >> 20);
		buf_add(text, in->at, n);
		in->at = in->end;
	}
	if (r < 0)
		return -1;
	buf_str(text, "");
	hash_id(hash, text->s, text->n);
	return 0;
}

static int parse(struct document *d, struct err *e)
{
	d->json.foreign = 1;
	return json_parse(&d->json, d->text.s, d->text.n, e) < 0 ? -1 : 0;
}

int document_read(struct document *d, struct pull *in, struct err *e)
{
	*d = (struct document){.json = JSON_DOC_INIT};
	return document_text(&d->text, &d->hash, in, "JSON", e) || parse(d, e) ? -1 : 0;
}

int document_parse(struct document *d, struct err *e)
{
	hash_id(&d->hash, d->text.s, d->text.n);
	return parse(d, e);
}

void document_free(struct document *d)
{
	json_free(&d->json);
	buf_free(&d->text);
}

int document_begins(const unsigned char *head, size_t n, const char *text)
{
	size_t i = 0;

	while (i < n && strchr(" \t\r\n", head[i]) && head[i])
		i++;
	return i < n && head[i] == '{' && memmem(head, n, text, strlen(text)) != NULL;
}

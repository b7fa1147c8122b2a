/* Bytes as text (RFC 4648, with padding). */
#ifndef TL_BASE_BASE64_H
#define TL_BASE_BASE64_H

#include <stddef.h>

#include "lib/base/buf.h"

void base64_encode(const void *bytes, size_t n, struct buf *out); /* appends */
int base64_decode(const char *text, size_t n, struct buf *out);	  /* appends; -1: it is none */

#endif

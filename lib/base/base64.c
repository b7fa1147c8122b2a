#include "lib/base/base64.h"

#include <nettle/base64.h>

void base64_encode(const void *bytes, size_t n, struct buf *out)
{
	buf_reserve(out, BASE64_ENCODE_RAW_LENGTH(n));
	base64_encode_raw(out->s + out->n, n, bytes);
	out->n += BASE64_ENCODE_RAW_LENGTH(n);
	out->s[out->n] = 0;
}

int base64_decode(const char *text, size_t n, struct buf *out)
{
	struct base64_decode_ctx ctx;
	size_t got;

	buf_reserve(out, BASE64_DECODE_LENGTH(n));
	base64_decode_init(&ctx);
	if (!base64_decode_update(&ctx, &got, (uint8_t *)out->s + out->n, n, text) ||
	    !base64_decode_final(&ctx))
		return -1;
	out->n += got;
	out->s[out->n] = 0;
	return 0;
}

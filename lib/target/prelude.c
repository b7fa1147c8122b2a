/* The preludes (simt.h), which lie in files of their own: prelude/. */
#include <assert.h>
#include <stdio.h>

#include "lib/target/simt.h"

/* The text of a file, which the assembler puts into the object. */
#define FILE_TEXT(NAME, FILE)                                                                      \
	extern const char NAME[];                                                                  \
	__asm__(".pushsection .rodata\n" #NAME ":\n.incbin \"lib/target/prelude/" FILE             \
		"\"\n.byte 0\n.popsection")

FILE_TEXT(prelude_cuda, "cuda.cu");
FILE_TEXT(prelude_cuda_tiles, "cuda_tiles.cu");
FILE_TEXT(prelude_opencl, "opencl.cl");
FILE_TEXT(prelude_opencl_tiles, "opencl_tiles.cl");
FILE_TEXT(prelude_common, "common.inc");

enum { PRELUDE_MAX = 32768 };

static const char *join(char text[PRELUDE_MAX], const char *words, const char *tiles)
{
	int n = snprintf(text, PRELUDE_MAX, "%s%s%s", words, prelude_common, tiles);

	assert(n < PRELUDE_MAX);
	(void)n;
	return text;
}

const char *simt_prelude_cuda(void)
{
	static char text[PRELUDE_MAX];

	return join(text, prelude_cuda, prelude_cuda_tiles);
}

const char *simt_prelude_opencl(void)
{
	static char text[PRELUDE_MAX];

	return join(text, prelude_opencl, prelude_opencl_tiles);
}

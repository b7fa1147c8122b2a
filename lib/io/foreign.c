#include "lib/io/foreign.h"

#include <string.h>
#include <strings.h>

static const char archive[] =
	"this is an archive, or compressed; tl-extract reads models in it, and "
	"zcat or zstdcat unpacks records";

static const struct {
	size_t at;
	const char *bytes;
	size_t n;
	const char *hint;
} known[] = {
#define AT(at, bytes, hint)                                                                        \
	{                                                                                          \
		at, bytes, sizeof bytes - 1, hint                                                  \
	}
	AT(30, "archive/data.pkl",
	   "this is a file of PyTorch's, with pickled weights; torch.onnx.export() makes an ONNX "
	   "model of the network, which tl-extract reads"),
	AT(0, "\x1f\x8b", archive),
	AT(0, "\x28\xb5\x2f\xfd", archive),
	AT(0,
	   "\xfd"
	   "7zXZ",
	   archive),
	AT(0, "BZh", archive),
	AT(0, "PK\x03\x04", archive),
	AT(257, "ustar", archive),
	AT(0, "SQLite format 3", "this is a database; programs that use one take it by -d FILE"),
	AT(0, "GGUF", "this is a GGUF model, which is not read; tl-extract reads ONNX"),
	AT(4, "TFL3",
	   "this is a TFLite model, which is not read; tl-extract reads ONNX, which "
	   "tf2onnx makes"),
	AT(0, "\x89HDF",
	   "this is an HDF5 file, as Keras writes, which is not read; tl-extract reads "
	   "ONNX, which tf2onnx makes"),
	AT(0, "version https://git-lfs",
	   "this is a pointer of Git LFS, not the file; `git lfs pull` fetches it"),
	AT(0, "op,prob", "this is a list of operators; tl-extract makes workload records of it"),
#undef AT
};

/* An ONNX model begins with its version, a small number, and then with a text or the graph. */
static int is_onnx(const char *s, size_t n)
{
	return n > 4 && s[0] == 8 && s[1] > 0 && s[1] < 32 &&
	       (s[2] == 0x12 || s[2] == 0x1a || s[2] == 0x22 || s[2] == 0x3a);
}

static int is_page(const char *s, size_t n)
{
	return (n >= 9 && !strncasecmp(s, "<!doctype", 9)) ||
	       (n >= 5 && !strncasecmp(s, "<html", 5));
}

const char *foreign_hint(const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (n >= known[i].at + known[i].n &&
		    !memcmp(s + known[i].at, known[i].bytes, known[i].n))
			return known[i].hint;
	if (is_onnx(s, n))
		return "this is an ONNX model; tl-extract reads it";
	return is_page(s, n) ? "this is a web page; what was to be downloaded is behind it" : NULL;
}

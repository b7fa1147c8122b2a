#include "lib/io/foreign.h"

#include <string.h>
#include <strings.h>

struct mark {
	size_t at;
	const char *bytes;
	size_t n;
	const char *hint;
};

#define AT(at, bytes, hint)                                                                        \
	{                                                                                          \
		at, bytes, sizeof bytes - 1, hint                                                  \
	}

static const char torch[] =
	"this is a file of PyTorch's, with pickled weights, which is not read; in Python, "
	"torch.export.save(torch.export.export(network, (example,)), 'network.pt2') writes what "
	"tl-extract reads, and torch.onnx.export(network, (example,), 'network.onnx') an ONNX model";
static const char torch_script[] =
	"this is a TorchScript program of PyTorch's, which is not read; in Python, "
	"torch.onnx.export(torch.jit.load('FILE'), (example,), 'network.onnx', dynamo=False) makes "
	"an ONNX model of it";
static const char torch_archive[] =
	"this is a .pt2 archive of PyTorch's, in which tl-extract reads programs of torch.export; in "
	"Python, torch.onnx.export(torch.export.load('FILE'), f='network.onnx') makes an ONNX model "
	"of one";
static const char saved_model[] =
	"this is a model of TensorFlow's; tl-extract reads it, and tf2onnx makes an ONNX model of it";
static const char keras[] =
	"this is an HDF5 file, the form in which older versions of Keras save models; tl-extract reads "
	"the layers of a model in it, and tf2onnx makes an ONNX model of it";
static const char keras_archive[] =
	"this is a .keras archive; tl-extract reads it, and model.export('network.onnx', format='onnx') "
	"in Python makes an ONNX model of it";

static const char mxnet[] =
	"this is of a network of MXNet's, which is not read; in Python, "
	"mxnet.onnx.export_model(symbol, parameters, ...) makes an ONNX model of it";

/* What no program reads. */
static const struct mark unread[] = {
	AT(0, "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", torch),
	AT(0, "version https://git-lfs",
	   "this is a pointer of Git LFS, not the file; `git lfs pull` fetches it"),
	AT(0, "\x12\x01\0\0\0\0\0\0", mxnet), /* parameters */
	AT(0, "{\n  \"nodes\": [", mxnet),    /* symbols */
	AT(0, "SQLite format 3", "this is a database; programs that use one take it by -d FILE"),
	AT(0, "\xff\xfe", "this text is in UTF-16; `iconv -f UTF-16 -t UTF-8` makes UTF-8 of it"),
};

static const char archive[] =
	"this is an archive, or compressed; tl-extract reads models in it, and zcat or zstdcat "
	"unpacks records";

/* What is read, but not where records are wanted. */
static const struct mark no_records[] = {
	AT(0, "\x89HDF", keras),
	AT(0, "\x1f\x8b", archive),
	AT(0, "\x28\xb5\x2f\xfd", archive),
	AT(0,
	   "\xfd"
	   "7zXZ",
	   archive),
	AT(0, "BZh", archive),
	AT(0, "PK\x03\x04", archive),
	AT(257, "ustar", archive),
	AT(0, "\x93NUMPY", "this is an array of NumPy's; tl-run takes it by --input"),
	AT(4, "TFL3", "this is a TFLite model; tl-extract reads it"),
	AT(0, "GGUF", "this is a GGUF model; tl-extract reads it"),
	AT(0, "op,prob", "this is a list of operators; tl-extract makes workload records of it"),
	AT(0, "\xef\xbb\xbf",
	   "this begins with a byte-order mark, which records do not have; `tail -c +4` leaves it "
	   "out"),
	AT(0, "{\n", "this JSON goes over several lines; `jq -c .` makes a line of each record"),
	AT(0, "[\n", "this is a list in JSON; `jq -c '.[]'` makes a line of each record in it"),
	AT(0, "[{", "this is a list in JSON; `jq -c '.[]'` makes a line of each record in it"),
};

#undef AT

static const char *find(const struct mark *m, size_t count, const char *s, size_t n)
{
	for (size_t i = 0; i < count; i++)
		if (n >= m[i].at + m[i].n && !memcmp(s + m[i].at, m[i].bytes, m[i].n))
			return m[i].hint;
	return NULL;
}

/* An ONNX model begins with its version, a small number, and then with a text or the graph. */
static int is_onnx(const char *s, size_t n)
{
	return n > 4 && s[0] == 8 && s[1] > 0 && s[1] < 32 &&
	       (s[2] == 0x12 || s[2] == 0x1a || s[2] == 0x22 || s[2] == 0x3a || s[2] == 0x42);
}

static int is_page(const char *s, size_t n)
{
	while (n && (*s == ' ' || *s == '\t' || *s == '\r' || *s == '\n')) {
		s++;
		n--;
	}
	return (n >= 9 && !strncasecmp(s, "<!doctype", 9)) ||
	       (n >= 5 && !strncasecmp(s, "<html", 5));
}

/* A zip file whose first member is NETWORK/data.pkl. */
static int is_torch(const char *s, size_t n)
{
	enum { NAME_SIZE = 26, NAME = 30 };
	size_t size;

	if (n < NAME || memcmp(s, "PK\x03\x04", 4) != 0)
		return 0;
	size = (unsigned char)s[NAME_SIZE] | (size_t)(unsigned char)s[NAME_SIZE + 1] << 8;
	return size >= 9 && n >= NAME + size && !memcmp(s + NAME + size - 9, "/data.pkl", 9);
}

/* A length in 8 bytes, and then a table in JSON. */
static int is_safetensors(const char *s, size_t n)
{
	return n > 10 && !memcmp(s + 5, "\0\0\0{\"", 5);
}

const char *foreign_hint(const char *s, size_t n)
{
	const char *hint = find(unread, sizeof unread / sizeof *unread, s, n);

	if (hint)
		return hint;
	if (is_page(s, n))
		return "this is a web page; what was to be downloaded is behind it";
	if (is_torch(s, n))
		return torch;
	return is_safetensors(s, n) ? "these are weights alone (safetensors), without the network; "
				      "an exporter to ONNX writes both"
				    : NULL;
}

const char *foreign_to_records(const char *s, size_t n)
{
	const char *hint = foreign_hint(s, n);

	if (!hint)
		hint = find(no_records, sizeof no_records / sizeof *no_records, s, n);
	return hint || !is_onnx(s, n) ? hint : "this is an ONNX model; tl-extract reads it";
}

const char *foreign_treasure(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < ' ' && !strchr("\t\n\r", s[i] ? s[i] : 1))
			return foreign_to_records(s, n);
	return NULL;
}

const char *foreign_member(const char *name, const char *before)
{
	static const struct {
		const char *name, *hint;
	} known[] = {
		{"data.pkl", torch},
		{"constants.pkl", torch_script}, /* behind a data.pkl */
		{"archive_format", torch_archive},
		{"saved_model.pb", saved_model},
		{"model.weights.h5", keras_archive},
	};
	const char *slash = strrchr(name, '/');

	if (before && before != torch)
		return before;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(slash ? slash + 1 : name, known[i].name))
			return known[i].hint;
	return before;
}

/* A stand-in for NVRTC, libnvrtc.so.12, for tests: it compiles CUDA C for this processor, by clang
 * or, where there is none, by g++.
 *
 * What it makes instead of a cubin is a shared object for the stand-in driver (cuda.c). Each kernel
 * NAME has a function NAME_emulated(void **params) there, NAME_sizes(unsigned *size), which tells
 * the bytes of each parameter and returns how many there are, and NAME_threads, its launch bound.
 * The source is preprocessed with the words of CUDA C in front of it (language.h). In what comes
 * out of that, the few words are seen to that are no C++: kernels are found, and dynamic memory of
 * a block becomes a pointer. Then it is compiled, with checks of alignment, as a device has them.
 * The source goes along in a section of its own, cuda_source, for tests that want to spoil it.
 * What was compiled once is kept (kept.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "tests/emulator/kept.h"

/* Programs declare these functions for themselves. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define API __attribute__((visibility("default")))

extern char **environ;

enum result { SUCCESS = 0, INVALID_INPUT = 3, INVALID_OPTION = 5, COMPILATION = 6, INTERNAL = 11 };

struct program {
	struct buf source, log, object;
};

/* A version that NVRTC will hardly have. */
API int nvrtcVersion(int *major, int *minor)
{
	*major = 99;
	*minor = 0;
	return SUCCESS;
}

API const char *nvrtcGetErrorString(int result)
{
	switch (result) {
	case SUCCESS:
		return "NVRTC_SUCCESS";
	case INVALID_INPUT:
		return "NVRTC_ERROR_INVALID_INPUT";
	case INVALID_OPTION:
		return "NVRTC_ERROR_INVALID_OPTION";
	case COMPILATION:
		return "NVRTC_ERROR_COMPILATION";
	case INTERNAL:
		return "NVRTC_ERROR_INTERNAL_ERROR";
	default:
		return "NVRTC_ERROR unknown";
	}
}

API int nvrtcCreateProgram(struct program **p, const char *source, const char *name, int n,
			   const char *const *headers, const char *const *names)
{
	(void)name, (void)headers, (void)names;
	if (n)
		return INVALID_INPUT;
	*p = calloc(1, sizeof **p);
	if (!*p)
		return INTERNAL;
	buf_str(&(*p)->source, source);
	return SUCCESS;
}

API int nvrtcDestroyProgram(struct program **p)
{
	buf_free(&(*p)->source);
	buf_free(&(*p)->log);
	buf_free(&(*p)->object);
	free(*p);
	*p = NULL;
	return SUCCESS;
}

/* ---- files and commands ---- */

/* The files of a compilation. They lie side by side, so that whoever clears a folder up removes
 * them where a compilation was killed. */
struct files {
	char stem[300], source[320], text[320], object[320], log[320];
};

static int files_open(struct files *f)
{
	const char *where = getenv("TMPDIR");
	int fd;

	snprintf(f->stem, sizeof f->stem, "%s/emulated-XXXXXX", where ? where : "/tmp");
	fd = mkstemp(f->stem);
	if (fd < 0)
		return -1;
	close(fd);
	snprintf(f->source, sizeof f->source, "%s.cu", f->stem);
	snprintf(f->text, sizeof f->text, "%s.ii", f->stem);
	snprintf(f->object, sizeof f->object, "%s.out", f->stem);
	snprintf(f->log, sizeof f->log, "%s.log", f->stem);
	return 0;
}

static void files_close(const struct files *f)
{
	unlink(f->source);
	unlink(f->text);
	unlink(f->object);
	unlink(f->log);
	unlink(f->stem);
}

/* Runs a command; what it says goes to the log. Its status, or -1. */
static int command(char *const *argv, const struct files *f, struct buf *log)
{
	posix_spawn_file_actions_t files;
	int status = -1;
	pid_t pid;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 2, f->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (posix_spawnp(&pid, argv[0], &files, NULL, argv, environ) == 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	posix_spawn_file_actions_destroy(&files);
	if (status == -1)
		return -1;
	file_take(f->log, log);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *compiler(void)
{
	static const char *const names[] = {"clang", "clang-14", NULL};
	const char *path = getenv("PATH");
	struct buf file = BUF_INIT;

	while (path && *path) {
		const size_t n = strcspn(path, ":");

		for (int i = 0; names[i]; i++) {
			int there;

			buf_clear(&file);
			buf_add(&file, path, n);
			buf_fmt(&file, "/%s", names[i]);
			there = access(file.s, X_OK) == 0;
			if (there) {
				buf_free(&file);
				return names[i];
			}
		}
		path += n + (path[n] == ':');
	}
	buf_free(&file);
	return "g++";
}

/* ---- the words that are no C++ ---- */

static int is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Where a word stands as a word; NULL: nowhere. */
static const char *find_word(const char *text, const char *word)
{
	const size_t n = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += n)
		if ((p == text || !is_word(p[-1])) && !is_word(p[n]))
			return p;
	return NULL;
}

/* Behind `__align__(N)`, which the preprocessor has made alignas(N), if there is one. */
static const char *behind_align(const char *p)
{
	const char *word = p + strspn(p, " ");

	return strncmp(word, "alignas(", 8) == 0 ? word + strcspn(word, ")") + 1 : p;
}

/* `extern __shared__ TYPE NAME[];` becomes a macro for the pointer that the driver has set. It
 * stands at a multiple of 16 alone, whatever the source asks for: the end is guarded. */
static void replace_memory(const char *text, struct buf *out)
{
	static const char words[] = "extern __shared__";
	const char *p;

	while ((p = find_word(text, words))) {
		const char *type = behind_align(p + sizeof words - 1), *bracket = strchr(type, '[');
		const char *end = bracket ? strchr(bracket, ';') : NULL, *name = bracket;

		if (!end)
			break;
		while (name > type && !is_word(name[-1]))
			name--;
		bracket = name;
		while (name > type && is_word(name[-1]))
			name--;
		buf_add(out, text, (size_t)(p - text));
		buf_fmt(out, "\n#define %.*s ((%.*s *)emulator.shared)\n", (int)(bracket - name),
			name, (int)(name - type), type);
		text = end + 1;
	}
	buf_str(out, text);
}

/* What lies between the parenthesis at p and the one that closes it, which is returned. */
static const char *closing(const char *p)
{
	int depth = 0;

	for (; *p; p++) {
		depth += (*p == '(') - (*p == ')');
		if (*p == ')' && !depth)
			return p;
	}
	return p;
}

/* A kernel, from the word __global__ on: what stands before its first parenthesis that is not of
 * __launch_bounds__ is its name. */
static const char *add_kernel(const char *p, struct buf *out)
{
	static const char bounds[] = "__launch_bounds__";
	const char *name = NULL, *bound = "1024";
	int n = 0, nbound = 4;

	for (; *p && *p != ';' && *p != '{'; p++) {
		if (is_word(*p)) {
			name = p;
			while (is_word(p[1]))
				p++;
			n = (int)(p + 1 - name);
			continue;
		}
		if (*p != '(' || !name)
			continue;
		if (n != sizeof bounds - 1 || strncmp(name, bounds, sizeof bounds - 1) != 0)
			break;
		bound = p + 1;
		p = closing(p);
		nbound = (int)(p - bound);
		nbound = (int)strcspn(bound, ",") < nbound ? (int)strcspn(bound, ",") : nbound;
	}
	if (*p == '(')
		buf_fmt(out,
			"\nextern \"C\" EMULATOR_API void %.*s_emulated(void **p)\n"
			"{ emulator_call(%.*s, p); }\n"
			"extern \"C\" EMULATOR_API int %.*s_sizes(unsigned *size)\n"
			"{ return emulator_sizes(%.*s, size); }\n"
			"extern \"C\" EMULATOR_API const int %.*s_threads = %.*s;\n",
			n, name, n, name, n, name, n, name, n, name, nbound, bound);
	return p;
}

static void complete(const char *text, struct buf *out)
{
	static const char word[] = "__global__";

	replace_memory(text, out);
	for (const char *p = text; (p = find_word(p, word));)
		p = add_kernel(p + sizeof word - 1, out);
}

/* ---- compiling ---- */

static int preprocess(struct program *p, const char *arch, const struct files *f, struct buf *out)
{
	char architecture[64];
	const char *const argv[] = {
		compiler(),   "-E",	      "-P",	 "-x",	     "c++",
		"-w",	      "-std=gnu++14", "-I" TREE, "-include", "tests/emulator/language.h",
		architecture, f->source,      "-o",	 f->text,    NULL};
	int rc;

	snprintf(architecture, sizeof architecture, "-D__CUDA_ARCH__=%d0", atoi(arch));
	if (file_put(f->source, &p->source) < 0)
		return INTERNAL;
	rc = command((char *const *)argv, f, &p->log);
	if (rc < 0 || (!rc && file_take(f->text, out) < 0))
		return INTERNAL;
	return rc ? COMPILATION : SUCCESS;
}

static int compile_anew(struct program *p, const char *text, const char *const *argv,
			const struct files *f)
{
	struct buf whole = BUF_INIT;
	int rc;

	complete(text, &whole);
	buf_fmt(&whole,
		"\n__asm__(\".section cuda_source,\\\"\\\",@progbits\\n"
		".incbin \\\"%s\\\"\\n.previous\\n\");\n",
		f->source);
	rc = file_put(f->text, &whole);
	buf_free(&whole);
	if (rc == 0)
		rc = command((char *const *)argv, f, &p->log);
	if (rc < 0)
		return INTERNAL;
	return rc ? COMPILATION : file_take(f->object, &p->object) < 0 ? INTERNAL : SUCCESS;
}

/* Kept under its command, the source and what the preprocessor made of it. */
static int compile(struct program *p, const char *text, const struct files *f)
{
	static const char api[] = "-DEMULATOR_API=__attribute__((visibility(\"default\")))";
	const char *const argv[] = {compiler(),
				    "-x",
				    "c++",
				    "-w",
				    "-O1",
				    "-std=gnu++14",
				    "-fPIC",
				    "-shared",
				    "-fvisibility=hidden",
				    "-fno-exceptions",
				    "-fno-rtti",
				    "-fno-math-errno",
				    "-fsanitize=alignment",
				    "-fsanitize-undefined-trap-on-error",
				    api,
				    "-D__global__=",
				    "-D__launch_bounds__(...)=",
				    "-D__shared__=static",
				    f->text,
				    "-lm",
				    "-o",
				    f->object,
				    NULL};
	struct buf whole = BUF_INIT, kept = BUF_INIT;
	int rc;

	for (int i = 0; argv[i] != f->text; i++)
		buf_fmt(&whole, "// %s\n", argv[i]);
	buf_add(&whole, p->source.s, p->source.n);
	buf_str(&whole, text);
	kept_path(&whole, &kept);
	if (kept.n && file_take(kept.s, &p->object) == 0)
		rc = 0;
	else if ((rc = compile_anew(p, text, argv, f)) == 0 && kept.n)
		kept_put(&kept, &p->object);
	buf_free(&whole);
	buf_free(&kept);
	return rc;
}

/* "90" of --gpu-architecture=sm_90. NULL: another option. */
static const char *arch_of(const char *option)
{
	static const char words[] = "--gpu-architecture=sm_";

	return strncmp(option, words, sizeof words - 1) == 0 ? option + sizeof words - 1 : NULL;
}

API int nvrtcCompileProgram(struct program *p, int n, const char *const *options)
{
	const char *arch = NULL;
	struct buf text = BUF_INIT;
	struct files f;
	int rc;

	for (int i = 0; i < n; i++)
		arch = arch_of(options[i]) ? arch_of(options[i]) : arch;
	if (!arch || atoi(arch) < 50)
		return INVALID_OPTION;
	if (files_open(&f) < 0)
		return INTERNAL;
	rc = preprocess(p, arch, &f, &text);
	if (!rc)
		rc = compile(p, text.s ? text.s : "", &f);
	files_close(&f);
	buf_free(&text);
	return rc;
}

/* ---- results ---- */

API int nvrtcGetProgramLogSize(struct program *p, size_t *n)
{
	*n = p->log.n + 1;
	return SUCCESS;
}

API int nvrtcGetProgramLog(struct program *p, char *text)
{
	memcpy(text, p->log.s ? p->log.s : "", p->log.n + 1);
	return SUCCESS;
}

API int nvrtcGetCUBINSize(struct program *p, size_t *n)
{
	*n = p->object.n;
	return SUCCESS;
}

API int nvrtcGetCUBIN(struct program *p, char *bytes)
{
	memcpy(bytes, p->object.s, p->object.n);
	return SUCCESS;
}

#include "lib/export/prefix.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 32 };

/* Words between blanks. The prefix is the name of a struct: keywords of C and C++, which may
 * include the header, and macros that compilers define. */
static const char keywords[] =
	" alignas alignof and asm auto bitand bitor bool break case catch char class compl concept "
	"const constexpr continue default delete do double dynamic else enum explicit export extern "
	"false final float for friend goto if import inline int linux long module mutable namespace "
	"new noexcept not nullptr operator or override private protected public register requires "
	"restrict return short signed sizeof static struct switch template this throw true try "
	"typedef typeid typename typeof union unix unsigned using virtual void volatile while xor "
	"i386 unsigned wchar_t char8_t char16_t char32_t and_eq or_eq not_eq xor_eq const_cast "
	"dynamic_cast static_cast reinterpret_cast static_assert thread_local decltype co_await "
	"co_return co_yield consteval constinit typeof_unqual ";

/* A header of this name would be found in the place of the system's. */
static const char headers[] =
	" aio alloca argp argz assert byteswap complex cpio ctype dirent dlfcn elf endian err errno "
	"error fcntl features fenv float fnmatch ftw getopt glob gnumake grp iconv immintrin inttypes "
	"iso646 langinfo libgen limits link locale malloc math memory monetary mqueue netdb nmmintrin "
	"omp poll pthread pwd regex sched search semaphore setjmp signal spawn stdalign stdarg "
	"stdatomic stdbool stdckdint stdbit stddef stdint stdio stdlib stdnoreturn string strings "
	"stropts syscall syslog tar termios tgmath threads time ucontext ulimit unistd utime utmpx "
	"values wchar wctype wordexp x86intrin xmmintrin emmintrin avxintrin ";

/* Other files in the folder, and libraries that are linked to (-lm), have these names. */
static const char others[] = " test example bench_kernels c m dl rt gcc gomp pthread ";

static int is_among(const char *words, const char *prefix)
{
	char word[LONGEST + 3];

	snprintf(word, sizeof word, " %s ", prefix);
	return strstr(words, word) != NULL;
}

/* Has the C library a function that the exported one would have, such as timer_create()? */
static int is_of_libc(const char *prefix)
{
	static const char *const function[] = {
		"at",	     "count",	    "create",	"create_for",	"destroy",
		"find",	     "kernel_name", "run",	"run_data",	"run_in",
		"kernel_of", "team_start",  "team_run", "scratch_bytes"};
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	int found = 0;

	for (size_t i = 0; libc && i < sizeof function / sizeof *function; i++) {
		char name[64];

		snprintf(name, sizeof name, "%s_%s", prefix, function[i]);
		found |= dlsym(libc, name) != NULL;
	}
	if (libc)
		dlclose(libc);
	return found;
}

const char *prefix_why(const char *prefix)
{
	size_t n = strlen(prefix);
	int good = n > 0 && n <= LONGEST && islower((unsigned char)*prefix);

	for (size_t i = 0; i < n; i++)
		good &= islower((unsigned char)prefix[i]) || isdigit((unsigned char)prefix[i]) ||
			prefix[i] == '_';
	if (!good)
		return "a name in C of lower-case letters, digits and underscores";
	if (is_among(keywords, prefix))
		return "a name that is no word of C or C++";
	if (is_among(headers, prefix))
		return "a name other than that of a header of the system";
	if (is_among(others, prefix))
		return "a name other than that of a file in the folder or of a system's library";
	return is_of_libc(prefix) ? "a name that the functions of the C library do not begin with"
				  : NULL;
}

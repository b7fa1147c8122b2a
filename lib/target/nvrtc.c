#include "lib/target/nvrtc.h"

#include <stdio.h>
#include <string.h>

#include "lib/target/shared.h"

typedef struct nvrtc_program *program;

enum { OLDEST_MAJOR = 11 };

static struct {
	int (*version)(int *major, int *minor);
	const char *(*error)(int result);
	int (*create)(program *p, const char *source, const char *name, int n,
		      const char *const *headers, const char *const *names);
	int (*destroy)(program *p);
	int (*compile)(program p, int n, const char *const *options);
	int (*log_size)(program p, size_t *n);
	int (*log)(program p, char *text);
	int (*cubin_size)(program p, size_t *n);
	int (*cubin)(program p, char *text);
} nvrtc;

/* The newest first. */
static const char *const names[] = {"libnvrtc.so.13",	"libnvrtc.so.12", "libnvrtc.so.11.2",
				    "libnvrtc.so.11.1", "libnvrtc.so",	  NULL};

static int open_library(struct err *e)
{
	static const struct shared_function functions[] = {
		{"nvrtcVersion", &nvrtc.version},
		{"nvrtcGetErrorString", &nvrtc.error},
		{"nvrtcCreateProgram", &nvrtc.create},
		{"nvrtcDestroyProgram", &nvrtc.destroy},
		{"nvrtcCompileProgram", &nvrtc.compile},
		{"nvrtcGetProgramLogSize", &nvrtc.log_size},
		{"nvrtcGetProgramLog", &nvrtc.log},
		{"nvrtcGetCUBINSize", &nvrtc.cubin_size},
		{"nvrtcGetCUBIN", &nvrtc.cubin},
		{NULL, NULL},
	};
	static struct shared library = {names, functions, 0};
	int major, minor;

	if (shared_open(&library, e) < 0)
		return -1;
	if (nvrtc.version(&major, &minor) || major < OLDEST_MAJOR)
		return err_set(e, "NVRTC is older than CUDA %d", OLDEST_MAJOR);
	return 0;
}

int nvrtc_version(struct buf *out, struct err *e)
{
	int major, minor;

	if (open_library(e) < 0)
		return -1;
	nvrtc.version(&major, &minor);
	buf_fmt(out, "%d.%d", major, minor);
	return 0;
}

/* What a result is made of: its size is asked first. */
static int take(program p, int (*size)(program, size_t *), int (*bytes)(program, char *),
		struct buf *out)
{
	size_t n = 0;
	int rc = size(p, &n);

	if (rc || !n)
		return rc;
	buf_reserve(out, n);
	rc = bytes(p, out->s + out->n);
	out->n += rc ? 0 : n;
	out->s[out->n] = 0;
	return rc;
}

int nvrtc_compile(const char *arch, const char *source, struct buf *out, struct buf *log,
		  struct err *e)
{
	char architecture[64];
	const char *const options[] = {architecture, "--std=c++14", "--ptxas-options=-v"};
	int rc, major, minor;
	program p;

	if (open_library(e) < 0)
		return -1;
	/* wgmma is in the variant sm_90a alone, which NVRTC knows from CUDA 12 on. */
	nvrtc.version(&major, &minor);
	snprintf(architecture, sizeof architecture, "--gpu-architecture=%s%s", arch,
		 strcmp(arch, "sm_90") == 0 && major >= 12 ? "a" : "");
	rc = nvrtc.create(&p, source, "kernel.cu", 0, NULL, NULL);
	if (rc)
		return err_set(e, "NVRTC fails: %s", nvrtc.error(rc));
	rc = nvrtc.compile(p, 3, options);
	take(p, nvrtc.log_size, nvrtc.log, log);
	if (!rc)
		rc = take(p, nvrtc.cubin_size, nvrtc.cubin, out);
	nvrtc.destroy(&p);
	return rc ? err_set(e, "NVRTC fails: %s", nvrtc.error(rc)) : 0;
}

/* The emulator of CUDA (tests/emulator): that threads of a warp and of a block exchange what they
 * should, that numbers of 16 bits are rounded as a device rounds them, and that a dead context
 * stays dead. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/target/cuda_error.h"
#include "lib/target/device.h"
#include "lib/target/nvrtc.h"
#include "lib/target/simt.h"
#include "tests/tap.h"

enum { THREADS = 64, ROWS = 8 };

static const char source[] =
	"extern __shared__ float memory[];\n"
	"extern \"C\" __global__ void __launch_bounds__(64) warp_0(float *x)\n"
	"{\n"
	"\tconst int t = threadIdx.x;\n"
	"\tfloat sum = t, all[32];\n"
	"\tfor (int m = 16; m; m >>= 1)\n"
	"\t\tsum += __shfl_xor_sync(~0u, sum, m);\n"
	"\tx[t] = sum;\n"
	"\temulator_gather((float)(t * t), all);\n"
	"\tx[64 + t] = all[(t + 5) % 32];\n"
	"\tx[128 + t] = __shfl_down_sync(~0u, (float)t, 3, 8);\n"
	"\tx[192 + t] = __shfl_up_sync(~0u, (float)t, 3, 16);\n"
	"\tx[256 + t] = __shfl_sync(~0u, (float)t, 2, 4);\n"
	"\tif (t >= 40)\n"
	"\t\treturn;\n"
	"\tmemory[t] = t;\n"
	"\t__syncthreads();\n"
	"\tx[320 + t] = memory[39 - t];\n"
	"}\n"
	"extern \"C\" __global__ void __launch_bounds__(64) numbers_0(float *x)\n"
	"{\n"
	"\tconst int t = threadIdx.x;\n"
	"\tconst float v = x[t];\n"
	"\tx[64 + t] = emulator_from_f16(emulator_f16(v));\n"
	"\tx[128 + t] = emulator_from_bf16(emulator_bf16(v));\n"
	"\tx[192 + t] = emulator_tf32(v);\n"
	"}\n"
	"extern \"C\" __global__ void __launch_bounds__(64) wild_0(float *x)\n"
	"{\n"
	"\tx[(1 << 22) + threadIdx.x] = 1;\n"
	"}\n";

/* What is given, and what f16, bf16 and tf32 make of it. */
static const float numbers[][4] = {
	{0, 0, 0, 0},
	{1, 1, 1, 1},
	{-2.5F, -2.5F, -2.5F, -2.5F},
	{0x1.004p0F, 0x1.004p0F, 1, 0x1.004p0F},
	{0x1.002p0F, 1, 1, 0x1.004p0F}, /* ties: to even; away from zero */
	{0x1.006p0F, 0x1.008p0F, 1, 0x1.008p0F},
	{0x1.002002p0F, 0x1.004p0F, 1, 0x1.004p0F},
	{0x1.01p0F, 0x1.01p0F, 1, 0x1.01p0F},
	{0x1.03p0F, 0x1.03p0F, 0x1.04p0F, 0x1.03p0F},
	{65504, 65504, 0x1p16F, 65504},
	{65519, 65504, 0x1p16F, 65504},
	{65520, INFINITY, 0x1p16F, 65536},
	{-1e30F, -INFINITY, -0x1.94p99F, -0x1.94p99F},
	{0x1p-14F, 0x1p-14F, 0x1p-14F, 0x1p-14F},
	{0x1.8p-24F, 0x1p-23F, 0x1.8p-24F, 0x1.8p-24F}, /* the smallest of f16 is 2^-24 */
	{-0x1p-25F, 0, -0x1p-25F, -0x1p-25F},
	{INFINITY, INFINITY, INFINITY, INFINITY},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static struct device *device;
static struct memory *memory;

/* x, of ROWS rows, through a kernel. */
static int run(struct device_program *p, const char *name, float *x, struct err *e)
{
	const struct driver *d = &driver_cuda;
	long params[SIMT_PARAMS] = {0};
	const size_t bytes = sizeof *x * THREADS * ROWS;
	double seconds;

	params[SIMT_PHASES] = 1;
	params[SIMT_THREADS] = THREADS;
	params[SIMT_BLOCK_BYTES] = sizeof *x * THREADS;
	params[SIMT_GROUPS] = 1;
	if (d->write(memory, 0, x, bytes, e) < 0 ||
	    d->run(p, name, params, &memory, 1, 1, &seconds, e) < 0)
		return -1;
	return d->read(memory, 0, x, bytes, e);
}

static void check_warps(struct device_program *p)
{
	float x[THREADS * ROWS] = {0};
	struct err e = ERR_INIT;
	int good[6] = {1, 1, 1, 1, 1, 1};

	ok(run(p, "warp", x, &e) == 0, "a kernel of two warps%s%s", e.msg[0] ? ": " : "", e.msg);
	for (int t = 0; t < THREADS; t++) {
		const int warp = t / 32 * 32, shown = warp + (t + 5) % 32;

		good[0] &= x[t] == (float)(32 * warp + 31 * 16);
		good[1] &= x[64 + t] == (float)(shown * shown);
		good[2] &= x[128 + t] == (float)(t % 8 + 3 < 8 ? t + 3 : t);
		good[3] &= x[192 + t] == (float)(t % 16 >= 3 ? t - 3 : t);
		good[4] &= x[256 + t] == (float)(t / 4 * 4 + 2);
		good[5] &= x[320 + t] == (float)(t < 40 ? 39 - t : 0);
	}
	ok(good[0], "a warp's sum by shuffles");
	ok(good[1], "what all of a warp show");
	ok(good[2] && good[3] && good[4], "shuffles within parts of a warp");
	ok(good[5], "threads that are gone keep nobody waiting");
}

static void check_numbers(struct device_program *p)
{
	static const char *const name[] = {"", "f16", "bf16", "tf32"};
	float x[THREADS * ROWS] = {0};
	struct err e = ERR_INIT;

	for (int i = 0; i < NUMBERS; i++)
		x[i] = numbers[i][0];
	if (run(p, "numbers", x, &e) < 0)
		bail_out("%s", e.msg);
	for (int kind = 1; kind < 4; kind++) {
		int good = 1;

		for (int i = 0; i < NUMBERS; i++) {
			const float got = x[kind * THREADS + i], want = numbers[i][kind];

			good &= got == want;
			if (got != want)
				diag("%a is %a in %s, not %a", (double)numbers[i][0], (double)got,
				     name[kind], (double)want);
		}
		ok(good, "numbers of %s", name[kind]);
	}
}

static void check_death(struct device_program *p)
{
	float x[THREADS * ROWS] = {0};
	struct err first = ERR_INIT, second = ERR_INIT;
	static const char illegal[] = "an illegal memory access was encountered";

	ok(run(p, "wild", x, &first) < 0 && errno == EFAULT && strstr(first.msg, illegal), "%s",
	   first.msg);
	ok(run(p, "warp", x, &second) < 0 && strstr(second.msg, illegal),
	   "and nothing runs in its context any more: %s", second.msg);
}

/* What is not the emulator's, but the driver's words for it. */
static void check_kinds(void)
{
	static const struct {
		int result, kind;
	} kinds[] = {{2, ENOMEM},   {1, EIO},	   {700, EFAULT}, {701, ENOTSUP}, {702, ETIMEDOUT},
		     {710, EFAULT}, {716, EFAULT}, {719, EFAULT}, {214, EIO},	  {999, EIO}};
	struct err e = ERR_INIT;
	int good = 1;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		good &= cuda_check(kinds[i].result, "fail", &e) < 0 && errno == kinds[i].kind;
	ok(good,
	   "results of the driver's have kinds: what a kernel died of, no memory, and others");
}

static int in_path(const char *name)
{
	const char *path = getenv("PATH");
	struct buf file = BUF_INIT;
	int there = 0;

	while (path && *path && !there) {
		const size_t n = strcspn(path, ":");

		buf_clear(&file);
		buf_add(&file, path, n);
		buf_fmt(&file, "/%s", name);
		there = access(file.s, X_OK) == 0;
		path += n + (path[n] == ':');
	}
	buf_free(&file);
	return there;
}

int main(void)
{
	struct buf object = BUF_INIT, log = BUF_INIT;
	struct device_program *p = NULL;
	struct err e = ERR_INIT;

	if (access("build/tests/emulator/libcuda.so.1", R_OK) < 0) {
		skip("the emulator is not built: make check builds it");
		return done_testing();
	}
	setenv("TL_CUDA_PATH", "build/tests/emulator", 1);
	if (!in_path("clang") && !in_path("clang-14") && !in_path("g++")) {
		skip("there is no clang and no g++");
		return done_testing();
	}
	if (nvrtc_compile("sm_90", source, &object, &log, &e) < 0)
		bail_out("%s %.300s", e.msg, log.s ? log.s : "");
	device = driver_cuda.open(&e);
	if (device)
		memory = driver_cuda.memory(device, sizeof(float) * THREADS * ROWS, &e);
	if (memory)
		p = driver_cuda.load(device, object.s, object.n, &e);
	if (!p)
		bail_out("%s", e.msg);
	check_warps(p);
	check_numbers(p);
	check_death(p);
	check_kinds();
	driver_cuda.unload(p);
	driver_cuda.free(memory);
	driver_cuda.close(device);
	buf_free(&object);
	buf_free(&log);
	return done_testing();
}

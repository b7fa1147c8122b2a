/* worker-opencl: runs kernels on a device of OpenCL. There is no library to compare them with. */
#include "libexec/worker.h"

int main(int argc, char **argv)
{
	const struct serve with = {&runner_opencl, NULL};

	return worker_main(argc, argv, &with);
}

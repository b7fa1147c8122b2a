/* worker-cuda: runs kernels on a device of CUDA. */
#include "libexec/worker.h"

int main(int argc, char **argv)
{
	const struct serve with = {&runner_cuda, NULL};

	return worker_main(argc, argv, &with);
}

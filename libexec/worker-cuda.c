/* worker-cuda: runs kernels on a device of CUDA, and cuDNN and cuBLASLt beside them. */
#include "lib/baseline/baseline.h"
#include "libexec/worker.h"

int main(int argc, char **argv)
{
	const struct serve with = {&runner_cuda, &library_cuda};

	return worker_main(argc, argv, &with);
}

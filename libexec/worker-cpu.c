/* worker-cpu: runs kernels on this machine's processor, and oneDNN beside them. */
#include "lib/baseline/baseline.h"
#include "libexec/worker.h"

int main(int argc, char **argv)
{
	const struct serve with = {&runner_cpu, &library_onednn};

	return worker_main(argc, argv, &with);
}

/* What results of CUDA's driver mean. For the files of lib/target that call it. */
#ifndef TL_TARGET_CUDA_ERROR_H
#define TL_TARGET_CUDA_ERROR_H

#include "lib/base/err.h"

/* 0 for the result 0; otherwise -1 with the sentence "CUDA fails to WHAT: ..", and errno as
 * device.h has it. */
int cuda_check(int result, const char *what, struct err *e);

#endif

/* What the stand-in driver writes into a tensor map, and emulated kernels read. C and C++. */
#ifndef TL_TESTS_EMULATOR_BOX_H
#define TL_TESTS_EMULATOR_BOX_H

typedef struct emulator_box {
	const char *tensor;
	unsigned long long stride[3]; /* bytes */
	unsigned size[4];	      /* channels, columns, rows, images */
	int lower[2], upper[2];	      /* corners: columns, rows */
	unsigned channels, pixels, step[2];
	unsigned element; /* bytes */
	unsigned row;	  /* bytes of a swizzled row */
	unsigned long long rest[5];
} emulator_box;

#endif

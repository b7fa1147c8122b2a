/* What variants of cuDNN 7.6 to 8 share: its handle, and descriptors, which stay until the kit is
 * closed.
 */
#ifndef TL_REF_CUDA_LEGACY_KIT_H
#define TL_REF_CUDA_LEGACY_KIT_H

#include "lib/ref/cuda/legacy_api.h"
#include "lib/ref/cuda/stage.h"

struct legacy_kit {
	const struct legacy_api *api;
	void *handle;
	struct stage *stage;
	struct legacy_made *made;
	void *stream;
	int has_stream; /* the library was told of it */
};

/* 0; -1 with e filled. */
int legacy_kit_open(struct legacy_kit *k, struct stage *s, struct err *e);
void legacy_kit_close(struct legacy_kit *k);
/* Calls work on this stream from now on. */
int legacy_kit_take_stream(struct legacy_kit *k, void *stream, struct err *e);
/* 0, or -1 with what the library fails to do. */
int legacy_kit_check(const struct legacy_kit *k, int status, const char *what, struct err *e);

/* Descriptors; NULL: the library refuses it. A product's columns are its channels. */
void *legacy_kit_tensor(struct legacy_kit *k, const struct problem *p, enum tensor_role role);
void *legacy_kit_filter(struct legacy_kit *k, const struct problem *p);
void *legacy_kit_convolution(struct legacy_kit *k, const struct problem *p, enum legacy_math math);
void *legacy_kit_activation(struct legacy_kit *k, enum legacy_activation mode, double ceiling);
void *legacy_kit_op(struct legacy_kit *k, int op);

#endif

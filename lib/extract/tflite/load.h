/* A TFLite model from a stream: all of it but the elements of large tensors, in one pass.
 *
 * Buffers of elements lie anywhere in the file, between the tables that describe it. What refers to
 * them lies before them; so when the list of all buffers has come, each is known before its
 * elements come, and those of more than tensors keep are passed over. One thing may come only
 * later: the list of a table's fields, which many tables share. Where it is missing the first word
 * of the table is taken for the reference, as it is in a table of one field. Should that be wrong,
 * and were bytes passed over that are needed, the model is refused with a sentence.
 */
#ifndef TL_EXTRACT_TFLITE_LOAD_H
#define TL_EXTRACT_TFLITE_LOAD_H

#include "lib/extract/read/kept.h"

/* Fields of a Buffer, and of the Model that holds the list of them. */
enum { BUFFER_DATA = 0, MODEL_BUFFERS = 4 };

int load_model(struct kept *k, struct err *e);

#endif

/* The description of a Keras model in an HDF5 file, by a program of its own (libexec/keras-hdf5.c).
 */
#ifndef TL_EXTRACT_READ_HDF5_H
#define TL_EXTRACT_READ_HDF5_H

#include "lib/extract/read/archive.h"
#include "lib/extract/read/document.h"

int hdf5_claims(const unsigned char *head, size_t n);
/* Reads all of the member, unless it is a plain file. document_free() in any case. */
int hdf5_read(struct document *d, struct member *m, struct err *e);

#endif

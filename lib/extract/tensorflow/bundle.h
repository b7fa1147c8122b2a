/* The index of a checkpoint, variables.index: the shapes of variables by their keys.
 *
 * It is a table as LevelDB has them (github.com/google/leveldb, doc/table_format.md), of entries
 * BundleEntryProto (tensorflow/core/protobuf/tensor_bundle.proto). Blocks that are compressed,
 * which TensorFlow does not write, are refused. Everything is checked against the size of the file.
 */
#ifndef TL_EXTRACT_TENSORFLOW_BUNDLE_H
#define TL_EXTRACT_TENSORFLOW_BUNDLE_H

#include "lib/base/map.h"
#include "lib/extract/graph/graph.h"

/* Adds key -> struct shape *. 1: done; 0: there is no such file; -1. */
int bundle_read(struct map *shapes, const char *path, struct arena *a, struct err *e);

#endif

/* How much of the tensors in an ONNX file is read. */
#ifndef TL_EXTRACT_ONNX_ELEMENTS_H
#define TL_EXTRACT_ONNX_ELEMENTS_H

/* Says which tensors' elements are kept. */
enum onnx_elements {
	ONNX_SMALL, /* of those that may decide shapes */
	ONNX_ALL,
	ONNX_ALL_BUT_WEIGHTS /* not of large initializers of floats */
};

#endif

#!/bin/sh
# The same network in every format gives the same workloads, but for what the converters changed.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"

# Problem, post-ops, flops and count of each record. Where a stride of 2 pads is a habit of the framework: TensorFlow pads
# behind, PyTorch on both sides.
workloads() { # file
	# shellcheck disable=SC2046 # words
	"$bin/tl-extract" -q $(sed -n '1s/^#options//p' "${1%.json.zst}.shapes" 2>/dev/null) "$1" | sed 's/.*"prob":"\([^"]*\)",.*"post":\(\[[^]]*\]\).*"flops":\([0-9]*\),"count":\([0-9]*\).*/\1 \2 \3 \4/' |
		sed 's/\(kh[357]sh2\)ph[0-9]/\1/' | sort
}
# Random networks have biases of 0, which some converters leave out.
without_bias() {
	sed 's/\["bias",*/[/' | sort
}
same() { # network, file that it is compared with, others
	network=$1 first=$2
	shift 2
	workloads "$here/networks/$first" >"$tmp/want"
	for file; do
		workloads "$here/networks/$file" >"$tmp/got"
		case $file in
		*-dynamo* | *-tf2onnx* | openvino/*) but_for=without_bias ;;
		*) but_for='cat' ;;
		esac
		$but_for <"$tmp/want" >"$tmp/want.0"
		$but_for <"$tmp/got" >"$tmp/got.0"
		[ "$(wc -l <"$tmp/want")" -gt 5 ] && cmp -s "$tmp/want.0" "$tmp/got.0"
		ok $? "$network: $file gives what $first gives" || diff "$tmp/want.0" "$tmp/got.0" | sed 's/^/# /' | head
	done
}

same 'MobileNetV2 of Keras and of PyTorch' torch/mobilenet_v2.pt2 torch/mobilenet_v2-core.pt2 onnx/mobilenet_v2.onnx.zst \
	onnx/mobilenet_v2-dynamo.onnx.zst onnx/mobilenet_v2-tf2onnx.onnx.zst openvino/mobilenet_v2.xml.zst \
	tflite/mobilenet_v2.tflite.zst tensorflow/mobilenet_v2.tar.zst tensorflow/mobilenet_v2-frozen.pb.zst \
	keras/mobilenet_v2.keras keras/mobilenet_v2-keras2.h5
same 'ResNet-18' torch/resnet18.pt2 onnx/resnet18.onnx.zst onnx/resnet18-dynamo.onnx.zst openvino/resnet18.xml.zst
same 'a U-Net' torch/unet.pt2 onnx/unet.onnx.zst onnx/unet-dynamo.onnx.zst openvino/unet.xml.zst
same 'a transformer' tensorflow/transformer.tar.zst tensorflow/transformer-frozen.pb.zst keras/transformer.keras keras/transformer-keras2.h5
same 'MobileNetV3 of Keras' keras/mobilenet_v3_small.keras keras/mobilenet_v3_small-keras2.h5.zst
same 'a U-Net of Keras' keras/unet.keras keras/unet-keras2.h5 tensorflow/unet-frozen.pb.zst
# In a ResNet-50, another of the two producers comes last, and takes the sum.
for network in convnext_tiny densenet121 detector efficientnet_b0 inception_v3 mobilenet_v3_small unet vgg16 xception; do
	same "$network" "keras/$network.keras" "tensorflow/$network.tar.zst"
done

for folder in "$here"/networks/[a-z]*/; do
	format=$(basename "$folder")
	"$bin/tl-extract" -f "$format" /dev/null >/dev/null 2>"$tmp/err"
	[ $? -eq 3 ]
	ok $? "--format knows $format" || sed 's/^/# /' "$tmp/err"
done

echo "1..$n"

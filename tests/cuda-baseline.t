#!/bin/sh
# The baseline of results for CUDA's devices, with an emulated device and stand-ins for NVIDIA's libraries (tests/emulator/).
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

emulator=$(cd "$(dirname "$0")/.." && pwd)/build/tests/emulator
if [ ! -e "$emulator/libcuda.so.1" ] || [ ! -e "$emulator/libnvrtc.so.12" ]; then
	skip 'there is no emulated device'
	echo "1..$n"
	exit 0
fi
command -v clang >/dev/null || command -v g++ >/dev/null || { echo '1..0 # SKIP there is no clang and no g++'; exit 0; }
unset TL_NVML TL_EMULATOR_ARCH TL_EMULATOR_MEMORY

cat >"$tmp/w" <<'W'
{"tl":1,"type":"workload","op":"conv2d","prob":"ic16ih7oc32oh7kh3ph1","post":["bias","add","relu"]}
{"tl":1,"type":"workload","op":"matmul","prob":"16x32:32x32","post":["bias","gelu"]}
W
export TL_CACHE="$tmp/cache" TL_LOCKS="$tmp" HOME="$tmp"
unset VIRTUAL_ENV
measure() { # folders
	TL_CUDA_PATH=$1 "$bin/tl-measure" --target=cuda --race 0.01 --final 1 "$tmp/c" 2>"$tmp/err"
}
TL_CUDA_PATH=$emulator "$bin/tl-gen" --target=cuda --arch=sm_90 -a implicit_gemm -n 20 "$tmp/w" |
	"$bin/tl-filter" --target=cuda --arch=sm_90 -k 1 >"$tmp/c"

measure "$emulator" >"$tmp/results"
ok $? 'tl-measure --target=cuda compares with the libraries'
"$bin/tl-check" -q "$tmp/results"
ok $? 'the results are well formed'
grep '"stage":"final"' "$tmp/results" >"$tmp/finals"
[ "$(grep -c '"baseline":{"impl":"cu[^}]*"error":{"l2":' "$tmp/finals")" -eq 2 ]
ok $? 'each workload has a baseline, whose error is told'
[ "$(grep -c '"libs":"cudnn 9.1.2, cublaslt 12.4.1"' "$tmp/finals")" -eq 2 ]
ok $? 'the env has both libraries'
grep 'conv2d' "$tmp/finals" | grep -q '"baseline":{"impl":"cudnn 9.1.2 engine [01]'
ok $? 'the baseline of a convolution is an engine that is right'
[ "$(grep -c '"rejected":\[{"impl":"\(cudnn 9.1.2[^"]* engine 2\|cublaslt 12.4.1[^"]* #2\)' "$tmp/finals")" -eq 2 ]
ok $? 'those that are wrong are named as rejected'
! sed 's/"rejected":.*//' "$tmp/finals" | grep -q 'engine \(3\|4\|7\)[ ",]'
ok $? 'none rounds what is of single precision'

# Whole numbers of 8 bits

cat >"$tmp/w8" <<'W'
{"tl":1,"type":"workload","op":"conv2d","prob":"ic16ih7oc32oh7kh3ph1","dtype":"s8:s8:s32","post":["bias","add","relu"]}
{"tl":1,"type":"workload","op":"matmul","prob":"16x32:32x32","dtype":"s8:s8:f32","post":["bias","gelu"]}
{"tl":1,"type":"workload","op":"matmul","prob":"16x32:32x32","dtype":"u8:s8:f32"}
W
TL_CUDA_PATH=$emulator "$bin/tl-gen" --target=cuda --arch=sm_90 -a implicit_mma -n 20 "$tmp/w8" |
	"$bin/tl-filter" --target=cuda --arch=sm_90 -k 1 >"$tmp/c8"
TL_CUDA_PATH=$emulator "$bin/tl-measure" --target=cuda --race 0.01 --final 1 "$tmp/c8" >"$tmp/results" 2>"$tmp/err"
grep '"stage":"final"' "$tmp/results" >"$tmp/finals"
"$bin/tl-check" -q "$tmp/results" && [ "$(grep -c '"baseline":{"impl":"cu[^}]*"error":{"l2":' "$tmp/finals")" -eq 2 ]
ok $? 'products of whole numbers have a baseline'
grep '"dtype":"s8:s8:s32"' "$tmp/finals" | grep -q '"baseline":{[^}]*"error":{"l2":0,"max":0}'
ok $? 'whose results are exact where they are whole numbers'
grep '"dtype":"u8:s8:f32"' "$tmp/finals" | grep -q '"baseline":null,"baseline_why":"the library has no implementation"'
ok $? 'what both libraries refuse has none, and the result says why'

TL_PROBE=0 TL_CUDA_PATH=$emulator "$bin/tl-doctor" --noise 0 >"$tmp/doctor" 2>"$tmp/err"
grep -q 'compared with cudnn 9.1.2, cublaslt 12.4.1' "$tmp/doctor"
ok $? 'tl-doctor names them'

# How rows of calls are started: work takes 20 us by the device's clock, and 5 more where no graph starts it.
clocked() { TL_EMULATOR_LAUNCH_NS=20000 TL_EMULATOR_START_NS=5000 measure "$emulator" | grep '"stage":"final"' >"$tmp/finals"; }
took() { # of a call: the candidate's, of one kernel or two, and the baseline's, in us
	sed -n "s/.*\"op\":\"$1\".*\"stage\":\"final\",\"latency_s\":\([^,]*\),.*\"row_by\":\"\([a-z]*\)\".*\"baseline\":{\"impl\":\"\(cu[a-z]*\)[^}]*\"latency_s\":\([^,]*\),.*/\2 \1 \3 \4/p" "$tmp/finals" |
		awk '{ printf "%s %.0f %s %.0f\n", $1, 1e6 * $2, $3, 1e6 * $4 }'
}
clocked
took conv2d | grep -qx 'graph [24]0 cudnn 20' && [ "$(grep -c '"row_by":"graph"' "$tmp/finals")" -eq 2 ]
ok $? 'rows of both are graphs, where both can be' || took conv2d
TL_EMULATOR_WAITS=cudnn clocked
took conv2d | grep -qx 'calls \(25\|50\) cudnn 25'
ok $? 'where the library waits for the device, calls of both are started one by one, with the same gaps' || took conv2d
"$bin/tl-check" -q "$tmp/finals"
ok $? 'those results are well formed, too'

# Without the libraries, or (where this machine has real ones) without a device that those could use.
mkdir "$tmp/bare"
ln -s "$emulator"/libcuda.so.* "$emulator"/libnvrtc.so.* "$tmp/bare"
measure "$tmp/bare" >"$tmp/results"
ok $? 'kernels are measured without the libraries, too'
[ "$(grep '"stage":"final"' "$tmp/results" | grep -c '"baseline":null,"baseline_why":"\(the library libcudnn.so.9 is not found\|cuDNN fails to start\|the library libcudnn.so.9 has no\)')" -eq 2 ]
ok $? 'and the results say why there is no baseline'

echo "1..$n"

#!/bin/sh
# The target cuda from end to end, on the emulator of tests/emulator: it stands in for the driver and NVRTC, and runs kernels on
# this processor. Its times are no GPU's, and with TL_EMULATOR_LAUNCH_NS=N a kernel takes N ns by its clock, whatever else runs. TL_TEST_KILLS: how often a run is killed (default 6).
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
emulator=$(cd "$here/.." && pwd)/build/tests/emulator
helper="${bin%bin}libexec/tl/cuda"
[ -e "$emulator/libcuda.so.1" ] || { echo '1..0 # SKIP the emulator is not built: make check builds it'; exit 0; }
command -v clang >/dev/null || command -v g++ >/dev/null || { echo '1..0 # SKIP there is no clang and no g++'; exit 0; }
unset TL_DB TL_EMULATOR_ARCH TL_EMULATOR_MEMORY
export TL_CUDA_PATH="$emulator" TL_NVML="$emulator/libnvidia-ml.so.1" TL_CACHE="$tmp/cache" TL_LOCKS="$tmp"
race="$bin/tl-measure --target=cuda --race 0.002 --final 0 --no-preempt --timeout 5"
measure() { $race "$@"; }
results() { grep '"type":"result"' "$@"; }

# The device

"$helper" --device | grep -q '^sm_90 4 232448 4194304 1000000000 Tensor Lathe emulator$'
ok $? 'the device says that it is an emulator'
[ "$("$helper" --version)" = 'nvrtc 99.0' ]
ok $? 'and its compiler has a version that NVRTC has not'
TL_PROBE=0 "$bin/tl-doctor" --noise 0 | grep -q '^cuda  *Tensor Lathe emulator, by nvrtc 99.0$'
ok $? 'tl-doctor finds it'
"${bin%bin}libexec/tl/worker-cuda" --probe | grep -q '^{"cores":4,"peak_flops":[0-9.e+]*,"peak_flops_all":[0-9.e+]*,"bandwidth_all":{"mem":[0-9.e+]*},'
ok $? 'its worker measures what it can do'
printf 'this is no kernel;\n' >"$tmp/bad.cu"
"$helper" --arch=sm_90 -o "$tmp/bad.so" "$tmp/bad.cu" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q 'error' "$tmp/err" && grep -q 'cuda: error: NVRTC fails: NVRTC_ERROR_COMPILATION' "$tmp/err" && [ ! -e "$tmp/bad.so" ]
ok $? 'a source that is none is refused with what the compiler says'
printf 'extern "C" __global__ void nothing(int *p) { *p = __CUDA_ARCH__; }\n' >"$tmp/good.cu"
compile() { # arch output: what the stand-in has compiled before, it takes from $tmp/kept
	CUDA_CACHE_PATH="$tmp/kept" "$helper" --arch="$1" -o "$2" "$tmp/good.cu"
}
compile sm_90 "$tmp/first.so" && compile sm_80 "$tmp/other.so" && [ "$(find "$tmp/kept" -name '*.so' | wc -l)" -eq 2 ] &&
	for object in "$tmp"/kept/*.so; do echo kept >"$object"; done && compile sm_90 "$tmp/second.so" && grep -q '^kept$' "$tmp/second.so" &&
	CUDA_CACHE_DISABLE=1 compile sm_90 "$tmp/third.so" && ! grep -q '^kept$' "$tmp/third.so"
ok $? 'the stand-in compiles a source once for each architecture, or each time where it is told so'

# Right

# With sanitizers fewer: what compiles the kernels has none, nor have they.
if [ -n "$SAN" ]; then problems=1 candidates=1 pinned=0; else problems=2 candidates=1 pinned=1; fi
TL_TEST_DRIVER=cuda TL_TEST_PROBLEMS=${TL_TEST_PROBLEMS:-$problems} TL_TEST_BLOCKS=${TL_TEST_BLOCKS:-$candidates} \
	TL_TEST_PINNED=${TL_TEST_PINNED:-$pinned} "$here/../build${SAN:+/san}/tests/blocks" >"$tmp/blocks" 2>&1
[ $? -eq 0 ] && grep -q '^ok .* [1-9][0-9]* of them run by CUDA' "$tmp/blocks"
ok $? 'random kernels of every algorithm compute what the definition says' || sed 's/^/# /' "$tmp/blocks"

# Timed

cat >"$tmp/w" <<'W'
{"tl":1,"type":"workload","op":"conv2d","prob":"ic16ih14oc32oh14kh3ph1","post":["bias","add","relu"]}
{"tl":1,"type":"workload","op":"conv2d","prob":"g24ic24ih14oc24oh7kh3sh2ph1","post":["bias","relu6"]}
{"tl":1,"type":"workload","op":"matmul","prob":"16x48:48x64","post":["bias","gelu"]}
W
candidates() { "$bin/tl-gen" --target=cuda -n 100 "$tmp/w" | "$bin/tl-filter" --target=cuda -k 3; }
candidates | "$bin/tl-measure" --target=cuda --race 0.01 --final 1 --samples >"$tmp/results" 2>"$tmp/err"
ok $? 'tl-measure --target=cuda times candidates of its device'
"$bin/tl-check" -q "$tmp/results" && [ "$(results "$tmp/results" | grep -c '"status":"\(ok\|preempted\)"')" -ge 9 ] && [ "$(count '"stage":"final"' "$tmp/results")" -eq 3 ]
ok $? 'its results are right and well formed'
[ "$(results "$tmp/results" | grep -c '"gpu_freq_hz":1e+09,"gpu_temperature_C":41,"gpu_throttle":4,"gpu_limit_W":300}')" -ge 9 ]
ok $? 'results tell the clock, the temperature, the throttling and the power limit that NVML told'
awk 'match($0, /"type":"run".*"wall_s":[0-9.]*/) {
	wall = substr($0, RSTART, RLENGTH); sub(/.*:/, "", wall); match($0, /"energy_J":[0-9.]*/); j = 0 + substr($0, RSTART + 11, RLENGTH - 11)
	exit !(j > 20 * wall && j < 200 * wall) }' "$tmp/results"
ok $? 'and the run has the energy that its GPU has taken'
candidates | TL_NVML="$tmp/none.so" measure >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && grep -q '"energy_J":null,"energy_why":"no NVML: ' "$tmp/out" && ! grep -q '"gpu_' "$tmp/out"
ok $? 'without NVML a run has neither, and says why'
! grep '"row":' "$tmp/results" | grep -qv '"row":\([2-9]\|[1-5][0-9]\|6[0-4]\),'
ok $? 'rows of calls have 2 to 64 calls'
short() { # kernels that take 45 us by the device's clock, whatever this machine does
	sed -n 2p "$tmp/w" | "$bin/tl-gen" --target=cuda -a depthwise_threads -n 20 | "$bin/tl-filter" --target=cuda -k 3 |
		TL_EMULATOR_LAUNCH_NS=45000 "$bin/tl-measure" --target=cuda --race 0.001 --final 0
}
short >"$tmp/out" 2>"$tmp/err" && [ "$(results "$tmp/out" | grep -c '"row":3,"row_by":"graph"')" -eq 3 ]
ok $? 'short kernels are timed in rows, and results say so'
[ "$(grep -c '"use":{"registers":40,"spilled_bytes":0,"block_bytes":[0-9]*,"blocks":[1-9][0-9]*}' "$tmp/out")" -eq 3 ]
ok $? 'and what the compiler made of them'
mkdir "$tmp/old"
cp "$emulator"/libnvrtc.so.1? "$tmp/old"
sed 's/cuGraphLaunch/cuGraphLaunCh/' "$emulator/libcuda.so.1" >"$tmp/old/libcuda.so.1"
TL_CUDA_PATH="$tmp/old" short >"$tmp/out" 2>"$tmp/err" && [ "$(results "$tmp/out" | grep -c '"status":"\(ok\|preempted\)".*"row":3,"row_by":"calls"')" -eq 3 ]
ok $? 'also by a driver that has no graphs'
candidates | measure --cache=cold >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && "$bin/tl-check" -q "$tmp/out" && [ "$(results "$tmp/out" | grep -c '"status":"ok"')" -eq 9 ] && ! grep -q '"row":' "$tmp/out"
ok $? 'with cold caches calls are timed one by one'
candidates | TL_EMULATOR_MEMORY=6000000 measure >"$tmp/out" 2>"$tmp/err" && [ "$(results "$tmp/out" | grep -c '"status":"ok"')" -eq 9 ]
ok $? 'a little memory is enough with warm caches'
candidates | TL_EMULATOR_MEMORY=6000000 measure --cache=cold >"$tmp/out" 2>"$tmp/err"
grep -q 'out of memory' "$tmp/out" "$tmp/err"
ok $? 'but not where twice the cache of 4 MiB is written before each call'
candidates | "$bin/tl-replay" --target=cuda --from "$tmp/results" --final 1 >"$tmp/replayed" 2>"$tmp/err" &&
	[ "$(results "$tmp/replayed" | grep -c .)" -ge 9 ] && "$bin/tl-check" -q "$tmp/replayed"
ok $? 'a run is replayed'
cat >"$tmp/list.csv" <<'W'
op,prob,post
conv2d,ic16ih14oc32oh14kh3ph1,"bias,relu"
conv2d,g24ic24ih14oc24oh7kh3sh2ph1,bias
matmul,16x48:48x64,bias
W
"$bin/tl-tune" --wide --target=cuda -d "$tmp/db" --min-gain 0 --until 'candidates<12' --final 1 "$tmp/list.csv" >"$tmp/table" 2>"$tmp/err"
ok $? 'tl-tune --target=cuda tunes'
[ "$(grep -c 'implicit_[a-z]*\|[a-z]*_threads' "$tmp/table")" -eq 3 ]
ok $? 'and shows the best of each workload'
"$bin/tl-query" -d "$tmp/db" --dump=all >"$tmp/envs" 2>/dev/null
grep -q 'Tensor Lathe emulator' "$tmp/envs" && grep -q 'nvrtc 99.0' "$tmp/envs"
ok $? 'the database says that an emulator was measured'
TL_EMULATOR_ARCH=sm_75 "$bin/tl-gen" --target=cuda -n 5 "$tmp/w" | TL_EMULATOR_ARCH=sm_75 measure >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(results "$tmp/out" | grep -c '"status":"ok"')" -gt 0 ]
ok $? 'a device of another architecture works likewise'
candidates | TL_EMULATOR_MEMORY=40000 measure >"$tmp/out" 2>"$tmp/err"
results "$tmp/out" | grep -q '"status":"oom","why":"[^"]*out of memory'
ok $? 'a device whose memory is too small says so'

# Whole numbers of 8 bits

cat >"$tmp/wholes" <<'W'
{"tl":1,"type":"workload","op":"conv2d","prob":"ic16ih14oc32oh14kh3ph1","dtype":"s8:s8:s32","post":["bias","add","relu"]}
{"tl":1,"type":"workload","op":"conv2d","prob":"ic3ih14oc30oh14kh3ph1","dtype":"u8:s8:f32","layout":"nchw","post":["bias"]}
{"tl":1,"type":"workload","op":"matmul","prob":"16x48:48x64","dtype":"u8:s8:f32","post":["bias","gelu"]}
{"tl":1,"type":"workload","op":"matmul","prob":"16x48:48x64","dtype":"s8","post":["bias"]}
W
"$bin/tl-gen" --target=cuda -n 40 "$tmp/wholes" 2>"$tmp/err" | "$bin/tl-filter" --target=cuda -k 3 | measure >"$tmp/out" 2>>"$tmp/err"
"$bin/tl-check" -q "$tmp/out" && [ "$(results "$tmp/out" | grep -c '"status":"ok"')" -eq 9 ] &&
	[ "$(results "$tmp/out" | grep '"dtype":"s8:s8:s32"' | grep -c '"error":{"l2":0,"max":0}')" -eq 3 ]
ok $? 'products of whole numbers are right, and exact where their results are' || cat "$tmp/err"
grep -q 'no algorithm applies to 1 of 4 workloads: matmul in s8 1' "$tmp/err"
ok $? 'results of 8 bits are not computed, which tl-gen says'

# Hostile: kernels with words of their own at the beginning, between any two of them a good one. An object has its source.

head -n 1 "$tmp/w" | "$bin/tl-gen" --target=cuda -a implicit_gemm -n 100 | "$bin/tl-filter" --target=cuda --by none -k 25 >"$tmp/c"
# Each by itself, so that no object has others' kernels, too, which would be compiled again with each that is spoilt.
grep '^{"tl":1,"type":"candidate"' "$tmp/c" | while read -r candidate; do
	printf '%s\n' "$candidate" | measure
done >"$tmp/good" 2>"$tmp/err"
sed -n 's/.*"code_hash":"\([0-9a-f]*\)".*/\1/p' "$tmp/good" >"$tmp/codes"
spoil() { # candidate words: DST is the output
	object=$TL_CACHE/objects/$(sed -n "$1p" "$tmp/codes").so
	objcopy -O binary --only-section=cuda_source --set-section-flags cuda_source=alloc "$object" "$tmp/kernel.cu"
	dst=$(grep -o 'GLOBAL float \*dst[0-9]*' "$tmp/kernel.cu" | head -n 1 | sed 's/.*\*//')
	sed -i "s|int rest = BLOCK;|$(printf '%s' "$2" | sed "s/DST/$dst/g") &|" "$tmp/kernel.cu"
	rm -f "$object"
	"$helper" --arch=sm_90 -o "$object" "$tmp/kernel.cu" && seal "$object" || echo "# candidate $1 does not build"
}
spoil 2 'volatile int hang = 1; while (hang) ;'
spoil 4 '((GLOBAL volatile float *)16)[0] = 1;'
spoil 6 '((GLOBAL volatile float *)DST)[32 * 14 * 14 + 5] = 1;'
spoil 8 'for (int i = 0; i < 100000; i++) printf("all work and no play\\n"); return;'
spoil 10 '((volatile float *)block_memory)[60000] = 1;'
spoil 12 'DST[0] = __int_as_float(0x7fc00000); return;'
spoil 14 'store_v4(DST + 1, make_v4(0.0f, 0.0f, 0.0f, 0.0f));'
spoil 16 'if (THREAD) __syncthreads(); else while (*(volatile float *)DST == DST[0]) ;'
spoil 18 '((GLOBAL volatile float *)DST)[1 << 20] = 1;'
spoil 20 '((GLOBAL volatile float *)DST)[32 * 14 * 14 + 1100] = 1;'
later='static int calls; if (THREAD == 0 \&\& BLOCK == 0) calls++; if (calls > 2)' # right when it is verified, not in its duel
spoil 22 "$later ((GLOBAL volatile float *)16)[0] = 1;"
spoil 24 "$later { volatile int hang = 1; while (hang) ; }"
measure "$tmp/c" >"$tmp/bad" 2>"$tmp/err"
ok $? 'hostile kernels end no run'
"$bin/tl-check" -q "$tmp/bad" && [ "$(results "$tmp/bad" | grep -c .)" -eq 25 ]
ok $? 'each has a record'
is() { # candidate pattern what
	results "$tmp/bad" | sed -n "$1p" | grep -q "\"status\":$2"
	ok $? "$3" || results "$tmp/bad" | sed -n "$1p" | grep -o '"status":"[^"]*"\(,"why":"[^"]*"\)*'
}
illegal='[^"]*an illegal memory access was encountered'
is 2 '"timeout"' 'one that hangs is late'
is 4 "\"crash\",\"why\":\"$illegal" 'one that writes anywhere dies'
is 6 '"wrong","why":"it wrote behind the end of operand' 'one that writes behind the end is seen'
is 8 '"\(wrong\|timeout\)"' 'one that prints and does nothing is wrong'
is 10 "\"crash\",\"why\":\"$illegal" 'one that leaves its block of memory dies'
is 12 '"wrong"' 'one that makes NaN is wrong'
is 14 '"crash","why":"[^"]*misaligned address' 'one that writes a vector between places dies'
is 16 '"timeout"' 'one whose threads wait for one that does not come is late'
is 18 "\"crash\",\"why\":\"$illegal" 'one that writes far behind the end dies'
is 20 "\"crash\",\"why\":\"$illegal" 'one that writes behind what is looked at behind the end dies'
is 22 "\"crash\",\"why\":\"$illegal" 'one that dies in its duel has crashed'
is 24 '"timeout"' 'one that hangs in its duel is late'
[ "$(results "$tmp/bad" | grep '"status":"crash"' | grep -vc '"error":')" -eq 6 ]
ok $? 'those that died have no error, for no output was compared'
sed 's/cuMemAddressReserve/cuMemAddressReservE/' "$emulator/libcuda.so.1" >"$tmp/old/libcuda.so.1"
sed -n '/candidate/p' "$tmp/c" | sed -n 6p | TL_CUDA_PATH="$tmp/old" measure >"$tmp/out" 2>"$tmp/err"
results "$tmp/out" | grep -q '"status":"wrong","why":"it wrote behind the end of operand'
ok $? 'by a driver that cannot map memory, what is right behind the end is seen all the same'
results "$tmp/bad" | awk 'NR % 2' | grep -vc '"status":"ok"' | grep -qx 0
ok $? 'those between them are unharmed'

# Killed

kills=${TL_TEST_KILLS:-6}
grep '^{"tl":1,"type":"candidate"' "$tmp/c" | grep -o '"candidate_id":"[^"]*"' | sort >"$tmp/all"
raced() { results "$1" | grep '"stage":"race"' | grep -o '"candidate_id":"[^"]*"' | sort; }
rm -rf "$TL_CACHE"
export CUDA_CACHE_DISABLE=1 # so that there is something to kill
killed=0
for delay in $(perl -e 'srand 7; printf "%.2f\n", 0.05 + 0.25 * rand for 1 .. shift' "$kills"); do
	$race --journal "$tmp/j" "$tmp/c" >"$tmp/out" 2>/dev/null &
	pid=$!
	sleep "$delay"
	kill -9 $pid 2>/dev/null && killed=$((killed + 1))
	wait $pid 2>/dev/null
	[ ! -e "$tmp/j" ] || { sed '$d' "$tmp/j" >"$tmp/whole" && "$bin/tl-check" -q "$tmp/whole" || break; }
done
ok $? "killed $killed times: the journal is whole lines but for the last"
measure --journal "$tmp/j" "$tmp/c" >"$tmp/out" 2>/dev/null
[ $? -eq 0 ] && "$bin/tl-check" -q "$tmp/out" "$tmp/j" && raced "$tmp/out" | cmp -s - "$tmp/all"
ok $? 'the next run has every candidate, none of them twice'
raced "$tmp/j" | cmp -s - "$tmp/all"
ok $? 'and none was measured twice'
# The worker instead
rm -f "$tmp/j"
{ measure --journal "$tmp/j" "$tmp/c"; echo $? >"$tmp/status"; } >"$tmp/out" 2>"$tmp/err" &
run=$!
for delay in 0.5 0.3 0.4; do
	sleep $delay
	worker=$(pgrep -f worker-cuda | while read -r pid; do
		tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qx "TL_CACHE=$TL_CACHE" && echo "$pid"
	done | head -n 1)
	[ -z "$worker" ] || kill -9 "$worker" 2>/dev/null
done
wait $run
[ "$(cat "$tmp/status")" -eq 0 ] && "$bin/tl-check" -q "$tmp/out" && raced "$tmp/out" | cmp -s - "$tmp/all"
ok $? 'a run whose worker is killed ends with every candidate'
echo "1..$n"

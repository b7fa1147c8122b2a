#!/bin/sh
# tl-extract: logs and lists of other programs, recorded in tests/logs/ or made in the form of theirs.
bin=${BIN:-bin}
logs=tests/logs
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

# brief: of each record its problem, element type (but f32), layout (but ab), post-ops, a computed right side and the count
brief() {
	sed 's/.*"prob":"\([^"]*\)","dtype":"\([^"]*\)","layout":"\([a-z]*\)","post":\[\([^]]*\)\]\(.*\)"flops.*"count":\([0-9]*\).*/\1 \2 \3 \4 \5 x\6/
		s/ f32 / /; s/"rhs":"const"//; s/"rhs":"computed"/computed/; s/[",]/ /g; s/ ab / /; s/  */ /g' | sed 's/^\(.*[a-z0-9]\) x1$/\1/'
}
# reads NAME FILE SENTENCE, and the records wanted on standard input
reads() {
	cat >"$tmp/want"
	"$bin/tl-extract" "$logs/$2" 2>"$tmp/err" | brief >"$tmp/out"
	cmp -s "$tmp/want" "$tmp/out"
	ok $? "$1"
	cmp -s "$tmp/want" "$tmp/out" || sed 's/^/# /' "$tmp/out"
	grep -qF -e "$3" "$tmp/err"
	ok $? "and what is left out"
	grep -qF -e "$3" "$tmp/err" || sed 's/^/# /' "$tmp/err"
}

reads "cuDNN's log" cudnn.log '3 instances extracted; not extracted: cudnnConvolutionBackwardFilter (backward) 1, cudnnPoolingForward 1, cudnnBackendExecute (the log does not tell its tensors) 1' <<'END2'
mb32_ic64ih56_oc128oh28_kh3sh2ph1 nchw
mb1g32_ic32ih14_oc32oh14_kh3ph2dh1 nhwc bias add relu
mb32_ic896ih1iw832_oc1792oh1ow416_kh1kw19sh1sw2ph0pw9 f16 nchw
END2
reads "cuBLAS' log" cublas.log '3 instances extracted' <<'END2'
128x768:768x3072
12x128x32:12x32x64 computed
128x32:32x64 f16
END2
reads "cuBLASLt's log" cublaslt.log '; not extracted: other lines 1' <<'END2'
128x768:768x3072 bias relu
12x128x32:12x32x64 computed
64x16:16x32 f16
2048x2400:2400x128 bias
END2
reads "MIOpen's command lines" miopen.log '; not extracted: conv (a search for an algorithm) 1, conv (backward) 1, pool 1, other lines 1' <<'END2'
mb1_ic3ih224_oc64oh112_kh7sh2ph3 nchw x2
mb32_ic64ih256_oc64oh256_kh3ph1 bf16 nhwc
mb2g32_ic1024ih79iw49_oc512oh40ow25_kh1kw1sh2sw2 nhwc bias
mb1_ic3id8ih56iw56_oc64od6oh54ow54_kd3kh3kw3 ncdhw
mb1_ic64ih28_oc64oh14_kh3sh2 nchw
END2
reads "rocBLAS' command lines" rocblas.log '; not extracted: axpy 1' <<'END2'
128x768:768x3072
12x128x32:12x32x64 computed
32x2x128:32x128x32 f16:f16:f32 computed
512x256:256x1024 bias add relu
END2
reads "rocBLAS' counts" rocblas.yaml '11 instances extracted; not extracted: rocblas_sscal 3' <<'END2'
128x768:768x3072 x11
END2
reads "AutoTVM's trials: each task once" autotvm.json '; not extracted: conv2d_transpose_nchw.x86 (transposed) 1' <<'END2'
mb1_ic3ih224_oc64oh112_kh7sh2ph3 nchw
mb1g32_ic32ih112_oc32oh112_kh3ph1 nchw
mb1_ic64ih56_oc128oh28_kh3sh2ph1 nchw
mb1_ic64ih56_oc64oh55_kh3 nhwc
mb1g32_ic128ih56_oc128oh56_kh3ph1 nchw
128x768:768x3072
1x512:512x1000 bias
12x128x64:12x64x128 computed
12x128x64:12x64x32 computed
mb1_ic64ih56_oc64oh56_kh1 u8:s8:s32 nchw
mb1_ic64ih56_oc64oh56_kh1 nchw
END2
reads "Ansor's trials" ansor.json "0 instances extracted; not extracted: tasks of Ansor's (known by a hash alone) 1, matmul_add (a function that the log does not tell) 1" </dev/null
reads "MetaSchedule's database" metaschedule.json "0 instances extracted; not extracted: tasks of MetaSchedule's (a program that only TVM reads) 2, trials of MetaSchedule's 1" </dev/null
reads "Lorien's workloads" lorien.yaml '2 instances extracted' <<'END2'
mb1_ic64ih73_oc80oh73_kh1 nchw
1x512:512x1000
END2
reads "benchdnn's names, in quotes behind any problem" named_matmul.bench '14 instances extracted' <<'END2'
64x96:96x32 x12
16x96:96x32
mb1_ic8ih6_oc8oh6_kh3ph1 nhwc
END2
reads "benchdnn's lists that go on in the next line" continued.bench '2 instances extracted' <<'END2'
mb1_ic8ih6_oc8oh6_kh3ph1 nhwc relu
mb1_ic8ih6_oc8oh6_kh3ph1 nhwc add relu
END2
reads 'a padding behind that follows from the output' right_pad.bench '1 instance extracted' <<'END2'
mb1_ic4ih5_oc4oh9_kh3ph1 nhwc
END2
reads "calls of oneDNN's own BLAS" gemm_api.log '2 instances extracted, 100.0% of the 9e-05 s' <<'END2'
6x96:96x32 x2
END2
reads 'a depthwise convolution that is a post-operation' fused_dw.log \
	'not extracted: depthwise convolution (fused behind another) 1, relu (a post-op) 1' <<'END2'
mb1_ic8ih10_oc16oh10_kh1 nchw relu
END2
"$bin/tl-extract" --list "$logs/fused_dw.log" 2>/dev/null | grep -q 'depthwise convolution *1 52.9 %'
ok $? 'whose share of the multiply-adds is told'
cat "$logs/rocblas.log" "$logs/rocblas.yaml" >"$tmp/both.log"
"$bin/tl-extract" "$tmp/both.log" 2>"$tmp/err" | brief >"$tmp/out"
[ "$(head -n 1 "$tmp/out")" = '128x768:768x3072' ] && grep -q 'sums of calls (the calls stand above) 2' "$tmp/err"
ok $? 'where a log has both calls and their counts, none counts twice'

# Files that --batch names: beside the file that names them, or one around it. Options stay in force.
mkdir -p "$tmp/inputs/conv/more"
printf -- '--reset --dir=FWD_B\n--batch=more/first\nic4ih9oc4kh3\n--batch=second\n' >"$tmp/inputs/conv/all"
printf -- '--dir=FWD_B, \\\nFWD_D --batch=second' >"$tmp/inputs/conv/more/first"
printf 'mb1ic8ih14oc8kh3ph1n"a*2"\n' >"$tmp/inputs/conv/second"
(cd "$tmp/inputs/conv" && "$bin/tl-extract" all) 2>"$tmp/err" | brief >"$tmp/out"
[ "$(tr '\n' ';' <"$tmp/out")" = 'mb1_ic8ih14_oc8oh14_kh3ph1 nhwc bias x4;mb1_ic8ih14_oc8oh14_kh3ph1 nhwc x4;mb1_ic4ih9_oc4oh7_kh3 nhwc bias;mb1_ic4ih9_oc4oh7_kh3 nhwc;' ]
ok $? 'files that --batch names' || sed 's/^/# /' "$tmp/out" "$tmp/err"
printf -- '--batch=b\n' >"$tmp/a"
printf -- '--batch=a\n--batch=none\n--batch=b\nmb1ic8ih14\n--batch=inputs\n5x7:7x9\n' >"$tmp/b"
"$bin/tl-extract" "$tmp/a" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q '/a:1: [^ ]*/b:1: the batch file [^ ]*/a leads back to itself$' "$tmp/err" && [ "$(wc -l <"$tmp/out")" -eq 1 ] &&
	grep -q '/a:1: [^ ]*/b:2: there is no batch file ' "$tmp/err" && grep -q '/b:3: the batch file [^ ]*/b leads back' "$tmp/err" &&
	grep -q '/b:4: the problem has no oc$' "$tmp/err" && grep -q '/b:5: cannot read the batch file .*inputs: it is a folder' "$tmp/err"
ok $? 'a file that leads back to itself is refused, others are read' || sed 's/^/# /' "$tmp/err"
for i in 1 2 3 4 5 6 7 8 9 10 11; do printf -- '--batch=n%d\n--batch=n%d\n' $((i + 1)) $((i + 1)) >"$tmp/n$i"; done
echo '5x7:7x9' >"$tmp/n12"
"$bin/tl-extract" "$tmp/n1" 2>"$tmp/err" >"$tmp/out"
[ $? -eq 3 ] && grep -q 'more than 1000 batch files are named' "$tmp/err" && [ "$(wc -l <"$tmp/out")" -eq 1 ]
ok $? 'files that name each other again and again have an end'
echo './benchdnn --matmul --batch=nowhere 5x7:7x9' >"$tmp/run.sh"
"$bin/tl-extract" "$tmp/run.sh" 2>"$tmp/err" >"$tmp/out" && grep -q 'not extracted: --batch (there is no batch file [^ ]*nowhere) 1$' "$tmp/err"
ok $? 'a command that ran elsewhere is told'
"$bin/tl-extract" - <"$tmp/a" 2>"$tmp/err" >"$tmp/out" && grep -q 'not extracted: --batch (looked for beside a list on the disk alone) 1$' "$tmp/err"
ok $? 'of standard input, too'

# Recordings in an archive are known by their lines.
tar -C "$logs" -cf "$tmp/logs.tar" cudnn.log autotvm.json lorien.yaml pytorch_net.py
"$bin/tl-extract" "$tmp/logs.tar" 2>"$tmp/err" | brief >"$tmp/out"
[ "$(wc -l <"$tmp/out")" -eq 16 ] && [ "$(wc -l <"$tmp/err")" -eq 3 ]
ok $? 'an archive of them, with a program among them'

# Counts of several inputs add up, and the same input twice is once.
printf 'op,prob,count\nmatmul,5x7:7x9,3\n' >"$tmp/a.csv"
printf '5x7:7x9n"x*4"\n' >"$tmp/b.log"
"$bin/tl-extract" -q "$tmp/a.csv" "$tmp/b.log" "$tmp/a.csv" | brief >"$tmp/out"
[ "$(cat "$tmp/out")" = '5x7:7x9 x7' ]
ok $? 'counts of several inputs add up'

# Lists with a column for each dimension.
list() { # NAME WANT LINES
	# shellcheck disable=SC2059 # LINES is a format
	printf "$3" | "$bin/tl-extract" -q -f csv 2>"$tmp/err" | brief >"$tmp/out"
	[ "$(tr '\n' ';' <"$tmp/out")" = "$2" ]
	status=$?
	ok $status "$1"
	[ $status -eq 0 ] || sed 's/^/# /' "$tmp/out" "$tmp/err"
}
list "DeepBench's convolutions" 'mb4_ic1ih161iw700_oc32oh79ow341_kh5kw20sh2sw2 nhwc;' \
	'w,h,c,n,k,filter_w,filter_h,pad_w,pad_h,wstride,hstride,precision\n700,161,1,4,32,20,5,0,0,2,2,float\n'
list "and its products" '1760x256:256x16 x3;' \
	'M,N,K,a_t,count\n1760,16,256,0,3\n'
list 'one size for both sides' 'mb2g32_ic32ih14_oc32oh14_kh3ph2dh1 nchw bias relu;' \
	'mb,C,H,K,kernel,stride,pad,groups,dilation,layout,post\r\n2,32,14,32,3,1,2,32,2,nchw,bias+relu\r\n'
list 'a batch' '12x64x16:12x16x32 computed;' \
	'batch,m,n,k,rhs\n12,64,32,16,computed\n'
printf 'm,n,k\n1,2,3\n1,x,3\n1,,3\n-1,2,3\n' >"$tmp/bad.csv"
"$bin/tl-extract" "$tmp/bad.csv" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && [ "$(wc -l <"$tmp/out")" -eq 1 ] && grep -q 'bad.csv:3: "x" is no size' "$tmp/err" && grep -q 'bad.csv:4: it lacks a size (n)' "$tmp/err"
ok $? 'rows that lack a size, or have none'
printf 'c,h,k\n1,2,3\n' >"$tmp/bad.csv"
"$bin/tl-extract" "$tmp/bad.csv" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] && grep -q 'nor the dimensions of a product' "$tmp/err"
ok $? 'a list without an operator is refused in one sentence'

echo "1..$n"

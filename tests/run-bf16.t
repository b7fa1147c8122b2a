#!/bin/bash
# tl-run --precision=bf16: outputs near those of onnxruntime and of f32, for every instruction set; what it does not go with is refused.
cd "$(dirname "$0")/.." || exit 1
bin=${BIN:-$PWD/bin}
# shellcheck source=tests/tap.sh
. tests/tap.sh

bf16() { # option.. model
	"$bin/tl-run" --no-db -m none --precision=bf16 "$@" >"$tmp/log" 2>"$tmp/err"
	local status=$?
	[ $status -eq 0 ] || cat "$tmp/log" "$tmp/err" | grep -v ': equal:' | sed 's/^/# /'
	return $status
}

for name in attention cnn heads mobile products; do
	batch=
	[ $name != cnn ] || batch=--batch=2
	for isa in avx512_amx avx512_bf16 avx512 avx2 scalar; do
		if has_isa $isa; then
			TL_ISA=$isa bf16 -t 2 --check-memory -i tests/run/$name.npz -c tests/run/$name.npz $batch tests/run/$name.onnx &&
				TL_ISA=$isa bf16 -t 1 -q -i tests/run/$name.npz --compare-single $batch tests/run/$name.onnx
			ok $? "$name, $isa"
		else
			skip "$name: this CPU has no $isa"
		fi
	done
done
for model in tests/run/*.onnx tests/run/cases/*.onnx; do
	inputs=${model%.onnx}.npz
	[ -f "$inputs" ] || inputs=${model%.onnx}.in.npz
	batch=
	[ "$model" != tests/run/cnn.onnx ] || batch=--batch=2
	[ "$model" != tests/run/cases/near.onnx ] || continue # its sizes are others in bf16
	[ "$model" != tests/run/cases/loop_nested.onnx ] || continue # as are its turns
	bf16 --check-memory -i "$inputs" --compare-single $batch "$model"
	ok $? "the outputs of $model are near those in f32"
done
# Parts of this model have more numbers above a threshold than the whole of it, which counts.
near=tests/run/cases/near.onnx
bf16 -i "${near%.onnx}.in.npz" "$near" && bf16 -q -i "${near%.onnx}.in.npz" -o "$tmp/near.npz" "$near" && bf16 -q -i "${near%.onnx}.in.npz" -c "$tmp/near.npz" --tolerance 0 "$near"
ok $? 'sizes that follow from data, near a threshold'
"$bin/tl-run" --no-db -m none --precision=bf16 -i "${near%.onnx}.in.npz" --compare-single "$near" >"$tmp/log" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q '^y.*: from f32: differs: its size follows from data, and it has [0-9]* elements instead of [0-9]*$' "$tmp/log"
ok $? 'and sizes that are others in f32'

# What it is in, and how it is told.
bf16 --batch=2 --profile --trace "$tmp/trace" --compare-single tests/run/cnn.onnx
ok $? 'a profile'
grep -q ' Conv+Relu .* bf16$' "$tmp/log" && grep -q ' Gemm .* bf16:bf16:f32$' "$tmp/log" && grep -q '"dtype":"bf16"' "$tmp/trace"
ok $? 'operators compute in bf16; what goes to f32 is made in f32'
[ "$(grep -c 'the largest of a row is the same in 2 of 2$' "$tmp/log")" -ge 1 ]
ok $? 'the class that each row of scores names first'
bf16 -q --batch=2 --compare-single tests/run/cnn.onnx && [ ! -s "$tmp/log" ]
ok $? 'what is equal is not told with -q'
"$bin/tl-run" --no-db -m none --precision=bf16 --batch=2 --compare-single --tolerance 1e-9 tests/run/cnn.onnx >"$tmp/log"
[ $? -eq 1 ] && grep -q '^out0: from f32: differs: ' "$tmp/log"
ok $? 'another tolerance, status 1'
"$bin/tl-run" --no-db -m none --batch=2 -i tests/run/cnn.npz -o "$tmp/one.npz" tests/run/cnn.onnx &&
	"$bin/tl-run" --no-db -m none --batch=2 -i tests/run/cnn.npz -o "$tmp/two.npz" --precision=f32 tests/run/cnn.onnx &&
	cmp -s "$tmp/one.npz" "$tmp/two.npz"
ok $? 'f32 is what it was'

# Infinity and what is no number, in the same places.
perl tests/tiny-onnx.pl >"$tmp/tiny.onnx"
"$bin/tl-run" --no-db -m none --random-weights 1 --save-inputs "$tmp/x.npz" "$tmp/tiny.onnx" && unzip -qo -d "$tmp/x" "$tmp/x.npz"
strange() { # of four bytes, as hexadecimal digits
	perl -0777 -pe 'BEGIN { $bits = pack("H8", shift) } substr($_, -4 * 100, 4) = $bits; substr($_, 256, 4) = $bits' "$1" "$tmp"/x/*.npy >"$tmp/strange.npy"
	bf16 --random-weights 1 -i "$tmp/strange.npy" --check-memory --compare-single "$tmp/tiny.onnx"
}
strange 0000c07f
ok $? 'NaN'
strange ffffff7f
ok $? 'NaN of which rounding would make infinity'
strange 0000807f
ok $? 'infinity'
strange 000080ff
ok $? 'minus infinity'
at=tests/run/cases/bf16_nan_bias
for isa in avx512_bf16 avx512_vnni avx512 avx2 scalar; do
	if has_isa $isa; then
		TL_ISA=$isa bf16 -i $at.in.npz -c $at.want.npz $at.onnx
		ok $? "a bias that is NaN by all of its bits, $isa"
	else
		skip "a bias that is NaN: this CPU has no $isa"
	fi
done

# Workloads and tuning.
"$bin/tl-run" --precision=bf16 --batch=2 --workloads "$tmp/workloads" tests/run/cnn.onnx && "$bin/tl-check" "$tmp/workloads" | cmp -s - "$tmp/workloads"
ok $? 'workloads are records'
[ "$(grep -c '"dtype":"bf16"' "$tmp/workloads")" -ge 6 ] && [ "$(grep -c '"dtype":"bf16:bf16:f32"' "$tmp/workloads")" -ge 1 ] &&
	! grep -q '"dtype":"f32"' "$tmp/workloads"
ok $? 'in the types of their steps'
"$bin/tl-run" --batch=2 --workloads - tests/run/cnn.onnx | sort >"$tmp/ours" &&
	"$bin/tl-extract" -q --batch 2 tests/run/cnn.onnx | sort | cmp -s "$tmp/ours" - &&
	"$bin/tl-run" --batch=2 --random-weights 1 --workloads - tests/run/cnn.onnx | sort | cmp -s "$tmp/ours" -
ok $? 'in f32 they are those of tl-extract, with the same sources'
TL_LOCKS=$tmp "$bin/tl-run" -q --precision=bf16 --tune 60s -d "$tmp/tl.db" --random-weights 1 --bench 20ms --json --compare-single "$tmp/tiny.onnx" >"$tmp/out" 2>"$tmp/err" &&
	grep -q '"tuned":1' "$tmp/out"
ok $? '--tune tunes what runs' || sed 's/^/# /' "$tmp/err" "$tmp/out"
"$bin/tl-run" -d "$tmp/tl.db" --random-weights 1 --bench 20ms --json "$tmp/tiny.onnx" | grep -q '"tuned":0'
ok $? 'f32 has its own kernels'
TL_LOCKS=$tmp "$bin/tl-run" --precision=bf16 -d "$tmp/tl.db" --random-weights 1 --in-place 20s --race-all --compare-single "$tmp/tiny.onnx" >"$tmp/out" 2>"$tmp/err" &&
	"$bin/tl-query" -d "$tmp/tl.db" --dump=choices | grep -q '"dtype":"bf16'
ok $? '--in-place chooses among them' || sed 's/^/# /' "$tmp/err" "$tmp/out"

# What --tune starts finds the user's folder for temporary files.
mkdir -p "$tmp/programs/bin" "$tmp/own" && cp "$bin/tl-run" "$tmp/programs/bin" && ln -s "$(cd "$bin/.." && pwd)/libexec" "$tmp/programs" &&
	printf '#!/bin/sh\necho "${TMPDIR-none}" >>"%s/told"\n' "$tmp" >"$tmp/programs/bin/tl-tune" && chmod +x "$tmp/programs/bin/tl-tune"
TMPDIR=$tmp/own "$tmp/programs/bin/tl-run" -q --precision=bf16 --tune 1s -d "$tmp/tl.db" --random-weights 1 "$tmp/tiny.onnx" >"$tmp/out" 2>"$tmp/err"
env -u TMPDIR "$tmp/programs/bin/tl-run" -q --precision=bf16 --tune 1s -d "$tmp/tl.db" --random-weights 1 "$tmp/tiny.onnx" >>"$tmp/out" 2>>"$tmp/err"
[ "$(tr '\n' ' ' <"$tmp/told")" = "$tmp/own none " ]
ok $? '--tune leaves the folder for temporary files what it is' || sed 's/^/# /' "$tmp/told" "$tmp/err"

# What is refused.
refused() { # name pattern option..
	local name=$1 pattern=$2
	shift 2
	"$bin/tl-run" --no-db -m none "$@" "$tmp/tiny.onnx" >"$tmp/out" 2>"$tmp/err"
	local status=$?
	[ $status -eq 2 ] && [ ! -s "$tmp/out" ] && grep -q -e "$pattern" "$tmp/err"
	ok $? "$name" || sed 's/^/# /' "$tmp/err"
}
refused 'a precision that is none' '--precision' --precision=bf61
refused 'a precision without a name' '--precision' --precision=
refused 'the library in bf16' '--library computes in f32' --precision=bf16 --library
refused 'f32 compared to itself' '--compare-single belongs to --precision=bf16' --compare-single
refused 'workloads and races' '--workloads runs nothing' --workloads "$tmp/w" --in-place 1s
"$bin/tl-run" --workloads "$tmp/nothing/w" "$tmp/tiny.onnx" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'cannot create' "$tmp/err"
ok $? 'no place for the workloads'
echo "1..$n"

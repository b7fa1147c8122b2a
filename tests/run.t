#!/bin/bash
# tl-run: outputs equal to what onnxruntime answered once (tests/run/make.py), for every instruction set, with one thread and two; what
# cannot be run is a sentence.
cd "$(dirname "$0")/.." || exit 1
bin=${BIN:-$PWD/bin}
# shellcheck source=tests/tap.sh
. tests/tap.sh

equal() { # model option..
	local name=$1
	shift
	"$bin/tl-run" --no-db -m none -i "tests/run/$name.npz" -c "tests/run/$name.npz" --tolerance 1e-5 "$@" \
		"tests/run/$name.onnx" >"$tmp/log" 2>&1
	local status=$?
	[ $status -eq 0 ] || grep -v equal "$tmp/log" | sed 's/^/# /'
	return $status
}

# With sanitizers each model for one instruction set, in turns: kernels have none.
isas='avx512 avx2 scalar'
here=()
for isa in $isas; do
	! has_isa $isa || here+=("$isa")
done
turn=0
for model in tests/run/*.onnx; do
	name=$(basename "$model" .onnx)
	batch=
	[ "$name" != cnn ] || batch=--batch=2
	[ -z "$SAN" ] || isas=${here[turn++ % ${#here[@]}]}
	for isa in $isas; do
		if has_isa $isa; then
			TL_ISA=$isa equal "$name" -t 2 --check-memory $batch && TL_ISA=$isa equal "$name" -t 1 $batch
			ok $? "$name, $isa"
		else
			skip "$name: this CPU has no $isa"
		fi
	done
done

# Which products of the quantized model are computed in 8 bits: all but one whose weights have a zero point.
"$bin/tl-run" --no-db -m none --workloads="$tmp/quantized" tests/run/quantized.onnx &&
	[ "$(count '"dtype":"\(u8:s8:u8\|u8:s8:s8\|s8\|s8:s8:f32\)"' "$tmp/quantized")" -eq 7 ] && [ "$(count '"dtype":"f32"' "$tmp/quantized")" -eq 1 ]
ok $? 'products of quantized numbers are computed in 8 bits' || sed 's/^/# /' "$tmp/quantized"
"$bin/tl-run" --no-db -m none --library tests/run/quantized.onnx >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'QLinearConv) is not computed here: u8:s8:u8, not f32' "$tmp/err"
ok $? 'the library has no QLinearConv' || sed 's/^/# /' "$tmp/err"

# Which weights stay packed: those in whole groups of 16 or more, of 4 or 8 bits, with zero points of bytes or none. Their workloads are
# those that tl-extract finds and tl-tune tunes.
"$bin/tl-run" --no-db -m none --workloads="$tmp/packed.w" tests/run/packed.onnx && "$bin/tl-extract" -q tests/run/packed.onnx >"$tmp/extracted" &&
	perl -MJSON::PP -e 'my (%n, %known);
		open my $f, "<", $ARGV[1]; $known{decode_json($_)->{workload_id}} = 1 while <$f>;
		open $f, "<", $ARGV[0];
		while (<$f>) { my $w = decode_json($_); $n{$w->{dtype}} += $w->{count}; $w->{dtype} eq "f32" || $known{$w->{workload_id}} or exit 1 }
		exit !($n{"f32:u4:f32"} == 8 && $n{"f32:u8:f32"} == 7 && $n{f32} == 3)' "$tmp/packed.w" "$tmp/extracted"
ok $? 'weights stay packed, as the workloads that tl-extract finds' || sed 's/^/# /' "$tmp/packed.w" "$tmp/extracted"
equal packed --library
ok $? 'the library computes by floats of packed weights'

# The products of a recurrent network's inputs are those that tl-extract finds.
"$bin/tl-run" --no-db -m none --workloads="$tmp/recurrent" tests/run/recurrent.onnx && "$bin/tl-extract" -q tests/run/recurrent.onnx |
	grep -o '"workload_id":"[0-9a-f]*"' >"$tmp/extracted" && [ "$(grep -c -F -f "$tmp/extracted" "$tmp/recurrent")" -eq "$(wc -l <"$tmp/recurrent")" ] &&
	[ "$(wc -l <"$tmp/recurrent")" -eq 4 ]
ok $? 'inputs of recurrent networks are multiplied by the workloads that tl-extract finds' || sed 's/^/# /' "$tmp/recurrent"
# Sources are those that tl-extract tells, also of nodes that share a name.
sources() { grep -o '"source":[^]]*]' | grep -v '/state"' | sort; }
"$bin/tl-run" --no-db -m none --workloads="$tmp/alike" tests/run/cases/names_alike.onnx && sources <"$tmp/alike" >"$tmp/ours" &&
	"$bin/tl-extract" -q tests/run/cases/names_alike.onnx | sources >"$tmp/theirs" && [ "$(grep -c 'same#' "$tmp/ours")" -eq 2 ] && cmp -s "$tmp/ours" "$tmp/theirs"
ok $? 'nodes of one name have the sources that tl-extract tells' || diff "$tmp/ours" "$tmp/theirs" | sed 's/^/# /'
# Weights beyond half of the second cache make threads share the steps.
for threads in 1 2 3; do
	TL_LIMITS=l2=64 equal recurrent -t $threads --check-memory || break
done
ok $? 'threads share the steps of large recurrent networks'

# OpenMP may have bound the first thread before the program began. (Kernels by halves have more than this error, where there are any.)
OMP_PROC_BIND=true equal cnn --strict -t 2 --batch=2 && OMP_WAIT_POLICY=active equal cnn --strict -t 2 --batch=2 && equal cnn --strict -t 5 --batch=2
ok $? 'a team where OpenMP binds threads, or lets them spin, and one of more threads'

threads() { # the number that a run has where none is told
	env -u OMP_NUM_THREADS "$@" "$bin/tl-run" --no-db -m none -b 0.01s -i tests/run/cases/avgpool_ceil_countpad.in.npz \
		tests/run/cases/avgpool_ceil_countpad.onnx 2>/dev/null | grep -o '[0-9]* threads'
}
threads OMP_PROC_BIND=false >"$tmp/free" && threads OMP_PROC_BIND=true >"$tmp/bound" && cmp -s "$tmp/free" "$tmp/bound"
ok $? 'a binding by OpenMP leaves a run all CPUs'

# Graphs that a fault met once: NAME.onnx, its inputs, and what the outputs must be.
for model in tests/run/cases/*.onnx; do
	name=$(basename "$model" .onnx)
	"$bin/tl-run" --no-db -m none -t 2 --check-memory -i "${model%.onnx}.in.npz" -c "${model%.onnx}.want.npz" "$model" >"$tmp/log" 2>&1
	status=$?
	[ $status -eq 0 ] || sed 's/^/# /' "$tmp/log"
	ok $status "the case $name"
done

# Random weights do not stand for what follows from sizes.
for name in transforms transforms_back tensor_scatter sequences; do
	"$bin/tl-run" --no-db -m none -t 2 --random-weights 1 -i "tests/run/cases/$name.in.npz" -c "tests/run/cases/$name.want.npz" \
		"tests/run/cases/$name.onnx" >"$tmp/log" 2>&1
	status=$?
	[ $status -eq 0 ] || sed 's/^/# /' "$tmp/log"
	ok $status "random weights and the case $name"
done

# Inputs that the file has a value for: that counts where no array is given. Arrays of other names are told.
for name in x.npy image.npy; do unzip -qo tests/run/cases/defaults.in.npz $name -d "$tmp"; done
(cd "$tmp" && zip -q defaults.npz x.npy image.npy && cp image.npy picture.npy && zip -q strange.npz x.npy image.npy picture.npy && zip -q lone.npz image.npy)
defaults() { # arrays, option..
	"$bin/tl-run" --no-db -m none -i "$1" -c tests/run/cases/defaults.want.npz "${@:2}" tests/run/cases/defaults.onnx >"$tmp/log" 2>"$tmp/err"
}
defaults "$tmp/defaults.npz"
[ $? -eq 1 ] && [ ! -s "$tmp/err" ]
ok $? 'defaults count where no array is given'
defaults "$tmp/strange.npz"
[ $? -eq 1 ] && grep -q 'the model has no input or output "picture"' "$tmp/err"
ok $? 'an array that is for nothing is told'
defaults "$tmp/lone.npz"
[ $? -eq 3 ] && grep -q "there is no array 'x'" "$tmp/err"
ok $? 'the only array is not taken for another input'
defaults tests/run/cases/defaults.in.npz --random-weights 1
[ $? -eq 3 ] && grep -q 'the weights are random' "$tmp/err"
ok $? 'random weights leave no room for given ones'

# A choice that nobody measured does not decide which of two equal channels is the larger one.
"$bin/tl-run" --no-db -m share/models/cpu.model -i tests/run/cases/equal_channels.in.npz -c tests/run/cases/equal_channels.want.npz \
	tests/run/cases/equal_channels.onnx >"$tmp/log" 2>&1
ok $? 'equal channels, as the model chooses'

# The manual names every operator.
sed -n 's/^\t\[OP_\([A-Za-z0-9]*\)\] = lower_.*/\1/p' lib/run/lower.c >"$tmp/operators"
[ "$(wc -l <"$tmp/operators")" -gt 80 ]
ok $? 'a table of operators'
while read -r operator; do
	sed -n '/^\.Ss Operators/,/^\.Ss Inputs/p' man/tl-run.1.in | grep -q "\b$operator\b" || echo "# $operator is not in the manual"
done <"$tmp/operators" >"$tmp/missing"
cat "$tmp/missing"
[ ! -s "$tmp/missing" ]
ok $? 'the manual has them all'

# Does the comparison see anything?
"$bin/tl-run" --no-db -m none --random-weights 5 --batch=2 -i tests/run/cnn.npz -c tests/run/cnn.npz tests/run/cnn.onnx >"$tmp/out"
[ $? -eq 1 ] && grep -q ': differs: ' "$tmp/out"
ok $? 'other weights give other outputs, status 1'

# A graph computes with copies of its weights, which inference knows. They are copies of the random ones: the outputs are 0 for all weights.
"$bin/tl-run" --no-db -m none --random-weights 1 -i tests/run/cases/derived_weights.in.npz -c tests/run/cases/derived_weights.want.npz \
	tests/run/cases/derived_weights.onnx >"$tmp/log" 2>&1
ok $? 'copies of random weights are the same' || sed 's/^/# /' "$tmp/log"

# Packed weights are random, too, so that a file need not have them. Their numbers are as large as other random weights.
"$bin/tl-run" --no-db -m none --random-weights 1 --save-weights "$tmp/packed.npz" -i tests/run/groups.npz -o "$tmp/random.npz" tests/run/groups.onnx &&
	"$bin/tl-run" --no-db -m none --random-weights 1 -i tests/run/groups.npz -c "$tmp/random.npz" tests/run/groups.onnx >"$tmp/out" &&
	[ "$(unzip -l "$tmp/packed.npz" | grep -c ' c[0-9]*\.npy$')" -ge 16 ] && mkdir "$tmp/packed" && unzip -qo "$tmp/packed.npz" c1.npy -d "$tmp/packed" &&
	perl -e 'undef $/; my @x = unpack("(f<)*", substr(<>, -4 * 33 * 5 * 8)); exit grep { $_ != int || $_ < 0 || $_ > 255 } @x or @x < 99' "$tmp/packed/c1.npy"
ok $? 'packed weights are random bytes' || unzip -l "$tmp/packed.npz" | sed 's/^/# /'

# What is written can be read again, and the same seed gives the same.
perl tests/tiny-onnx.pl >"$tmp/tiny.onnx"
"$bin/tl-run" --no-db -m none --random-weights 1 --save-weights "$tmp/w.npz" --save-inputs "$tmp/x.npz" -o "$tmp/y.npz" "$tmp/tiny.onnx" &&
	"$bin/tl-run" --no-db -m none --random-weights 1 -i "$tmp/x.npz" -c "$tmp/y.npz" "$tmp/tiny.onnx" >"$tmp/out"
ok $? 'inputs and outputs that were saved'
"$bin/tl-run" --no-db -m none --random-weights 1 -o "$tmp/y.npy" "$tmp/tiny.onnx" &&
	"$bin/tl-run" --no-db -m none --random-weights 1 -c "$tmp/y.npy" "$tmp/tiny.onnx" >"$tmp/out"
ok $? 'an .npy'
types() { # case, of what elements its outputs are to be
	"$bin/tl-run" --no-db -m none -i "tests/run/cases/$1.in.npz" -o "$tmp/$1.npz" "tests/run/cases/$1.onnx" &&
		"$bin/tl-run" --no-db -m none -i "tests/run/cases/$1.in.npz" -c "$tmp/$1.npz" "tests/run/cases/$1.onnx" >"$tmp/out" &&
		unzip -q -d "$tmp/$1" "$tmp/$1.npz" && [ "$(head -q -c 30 "$tmp/$1"/*.npy | tr -d '\000' | grep -a -o "[<|][a-z][0-9]" | tr '\n' ' ')" = "$2" ]
}
types wide_integers '<i4 <i4 <i4 <i8 <i4 <u8 <i4 <i4 <i4 <i8 ' && types dropout_mask '|b1 <f4 ' && types top_k_1 '<f4 <i8 '
ok $? 'integers and booleans in their own types'
unzip -l "$tmp/w.npz" | grep -q ' w.npy$'
ok $? 'weights by their names'
(cd "$tmp" && tar -czf tiny.tar.gz tiny.onnx) &&
	"$bin/tl-run" --no-db -m none --random-weights 1 -i "$tmp/x.npz" -c "$tmp/y.npz" "$tmp/tiny.tar.gz" >"$tmp/out"
ok $? 'a model in an archive'

# By the library, in the same plan.
for name in cnn mobile attention rows; do
	batch=
	[ "$name" != cnn ] || batch=--batch=2
	equal $name --library $batch
	ok $? "$name, by the library"
done

"$bin/tl-run" --no-db -m none "$tmp/tiny.onnx" 2>"$tmp/err" && grep -q 'left out' "$tmp/err"
ok $? 'weights that were left out are told'

"$bin/tl-run" --no-db -m none --random-weights 1 --library --bench 20ms "$tmp/tiny.onnx" | grep -q '; convolutions and products by onednn [0-9.]*$'
ok $? 'the library says what it is'

# Figures.
"$bin/tl-run" --no-db -m none --random-weights 1 --bench 50ms --json "$tmp/tiny.onnx" >"$tmp/out" &&
	perl -MJSON::PP -ne '$r = decode_json($_); exit !($r->{latency_s} > 0 && $r->{ci_s}[0] <= $r->{latency_s} && $r->{kernels} == 1 && $r->{tuned} == 0)' "$tmp/out"
ok $? '--bench --json'
printf '\n\n' | "$bin/tl-run" --no-db -m none --random-weights 1 --bench 20ms --turns "$tmp/tiny.onnx" >"$tmp/out"
[ "$(wc -l <"$tmp/out")" -eq 2 ]
ok $? 'a line for each turn'
"$bin/tl-run" --no-db -m none --batch=2 --profile --trace "$tmp/trace" tests/run/cnn.onnx >"$tmp/out" &&
	grep -q 'Conv+Add+Relu' "$tmp/out" && grep -q ' MaxPool' "$tmp/out" && perl -MJSON::PP -0777 -ne '
	my $e = decode_json($_);
	my $at = 0;
	for (@$e) {
		exit 1 if $_->{ph} ne "X" || $_->{ts} < $at - 0.01 || $_->{dur} < 0;
		$at = $_->{ts} + $_->{dur};
	}
	exit(@$e < 10)' "$tmp/trace"
ok $? '--profile and --trace'
"$bin/tl-run" --no-db -m none --random-weights=1 --profile tests/networks/onnx/llama-dynamo.onnx.zst >"$tmp/out" &&
	[ "$(grep -c ' RMSNormalization ' "$tmp/out")" -eq 5 ]
ok $? 'a normalization that is written out is one step'

# A kernel that the database knows is taken.
TL_LOCKS=$tmp "$bin/tl-tune" -q -d "$tmp/tl.db" --until 'candidates<3' --final 0 -o "$tmp/best" "$tmp/tiny.onnx" 2>"$tmp/err" &&
	"$bin/tl-run" -d "$tmp/tl.db" --random-weights 1 --bench 20ms --json "$tmp/tiny.onnx" >"$tmp/out" && grep -q '"tuned":1' "$tmp/out"
status=$?
[ $status -eq 0 ] || cat "$tmp/err" "$tmp/out" | sed 's/^/# /'
ok $status 'a tuned kernel'

TL_LOCKS=$tmp "$bin/tl-run" -q --tune 60s -d "$tmp/new.db" --random-weights 1 --bench 20ms --json "$tmp/tiny.onnx" >"$tmp/out" 2>"$tmp/err" &&
	grep -q '"tuned":1' "$tmp/out" && [ "$(wc -l <"$tmp/out")" -eq 1 ]
ok $? '--tune'

# Races in place: what a network's runs chose is stored, and counts from then on for this network, but not again when
# something else is the best. Rivals are raced however slow they are, so that time decides nothing here.
in_place() { # option..
	TL_LOCKS=$tmp "$bin/tl-run" -d "$tmp/new.db" --random-weights 1 --in-place 20s "$@" "$tmp/tiny.onnx" 2>"$tmp/err"
}
best_known() {
	"$bin/tl-extract" "$tmp/tiny.onnx" | "$bin/tl-query" -d "$tmp/new.db"
}
choices() {
	"$bin/tl-query" -d "$tmp/new.db" --dump=choices
}
"$bin/tl-run" -d "$tmp/new.db" --random-weights 1 -o "$tmp/y.npz" "$tmp/tiny.onnx" && best_known >"$tmp/best" &&
	in_place --race-all -c "$tmp/y.npz" >"$tmp/out" && choices >"$tmp/choices" && "$bin/tl-check" "$tmp/choices" >"$tmp/out" && cmp -s "$tmp/choices" "$tmp/out" &&
	perl -MJSON::PP -ne '$c = decode_json($_); exit !($c->{steps} == 1 && $c->{step_s} > 0 && @{$c->{over}} && !grep { $_->{ratio} <= 0 } @{$c->{over}})' "$tmp/choices"
ok $? 'a choice of whole runs is stored' || sed 's/^/# /' "$tmp/err"
in_place --race-all && choices | cmp -s "$tmp/choices" - && [ ! -s "$tmp/err" ]
ok $? 'what was decided is not raced again'
best_known | cmp -s "$tmp/best" -
ok $? 'tl-query answers as before'
# By hand: a rival of the best one, however the runs chose.
"$bin/tl-query" -d "$tmp/new.db" --dump=results >"$tmp/results"
rival() { # the best known's id as the choice tells it; further fields
	perl -MJSON::PP -e 'my ($choices, $results, $first, $best) = @ARGV;
		open my $f, "<", $choices; my $c = decode_json(<$f>);
		open $f, "<", $results;
		my ($r) = grep { $_->{status} eq "ok" && $_->{candidate_id} ne $best } map { decode_json($_) } <$f>;
		$c->{$_} = $r->{$_} for qw(candidate_id knobs algo target);
		$c->{over} = [];
		$c->{first} = $first;
		$c->{at} = "2099-01-01T00:00:00.000Z";
		delete $c->{checksum};
		delete @$c{qw(tl type)};
		print qq({"tl":1,"type":"choice",) . substr(JSON::PP->new->canonical->encode($c), 1) . "\n"' "$tmp/choices" "$tmp/results" "$1" "$best"
}
best=$(sed 's/.*"candidate_id":"\([0-9a-f]*\)".*/\1/' "$tmp/best")
shown() { # what the profile says of the kernel
	"$bin/tl-run" -d "$tmp/new.db" --random-weights 1 -c "$tmp/y.npz" --profile "$tmp/tiny.onnx" | grep -q " $1  *Conv"
}
rival "$best" | "$bin/tl-store" -q -d "$tmp/new.db" && shown 'in place'
ok $? 'the kernel of the choice runs'
rival "$(printf %032d 7)" | sed 's/2099/2098/' | "$bin/tl-store" -q -d "$tmp/new.db" && shown 'in place'
ok $? 'an earlier choice does not replace it'
rival "$(printf %032d 7)" | "$bin/tl-store" -q -d "$tmp/new.db" && rival "$(printf %032d 7)" | sed 's/2099/2100/' | "$bin/tl-store" -q -d "$tmp/new.db" && shown exact
ok $? 'a choice without the best known does not count'
rival "$best" | sed 's/"candidate_id":"."/"candidate_id":"x"/; s/"vl":[0-9]*/"vl":7/; s/2099/2101/' >"$tmp/bad"
"$bin/tl-store" -q -d "$tmp/new.db" "$tmp/bad" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q "as the fields make it" "$tmp/err" && shown exact
ok $? 'a choice whose id is not that of its knobs is refused'

"$bin/tl-run" --no-db -m none --random-weights 1 --dim nothing=3 "$tmp/tiny.onnx" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && grep -q 'the model has no open dimension "nothing"' "$tmp/err"
ok $? '--dim of a name that the model lacks is told' || sed 's/^/# /' "$tmp/err"

"$bin/tl-run" --no-db -m none --random-weights 99999999999999999999 "$tmp/tiny.onnx" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q -e '--random-weights wants a number of 0 to' "$tmp/err"
ok $? 'a seed of more than 64 bits is refused'

# Before the first word there is no past: an open dimension of size 0.
past=tests/run/cases/no_past
"$bin/tl-run" --no-db -m none --shape past:1,2,0,4 -o "$tmp/past.npz" "$past.onnx" &&
	"$bin/tl-run" --no-db -m none --dim past_0=1 --dim past_1=2 --dim past_2=0 --dim past_3=4 -c "$tmp/past.npz" "$past.onnx" >"$tmp/out" &&
	[ "$(unzip -p "$tmp/past.npz" shape.npy | tail -c 32 | od -An -v -w32 -t d8 | tr -s ' ')" = ' 1 2 0 4' ]
ok $? 'an open dimension may have the size 0' || sed 's/^/# /' "$tmp/out"
"$bin/tl-extract" -q --shape past:1,2,0,4 "$past.onnx" >"$tmp/out" && [ "$(count '"prob":"2x1x4:2x4x1"' "$tmp/out")" -eq 1 ]
ok $? 'for tl-extract, too' || sed 's/^/# /' "$tmp/out"

# Their products have sizes that no shape of the file tells.
TL_LOCKS=$tmp "$bin/tl-run" -q -d "$tmp/past.db" -m none --tune 60s --shape past:1,2,0,4 --bench 20ms --json "$past.onnx" >"$tmp/out" 2>"$tmp/err" &&
	grep -q '"tuned":[1-9]' "$tmp/out"
ok $? '--tune tunes for the shapes that are given' || sed 's/^/# /' "$tmp/err" "$tmp/out"
TL_LOCKS=$tmp "$bin/tl-run" -q -d "$tmp/volume.db" -m none --tune 120s --in-place 0 --bench 20ms --json tests/run/cases/volume.onnx >"$tmp/out" 2>"$tmp/err" &&
	perl -ne 'exit !(/"kernels":(\d+)/ && $1 && /"tuned":$1\b/)' "$tmp/out"
ok $? 'and volumes, whose kernels are those of images' || sed 's/^/# /' "$tmp/err" "$tmp/out"
TL_LOCKS=$tmp "$bin/tl-run" -q -d "$tmp/volume.db" -m none --tune 1s tests/run/cases/cast_wrap.onnx >"$tmp/out" 2>"$tmp/err"
ok $? 'a model without workloads has nothing to tune' || sed 's/^/# /' "$tmp/err" "$tmp/out"

"$bin/tl-run" --no-db -m none --random-weights 1 --check-memory --library "$tmp/tiny.onnx" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q -e '--check-memory and --library do not go together' "$tmp/err"
ok $? '--check-memory and --library contradict each other'

# What cannot be run.
refused() { # name pattern status option..
	local name=$1 pattern=$2 want=$3
	shift 3
	"$bin/tl-run" --no-db -m none "$@" >"$tmp/out" 2>"$tmp/err"
	local status=$?
	if [ $status -eq "$want" ] && grep -q -e "$pattern" "$tmp/err" && [ "$(wc -l <"$tmp/err")" -eq 1 ]; then
		ok 0 "$name"
	else
		sed 's/^/# /' "$tmp/err"
		ok 1 "$name (status $status)"
	fi
}
head -c 3000 tests/run/cnn.onnx >"$tmp/cut.onnx"
head -c 4000 tests/run/cnn.npz >"$tmp/cut.npz"
perl -pe 's/Relu/Rolu/' "$tmp/tiny.onnx" >"$tmp/rolu.onnx"
npy() { # type shape values..: an array of NumPy's
	perl -e 'my ($type, $shape, @v) = @ARGV;
		my $h = "{\x27descr\x27: \x27$type\x27, \x27fortran_order\x27: False, \x27shape\x27: ($shape), }";
		$h .= " " x (63 - (10 + length $h) % 64) . "\n";
		binmode STDOUT;
		print "\x93NUMPY\1\0", pack("v", length $h), $h, pack($type eq "<i8" ? "q<*" : $type eq "<i4" ? "l<*" : "f<*", @v)' -- "$@"
}
# shellcheck disable=SC2046 # numbers
npy '<f4' '1, 9' nan 1 1 1 1 1 1 1 1 >"$tmp/ids.npy"
npy '<i8' '1, 9' 1 1 1 1 1 1 1 1 1 >"$tmp/mask.npy"
(cd "$tmp" && zip -q nan.npz ids.npy mask.npy)
npy '<i8' '1, 9' 1 2 3 99 5 6 7 8 9 >"$tmp/ids.npy"
(cd "$tmp" && zip -q far.npz ids.npy mask.npy)
npy '<i8' '4,' 1 2 -3 4097 >"$tmp/a.npy"
npy '<i8' '4,' 1 2 -3 4096 >"$tmp/b.npy"
(cd "$tmp" && zip -q products.npz a.npy b.npy)
npy '<i8' '4,' 1 2 -3 16777217 >"$tmp/a.npy"
(cd "$tmp" && zip -q odd.npz a.npy b.npy)
npy '<i8' '4,' 1 2 -3 2147483647 >"$tmp/a.npy"
(cd "$tmp" && zip -q end32.npz a.npy b.npy)
npy '<i8' '4,' 1 2 -3 -9223372036854775807 >"$tmp/a.npy"
(cd "$tmp" && zip -q end64.npz a.npy b.npy)
npy '<i8' '3,' 16777216 1 -16777216 >"$tmp/x.npy"
(cd "$tmp" && zip -q sum.npz x.npy)
npy '<i4' '2,' 5 2147483647 >"$tmp/x.npy"
(cd "$tmp" && zip -q wide.npz x.npy)
# Kernels that were measured of the workloads that tl-extract finds are those of a run: here of those that make digits of the left side (on
# some CPUs with weights of 4 bits alone). tl-run has another kernel for one of them.
"$bin/tl-extract" -q tests/run/packed.onnx | "$bin/tl-gen" -n 48 2>"$tmp/err" |
	perl -ne 'print if !/"type":"candidate"/ || (/"digits":1/ && /"workload_id":"(\w+)"/ && !$seen{$1}++)' >"$tmp/digits"
if grep -q '"digits":1' "$tmp/digits"; then
	TL_LOCKS=$tmp "$bin/tl-measure" -q --final=0 "$tmp/digits" | "$bin/tl-store" -q -d "$tmp/digits.db" >"$tmp/out" &&
		"$bin/tl-run" -d "$tmp/digits.db" --bench 10ms --json tests/run/packed.onnx >"$tmp/out" && grep -q "\"tuned\":$(($(grep -c '"digits":1' "$tmp/digits") - 1))," "$tmp/out" &&
		"$bin/tl-run" -d "$tmp/digits.db" -i tests/run/packed.npz -c tests/run/packed.npz --tolerance 1e-5 tests/run/packed.onnx >>"$tmp/out"
	ok $? 'packed weights with measured kernels' || sed 's/^/# /' "$tmp/out"
else
	skip 'packed weights with measured kernels: this CPU multiplies no bytes'
fi

# An infinite input makes no number, and no infinity of another sign, whichever kernel multiplies by packed weights.
# shellcheck disable=SC2046 # numbers
mkdir "$tmp/infinite" && unzip -qo tests/run/packed.npz four.npy narrow.npy -d "$tmp/infinite" &&
	npy '<f4' '1, 96' $(printf '1 %.0s' $(seq 40)) inf $(printf '1 %.0s' $(seq 55)) >"$tmp/infinite/one.npy" && (cd "$tmp/infinite" && zip -q ../infinite.npz ./*.npy)
first() { # file, option..: output 0 for these inputs
	"$bin/tl-run" -m none -i "$tmp/infinite.npz" -o "$tmp/all.npz" "${@:2}" tests/run/packed.onnx && unzip -qp "$tmp/all.npz" out0.npy >"$1"
}
like() { # file: is it like that of the library, or not a number?
	perl -e 'undef $/; my ($x, $y) = map { open my $f, "<", $_; [unpack("(f<)*", substr(<$f>, -4 * 37))] } @ARGV;
		exit grep { $x->[$_] - $x->[$_] == 0 || $x->[$_] == $x->[$_] && $x->[$_] != $y->[$_] } 0 .. 36' "$1" "$tmp/first"
}
first "$tmp/first" --no-db --library
status=$?
for isa in avx512 avx2 scalar; do
	! has_isa $isa || { TL_ISA=$isa first "$tmp/is" --no-db && like "$tmp/is"; } || status=1
done
[ ! -e "$tmp/digits.db" ] || { first "$tmp/is" -d "$tmp/digits.db" && like "$tmp/is"; } || status=1
ok $status 'infinity by packed weights'
# Weights beside the model are looked for there alone.
mkdir "$tmp/beside" && cp tests/run/external.onnx "$tmp/beside" && cp tests/run/external.npz "$tmp/x.npz"
refused 'a sum of one' 'the node .* (Add) lacks its input 2' 3 tests/run/refused/add_of_one.onnx
refused 'a norm that nobody reads' 'the node .* lacks its first output' 3 tests/run/refused/no_norm.onnx
refused 'a softmax that nobody reads' 'the node .* (Softmax) lacks its first output' 3 tests/run/refused/no_softmax.onnx
refused 'a bias too large for its sums' 'sums of 32 bits cannot hold the bias of output channel 3' 3 tests/run/refused/dead_channel.onnx
refused 'a file of weights that is missing' 'cannot open the weights in .*external.bin: No such file' 3 "$tmp/beside/external.onnx"
head -c 500 tests/run/external.bin >"$tmp/beside/external.bin"
refused 'a file of weights that was cut off' 'external.bin ends within a tensor' 3 "$tmp/beside/external.onnx"
(cd "$tmp/beside" && zip -q ../external.zip external.onnx external.bin)
refused 'a file of weights in an archive' 'in another file, which is looked for beside a model alone' 3 "$tmp/external.zip"
sed -i 's/external\.bin/..\/xtern.bin/' "$tmp/beside/external.onnx"
refused 'a file of weights elsewhere' 'not beside the model' 3 "$tmp/beside/external.onnx"

refused 'a model that was cut off' 'cut off' 3 "$tmp/cut.onnx"
refused 'no model' 'holds no ONNX model' 3 tests/run.t
refused 'no file' 'No such file' 3 "$tmp/nothing"
refused 'an operator that is not known' '(Rolu)' 3 --random-weights 1 "$tmp/rolu.onnx"
refused 'statistics of the data' 'is in training mode' 3 tests/run/refused/training.onnx
perl -pe 's/epsilon/epsilom/' tests/run/cnn.onnx >"$tmp/epsilom.onnx"
refused 'sequences of several lengths' 'a sequence is shorter than its keys' 3 tests/run/refused/uneven.onnx
refused 'turns whose number random inputs decide' '(Loop) has a branch or turns that are known only when the model runs' 3 tests/run/refused/open_turns.onnx
refused 'turns without end' '(Loop) has more than 100 turns whose number follows from what they compute' 3 tests/run/refused/endless.onnx
refused 'a sequence that is an output' "(SequenceConstruct) makes a sequence whose items are known only when the model runs, or which is an output" 3 tests/run/refused/sequence.onnx
refused 'a transform along two axes' '(DFT) is an operator, or a form of one' 3 tests/run/refused/dft_axes.onnx
refused 'tables that have room one by one' 'the node b (DFT) multiplies by a table that is too large' 3 tests/run/refused/tables.onnx
refused 'a grid of too many points' '(AffineGrid) multiplies by a table that is too large' 3 tests/run/refused/grid.onnx
refused 'sequences that are joined too often' '(ConcatFromSequence) has 4096 items, and with those of other nodes they are too many' 3 tests/run/refused/joins.onnx
refused 'a place that a sequence lacks' '(SequenceAt) has the place 2 of a sequence of 2 items' 3 tests/run/refused/place.onnx
refused 'a sequence of parts that leave something over' '(SplitToSequence) splits 6 into parts that do not fit' 3 tests/run/refused/parts.onnx
refused 'parts that leave something over' '(Split) splits 6 into parts of 4 in all' 3 tests/run/refused/split_parts.onnx
refused 'steps before the first place' '(TensorScatter) is an operator, or a form of one' 3 tests/run/refused/before_first.onnx
refused 'a condition of the body alone' '(Loop) has no condition, but its body makes one' 3 tests/run/refused/no_condition.onnx
refused 'a box that is none' '(RoiAlign): a box is of no image, has NaN or infinity, or lies too far away' 3 tests/run/refused/nan_box.onnx
refused 'a box far away' '(RoiAlign): a box is of no image, has NaN or infinity, or lies too far away' 3 tests/run/refused/far_box.onnx
refused 'boxes without images' '(RoiAlign) has boxes of another shape than N x 4, or not one image number for each' 3 tests/run/refused/flat_boxes.onnx
refused 'an overlap of two' '(NonMaxSuppression): the overlap lies outside of 0 to 1' 3 tests/run/refused/overlap.onnx
refused 'scores of other boxes' '(NonMaxSuppression) has scores that do not fit its boxes' 3 tests/run/refused/boxes.onnx
refused 'sizes that follow from data, and a model from a pipe' 'it must be a file, and no pipe' 3 -i tests/run/cases/non_zero.in.npz - <tests/run/cases/non_zero.onnx
refused 'a place among nothing' '(ArgMax) has an empty input' 3 tests/run/refused/arg_nothing.onnx
refused 'a place in an empty row' '(ArgMin) has an empty input' 3 tests/run/refused/arg_no_row.onnx
for name in 'arg ArgMax' 'top TopK' 'non_zero NonZero' 'unique Unique' 'pool MaxPool' 'suppress NonMaxSuppression'; do
	refused "indices beyond 2^24, ${name#* }" "(${name#* }) counts [0-9]* elements, and numbers beyond 2^24 are not exact" 3 \
		"tests/run/refused/${name% *}_long.onnx"
done
refused 'fewer elements than none' '(TopK) wants an absurd number of elements, -7' 3 tests/run/refused/top_absurd.onnx
refused 'coordinates of one number' '(NonZero) looks at one number' 3 tests/run/refused/one_number.onnx
refused 'a bias of another length' '(Conv) has a bias that does not fit its channels' 3 tests/run/refused/short_bias.onnx
refused 'a bias of another length on a kernel' '(Conv) has a bias that does not fit its channels' 3 tests/run/refused/few_biases.onnx
refused 'the same of a transposed convolution' '(ConvTranspose) has a bias that does not fit its channels' 3 tests/run/refused/few_biases_transposed.onnx
refused 'means of another length' '(Conv) has 8 channels, but 2 values for them' 3 tests/run/refused/few_means.onnx
refused 'a sum that lacks its third input' '(Add) lacks its input 3' 3 tests/run/refused/third_input.onnx
refused 'more turns than there is room for' '(Loop) has 60000 turns of 2 nodes, too many to make nodes of all of them' 3 tests/run/refused/many_turns.onnx
refused 'more windows than 64 bits count' '(Col2Im) has columns that do not fit its image' 3 tests/run/refused/windows.onnx
refused 'rows of weights that choose their groups' '(DequantizePacked) has g_idx of MatMulNBits' 3 tests/run/refused/group_index.onnx
perl -0777 -pe 's/block_size/block_sice/g' tests/run/groups.onnx >"$tmp/sice.onnx"
refused 'weights of groups of no size' 'has a block_size of 0' 3 "$tmp/sice.onnx"
perl -0777 -pe 's/(bits\x18)\x08/$1\x04/g' tests/run/groups.onnx >"$tmp/half.onnx"
refused 'packed weights of another size' 'bytes of packed weights, which are not what' 3 "$tmp/half.onnx"
refused 'an attribute that nobody knows' "has the attribute 'epsilom', which tl-run does not know" 3 "$tmp/epsilom.onnx"
# No machine has 256 TB.
refused 'more inputs than a machine holds' 'the inputs take 2.56e+05 GB, and the machine has less memory' 3 tests/run/refused/large_inputs.onnx
refused 'inputs of another shape' 'another shape' 3 --batch=3 -i tests/run/cnn.npz tests/run/cnn.onnx
refused 'inputs that are missing' 'no array' 3 -i tests/run/cnn.npz tests/run/attention.onnx
refused 'integers with NaN' 'is of integers, and has NaN' 3 -i "$tmp/nan.npz" tests/run/attention.onnx
refused 'products of integers that floats do not hold' 'computes exactly, 16777215 at most' 3 -i "$tmp/products.npz" tests/run/refused/products.onnx
for name in row scatter gemm; do
	refused "a sum that floats round, $name" 'computes exactly, 16777215 at most' 3 -i "$tmp/sum.npz" tests/run/refused/rounded_sum_$name.onnx
done
refused 'an integer that a float does not hold' 'element 3, about 16777217, is a whole number beyond 2^24' 3 -i "$tmp/odd.npz" tests/run/refused/products.onnx
refused 'the largest integer of another type' 'element 3, about 2147483647, is a whole number beyond 2^24' 3 -i "$tmp/end32.npz" tests/run/refused/products.onnx
refused 'the largest integer in a wider type' 'the largest number of i32 is none of another type' 3 -i "$tmp/wide.npz" tests/run/refused/wide_cast.onnx
refused 'an integer beside the least one' 'element 3, about -9223372036854775808, is a whole number' 3 -i "$tmp/end64.npz" tests/run/refused/products.onnx
refused 'a constant beside the least one' 'has about -9223372036854775808, and' 3 tests/run/refused/next_to_least.onnx
refused 'a constant that is the largest of another type' 'has about 2147483647, and' 3 tests/run/refused/largest_i32_in_i64.onnx
refused 'weights of a type that is not read' "does not read the type of the constant 'w' (f8e4m3fn)" 3 tests/run/refused/float8.onnx
refused 'a constant that a float does not hold' "constant 'k' has about 1099511627777" 3 tests/run/refused/odd_constant.onnx
unzip -qo tests/run/cases/tensor_scatter_late.in.npz x.npy u.npy -d "$tmp"
npy '<f4' '2,' -1.5 3.1 >"$tmp/f.npy"
(cd "$tmp" && zip -q before.npz x.npy u.npy f.npy)
refused 'steps before the first place, as the data say' '(ScatterElements): an index lies outside' 3 -i "$tmp/before.npz" tests/run/cases/tensor_scatter_late.onnx
mkdir "$tmp/loops" && npy '<f4' '1, 4,' 0 0 0 0 >"$tmp/loops/x.npy"
(cd "$tmp/loops" && zip -q ../loops.npz x.npy)
refused 'turns of Loops inside of Loops' 'more than 256 sizes, branches and turns follow from data' 3 -i "$tmp/loops.npz" tests/run/refused/nested_loops.onnx
refused 'a row that is none' 'put (ScatterND): an index lies outside' 3 tests/run/refused/scatter_outside.onnx
refused 'an index that lies outside' 'lies outside' 3 -i "$tmp/far.npz" tests/run/attention.onnx
printf hello >"$tmp/hello"
refused 'inputs that are a short text' "hello: it is no array of NumPy's, as np.save() and np.savez() write it" 3 -i "$tmp/hello" tests/run/cnn.onnx
refused 'arrays that were cut off' 'cut off\|cannot be read\|ended' 3 -i "$tmp/cut.npz" tests/run/cnn.onnx
refused 'a seed that is none' 'wants a number' 2 --random-weights x "$tmp/tiny.onnx"
refused 'options that contradict each other' 'contradict' 2 -d x "$tmp/tiny.onnx"
refused 'a batch of none' 'a batch has 1 or more' 2 --batch=0 "$tmp/tiny.onnx"
refused '--turns alone' 'belongs to' 2 --turns "$tmp/tiny.onnx"
refused 'no place for the output' 'cannot create .*nothing/y.npz' 3 -o "$tmp/nothing/y.npz" --random-weights 1 "$tmp/tiny.onnx"
echo "1..$n"

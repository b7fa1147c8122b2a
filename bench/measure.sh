#!/bin/sh
# make bench-measure: what measuring costs tl-measure against the plain way (bench/plain.c), and whether its answers can be
# trusted. Two sets of candidates of every workload of a model: drawn at random, and those that tl-filter keeps. Each set is
# measured the plain way, with kernels in GNU C and once more with the very source that tl-measure builds, by racing
# (compiled kernels forgotten before each), once more by racing, with every preempted candidate audited, and without
# preemption; then the winners of the ways alone, three times. The machine has been probed before. Prints a table; the
# figures are in build/bench-measure/figures.ndjson, the records beside them. Nothing else should run meanwhile.
# BENCH_CANDIDATES (24) a workload, BENCH_MODEL (resnet50.tar.zst).
set -eu
bench=measure
# shellcheck source=bench/log.sh
. bench/log.sh
bin=${BIN:-bin}
dir=build/bench-measure
n=${BENCH_CANDIDATES:-24}
rm -rf "$dir"
mkdir -p "$dir"
"$bin/tl-extract" -q -o "$dir/workloads" "share/models/${BENCH_MODEL:-resnet50.tar.zst}"
"$bin/tl-gen" --search=random -n "$n" -o "$dir/random.candidates" "$dir/workloads"
"$bin/tl-gen" -n 500 "$dir/workloads" | "$bin/tl-filter" -k "$n" -o "$dir/filtered.candidates"
export OMP_PROC_BIND=true TL_CACHE="$PWD/$dir/cache"
grep -m2 '"type":"workload"\|"type":"candidate"' "$dir/random.candidates" | "$bin/tl-measure" --cache=warm --final=0 -o "$dir/probed" 2>/dev/null || :

cost() { # file command...: seconds on the clock, and of processor time, of the command and all that it started
	perl -MTime::HiRes=time -e '
		my ($file, @command) = @ARGV;
		my $start = time;
		system(@command) == 0 or die "$command[0] fails\n";
		my (undef, undef, $user, $system) = times;
		open my $f, ">", $file or die;
		printf $f "%.3f %.3f\n", time - $start, $user + $system' "$@"
}

for set in random filtered; do
	in=$dir/$set.candidates
	# Compilers inherit the CPU that a bound program stands on: unbound, they have them all.
	for how in c cpu; do
		echo "$set: the plain way, kernels as $how" >&2
		mkdir "$dir/$set.plain"
		cost "$dir/$set.plain-$how.build.cost" env -u OMP_PROC_BIND \
			sh -c 'build/bench/plain build "$1" "$(nproc)" "$2" <"$3"' - "$dir/$set.plain" $how "$in"
		cost "$dir/$set.plain-$how.run.cost" \
			sh -c 'build/bench/plain run "$1" <"$2" >"$3"' - "$dir/$set.plain" "$in" "$dir/$set.plain-$how.times"
		rm -r "$dir/$set.plain"
	done
	rm -rf "$TL_CACHE/objects"
	echo "$set: racing" >&2
	cost "$dir/$set.race.cost" "$bin/tl-measure" --cache=warm -o "$dir/$set.race" "$in"
	echo "$set: racing once more" >&2
	"$bin/tl-measure" --cache=warm -o "$dir/$set.again" "$in"
	echo "$set: every preempted candidate audited" >&2
	"$bin/tl-measure" --cache=warm --final=0 --audit=1 -o "$dir/$set.audit" "$in"
	echo "$set: without preemption" >&2
	"$bin/tl-measure" --cache=warm --final=0 --no-preempt -o "$dir/$set.full" "$in"
	echo "$set: the winners alone, three times" >&2
	perl bench/measure.pl "$dir" --winners "$set" >"$dir/$set.winners"
	for i in 1 2 3; do
		"$bin/tl-measure" --cache=warm --final=0 --no-preempt -o "$dir/$set.winners.$i" "$dir/$set.winners"
	done
done

# May a compiler run on a core that the timing leaves free? One thread times; the other core is idle, or compiles.
export OMP_NUM_THREADS=1
"$bin/tl-gen" -n 200 "$dir/workloads" | "$bin/tl-filter" -k 4 -o "$dir/beside.candidates"
echo "one thread, the other core idle, then compiling" >&2
for when in alone beside; do
	[ $when = alone ] || {
		perl -e 'while (1) { system("sh", "-c", "echo \"void f(float *x) { for (int i = 0; i < 99; i++) x[i] *= 2; }\" | cc -O2 -xc -c -o /dev/null -") }' &
		compiler=$!
	}
	"$bin/tl-measure" --cache=warm --final=0 --no-preempt -o "$dir/$when.results" "$dir/beside.candidates"
done
kill $compiler
perl bench/measure.pl "$dir" random filtered

#!/bin/sh
# make bench-filter: what the filter, and a search inside the model, are worth in a live run of tuning.
#
# The first test network (BENCH_TEST) is tuned from nothing by the same programs four ways. Of what is drawn at random tl-filter
# ranks by a model that has learned nothing of the network (build/bench-model/1.model, by make bench-model), by the analytic draft, or
# passes on whatever comes first; or it ranks by the model what tl-gen has bred in it ("guided"). Each way has two runs of BENCH_TUNE
# (1m) with two seeds, the second ones in the reverse order. How they are compared: bench/runs.sh.
set -eu
bench=filter
# shellcheck source=bench/log.sh
. bench/log.sh
# shellcheck source=bench/held-out.sh
. bench/held-out.sh
# shellcheck source=bench/runs.sh
. bench/runs.sh
tune_way() { # way seed
	case $1 in
	guided) tune guided "$2" -m "$model" --search=guided ;;
	*) tune "$1" "$2" -m "$model" --filter="$1" --search=random ;;
	esac
}
for way in guided model draft none; do tune_way $way 1; done
for way in none draft model guided; do tune_way $way 2; done
compare

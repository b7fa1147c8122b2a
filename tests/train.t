#!/bin/sh
# tl-train: what it learns, what it says of itself, and what becomes of models that are none. tl-filter ranks by them.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"

unset TL_MODEL
as_machine avx2 1 || {
	echo '1..0 # SKIP this CPU has no AVX2'
	exit 0
}
workloads=$tmp/workloads
for prob in mb1_ic64ih14_oc64oh14_kh1 mb1_ic32ih28_oc96oh28_kh1 mb1_ic16ih14_oc32oh14_kh5ph2 mb1_ic128ih7_oc64oh7_kh1 \
	mb1_ic64ih7_oc48oh7_kh5ph2 mb1_ic24ih28_oc40oh28_kh1; do
	echo "{\"tl\":1,\"type\":\"workload\",\"op\":\"conv2d\",\"prob\":\"$prob\",\"count\":2,\"source\":[\"net:1:a\",\"net:1:b\"]}"
done >"$workloads"
drawn=150
"$bin/tl-gen" -n $drawn "$workloads" >"$tmp/all"

# A machine that is the draft, but that takes five times as long wherever "order" is 1: this the draft does not know.
results() {
	"$bin/tl-filter" --cache=warm --by=draft -k $drawn | awk '
		/"type":"candidate"/ {
			t = $0
			sub(/.*"draft_s":/, "", t)
			t += 0
			if (!t)
				t = 1e-3 # it was not judged
			if (/"order":1/)
				t *= 5
			sub(/"type":"candidate"/, "\"type\":\"result\"")
			sub(/}$/, sprintf(",\"status\":\"ok\",\"stage\":\"race\",\"latency_s\":%.9g,\"error\":{\"l2\":1e-7,\"max\":1e-7},\"run\":\"a1000000000000000000000000000000\",\"at\":\"2026-11-21T09:00:00.000Z\",\"env_id\":\"e1000000000000000000000000000000\"}", t))
			print
		}
		/"type":"workload"/'
}
results <"$tmp/all" >"$tmp/results"
[ "$(grep -c '"status":"ok"' "$tmp/results")" -ge $((drawn * 4)) ]
ok $? 'there are results to learn from'

train() { "$bin/tl-train" --trials=1 --bag=2 "$@"; }
train "$tmp/results" >"$tmp/model"
ok $? 'it learns'
gzip -c "$tmp/results" >"$tmp/results.gz"
train "$tmp/results.gz" -o "$tmp/again" 2>"$tmp/err" && sed 's/"seconds":[0-9.]*//; /"done"/d' "$tmp/model" >"$tmp/a" &&
	sed 's/"seconds":[0-9.]*//; /"done"/d' "$tmp/again" | cmp -s - "$tmp/a"
ok $? 'and the same from the same results and seed, which may be compressed'
head -n 1 "$tmp/model" | grep -q '"type":"model","features":"[0-9a-f]*".*"trained_on":{"candidates":[0-9]*,"workloads":6,"families":6,"networks":\["net"\],"envs":\["e1000000000000000000000000000000"\],"machines":\[{"isa":"avx2","l1d":49152,"l2":2097152,"bits":32}\]}'
ok $? 'the card says what it was trained on'
candidates() { sed -n '1s/.*"candidates":\([0-9]*\).*/\1/p' "$1"; }
sed 's/"latency_s":/"cache":"weights-cold",&/' "$tmp/results" >"$tmp/cold"
train -q "$tmp/results" "$tmp/cold" -o "$tmp/both" && [ "$(candidates "$tmp/both")" -eq $((2 * $(candidates "$tmp/model"))) ]
ok $? 'results with the caches in another state are results of their own'
# What it says while it learns
grep -q '^tl-train: learning from [0-9]* candidates of 6 workloads, 6 families, 1 env$' "$tmp/err" &&
	grep -q '^tl-train: 1 configuration is tried for each of 4 folds' "$tmp/err"
ok $? 'it says what it is doing'
grep -q '^ranked by  *first  *best of 5  *best of 8  *rank correlation' "$tmp/err" && [ "$(grep -c '^\(model\|draft\|chance\)  *[01]\.[0-9]* ' "$tmp/err")" -eq 3 ] &&
	! grep -q warning "$tmp/err"
ok $? 'and ends with its report card'
train -q --share=0.5 "$tmp/results" >"$tmp/b" 2>"$tmp/err" && [ ! -s "$tmp/err" ]
ok $? 'and nothing with -q'
head -n 1 "$tmp/b" | grep -q '"workloads":[1-5],'
ok $? 'a share of the workloads may do'
perl -pe 'BEGIN { srand(7) } s/"latency_s":[0-9.e-]*/sprintf "\"latency_s\":%.6g", 1e-4 * (1 + rand)/e' "$tmp/results" >"$tmp/noise"
train "$tmp/noise" -o "$tmp/again" 2>"$tmp/err" && grep -q '^tl-train: warning: the model ranks no better than chance: its rank correlation is -*0\.0[0-9] over 6 workloads' "$tmp/err"
ok $? 'of a model that ranks no better than chance it warns'
train --hold-out=env "$tmp/results" -o "$tmp/again" 2>"$tmp/err" && grep -q 'warning: nothing could be held out, of 6 workloads' "$tmp/err"
ok $? 'and where nothing could be held out'
card() { head -n 1 "$1" | sed "s/.*\"$2\":{\"top1\":\([0-9.]*\).*/\1/"; }
perl -e 'exit !($ARGV[0] > $ARGV[1] && $ARGV[1] > $ARGV[2] && $ARGV[0] <= 1)' "$(card "$tmp/model" model)" \
	"$(card "$tmp/model" draft)" "$(card "$tmp/model" random)"
ok $? "held out, it is better than the draft, and that than chance: $(card "$tmp/model" model), $(card "$tmp/model" draft), $(card "$tmp/model" random)"
[ "$(grep -c '"type":"trees"' "$tmp/model")" -eq 2 ] && [ "$(grep -c '"type":"schedule".*"isa":"avx2"' "$tmp/model")" -ge 1 ]
ok $? 'there are the trees of the bag, and a portfolio'
train --exclude="$workloads" "$tmp/results" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && grep -q 'no result to learn from' "$tmp/err" && [ ! -s "$tmp/out" ]
ok $? 'what is excluded is not learned from'
sed -n 2p "$workloads" | sed 's/ih28/ih99/; s/oh28/oh99/' >"$tmp/other"
train --hold-out=network --exclude="$tmp/other" "$tmp/results" >"$tmp/b" && head -n 1 "$tmp/b" | grep -q '"workloads":5,"families":5'
ok $? 'nor is what differs from it in spatial size only'
head -n 1 "$tmp/b" | grep -q '"report":null,"report_why":"'
ok $? 'of one network nothing can be held out, and the card says so'
train --update="$tmp/model" "$tmp/results" >"$tmp/updated" && [ "$(grep -c '"stage":1' "$tmp/updated")" -eq 2 ] &&
	[ "$(grep -c '"stage":0' "$tmp/updated")" -eq 2 ]
ok $? '--update adds trees to those of the older model'

# Choosing: the default, and two brackets, of which the winners may join it
trials=6
[ -z "$SAN" ] || trials=4
choose() { "$bin/tl-train" --trials=$trials --bag=3 "$tmp/results"; }
choose >"$tmp/chosen" && head -n 1 "$tmp/chosen" | perl -s -MJSON::PP -e '
	my $m = decode_json(<STDIN>);
	my @c = @{$m->{chosen}};
	exit !(@c >= 1 && @c <= 5 && $m->{tried} >= 2 * $n && $m->{tried} % $n == 0 && !grep { $_->{depth} < 4 || $_->{depth} > 7 || $_->{rounds} < 1 } @c)' -- -n=$trials
ok $? 'it chooses among configurations, and says which make the ensemble'
sed 's/"seconds":[0-9.]*//; /"done"/d' "$tmp/chosen" >"$tmp/a"
choose | sed 's/"seconds":[0-9.]*//; /"done"/d' | cmp -s - "$tmp/a"
ok $? 'and the same from the same results and seed'

rehash() { perl -MDigest::SHA=sha256_hex -e 'local $/; my $t = <STDIN>; print $t, "{\"tl\":1,\"type\":\"done\",\"hash\":\"", substr(sha256_hex($t), 0, 32), "\"}\n"'; }
# CPUs that are left out: with three of them the card tells of one that was not learned from, and there deviations have a
# scale of their own.
cpus() { # number: the same results of so many CPUs
	for i in $(seq "$1"); do
		sed "/\"type\":\"result\"/s/\"env_id\":\"e1\(.*\)}\$/\"env_id\":\"e$i\1,\"env\":{\"cpu\":\"Test\",\"isa\":\"avx2\",\"features\":\"avx2,fma\",\"l1d\":49152,\"l2\":$((262144 << i)),\"l3\":33554432,\"threads\":2,\"cc\":\"gcc 12\",\"libs\":\"none\"}}/" "$tmp/results"
	done
}
cpus 2 | train >"$tmp/two" && ! head -n 1 "$tmp/two" | grep -q 'scale_abroad\|cpus_left_out' && cpus 3 | train >"$tmp/three" 2>"$tmp/err" &&
	head -n 1 "$tmp/three" | grep -q '"scale_abroad":[0-9.]*,.*"cpus_left_out":{"cpus":3,"workloads":[1-9][0-9]*,"model":{"top1":' &&
	tr '\n' ' ' <"$tmp/err" | grep -q 'With each of 3 CPUs left out in turn'
ok $? 'the card tells what the model is worth on a CPU left out'
sed '/"done"/d; 1s/"scale":[0-9.e-]*,"scale_abroad":[0-9.e-]*/"scale":1,"scale_abroad":10/' "$tmp/three" | rehash >"$tmp/ten"
# deviations L2 MODEL: on a machine with such a second-level cache
deviations() { TL_LIMITS=l1d=49152,l2=$1,l3=33554432,wide=1,l3rate=10 "$bin/tl-filter" -m "$2" -k 20 "$tmp/all" | sed -n 's/.*"candidate_id":"\([0-9a-f]*\)".*"deviation":\([^,}]*\).*/\1 \2/p' | sort; }
sed 's/"scale_abroad":10/"scale_abroad":1/;/"done"/d' "$tmp/ten" | rehash >"$tmp/one"
for l2 in 2097152 4194304; do
	deviations $l2 "$tmp/one" >"$tmp/a"
	deviations $l2 "$tmp/ten" | join - "$tmp/a" | awk '$3 > 0 { n++; sum += $2 / $3 } END { printf "%.3g\n", (n > 5 ? sum / n : 0) }'
done >"$tmp/got"
printf '1\n10\n' | cmp -s - "$tmp/got"
ok $? 'and deviations there have the scale of such CPUs'
# Thirty candidates of which each won by a tenth in a duel with the one before, though all took a millisecond
grep '"status":"ok"' "$tmp/results" | head -n 30 | awk '{
	match($0, /"candidate_id":"[0-9a-f]*"/)
	id = substr($0, RSTART + 16, 32)
	sub(/"latency_s":[0-9.e-]*/, "\"latency_s\":0.001" (NR > 1 ? ",\"duel\":{\"against\":\"" last "\",\"ratio\":1.1,\"ci\":[1.05,1.15],\"latency_s\":0.001,\"end\":\"won\"}" : ""))
	last = id
	print
}' >"$tmp/chain"
"$bin/tl-train" --dump-features "$tmp/chain" >"$tmp/csv" &&
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "latency_s") column = i }
		NR == 3 && $column > 0.000908 && $column < 0.00091 { second = 1 }
		{ last = $column }
		END { exit !(NR == 31 && second && last > 0.00075 && last < 0.00085) }' "$tmp/csv"
ok $? 'errors of a long chain of duels do not add up'
# Features
"$bin/tl-train" --dump-features "$tmp/results" >"$tmp/csv" &&
	[ "$(wc -l <"$tmp/csv")" -eq "$(($(grep -c '"type":"result"' "$tmp/results") + 1))" ] &&
	head -n 1 "$tmp/csv" | grep -q '^env_id,workload_id,.*,latency_s,.*,draft,.*,move_l1_1,' &&
	awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' "$tmp/csv"
ok $? '--dump-features writes a line a candidate'
# Every third result is of a machine without vectors, for which no such program can be made.
awk '/"type":"result"/ && ++n % 3 == 0 {
	sub(/}$/, ",\"env\":{\"cpu\":\"Test\",\"isa\":\"scalar\",\"features\":\"\",\"l1d\":32768,\"l2\":1048576,\"l3\":33554432,\"threads\":2,\"cc\":\"gcc 12\",\"libs\":\"none\"}}")
	sub(/"env_id":"e1/, "\"env_id\":\"e5")
} { print }' "$tmp/results" >"$tmp/mixed"
third=$(($(grep -c '"type":"result"' "$tmp/results") / 3))
"$bin/tl-train" --dump-features "$tmp/mixed" >"$tmp/fewer" &&
	[ "$(grep -c '"isa":"scalar"' "$tmp/mixed")" -eq "$third" ] &&
	[ "$(wc -l <"$tmp/fewer")" -eq "$(($(wc -l <"$tmp/csv") - third))" ] && ! grep -q '^e5' "$tmp/fewer"
ok $? 'candidates that no program can be made of on their machine are left out'
# took() prints what all candidates take together, where all have these fields.
took() { sed "s/\"error\":{/$1&/" "$tmp/results" | "$bin/tl-train" --dump-features | awk -F, 'NR > 1 { s += $8 } END { printf "%.6g\n", s }'; }
far='"samples_s":[1e-4,2e-4,9e-4],'
duel='"duel":{"against":"00000000000000000000000000000000","ratio":1,"ci":[0.9,1.1],"latency_s":1e-4,"samples_s":[1e-4,2e-4,9e-4],"end":"won"},"incumbent":true,'
all=$(took '')
# longer FACTOR SAMPLES: do all take so many times as long, if these are everyone's samples?
longer() { took "\"samples_s\":[$2]," | awk -v all="$all" -v times="$1" '{ exit !(all > 0 && $1 / all > 0.999 * times && $1 / all < 1.001 * times) }'; }
longer 4.5 1e-4,2e-4,9e-4 && longer 9 1e-4,1e-4,9e-4 && longer 1.5 1e-4,2e-4,4e-4,6e-4,9e-4,3e-3
ok $? 'where samples disagree, the slowest count but for a fifth'
longer 1 1e-4,1.05e-4,1.1e-4 && longer 1 1e-4,1e-4,1e-4,9e-4,9e-4 && longer 1 1e-4,9e-4
ok $? 'unless three of them agree, or there are but two'
[ "$(took "$far$duel")" = "$all" ]
ok $? 'or those of its opponent do likewise'

# By the model
first() { awk '/"type":"workload"/ { n = 0 } /"type":"candidate"/ && ++n <= 5' "$@"; }
"$bin/tl-filter" -m "$tmp/model" -k 7 "$tmp/all" >"$tmp/kept"
ok $? 'tl-filter takes the model'
"$bin/tl-check" -q "$tmp/kept" && grep -q '"score":{"draft_s":[0-9.e-]*,"model":[-0-9.e]*,"deviation":[0-9.e-]*}' "$tmp/kept"
ok $? 'and says what it was judged by'
[ "$(first "$tmp/kept" | grep -c '"order":0')" -gt "$("$bin/tl-filter" --by=draft -k 7 "$tmp/all" | first | grep -c '"order":0')" ]
ok $? 'it knows what the draft does not'
"$bin/tl-filter" -m "$tmp/model" -k 1000 "$tmp/all" >"$tmp/a" && "$bin/tl-check" -q "$tmp/a" &&
	awk '/"type":"workload"/ { far = 0 } /"score":\{"draft_s":[^,]*\}/ { far = 1; all++ } /"score":.*"model":/ && far { bad = 1 }
		END { exit bad || !all }' "$tmp/a"
ok $? 'those that the draft puts far behind come last, and the model is not asked about them'
judged() { # how many; how many of them by the first of the bag alone; and how many of these near the best
	perl -ne '
		if (/"type":"workload"/) { $best = undef }
		next if !/"model":([-0-9.e]+)(,"deviation")?/;
		$best //= $1;
		$all++;
		next if $2;
		$screened++;
		$near++ if $1 > $best - 0.35;
		END { printf "%d %d %d\n", $all, $screened, $near }' "$1"
}
judged "$tmp/a" >"$tmp/n" && read -r all screened near <"$tmp/n" && [ "$screened" -gt 0 ] && [ "$screened" -lt "$all" ] && [ "$near" -eq 0 ]
ok $? "what the first of the bag thinks slow the others are not asked about ($screened of $all)"
ids() { grep '"type":"candidate"' "$1" | grep -o '"candidate_id":"[^"]*"' | sort; }
for share in 0 0.5 0.9 2; do
	"$bin/tl-filter" -m "$tmp/model" -k 3 --hedge=$share "$tmp/all" >"$tmp/h$share"
	ids "$tmp/h$share" >"$tmp/ids.$share"
done
"$bin/tl-filter" -m "$tmp/model" -k 1 --hedge=0 "$tmp/all" >"$tmp/a" && ids "$tmp/a" >"$tmp/ids.model"
# The draft's best of those that are no slower than it thinks.
"$bin/tl-filter" --by=draft -k $drawn "$tmp/all" |
	awk '/"type":"workload"/ { n = 0 } /"type":"candidate"/ && !/"order":1/ && ++n <= 2' >"$tmp/a" && ids "$tmp/a" >"$tmp/ids.draft"
! cmp -s "$tmp/ids.0" "$tmp/ids.0.5" && [ "$(comm -23 "$tmp/ids.draft" "$tmp/ids.0.5" | wc -l)" -eq 0 ]
ok $? 'the draft has places of its own'
! grep -q '"order":1' "$tmp/h0.5"
ok $? 'though not for what the model knows to be far slower'
[ "$(comm -23 "$tmp/ids.model" "$tmp/ids.0.9" | wc -l)" -eq 0 ] && [ "$(comm -23 "$tmp/ids.model" "$tmp/ids.2" | wc -l)" -eq 0 ] &&
	[ "$(wc -l <"$tmp/ids.0")" -eq "$(wc -l <"$tmp/ids.0.5")" ] && [ "$(wc -l <"$tmp/ids.0")" -eq "$(wc -l <"$tmp/ids.2")" ]
ok $? 'but for the first, and they are no more than asked for'
"$bin/tl-filter" -m "$tmp/model" -k 8 --hedge=1 "$tmp/all" >"$tmp/a" && ids "$tmp/a" >"$tmp/b" &&
	[ "$(comm -23 "$tmp/ids.model" "$tmp/b" | wc -l)" -eq 0 ]
ok $? 'beside a random one, too, the first stays'
TL_MODEL=$tmp/model "$bin/tl-filter" -k 7 "$tmp/all" | cmp -s - "$tmp/kept"
ok $? '$TL_MODEL names one, too'
"$bin/tl-filter" -m "$tmp/model" --by=draft -k 7 "$tmp/all" >"$tmp/a" && "$bin/tl-filter" -k 7 "$tmp/all" | cmp -s - "$tmp/a"
ok $? 'and --by=draft does not ask it'
"$bin/tl-filter" --by=none -k 1 "$tmp/all" | grep '"type":"candidate"' | sed 's/,"score":{[^}]*}//' >"$tmp/a"
awk '/"type":"candidate"/ && !n++ { print } /"type":"workload"/ { n = 0 }' "$tmp/all" | cmp -s - "$tmp/a" && [ "$(wc -l <"$tmp/a")" -eq 6 ]
ok $? '--by=none passes on those that come first'
"$bin/tl-filter" -m "$tmp/model" -k 7 --audit=0.2 "$tmp/all" >"$tmp/a"
n_audit=$(grep -c '"audit":true' "$tmp/a")
[ "$n_audit" -gt 60 ] && [ "$n_audit" -lt 300 ] && grep -v '"audit":true' "$tmp/a" | grep -v '"end"' >"$tmp/b" &&
	grep -v '"end"' "$tmp/kept" | cmp -s - "$tmp/b"
ok $? '--audit lets a share of the refused through, marked'

# Failures
head -n 1 "$tmp/model" | grep -q '"failure":null' && ! grep -q '"type":"failure"' "$tmp/model"
ok $? 'where nothing ever failed, nothing is said of it'
sed '/"order":0/s/"status":"ok".*"run"/"status":"crash","why":"signal 11","stage":"race","run"/' "$tmp/results" >"$tmp/failed"
n_failed=$(grep -c '"status":"crash"' "$tmp/failed")
train "$tmp/failed" >"$tmp/b" && grep -q '"type":"failure"' "$tmp/b" &&
	perl -e 'local $_ = <STDIN>; exit !(/"failure":\{"candidates":\d+,"failed":(\d+),"auc":([\d.]+)\}/ && $1 == $ARGV[0] && $2 > 0.7)' \
		"$n_failed" <"$tmp/b"
ok $? "what made candidates fail is learned, and told of families that were held out ($n_failed failed)"
"$bin/tl-filter" -m "$tmp/b" -k 7 "$tmp/all" | grep '"type":"candidate"' >"$tmp/c" && [ -s "$tmp/c" ] && ! grep -q '"order":0' "$tmp/c"
ok $? 'and they are not passed on'
train --update="$tmp/b" "$tmp/results" >"$tmp/c" && [ "$(grep -c '"type":"failure"' "$tmp/c")" -eq 1 ]
ok $? 'an update on results without failures keeps what is known of them'

# Another machine: the one that was learned from; one where what it has slow is fast; and one where tiles of two vectors are
# slow
machine() { # env awk-condition factor: results of a hundred candidates of each workload
	"$bin/tl-gen" -n 100 --seed 3 "$workloads" | "$bin/tl-filter" --by=draft -k 100 | awk -v env="$1" -v factor="$3" '
		/"type":"candidate"/ {
			t = $0
			sub(/.*"draft_s":/, "", t)
			t += 0
			if (/"order":1/)
				t *= env == "c0000000000000000000000000000000" ? 0.2 : 5
			if (/'"$2"'/)
				t *= factor
			sub(/"type":"candidate"/, "\"type\":\"result\"")
			sub(/}$/, sprintf(",\"status\":\"ok\",\"stage\":\"race\",\"latency_s\":%.9g,\"error\":{\"l2\":0,\"max\":0},\"run\":\"%s\",\"at\":\"2026-11-21T09:00:00.000Z\",\"env_id\":\"%s\"}", t, env, env))
			print
		}'
}
machine 5a000000000000000000000000000000 none 1 >"$tmp/same" && machine c0000000000000000000000000000000 none 1 >"$tmp/contrary" && machine 0e000000000000000000000000000000 '"nv":2' 3 >"$tmp/other" &&
	"$bin/tl-store" -q -d "$tmp/db" "$tmp/same" "$tmp/contrary" "$tmp/other"
here() { "$bin/tl-filter" -m "$tmp/model" -d "$tmp/db" --env "$1" -k 7 "$tmp/all" 2>"$tmp/err"; }
here 5a000000000000000000000000000000 >"$tmp/a" && [ ! -s "$tmp/err" ] && grep -q '"model":' "$tmp/a"
ok $? 'on the machine that it knows the model ranks'
here c0000000000000000000000000000000 >"$tmp/a" && grep -q 'times known of this machine with a correlation of -0\.[0-9]*: the draft ranks instead' "$tmp/err" &&
	"$bin/tl-filter" --by=draft -k 7 "$tmp/all" | cmp -s - "$tmp/a"
ok $? 'on one where it is wrong the draft does, and that is said'
machine d0000000000000000000000000000000 '"order":1' 0.16 >"$tmp/drafted" && "$bin/tl-store" -q -d "$tmp/db" "$tmp/drafted" && here d0000000000000000000000000000000 >"$tmp/a" && [ ! -s "$tmp/err" ] &&
	grep -q '"model":' "$tmp/a" && [ "$(grep -c '"order":1' "$tmp/a")" -gt "$(grep -c '"order":1' "$tmp/kept")" ]
ok $? "on one where it is half right it shares with the draft ($(grep -c '"order":1' "$tmp/a") instead of $(grep -c '"order":1' "$tmp/kept"))"
head -n 60 "$tmp/contrary" | sed 's/"env_id":"c0000000000000000000000000000000"/"env_id":"fe000000000000000000000000000000"/' | "$bin/tl-store" -q -d "$tmp/db"
here fe000000000000000000000000000000 >"$tmp/a" && [ ! -s "$tmp/err" ] && "$bin/tl-filter" -m "$tmp/model" -k 7 --hedge=0.5 "$tmp/all" >"$tmp/b" && ! grep -q '"order":1' "$tmp/b" &&
	grep -q '"order":1' "$tmp/a" && [ "$(wc -l <"$tmp/a")" -eq "$(wc -l <"$tmp/b")" ] &&
	sed -n 's/.*"type":"workload".*/0/p; s/.*"draft_s":\([0-9.e-]*\).*/\1/p' "$tmp/a" | awk '$1 > 0 && $1 < last { exit 1 } { last = $1 }'
ok $? 'of 60 times nothing is made: the model is on trial, and the draft has most places, for what the model thinks slow, too'
# What a tuning run leaves: times that differ by noise, here even in the contrary order, and bounds of what was preempted.
perl -ne '
	my ($id) = /"workload_id":"(\w+)"/;
	my ($t) = /"latency_s":([\d.e-]+)/;
	push @{$of{$id}}, [$t, $_];
	END {
		for my $list (values %of) {
			my $n = 0;
			for (map { $_->[1] } sort { $a->[0] <=> $b->[0] } @$list) {
				my $t = ++$n <= 20 ? 1e-4 * (1 - 0.003 * $n) : 2e-4;
				s/"latency_s":[\d.e-]+/"latency_s":$t/;
				s/"status":"ok"/"status":"preempted","why":"w","bound":"lower"/ if $n > 20;
				s/"env_id":"5a000000000000000000000000000000"/"env_id":"7e000000000000000000000000000000"/;
				print;
			}
		}
	}' "$tmp/same" | "$bin/tl-store" -q -d "$tmp/db"
here 7e000000000000000000000000000000 >"$tmp/a" && [ ! -s "$tmp/err" ] && grep -q '"model":' "$tmp/a"
ok $? 'what lies within noise says nothing of a model, bounds do'
# And what was bred in a model: alike to it with warm caches, in which these were timed, so that the order in which it has them
# means nothing.
"$bin/tl-gen" -n 30000 --seed 5 "$workloads" | "$bin/tl-filter" -m "$tmp/model" -k 14000 --cache=warm | perl -ne '
	if (/"type":"workload"/) { undef $best; next }
	my ($value) = /"model":([-\d.e]+)/ or next;
	$best //= $value;
	next if $value < $best - 0.13;
	my $t = 1e-4 * 2**(20 * ($value - $best));
	s/"type":"candidate"/"type":"result"/;
	s/\}$/,"status":"ok","stage":"race","latency_s":$t,"error":{"l2":0,"max":0},"run":"be000000000000000000000000000000","at":"2026-11-21T09:00:00.000Z","env_id":"be000000000000000000000000000000"}/;
	print' >"$tmp/bred"
[ "$(grep -c '"env_id":"be000000000000000000000000000000"' "$tmp/bred")" -ge 64 ] && "$bin/tl-store" -q -d "$tmp/db" "$tmp/bred" &&
	here be000000000000000000000000000000 >"$tmp/a" && [ ! -s "$tmp/err" ] && grep -q '"model":' "$tmp/a"
ok $? "nor does the order of what it holds alike ($(grep -c '"env_id":"be000000000000000000000000000000"' "$tmp/bred") times)"
here 0e000000000000000000000000000000 >"$tmp/a" && [ ! -s "$tmp/err" ] && grep -q '"model":' "$tmp/a" && ! cmp -s "$tmp/a" "$tmp/kept"
ok $? 'on one that is a little different it is corrected'
[ "$(first "$tmp/a" | grep -c '"nv":2')" -lt "$(first "$tmp/kept" | grep -c '"nv":2')" ]
ok $? "the right way ($(first "$tmp/kept" | grep -c '"nv":2'), now $(first "$tmp/a" | grep -c '"nv":2'))"

# Breeding by the model
ids() { grep -o '"candidate_id":"[^"]*"' "$@"; }
sed -n 1p "$workloads" >"$tmp/one"
for search in guided portfolio; do
	gen() { "$bin/tl-gen" --search=$search -m "$tmp/model" "$@"; }
	gen -n 400 "$tmp/one" >"$tmp/a" && gen -n 400 "$tmp/one" | cmp -s - "$tmp/a" && [ "$(ids "$tmp/a" | sort -u | wc -l)" -eq 400 ] &&
		"$bin/tl-check" -q "$tmp/a"
	ok $? "$search proposes the same twice, and nothing twice"
	results <"$tmp/a" | grep '"type":"result"' >"$tmp/known"
	{ cat "$tmp/known"; cat "$tmp/one"; } | gen -n 400 >"$tmp/b" && [ "$(ids "$tmp/b" | wc -l)" -eq 400 ] &&
		! { ids "$tmp/known"; ids "$tmp/b"; } | sort | uniq -d | grep -q .
	ok $? "and nothing that is known"
	gen -n 0 "$tmp/one" >"$tmp/b" && ids "$tmp/b" | sort >"$tmp/c" &&
		"$bin/tl-gen" --search=grid -n 0 "$tmp/one" >"$tmp/b" && ids "$tmp/b" | sort | cmp -s - "$tmp/c"
	ok $? 'but all there is, if asked for'
done
# What the draft would choose of thousands comes along, or one that it thinks nearly as fast; on the mean it is as fast.
drafts() { "$bin/tl-filter" --cache=warm -k 1 --by=draft | grep -o '"draft_s":[^,}]*'; }
"$bin/tl-gen" --cache=warm --search=guided -m "$tmp/model" -n 8 "$workloads" >"$tmp/a" && grep -q '"match":"draft"' "$tmp/a" &&
	grep '"type":"workload"\|"type":"end"\|"match":"\(draft\|portfolio\)"' "$tmp/a" | sed 's/,"match":"[a-z]*"//' | drafts >"$tmp/b"
"$bin/tl-gen" "$workloads" | drafts >"$tmp/c" && [ -s "$tmp/c" ] && paste "$tmp/b" "$tmp/c" | sed 's/"draft_s"://g' | awk '{ r = $1 / $2; sum += log(r); if (r > worst) worst = r } END { printf "%.3f, %.3f at worst", exp(sum / NR), worst; exit !(NR > 0 && sum / NR < 0.01 && worst < 1.1) }' >"$tmp/ratio"
ok $? "the draft's choice is among the first: $(cat "$tmp/ratio") of the best of 4096"
# value() prints what the model says of its favourites, as the mean over the workloads. Candidates that are marked as known to be good are judged like the others here.
value() { sed 's/,"match":"[a-z]*"//' | "$bin/tl-filter" -m "$tmp/model" -k 1 | sed -n 's/.*"model":\([-0-9.e]*\).*/\1/p' | awk '{ sum += $1 } END { printf "%.4f", sum / NR }'; }
best_of_few=$("$bin/tl-gen" --search=guided -m "$tmp/model" -n 5 "$workloads" | value)
best_of_many=$("$bin/tl-gen" -n 3000 "$workloads" | value)
# Values are binary logarithms of speed.
perl -e 'exit !($ARGV[1] ne "" && $ARGV[0] >= $ARGV[1])' "$best_of_few" "$best_of_many"
ok $? "its first five hold what the model likes as much as the best of 3000 drawn: $best_of_few, $best_of_many"
contrary() { "$bin/tl-gen" -d "$tmp/db" --env c0000000000000000000000000000000 -n 50 "$@" "$tmp/one"; }
contrary --search=guided -m "$tmp/model" >"$tmp/a" 2>"$tmp/err" && grep -q 'with a correlation of -0\.[0-9]*: the draft ranks instead' "$tmp/err" &&
	[ "$(ids "$tmp/a" | wc -l)" -eq 50 ] && contrary --search=guided -m none 2>/dev/null | cmp -s - "$tmp/a"
ok $? 'where the model is wrong about the machine the search goes by the draft'

# Zero-shot
predict() { TL_DB=$tmp/no.db "$bin/tl-query" --predict -m "$tmp/model" "$@"; }
predict "$workloads" >"$tmp/a"
[ $? -eq 4 ] && "$bin/tl-check" -q "$tmp/a" && [ "$(grep -c '"type":"candidate"' "$tmp/a")" -eq 6 ]
ok $? 'each workload gets a candidate, without a database, and the status says that it is not exact'
[ "$(grep -c '"score":{"draft_s":[^,]*,"model":[^,]*,"deviation":[^}]*},"match":"\(model\|portfolio\)","confidence":[01]' "$tmp/a")" -eq 6 ]
ok $? 'with the rung that it stood on, and how sure that is'
[ "$(grep -c '"order":1' "$tmp/a")" -le 1 ]
ok $? 'by what the model knows'
firsts() { awk '/"type":"workload"/ { wanted = 1 } /"type":"candidate"/ && wanted { print; wanted = 0 }'; }
"$bin/tl-gen" --search=guided -m "$tmp/model" -n 4 "$workloads" | firsts >"$tmp/b"
ids "$tmp/a" >"$tmp/ids.a" && ids "$tmp/b" | cmp -s "$tmp/ids.a" - && [ "$(wc -l <"$tmp/ids.a")" -eq 6 ]
ok $? 'whoever measures begins with it'
sed 's/"prob":"[^"]*"/"prob":"mb16_ic2048ih112_oc2048oh112_kh3ph1"/; q' "$workloads" >"$tmp/huge"
predict "$tmp/huge" >"$tmp/b"
[ $? -eq 4 ] && "$bin/tl-check" -q "$tmp/b" && grep -q '"confidence":null,"confidence_why":"the model'"'"'s favourite is beyond all that it has seen: [a-z0-9_]*"' "$tmp/b"
ok $? 'where it has seen nothing like it, it does not know how sure it is'
echo '{"tl":1,"type":"workload","op":"matmul","prob":"1x64:64x64","dtype":"f32:u4:f32","post":["groups(32)"]}' >"$tmp/few"
predict "$tmp/few" >"$tmp/b"
[ $? -eq 4 ] && "$bin/tl-check" -q "$tmp/b" && grep -q '"score":{"draft_s":[^,}]*},.*"confidence_why":"the model does not know these types"' "$tmp/b"
ok $? 'types that it does not know have no value'
# This is the same model, but it says that it has seen only features from -100 to -99. The draft then counts half.
perl -pe 'if (/"done"/) { $_ = "" } else { s/"(least|most)":\[([^]]*)\]/my $end = $1 eq "least" ? -100 : -99; qq("$1":[) . join(",", map { $end } split(",", $2)) . "]"/ge }' "$tmp/model" | rehash >"$tmp/narrow"
TL_DB=$tmp/no.db "$bin/tl-query" --predict -m "$tmp/narrow" "$workloads" >"$tmp/b"
[ "$(grep -c '"confidence":null' "$tmp/b")" -eq 6 ] && ids "$tmp/a" >"$tmp/ids.a" && ids "$tmp/b" >"$tmp/ids.b" && [ "$(wc -l <"$tmp/ids.b")" -eq 6 ] && ! cmp -s "$tmp/ids.a" "$tmp/ids.b"
ok $? 'and the draft has its say'
"$bin/tl-store" -q -d "$tmp/db" "$tmp/results" 2>/dev/null
# unsure() adds up the bag's deviations of the answers; the model's scale makes little of them, or much.
unsure() {
	sed "1s/\"scale\":[0-9.e-]*/\"scale\":$1/; /\"done\"/d" "$tmp/model" | rehash >"$tmp/scaled" && TL_DB=$tmp/no.db "$bin/tl-query" --predict -m "$tmp/scaled" "$workloads" |
		sed -n 's/.*"deviation":\([^,}]*\).*/\1/p' | awk -v scale="$1" '{ s += $1 / scale } END { print s + 0 }'
}
awk -v little="$(unsure 0.01)" -v much="$(unsure 1000)" 'BEGIN { exit !(much < little) }'
ok $? 'it is the surer one of candidates that are about as good'
# What the model would choose if it had one choice is among the first that are measured, whatever the deviations are.
surest() { # prints the surest candidate of each workload, by the model with a scale of $1
	sed "1s/\"scale\":[0-9.e-]*/\"scale\":$1/; /\"done\"/d" "$tmp/model" | rehash >"$tmp/scaled"
	"$bin/tl-filter" -m "$tmp/scaled" -k 1000 "$tmp/all" | perl -ne '
		sub show { print "$id\n" if defined $id; undef $id }
		show(), next if /"type":"workload"/;
		next if !/"candidate_id":"(\w+)".*"model":([^,]*),"deviation":([^}]*)\}/;
		my $value = $2 - log(2) / 8 * $3 ** 2;
		($id, $best) = ($1, $value) if !defined $id || $value > $best;
		END { show() }'
}
for scale in 1 100; do
	surest $scale | sort >"$tmp/surest.$scale"
	"$bin/tl-filter" -m "$tmp/scaled" -d "$tmp/new.db" -k 4 "$tmp/all" >"$tmp/b" && ids "$tmp/b" | sed 's/.*:"//; s/"//' | sort | comm -23 "$tmp/surest.$scale" - >"$tmp/lost.$scale"
done
[ "$(cat "$tmp/surest.1" "$tmp/surest.100" | wc -l)" -eq 12 ] && ! cmp -s "$tmp/surest.1" "$tmp/surest.100" && [ "$(cat "$tmp/lost.1" "$tmp/lost.100" | wc -l)" -eq 0 ]
ok $? 'the surest choice is among the first that are measured'
"$bin/tl-query" --predict -m "$tmp/model" -d "$tmp/db" --env e1000000000000000000000000000000 "$workloads" >"$tmp/b"
[ $? -eq 0 ] && [ "$(grep -c '"type":"result".*"match":"exact"' "$tmp/b")" -eq 6 ]
ok $? 'what is known is answered exactly'
sed -n '/"type":"workload"/{s/"count":2/"post":["bias"],&/; p; q}' "$workloads" >"$tmp/alike"
schedule() { sed -n 's/.*\("algo":"[^"]*","knobs":{[^}]*}\).*/\1/p' | sed 1q; }
schedule <"$tmp/b" >"$tmp/known" && "$bin/tl-query" --predict -m "$tmp/model" -d "$tmp/db" --env e1000000000000000000000000000000 "$tmp/alike" >"$tmp/a"
[ $? -eq 4 ] && grep -q '"model":[^,]*,"deviation":[^}]*},"match":"nearest","confidence":null,"confidence_why":"the model'"'"'s favourite is beyond' "$tmp/a" && schedule <"$tmp/a" | cmp -s - "$tmp/known" && [ -s "$tmp/known" ]
ok $? 'where the post-ops alone differ, with the best that was measured'
grep '"type":"result".*"prob":"mb1_ic64ih14_oc64oh14_kh1"' "$tmp/results" | sed 's/"post":\[]/"post":["bias"]/; s/"candidate_id":"[^"]*",//; s/"workload_id":"[^"]*",//; s/"run":"a/"run":"b/; s/"env_id":"e/"env_id":"f/; q' | "$bin/tl-check" --fix >"$tmp/abroad"
"$bin/tl-store" -q -d "$tmp/abroad.db" "$tmp/results" "$tmp/abroad" 2>/dev/null
"$bin/tl-query" -d "$tmp/abroad.db" --env e1000000000000000000000000000000 "$tmp/alike" | grep -q '"match":"env"' && "$bin/tl-query" --predict -m "$tmp/model" -d "$tmp/abroad.db" --env e1000000000000000000000000000000 "$tmp/alike" >"$tmp/a"
[ $? -eq 4 ] && grep -q '"match":"nearest"' "$tmp/a" && schedule <"$tmp/a" | cmp -s - "$tmp/known"
ok $? 'also if another machine knows the workload itself'
slowest() { grep '"prob":"mb1_ic64ih14_oc64oh14_kh1"' "$tmp/results" | perl -ne 'if (/"latency_s":([^,]*)/ && $1 > $t) { ($t, $slowest) = ($1, $_) } END { print $slowest }'; }
slowest >"$tmp/slowest" && "$bin/tl-store" -q -d "$tmp/slow.db" "$tmp/slowest" &&
	"$bin/tl-query" --predict -m "$tmp/model" -d "$tmp/slow.db" --env e1000000000000000000000000000000 "$tmp/alike" >"$tmp/a"
[ $? -eq 4 ] && [ -s "$tmp/slowest" ] && schedule <"$tmp/slowest" >"$tmp/known" && grep -q '"match":"\(model\|portfolio\)"' "$tmp/a" && ! schedule <"$tmp/a" | cmp -s - "$tmp/known"
ok $? 'but not where that is far behind what the model would choose'
"$bin/tl-query" --predict -m "$tmp/model" -d "$tmp/db" --env c0000000000000000000000000000000 "$tmp/one" >"$tmp/b" 2>"$tmp/err"
grep -q 'with a correlation of -0\.[0-9]*: it predicts nothing' "$tmp/err"
ok $? 'a prediction is not by a model that is wrong about the machine'
predict --table "$workloads" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ]
ok $? 'a prediction is no row of a table'

# Models that are none
bad() { # what words...: of $tmp/bad
	"$bin/tl-filter" -m "$tmp/bad" "$tmp/all" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && grep -q "$2" "$tmp/err" && [ "$(wc -l <"$tmp/err")" -eq 1 ]
	ok $? "a model that $1 is an error"
}
head -c 3000 "$tmp/model" >"$tmp/bad"
bad 'was cut off' 'cut off'
: >"$tmp/bad"
bad 'is empty' 'no cost model'
sed '1s/"workloads":6/"workloads":7/' "$tmp/model" >"$tmp/bad"
bad 'is damaged' 'damaged'
sed '1s/"features":"[0-9a-f]*"/"features":"00000000"/; /"done"/d' "$tmp/model" | rehash >"$tmp/bad"
bad 'is of another version' 'another version'
grep -v '"trees"\|"done"' "$tmp/model" | rehash >"$tmp/bad"
bad 'has no trees' 'trained on nothing'
sed '/"done"/d; s/"nodes":"......../"nodes":"AADAfwAA/' "$tmp/model" | rehash >"$tmp/bad"
bad 'has trees that are none' 'these are no trees'
sed '/"done"/d; 1s/"scale":[0-9.e-]*/"scale":0/' "$tmp/model" | rehash >"$tmp/bad"
bad 'has no scale' 'scale'
rm "$tmp/bad"
bad 'is not there' 'No such file'
"$bin/tl-filter" --by=model "$tmp/all" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'wants a model' "$tmp/err"
ok $? '--by=model without a model is a usage error'
train -d "$tmp/yet.db" >"$tmp/out" 2>"$tmp/err" </dev/null
[ $? -eq 3 ] && grep -q 'yet.db is not there' "$tmp/err" && grep -q 'no result' "$tmp/err" && [ ! -e "$tmp/yet.db" ]
ok $? 'a database that is not there yet is empty'
# tl-gen --search=evolution learns from a database alone.
"$bin/tl-store" -q -d "$tmp/run.db" "$tmp/results" 2>/dev/null
evolve() { # option...
	"$bin/tl-gen" -d "$tmp/run.db" --env e1000000000000000000000000000000 -n 60 "$@" "$workloads" | grep '"type":"candidate"'
}
slow() { # file: which percentage of its candidates that have the knob are slow
	awk '/"order":/ { n++ } /"order":1/ { slow++ } END { print int(100 * slow / n) }' "$1"
}
ids() {
	sed 's/.*"candidate_id":"\([0-9a-f]*\)".*/\1/' "$@" | sort -u
}
evolve --search=evolution >"$tmp/evolved" && evolve --search=random >"$tmp/drawn"
[ "$(slow "$tmp/evolved")" -lt 20 ] && [ "$(slow "$tmp/drawn")" -gt 40 ]
ok $? "evolution avoids what it has learned to be slow ($(slow "$tmp/evolved")% of its candidates, $(slow "$tmp/drawn")% of random ones)"
ids "$tmp/results" >"$tmp/known"
[ "$(ids "$tmp/evolved" | wc -l)" -eq 360 ] && [ -z "$(ids "$tmp/evolved" | comm -12 - "$tmp/known")" ] && evolve --search=evolution | cmp -s - "$tmp/evolved"
ok $? 'it proposes nothing twice, nothing that is known, and the same each time'
"$bin/tl-gen" --search=evolution -n 60 "$workloads" | grep -c '"type":"candidate"' | grep -q '^360$'
ok $? 'where nothing is known it draws at random'
train </dev/null >"$tmp/out" 2>"$tmp/err"
[ $? -eq 3 ] && [ ! -s "$tmp/out" ] && grep -q 'no result' "$tmp/err"
ok $? 'of nothing, nothing is learned'
echo "1..$n"

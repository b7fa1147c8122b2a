#!/bin/sh
# tl-query --report and --plot: pages that are whole, figures that are those of the database, and what lacks data.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
unset TL_DB

query() {
	"$bin/tl-query" -d "$tmp/db" --env e1000000000000000000000000000000 "$@"
}

# Is every element closed, in order? In HTML meta alone stands open.
balanced() { # file
	perl -0777 -ne 's/<!DOCTYPE[^>]*>|<\?xml[^>]*>|<style>.*?<\/style>|<meta[^>]*>//gs;
		while (/<(\/?)([a-z0-9]+)[^<>]*?(\/?)>/gs) {
			next if $3;
			if (!$1) { push @open, $2 } elsif ((pop(@open) // "") ne $2) { print "# <\/$2> closes nothing\n"; exit 1 }
		}
		exit(@open > 0)' "$1"
}

probe='"probe":{"peak_flops_all":3e12,"bandwidth_all":{"l1":4e11,"l2":9e10,"l3":4e10,"mem":2e10}}'
awk -v n=20 -f "$here/results.awk" "$here/workloads.ndjson" | sed "/\"status\":\"preempted\"/s/\"core_s\":0.25/\"core_s\":0.1/; s/\"libs\":\"onednn 2.6.3\"}/\"libs\":\"onednn 2.6.3\",$probe}/" >"$tmp/results"
cat >>"$tmp/results" <<'EOF'
{"tl":1,"type":"run","run":"a1000000000000000000000000000000","program":"tl-measure","at":"2026-11-21T09:30:00.000Z","wall_s":8,"cores":2,"cost":{"build":9,"verify":2,"time":4,"idle":1},"energy_J":null,"energy_why":"none"}
EOF
"$bin/tl-store" -q -d "$tmp/db" "$tmp/results"
workloads=$(wc -l <"$here/workloads.ndjson")

# ---- a page ----

query --report "$tmp/a.html" "$here/workloads.ndjson" >"$tmp/out"
ok $? 'a report is written'
[ ! -s "$tmp/out" ]
ok $? 'and nothing else'
head -n 1 "$tmp/a.html" | grep -q '^<!DOCTYPE html>' && balanced "$tmp/a.html"
ok $? 'it is a whole page'
! grep -q -e '<script' -e 'src=' -e 'href=' -e '@import' -e 'url(' "$tmp/a.html" &&
	[ "$(grep -o 'https*://[^" ]*' "$tmp/a.html" | sort -u)" = http://www.w3.org/2000/svg ]
ok $? 'that needs nothing else'
[ "$(grep -c '^<svg ' "$tmp/a.html")" -eq 4 ]
ok $? 'with four plots'
[ "$(grep -c '^<tr><td>' "$tmp/a.html")" -eq "$workloads" ]
ok $? 'and a row for each workload'
grep -q '<h1>Tuning report: resnet18' "$tmp/a.html"
ok $? 'it names the models'
query --csv "$here/workloads.ndjson" >"$tmp/csv"
want=$(perl -MText::ParseWords -e 'my ($before, $after); my @head = split /,/, <>; s/\s+$// for @head; my %at; @at{@head} = 0 .. $#head;
	while (<>) { my @f = parse_line(",", 0, $_); $before += $f[$at{count}] * $f[$at{baseline_s}]; $after += $f[$at{count}] * $f[$at{tuned_s}] }
	printf "%.2f", $before / $after' "$tmp/csv")
grep -q "a speedup of $want (" "$tmp/a.html"
ok $? 'its speedup is that of the sums over all, with an interval'
grep -q '16.0 core-seconds' "$tmp/a.html" && grep -q 'races were stopped early, which saved about' "$tmp/a.html"
ok $? 'it tells what tuning cost and saved'
grep -q 'prefers-color-scheme:dark' "$tmp/a.html" && grep -q '@media print' "$tmp/a.html" && grep -q 'name="viewport"' "$tmp/a.html"
ok $? 'it has rules for dark screens, phones and paper'
for word in gcc onednn 'Test' e1000000000000000000000000000000 '3000 GFLOP/s'; do
	grep -q "$word" "$tmp/a.html" || break
	false
done
[ $? -eq 1 ]
ok $? 'and the env'

query --report "$tmp/b.html" --table "$here/workloads.ndjson" >"$tmp/with"
query --table "$here/workloads.ndjson" >"$tmp/without"
cmp -s "$tmp/with" "$tmp/without" && [ -s "$tmp/b.html" ]
ok $? 'a report beside a table changes nothing of it'

sed 's/"resnet18:/"<b>\&amp|:/' "$here/workloads.ndjson" | query --report "$tmp/c.html"
grep -q '&lt;b&gt;&amp;amp|' "$tmp/c.html" && balanced "$tmp/c.html" && ! grep -q '<b>' "$tmp/c.html"
ok $? 'names are text, whatever is in them'

# ---- Markdown ----

query --report "$tmp/a.md" "$here/workloads.ndjson"
[ "$(grep -c '^| .* |$' "$tmp/a.md")" -ge $((workloads + 1)) ] && grep -q "a speedup of $want (" "$tmp/a.md" && ! grep -q '<' "$tmp/a.md"
ok $? 'Markdown has the same table and sum'

# ---- plots ----

for kind in operators convergence roofline savings; do
	query --plot $kind "$here/workloads.ndjson" >"$tmp/$kind.svg" && grep -q '^<svg ' "$tmp/$kind.svg" && balanced "$tmp/$kind.svg" &&
		grep -q '<style>' "$tmp/$kind.svg" && ! grep -q -e 'nan' -e 'inf"' "$tmp/$kind.svg"
	ok $? "$kind is a drawing of its own"
done
[ "$(grep -c 'class="tuned"><title>' "$tmp/operators.svg")" -eq "$workloads" ] && [ "$(grep -c 'class="baseline"><title>' "$tmp/operators.svg")" -eq "$workloads" ]
ok $? 'each operator has its two bars'
[ "$(grep -c '<circle' "$tmp/roofline.svg")" -eq $((2 * workloads)) ]
ok $? 'and its two points under the roof'
perl -ne '/class="tuned" d="M (.*)"/ or next; my @v = split " ", $1; my $last = $v[0]; for (my $i = 0; $i < @v; $i += 2) { exit 1 if $v[$i] < $last; $last = $v[$i] } exit(@v < 8)' "$tmp/convergence.svg"
ok $? 'convergence goes on in time'
query --plot savings -o "$tmp/s.svg" "$here/workloads.ndjson" && cmp -s "$tmp/s.svg" "$tmp/savings.svg"
ok $? '-o takes a plot, too'

# ---- on a terminal ----

# With letters, as on a terminal: the options and files.
shown() { script -qec "$bin/tl-query -d $tmp/db --env e1000000000000000000000000000000 --plot $* $here/workloads.ndjson" /dev/null </dev/null | tr -d '\r\f'; }
if ! has_terminal; then
	skip_terminal 'plots on a terminal'
elif ! command -v gnuplot >/dev/null; then
	skip 'plots with letters: gnuplot is not installed'
else
	for kind in operators convergence roofline savings; do
		shown $kind >"$tmp/text"
		[ "$(wc -l <"$tmp/text")" -ge 8 ] && ! grep -q -e '<svg' -e '^tl-query' "$tmp/text" &&
			[ "$(awk '{ if (length > n) n = length } END { print n }' "$tmp/text")" -le 80 ]
		ok $? "$kind is drawn with letters on a terminal, in 80 columns"
		case $kind in
		operators) [ "$(grep -c '[o*]' "$tmp/text")" -ge "$workloads" ] ;;
		convergence) grep -q 'the library' "$tmp/text" && grep -q 'core-seconds spent on candidates' "$tmp/text" ;;
		roofline) grep -q 'the library *o' "$tmp/text" && grep -q 'tuned *[*]' "$tmp/text" && grep -q peak "$tmp/text" ;;
		savings) grep -q 'saved by preempting' "$tmp/text" && grep -q -e '----' -e '+--' "$tmp/text" ;;
		esac
		ok $? "and shows what it should"
	done
	echo 'set border 0; set title "mine"' >"$tmp/.gnuplot"
	(HOME=$tmp LC_ALL=POSIX shown savings) | cmp -s - "$tmp/text"
	ok $? "neither the locale nor a person's settings for gnuplot change a drawing"
fi
if has_terminal; then
	mkdir "$tmp/nothing"
	script -qec "env PATH=$tmp/nothing $bin/tl-query -d $tmp/db --env e1000000000000000000000000000000 --plot roofline $here/workloads.ndjson" /dev/null </dev/null >"$tmp/out"
	grep -q 'gnuplot draws plots as text; -o FILE.svg needs none: cannot start gnuplot: No such file' "$tmp/out"
	ok $? 'without gnuplot a sentence says what is missing'
else
	skip_terminal 'a plot without gnuplot'
fi

# ---- what lacks data ----

grep -v '"type":"run"' "$tmp/results" | "$bin/tl-store" -q -d "$tmp/norun.db"
"$bin/tl-query" -d "$tmp/norun.db" --env e1000000000000000000000000000000 --plot savings "$here/workloads.ndjson" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && [ ! -s "$tmp/out" ] && grep -q 'no plot: the database knows of no run' "$tmp/err"
ok $? 'a plot that lacks data says so'
query --env e2000000000000000000000000000000 --report "$tmp/none.html" "$here/workloads.ndjson" 2>/dev/null
[ $? -eq 4 ] && balanced "$tmp/none.html" && [ "$(grep -c '^<svg ' "$tmp/none.html")" -eq 1 ] && grep -q 'Of no workload both' "$tmp/none.html"
ok $? 'a report of another env has no times, and says so'
: | query --report "$tmp/empty.html" && balanced "$tmp/empty.html"
ok $? 'a report of nothing is a page'
sed '/"type":"run"/s/:[0-9][0-9]*\([,}]\)/:1e30\1/g; s/"tl":1e30/"tl":1/; s/"core_s":[0-9.]*/"core_s":1e30/; s/"build_s":[0-9.]*/"build_s":1e30/' "$tmp/results" >"$tmp/huge"
"$bin/tl-store" -q -d "$tmp/huge.db" "$tmp/huge" 2>"$tmp/err"
ok $? 'the largest quantities are stored'
timeout 120 "$bin/tl-query" -d "$tmp/huge.db" --env e1000000000000000000000000000000 --report "$tmp/huge.html" "$here/workloads.ndjson" &&
	balanced "$tmp/huge.html" && ! grep -q -i -w -e inf -e nan "$tmp/huge.html"
ok $? 'and a report of them ends, and is a page'
"$bin/tl-query" -d "$tmp/huge.db" --cost >"$tmp/out" && grep -q '"sum_core_s":[1-9]' "$tmp/out" && ! grep -q '":null,"sum' "$tmp/out"
ok $? 'and they have a sum'

# ---- what is refused ----

refused() { # status, pattern, options
	status=$1 pattern=$2
	shift 2
	query "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	[ $? -eq "$status" ] && [ ! -s "$tmp/out" ] && grep -q -- "$pattern" "$tmp/err"
	ok $? "refused: $*"
}
refused 2 'ends with .html or .md' --report "$tmp/a.txt"
refused 2 'exclude' --plot roofline --csv
refused 2 'are of workloads' --report "$tmp/x.html" --stats
refused 2 'no option --plot-as' --plot-as text
refused 2 'answers with records' --predict --plot roofline
refused 3 "$tmp/none" --report "$tmp/none/a.html"
[ ! -e "$tmp/x.html" ]
ok $? 'and nothing was written'

echo "1..$n"

#!/bin/sh
# The recipes for many machines (share/recipes) do what they say, on this one. Slurm's is in tests/slurm.t.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/sqlite.sh
. "$(dirname "$0")/sqlite.sh"
unset TL_DB
recipes=$(cd "$here/../share/recipes" && pwd)
PATH=$(cd "$bin" && pwd):$PATH
export PATH TL_RECIPES="$recipes"

long=$(for f in "$recipes"/*; do [ "$(grep -vc '^[[:space:]]*\(#\|$\)' "$f")" -le 40 ] || echo "$f"; done)
[ -z "$long" ]
ok $? "no recipe has more than 40 lines $long"

workloads() { # how many
	i=0
	while [ $((i += 1)) -le "$1" ]; do echo "{\"tl\":1,\"type\":\"workload\",\"op\":\"matmul\",\"prob\":\"${i}x16:16x16\"}"; done | tl-check --fix
}
counts() { # database
	tl-query -d "$1" --fleet | jq -r '[.units[] | [.open, .leased, .lapsed, .done]] | transpose | map(add) | join(" ")'
}
lacking() { # database, file of workloads: how many have no kernel
	tl-query -q -d "$1" "$2" | grep -c '"type":"result"' | awk -v all="$(wc -l <"$2")" '{ print all - $1 }'
}

# Workers. A round is enough.

PRUNE='tl-prune --until rounds<1 -b 36' PAUSE=0.2 UNITS=2
export PRUNE PAUSE UNITS
workloads 6 >"$tmp/wl"
db=$(db work)
tl-store -q -d "$db" "$tmp/wl"
sh "$recipes/worker.sh" "$db" "$tmp/one" 2>"$tmp/err.one" &
one=$!
sh "$recipes/worker.sh" "$db" "$tmp/two" 2>"$tmp/err.two"
status=$?
wait $one
[ $? -eq 0 ] && [ $status -eq 0 ] && [ "$(counts "$db")" = '0 0 0 6' ] && [ "$(lacking "$db" "$tmp/wl")" -eq 0 ]
ok $? 'two workers tune all workloads' || sed 's/^/# /' "$tmp"/err.*
[ -z "$(find "$tmp/one" "$tmp/two" -name 'results.*' -o -name 'kept.*')" ] && tl-store --check -d "$db"
ok $? 'and nothing is left in their folders'

mkdir "$tmp/held"
flock "$tmp/held/lock" sleep 60 &
holder=$!
while flock -n "$tmp/held/lock" true; do sleep 0.1; done
sh "$recipes/worker.sh" "$db" "$tmp/held" 2>"$tmp/err"
[ $? -eq 75 ] && grep -q 'another worker has' "$tmp/err"
ok $? 'a folder has one worker'
pkill -P $holder
wait $holder

# Its programs may write on for a moment after TERM, and what they write then is stored as well.
stops=0 codes='' lost=''
while [ $((stops += 1)) -le 5 ]; do
	db=$(db "stopped$stops")
	tl-store -q -d "$db" "$tmp/wl"
	mkdir "$tmp/stopped$stops"
	sh "$recipes/worker.sh" "$db" "$tmp/stopped$stops" 2>"$tmp/err" &
	one=$!
	i=0
	until [ -n "$(find "$tmp/stopped$stops" -name 'results.*')" ] || [ $((i += 1)) -gt 300 ]; do sleep 0.1; done
	kill -TERM $one
	wait $one
	codes="$codes $?"
	counts "$db" | grep -q ' 0 0 ' && [ -z "$(find "$tmp/stopped$stops" -name '*results.*')" ] || lost="$lost $(counts "$db"),"
done
[ "$codes" = ' 143 143 143 143 143' ]
ok $? "TERM ends a worker:$codes"
[ -z "$lost" ]
ok $? "what it had is given back, and what it measured is stored:$lost"

# One that is killed has the results of its last units in its folder. What it had not ended is open again when its lease is over.
LEASE=20s sh "$recipes/worker.sh" "$db" "$tmp/one" 2>"$tmp/err" &
one=$!
i=0
until [ -n "$(find "$tmp/one" -name 'results.*' -size +0)" ] || [ $((i += 1)) -gt 300 ]; do sleep 0.1; done
children=$(pgrep -P $one)
kill -9 $one
# shellcheck disable=SC2086 # they are numbers
kill -9 $children 2>/dev/null
wait $one 2>/dev/null
LEASE=1m sh "$recipes/worker.sh" "$db" "$tmp/one" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(counts "$db")" = '0 0 0 6' ] && [ "$(lacking "$db" "$tmp/wl")" -eq 0 ]
ok $? "a worker goes on where a killed one was: $(counts "$db")" || sed 's/^/# /' "$tmp/err"

# A server that is away when results are to be stored, and back a moment later: they wait.
mkdir "$tmp/shims"
cat >"$tmp/shims/tl-store" <<EOF
#!/bin/sh
for last; do :; done
case \$last in
results.*) [ -e "$tmp/was-away" ] || { touch "$tmp/was-away" && exit 3; } ;;
esac
exec $(cd "$bin" && pwd)/tl-store "\$@"
EOF
chmod +x "$tmp/shims/tl-store"
db=$(db briefly)
tl-store -q -d "$db" "$tmp/wl"
PATH=$tmp/shims:$PATH timeout 120 sh "$recipes/worker.sh" "$db" "$tmp/briefly" 2>"$tmp/err"
[ $? -eq 0 ] && [ -e "$tmp/was-away" ] && [ "$(counts "$db")" = '0 0 0 6' ] && [ -z "$(find "$tmp/briefly" -name 'results.*' -o -name 'kept.*')" ]
ok $? 'a worker stores again what a server that was away for a moment has not' || find "$tmp/briefly" | sed 's/^/# /'

# A server that is away

sh "$recipes/worker.sh" "postgresql:///none?host=$tmp/nowhere" "$tmp/away" 2>"$tmp/err" &
one=$!
sleep 1
kill -TERM $one
wait $one
[ $? -eq 143 ] && grep -q 'cannot open the database' "$tmp/err"
ok $? 'a worker waits for a server that is away, and can be ended'

# GNU parallel over ssh, which is a shell here

if command -v parallel >/dev/null; then
	cat >"$tmp/ssh" <<'EOF'
#!/bin/sh
shift 2
host=$1
shift
HOME=$HOSTS_HOME/$host
mkdir -p "$HOME" && cd "$HOME" && exec sh -c "$*"
EOF
	chmod +x "$tmp/ssh"
	db=$(db parallel)
	tl-store -q -d "$db" "$tmp/wl"
	printf 'node1\nnode2\n' >"$tmp/hosts"
	(cd "$tmp" && HOSTS_HOME="$tmp/hosts.d" TL_SSH="$tmp/ssh" sh "$recipes/parallel.sh" "$tmp/hosts" "$db" >"$tmp/out" 2>"$tmp/err")
	[ $? -eq 0 ] && [ "$(counts "$db")" = '0 0 0 6' ] && [ -e "$tmp/hosts.d/node2/tl-worker/lock" ]
	ok $? 'parallel.sh has a worker on each host' || sed 's/^/# /' "$tmp/err"
else
	skip 'GNU parallel is not here'
fi

# make

workloads 2 >"$tmp/a.log.wl"
: >"$tmp/a.log"
touch "$tmp/a.log.wl"
make -s -C "$tmp" -f "$recipes/tune.mk" MODELS=a.log TIME=3s >"$tmp/out" 2>"$tmp/err" && [ -s "$tmp/a.log.md" ] && [ -s "$tmp/a.log.tuned" ] &&
	[ -z "$(make --no-print-directory -C "$tmp" -f "$recipes/tune.mk" MODELS=a.log TIME=3s 2>&1 | grep "tl-[teq]")" ]
ok $? 'tune.mk tunes a model and writes its report, once' || sed 's/^/# /' "$tmp/err"

# cron

sh "$recipes/cron.sh" 3s "$tmp/a.log.wl" "$tmp/cron.db" >"$tmp/mail" 2>"$tmp/err"
[ $? -eq 0 ] && [ ! -s "$tmp/err" ] && [ "$(cat "$tmp/mail")" = "$tmp/a.log.wl: 2 workloads have a kernel that had none" ]
ok $? 'cron.sh says what is new' || sed 's/^/# /' "$tmp/err" "$tmp/mail"
sh "$recipes/cron.sh" 1s "$tmp/a.log.wl" "$tmp/cron.db" >"$tmp/mail" 2>"$tmp/err"
[ $? -eq 0 ] && [ ! -s "$tmp/err" ] && ! grep -v ': [0-9]* workloads are faster, one of them [0-9.]* times as fast$' "$tmp/mail"
ok $? 'and otherwise at most what is faster' || sed 's/^/# /' "$tmp/err" "$tmp/mail"
sh "$recipes/cron.sh" 1s "$tmp/none.onnx" "$tmp/cron.db" >"$tmp/mail" 2>"$tmp/err"
[ $? -ne 0 ] && [ -s "$tmp/err" ]
ok $? 'or what went wrong'

# A shared folder

workloads 3 >"$tmp/wl"
folder() { sh "$recipes/shared-folder.sh" "$tmp/folder" "$@"; }
mkdir "$tmp/folder"
folder split <"$tmp/wl" && folder split <"$tmp/wl" && [ "$(find "$tmp/folder/open" -type f | wc -l)" -eq 3 ]
ok $? 'shared-folder.sh makes a unit of each workload'
folder work 2s 2>"$tmp/err" &
folder work 2s 2>"$tmp/err.two"
wait
[ "$(find "$tmp/folder/finished" -type f | wc -l)" -eq 3 ] && [ -z "$(find "$tmp/folder/open" "$tmp/folder/taken" "$tmp/folder/new" -type f)" ]
ok $? 'two machines tune them' || sed 's/^/# /' "$tmp/err" "$tmp/err.two"
folder collect "$tmp/folder.db" && [ "$(lacking "$tmp/folder.db" "$tmp/wl")" -eq 0 ] && [ -z "$(find "$tmp/folder/results" -type f)" ]
ok $? 'and a third one stores the results'
folder split <"$tmp/wl" && [ -z "$(find "$tmp/folder/open" -type f)" ]
ok $? 'what is finished is not begun again'

# systemd

if command -v systemd-analyze >/dev/null; then
	systemd-analyze verify "$recipes/tl-worker.service" "$recipes/tl-worker.timer" 2>"$tmp/err"
	! grep -q 'tl-worker' "$tmp/err"
	ok $? 'systemd takes the service and its timer' || sed 's/^/# /' "$tmp/err"
else
	skip 'systemd-analyze is not here'
fi

echo "1..$n"

#!/bin/sh
# Workers by ssh: a real sshd for each of eight hosts, on loopback, each with a home of its own. GNU parallel starts a worker on each
# (measuring is played), and tl-tune --workers on two, which ends them when it ends.
bin=${BIN:-bin}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
# shellcheck source=tests/sqlite.sh
. "$here/sqlite.sh"
unset TL_DB
sshd=$(PATH=$PATH:/usr/sbin command -v sshd) && command -v ssh ssh-keygen >/dev/null || {
	echo '1..0 # SKIP there is no sshd'
	exit
}
[ "$(id -u)" -eq 0 ] || {
	echo '1..0 # SKIP only root starts an sshd'
	exit
}
bin=$(cd "$bin" && pwd)
PATH=$bin:$PATH TL_RECIPES=$(cd "$here/../share/recipes" && pwd)
export PATH TL_RECIPES
hosts=8 port=$((20000 + $$ % 20000)) pids=
# shellcheck disable=SC2086 # they are numbers
trap 'kill $pids 2>/dev/null; rm -rf "$tmp"' EXIT
[ -d /run/sshd ] || mkdir -p /run/sshd
ssh-keygen -q -t ed25519 -N '' -f "$tmp/key" && cp "$tmp/key.pub" "$tmp/authorized"
env=$(tl-doctor 2>/dev/null | sed -n 's/^env *\([0-9a-f]*\),.*/\1/p')

i=0
while [ $((i += 1)) -le $hosts ]; do
	mkdir "$tmp/home$i"
	cat >"$tmp/sshd$i" <<-EOF
		ListenAddress 127.0.0.1
		Port $((port + i))
		HostKey $tmp/key
		PidFile none
		AuthorizedKeysFile $tmp/authorized
		PermitRootLogin yes
		StrictModes no
		UsePAM no
		SetEnv HOME=$tmp/home$i PATH=$PATH TL_LOCKS=$tmp TL_PROBE=0 TL_MODEL=none XDG_CACHE_HOME=$tmp/cache PAUSE=0.2 UNITS=2 "PRUNE=tl-prune --until rounds<1 -b 96" "MEASURE=perl $here/fleet-measure.pl $env 0.05"
	EOF
	"$sshd" -D -e -f "$tmp/sshd$i" >>"$tmp/sshd.log" 2>&1 &
	pids="$pids $!"
	printf 'Host n%d\n\tHostName 127.0.0.1\n\tPort %d\n' $i $((port + i)) >>"$tmp/config"
	echo "n$i" >>"$tmp/hosts"
done
printf 'Host *\n\tUser root\n\tIdentityFile %s\n\tIdentitiesOnly yes\n\tStrictHostKeyChecking no\n\tUserKnownHostsFile %s\n\tLogLevel ERROR\n' "$tmp/key" "$tmp/known" >>"$tmp/config"
printf '#!/bin/sh\nexec ssh -F %s "$@"\n' "$tmp/config" >"$tmp/ssh"
chmod +x "$tmp/ssh"
i=0
until "$tmp/ssh" -o BatchMode=yes n$hosts true 2>>"$tmp/sshd.log" || [ $((i += 1)) -gt 50 ]; do sleep 0.1; done
# shellcheck disable=SC2016 # the host expands it
[ "$("$tmp/ssh" n2 'echo "$HOME"' 2>>"$tmp/sshd.log")" = "$tmp/home2" ] || {
	sed 's/^/# /' "$tmp/sshd.log"
	skip 'sshd does not let root in here'
	echo "1..$n"
	exit
}

counts() { # database
	tl-query -d "$1" --fleet | jq -r '[.units[] | [.open, .leased, .lapsed, .done]] | transpose | map(add) | join(" ")'
}
i=0
while [ $((i += 1)) -le 16 ]; do echo "{\"tl\":1,\"type\":\"workload\",\"op\":\"matmul\",\"prob\":\"${i}x16:16x16\"}"; done | tl-check --fix >"$tmp/wl"
if command -v parallel >/dev/null; then
	db=$(db fleet)
	tl-store -q -d "$db" "$tmp/wl"
	(cd "$tmp" && TL_SSH="$tmp/ssh" sh "$TL_RECIPES/parallel.sh" "$tmp/hosts" "$db" >"$tmp/out" 2>"$tmp/err")
	[ $? -eq 0 ] && [ "$(counts "$db")" = '0 0 0 16' ] && [ "$(find "$tmp"/home?/tl-worker/lock | wc -l)" -eq $hosts ]
	ok $? 'parallel.sh tunes with eight hosts' || sed 's/^/# /' "$tmp/err" "$tmp/sshd.log"
else
	skip 'GNU parallel is not here'
fi

printf 'one cpu %s n1\ntwo cpu %s n2\n' "$tmp/ssh" "$tmp/ssh" >"$tmp/list"
db=$(db workers)
head -n 4 "$tmp/wl" >"$tmp/few"
tl-tune --workers "$tmp/list" -d "$db" --until 'rounds<1' -b 24 --final 0 "$tmp/few" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && [ "$(counts "$db")" = '0 0 0 4' ] && [ -e "$tmp/home1/tl-worker.one/lock" ] && [ -e "$tmp/home2/tl-worker.two/lock" ]
ok $? "tl-tune --workers tunes with two: $(counts "$db")" || sed 's/^/# /' "$tmp/err"
i=0
while [ $((i += 1)) -le 40 ]; do echo "{\"tl\":1,\"type\":\"workload\",\"op\":\"matmul\",\"prob\":\"${i}x640:640x640\"}"; done | tl-check --fix >"$tmp/many"
db=$(db killed)
tl-tune --workers "$tmp/list" -d "$db" "$tmp/many" >"$tmp/out" 2>"$tmp/err" &
tune=$!
i=0
until [ -n "$(find "$tmp"/home1/tl-worker.one "$tmp"/home2/tl-worker.two -name 'results.*' -size +0)" ] || [ $((i += 1)) -gt 300 ]; do sleep 0.1; done
kill -KILL $tune
wait $tune 2>/dev/null
flock -w 60 "$tmp/home1/tl-worker.one/lock" true && flock -w 60 "$tmp/home2/tl-worker.two/lock" true && counts "$db" | grep -q '^[1-9][0-9]* 0 0 '
ok $? "when it is killed, nothing is left running there: $(counts "$db")"

echo "1..$n"

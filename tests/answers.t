#!/bin/sh
# What loaders, libraries and compilers print is never an answer: the env is that of a quiet machine. Variables with which
# no team of threads starts are named.
bin=${BIN:-bin}
here=$(dirname "$0")
# shellcheck source=tests/tap.sh
. "$here/tap.sh"
unset TL_DB TL_CC TL_CACHE_SIZE OMP_NUM_THREADS OMP_STACKSIZE OMP_THREAD_LIMIT OMP_MAX_ACTIVE_LEVELS
export TL_CACHE="$tmp/cache" TL_PROBE=0

env_of() { # file: what tl-doctor tells of the compiler, the library and the env
	grep '^compiler  \|^library  \|^env  ' "$1"
}
"$bin/tl-doctor" --noise=0 >"$tmp/out" 2>"$tmp/err"
env_of "$tmp/out" >"$tmp/quiet"
[ "$(wc -l <"$tmp/quiet")" -eq 3 ]
ok $? 'an env'
same() { # name, variables
	name=$1
	shift
	env "$@" "$bin/tl-doctor" --noise=0 >"$tmp/out" 2>"$tmp/err"
	env_of "$tmp/out" | cmp -s - "$tmp/quiet"
	ok $? "$name" || sed 's/^/# /' "$tmp/out" "$tmp/err"
}
same 'OpenMP shows its settings' OMP_DISPLAY_ENV=verbose
same 'OpenMP complains of a schedule' OMP_SCHEDULE=nonsense
same 'OpenMP complains of places' OMP_PLACES=nonsense
cat >"$tmp/talk.c" <<'END'
#include <unistd.h>
__attribute__((constructor)) static void talk(void)
{
	const char text[] = "noise 9.9.9\n{\"peak_flops\":1}\n";
	if (write(1, text, sizeof text - 1) < 0 || write(2, text, sizeof text - 1) < 0)
		_exit(1);
}
END
if [ "$SAN" = 1 ]; then
	skip 'a preload that is gone: the address sanitizer wants to be the first'
	skip 'a preload that talks: the same'
else
	same 'a preload that is gone' LD_PRELOAD=/nonexistent/gone.so
	cc -shared -fPIC "$tmp/talk.c" -o "$tmp/talk.so"
	same 'a preload that talks' LD_PRELOAD="$tmp/talk.so"
fi

# The compiler

wrapper() { # first lines
	printf '#!/bin/sh\n%s\nexec cc "$@"\n' "$1" >"$tmp/cc"
	chmod +x "$tmp/cc"
}
wrapper 'echo "cc: warning: this is a wrapper 1.2.3" >&2'
same 'a wrapper of the compiler warns' TL_CC="$tmp/cc"
wrapper 'echo "wrapper 1.2.3 at work"'
same 'a wrapper of the compiler prints' TL_CC="$tmp/cc"
same 'a compiler in colours' GCC_COLORS='error=01;31:warning=01;35' CLICOLOR_FORCE=1
wrapper '[ "$1" = --version ] && exit 0'
TL_CC=$tmp/cc "$bin/tl-doctor" --noise=0 >"$tmp/out" 2>"$tmp/err"
grep -q "^machine .*the compiler $tmp/cc tells no version" "$tmp/out"
ok $? 'a compiler without a version is told'

# Results

printf 'op,prob,layout\nmatmul,12x20:20x24,ab\n' >"$tmp/w.csv"
"$bin/tl-extract" -q --format csv "$tmp/w.csv" | "$bin/tl-gen" -n 1 >"$tmp/c"
noise=OMP_DISPLAY_ENV=true
[ "$SAN" = 1 ] || noise=LD_PRELOAD="$tmp/talk.so"
env "$noise" "$bin/tl-measure" --final=0 -o "$tmp/r" "$tmp/c" >"$tmp/out" 2>"$tmp/err"
[ $? -eq 0 ] && "$bin/tl-check" -q "$tmp/r" && [ "$(count '"status":"ok"' "$tmp/r")" -eq 1 ] &&
	grep -q "\"libs\":\"$(sed -n 's/^library *//p' "$tmp/quiet")\"" "$tmp/r"
ok $? 'a worker that talks measures, and results name the library'

# Variables that keep the team from starting

refused() { # variable, what is said of it
	env "$1" "$bin/tl-measure" --final=0 "$tmp/c" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && grep -q "^tl-measure: ${1%%=*} is .*$2" "$tmp/err" && ! grep -q '"type":"result"' "$tmp/out" && {
		env "$1" "$bin/tl-run" -q --no-db -t 2 "$here/run/rows.onnx" >"$tmp/out" 2>"$tmp/err"
		[ $? -eq 2 ] && grep -q "^tl-run: ${1%%=*} is .*$2" "$tmp/err"
	}
	ok $? "$1 is refused" || sed 's/^/# /' "$tmp/err"
}
refused OMP_STACKSIZE=lots 'no size'
refused OMP_STACKSIZE=100G 'no more than'
refused GOMP_STACKSIZE=-1 'no size'
refused OMP_THREAD_LIMIT=0 'at least'
refused OMP_THREAD_LIMIT=many 'no number'
refused OMP_MAX_ACTIVE_LEVELS=0 'at least'
OMP_STACKSIZE='4 m' OMP_THREAD_LIMIT=1000 "$bin/tl-measure" --final=0 "$tmp/c" >"$tmp/out" 2>"$tmp/err" &&
	grep -q '"status":"ok"' "$tmp/out"
ok $? 'others are not'
echo "1..$n"

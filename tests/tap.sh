# shellcheck shell=sh
# What the shell tests share, to be sourced: a folder in $tmp that goes at the end, and TAP. The last line of a test is its
# plan, echo "1..$n".
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
n=0

ok() { # status name
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

skip() { # name
	n=$((n + 1))
	echo "ok $n # SKIP $1"
}

count() { # pattern file
	grep -c -- "$1" "$2"
}

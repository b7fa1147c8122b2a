# Sourced by each bench: tells in bench/test-runs.ndjson when it began and how it ended, and of which commit it was.
# bench: its name, set by who sources this.
# shellcheck shell=sh disable=SC2154

log_run() { # event
	printf '{"tl":1,"type":"bench","bench":"%s","event":"%s","at":"%s","commit":"%s","cpu":"%s"}\n' "$bench" "$1" \
		"$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$(git describe --always --dirty 2>/dev/null || echo unknown)" \
		"$(sed -n '/^model name/{s/.*: //p;q}' /proc/cpuinfo)" >>bench/test-runs.ndjson
}

log_run begin
trap 'status=$?; log_run "end, status $status"; exit $status' EXIT

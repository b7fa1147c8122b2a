# shellcheck shell=sh
# A PostgreSQL server for a test, to be sourced behind tap.sh: it has a socket and no port, unless pg_listen is an address, and ends
# with the test.
# shellcheck disable=SC2154 # tmp is the test's
pg_bin=$(find /usr/lib/postgresql/*/bin /usr/local/pgsql/bin /usr/bin -maxdepth 1 -name initdb 2>/dev/null | sort -V | tail -n 1)
pg_bin=${pg_bin%/initdb}
pg= # the server's folder, and that of its socket
pg_pid=

# The server refuses to run for root.
pg_as() {
	if [ "$(id -u)" -ne 0 ]; then
		exec "$@"
	fi
	exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
}

has_postgresql() {
	[ -n "$pg_bin" ] && { [ "$(id -u)" -ne 0 ] || { id postgres && command -v setpriv; } >/dev/null 2>&1; }
}

pg_end() {
	[ -z "$pg_pid" ] || { kill -INT "$pg_pid" && wait "$pg_pid"; } 2>/dev/null
	rm -rf "$pg"
}

# Makes the server's files, and starts it.
pg_begin() {
	pg=$(mktemp -d /tmp/tl-pg-XXXXXX) || return
	[ "$(id -u)" -ne 0 ] || chown postgres "$pg"
	(cd / && pg_as "$pg_bin/initdb" -D "$pg/data" -U tl -A trust -E UTF8 --no-locale -N) >"$tmp/initdb" 2>&1 || return
	[ -z "${pg_listen:-}" ] || echo "host all tl $pg_listen/24 trust" >>"$pg/data/pg_hba.conf"
	pg_start
}

pg_start() {
	(cd / && pg_as "$pg_bin/postgres" -D "$pg/data" -k "$pg" -h "${pg_listen:-}" -c max_connections=120 -c fsync="${pg_fsync:-off}") >>"$tmp/server" 2>&1 &
	pg_pid=$!
	i=0
	until pg_sql postgres 'SELECT 1' >/dev/null 2>&1; do
		i=$((i + 1))
		[ $i -lt 600 ] && kill -0 "$pg_pid" || return
		sleep 0.1
	done
}

# Kills the server with all that it runs, as a power cut would. A new one refuses to start as long as one of the old processes lives.
pg_kill() {
	kill -STOP "$pg_pid" # it starts nothing more
	pg_children=$(pgrep -P "$pg_pid")
	# shellcheck disable=SC2086 # they are words
	kill -9 "$pg_pid" $pg_children 2>/dev/null
	wait "$pg_pid" 2>/dev/null
	i=0
	for child in $pg_children; do
		while [ -n "$(sed -n 's/^State:[[:space:]]*\([^Z]\).*/\1/p' "/proc/$child/status" 2>/dev/null)" ] && [ $i -lt 600 ]; do
			i=$((i + 1))
			sleep 0.1
		done
	done
	rm -f "$pg/data/postmaster.pid"
}

pg_uri() { # database
	if [ "${pg_listen:-}" ]; then echo "postgresql://tl@$pg_listen/$1"; else echo "postgresql:///$1?host=$pg&user=tl"; fi
}

pg_sql() { # database, SQL
	psql -qAtX -v ON_ERROR_STOP=1 -d "$(pg_uri "$1")" -c "$2"
}

pg_begin_or_skip() {
	has_postgresql || {
		echo '1..0 # SKIP there is no PostgreSQL server'
		exit
	}
	trap 'pg_end; rm -rf "$tmp"' EXIT
	pg_begin || {
		sed 's/^/# /' "$tmp/initdb" "$tmp/server"
		echo 'Bail out! the server does not start'
		exit 1
	}
}

# Databases by name, as in sqlite.sh.

has_db() { # name
	[ "$(pg_sql postgres "SELECT count(*) FROM pg_database WHERE datname = '$1'")" -eq 1 ]
}
db() { # name
	has_db "$1" || pg_sql postgres "CREATE DATABASE \"$1\""
	pg_uri "$1"
}
forget_db() { # name
	pg_sql postgres "DROP DATABASE IF EXISTS \"$1\" WITH (FORCE)" 2>/dev/null
}
copy_db() { # from, to
	pg_sql postgres "CREATE DATABASE \"$2\" TEMPLATE \"$1\""
}

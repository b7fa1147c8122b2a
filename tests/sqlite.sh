# shellcheck shell=sh
# Databases by name, in files, to be sourced behind tap.sh: what -d wants for one ("db NAME"), a copy, whether there is one, and its
# removal. tests/postgresql.sh has the same with a server.
# shellcheck disable=SC2154 # tmp is the test's
db() { # name
	echo "$tmp/$1.db"
}
copy_db() { # from, to
	cp "$tmp/$1.db" "$tmp/$2.db"
}
has_db() { # name
	[ -e "$tmp/$1.db" ]
}
forget_db() { # name
	rm -f "$tmp/$1.db"*
}

#!/bin/sh
# The manual: each program has a page with all sections, each option of --help stands in it; mandoc and man-db have nothing
# against any page, and show the same words; pages that name each other stand in each other's SEE ALSO.
cd "$(dirname "$0")/.." || exit 1
bin=${BIN:-$PWD/bin}
# shellcheck source=tests/tap.sh
. tests/tap.sh
export LC_ALL=C.UTF-8 # col and man know its dashes

sections='NAME SYNOPSIS DESCRIPTION OPTIONS RECORDS EXIT_STATUS ENVIRONMENT FILES EXAMPLES SEE_ALSO'

# What is wrong with a program's page, a line each. Nothing: it is good.
faults() { # page program
	[ -f "$1" ] || {
		echo "there is no page $1"
		return
	}
	found=$(sed -n 's/^\.Sh //p' "$1" | tr ' ' _ | tr '\n' ' ')
	[ "$found" = "$sections " ] || echo "its sections are $found"
	"$bin/$2" --help >"$tmp/help" || echo "--help fails"
	grep -o -e '--[a-z][a-z-]*' "$tmp/help" | sort -u | while read -r option; do
		grep -q -e "^\.It .*Fl -${option#--}\>" "$1" || echo "$option does not stand in it"
	done
	summary=$(sed -n 's/^\.Nd //p' "$1")
	grep -qi -F -- "$summary." "$tmp/help" || echo "its NAME line and --help differ: $summary"
	! grep -q '@[A-Z]*@' "$1" || echo "a placeholder was left in it"
}

for source in cmd/*.c; do
	program=$(basename "$source" .c)
	faults "build/man/$program.1" "$program" >"$tmp/faults"
	sed 's/^/# /' "$tmp/faults"
	[ ! -s "$tmp/faults" ]
	ok $? "$program has a whole page"
done

# The words of a page as a reader sees them, one a line: by mandoc, and by man-db with groff. The first and the last line are
# the program's own.
by_mandoc() { mandoc -T utf8 -O width=900 "$1"; }
by_man_db() { MANWIDTH=900 man --no-hyphenation --no-justification -l "$1" 2>/dev/null; }
words() { # command page
	"$@" | col -bx | sed -e '1d;$d' -e 's/[\xe2\x80\x93\xe2\x80\x94]/-/g' | LC_ALL=C tr -s ' \n' '\n'
}

complaints() { # page: what the two have against it, at two widths
	if command -v mandoc >/dev/null; then
		mandoc -T lint -W warning "$1" | grep -v 'sections out of conventional order'
	fi
	if has_man_db; then
		for width in 80 60; do
			{ MANWIDTH=$width man --warnings -l "$1" >/dev/null; } 2>&1
		done
	fi
}

# mandoc brings a program man, too.
has_man_db() { man --version 2>/dev/null | grep -q '^man 2'; }

see_also() { # page: NAME.SECTION of each page of ours that it sends its reader to
	sed -n '/^\.Sh SEE ALSO/,$s/^\.Xr \(tl[a-z-]*\) \([0-9]\).*/\1.\2/p' "$1"
}

# A page's SEE ALSO has all that the page names, and each of these has the page.
not_seen() { # page
	for xr in $(sed -n 's/^\.\(It \)\{0,1\}Xr \(tl[a-z-]*\) \([0-9]\).*/\2.\3/p' "$1" | sort -u); do
		[ "$xr" = "${1##*/}" ] && continue
		if [ ! -f "build/man/$xr" ]; then
			echo "there is no $xr"
		elif ! see_also "$1" | grep -qx "$xr"; then
			echo "$xr is named, and does not stand in SEE ALSO"
		elif ! see_also "build/man/$xr" | grep -qx "${1##*/}"; then
			echo "$xr does not send its reader here"
		fi
	done
}

for page in build/man/*.[157]; do
	name=${page##*/}
	complaints "$page" >"$tmp/lint"
	sed 's/^/# /' "$tmp/lint"
	[ ! -s "$tmp/lint" ]
	ok $? "mandoc and man-db have nothing against $name"
	if command -v mandoc >/dev/null && has_man_db; then
		words by_mandoc "$page" >"$tmp/mandoc" && words by_man_db "$page" >"$tmp/man-db"
		[ -s "$tmp/mandoc" ] && diff "$tmp/mandoc" "$tmp/man-db" >"$tmp/diff"
		status=$?
		[ $status -eq 0 ] || sed 's/^/# /' "$tmp/diff"
		ok $status "$name has the same words in both"
	else
		skip "mandoc or man-db is not here, to read $name"
	fi
	not_seen "$page" >"$tmp/faults"
	sed 's/^/# /' "$tmp/faults"
	[ ! -s "$tmp/faults" ]
	ok $? "what $name names stands in SEE ALSO, on both sides"
done

# Does the test see what is wrong?
sed '/^\.It Fl q/,+1d' build/man/tl-store.1 >"$tmp/page"
faults "$tmp/page" tl-store | grep -q -e '^--quiet does not'
ok $? 'an option left out is seen'
sed 's/^\.Sh FILES/.Sh NOTES/' build/man/tl-store.1 >"$tmp/page"
faults "$tmp/page" tl-store | grep -q '^its sections'
ok $? 'a section left out is seen'
sed 's/^\.Nd .*/.Nd do something else/' build/man/tl-store.1 >"$tmp/page"
faults "$tmp/page" tl-store | grep -q '^its NAME line'
ok $? 'another summary is seen'
awk '$0 == ".%A C. H. Yu et al." { n = split("C. H. Yu,X. Shi,H. Shen,Z. Chen,M. Li,Y. Wang", a, ","); for (i = 1; i <= n; i++) print ".%A " a[i]; next } 1' \
	build/man/tl.7 >"$tmp/page"
if has_man_db; then
	complaints "$tmp/page" | grep -q .
	ok $? 'a block of references that man-db loses is seen'
else
	skip 'man-db is not here'
fi
sed '/^\.Sh SEE ALSO/,$ { /^\.Xr tl-gen 1/d; }' build/man/tl-filter.1 >"$tmp/tl-filter.1"
not_seen "$tmp/tl-filter.1" | grep -q 'tl-gen.1 is named'
ok $? 'a page that is left out of SEE ALSO is seen'
echo "1..$n"

#!/bin/sh
# The manual: each program has a page with all sections, each option of --help stands in it, and mandoc has nothing
# against any page.
cd "$(dirname "$0")/.." || exit 1
bin=${BIN:-$PWD/bin}
# shellcheck source=tests/tap.sh
. tests/tap.sh

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

for page in build/man/*.[157]; do
	name=${page##*/}
	if command -v mandoc >/dev/null; then
		mandoc -T lint -W warning "$page" | grep -v -e 'sections out of conventional order' -e 'new sentence, new line' >"$tmp/lint"
		sed 's/^/# /' "$tmp/lint"
		[ ! -s "$tmp/lint" ]
		ok $? "mandoc has nothing against $name"
	else
		skip "mandoc is not here, to read $name"
	fi
	# shellcheck disable=SC2013 # names and sections have no blanks
	for xr in $(sed -n 's/^\.Xr \(tl[a-z-]*\) \([0-9]\).*/\1.\2/p' "$page" | sort -u); do
		[ -f "build/man/$xr" ] || echo "# $name refers to $xr, which is not there"
		[ -f "build/man/$xr" ]
		ok $? "$name refers to $xr"
	done
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
echo "1..$n"

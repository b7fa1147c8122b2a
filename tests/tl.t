#!/bin/sh
# tl: the programs by their short names, and the list of them.
bin=${BIN:-bin}
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/tap.sh"
tl=$bin/tl

"$tl" >"$tmp/list" 2>"$tmp/err"
ok $? 'without a name it lists programs'
for program in "$bin"/tl-*; do
	name=${program##*/tl-}
	summary=$("$program" --help | sed -n '2,/^$/p' | grep -v '^  *or: ' | tr '\n' ' ' | sed 's/\. *$//')
	grep -q "^  $name  *$summary" "$tmp/list" || echo "# $name: $summary"
done >"$tmp/missing"
cat "$tmp/missing"
[ ! -s "$tmp/missing" ] && [ "$(grep -c '^  [a-z]' "$tmp/list")" -eq "$(find "$bin"/ -name 'tl-*' | wc -l)" ]
ok $? 'all of them, with what each does'
"$tl" help | cmp -s - "$tmp/list"
ok $? 'help lists them, too'
"$tl" gen --list-none >"$tmp/out" 2>"$tmp/err"
[ $? -eq 2 ] && grep -q '^tl-gen: ' "$tmp/err"
ok $? 'a name runs its program, with its options and its status'
"$tl" help gen >"$tmp/out" && "$bin/tl-gen" --help | cmp -s - "$tmp/out"
ok $? 'help NAME is its help'
echo '{"tl":1,"type":"workload","op":"matmul","prob":"3x5:5x7","dtype":"f32","layout":"ab","post":[]}' >"$tmp/in"
"$tl" check "$tmp/in" >"$tmp/out" && "$bin/tl-check" "$tmp/in" | cmp -s - "$tmp/out" && [ -s "$tmp/out" ]
ok $? 'operands go through'
"$tl" nonsense 2>"$tmp/err"
[ $? -eq 2 ] && grep -q 'there is no program tl-nonsense' "$tmp/err"
ok $? 'an unknown name is refused'
mkdir "$tmp/path"
printf '#!/bin/sh\necho own "$@"\n' >"$tmp/path/tl-own"
chmod +x "$tmp/path/tl-own"
[ "$(PATH=$tmp/path:$PATH "$tl" own a b)" = 'own a b' ]
ok $? 'one in PATH is found'
"$tl" --version | grep -q '^tl '
ok $? '--version'
"$tl" >/dev/full 2>"$tmp/err"
[ $? -eq 3 ] && [ -s "$tmp/err" ]
ok $? 'a full disk is told'
# Values of options that no program takes.
refused() { # NAME WORDS PROGRAM OPTION...
	name=$1 words=$2 program=$3
	shift 3
	"$bin/$program" "$@" </dev/null >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && [ ! -s "$tmp/out" ] && grep -q -e "$words" "$tmp/err"
	ok $? "$name" || sed 's/^/# /' "$tmp/err"
}
for number in 9007199254740992 1000000000000000000 9100000G; do
	refused "the number $number" 'wants a number below 2^53, not' tl-prune --budget "$number"
done
refused 'a file without a name' '--output wants the name of a file, not ""' tl-gen -o ''
: >"$tmp/both"
refused 'two outputs in one file' '--refused and --output write to the same file' tl-filter --refused "$tmp/both" -o "$tmp/both"
refused 'two outputs in one new file' '--output and --save-inputs write to the same file' tl-run -o "$tmp/new" --save-inputs "$tmp/new" model
ln "$tmp/both" "$tmp/alias"
refused 'two outputs in one file of two names' '--journal and --output write to the same file' tl-measure --journal "$tmp/both" -o "$tmp/alias"
"$bin/tl-filter" --refused /dev/null -o /dev/null </dev/null 2>"$tmp/err"
ok $? 'a device takes two outputs'
echo "1..$n"

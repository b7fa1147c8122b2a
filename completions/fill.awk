# Fills a template of completions for one program. The first file is the program's option table, as --help-options prints it
# (lib/io/complete.h); the second file is the template of a shell. Lines of a template that begin with @ are for this program:
#
#   @# TEXT                     a remark
#   @escape FIELD CHARACTERS    a backslash goes before each of these, where the field is filled in
#   @quote TEXT                 a single quote in a field becomes this
#   @define NAME TRAITS TEXT    @NAME@ becomes TEXT for an option that has these traits; the first such line counts. Tabs are between
#                               the four.
#   @if TRAITS, @else, @end     only where all traits are there; !TRAIT: where it is not there. They do not nest in each other.
#   @each TRAITS, @end          once for each option that has the traits; @if may stand inside
#
# Traits of a program are: envs (an option takes the id of an env) and files (operands are files). Traits of an option are: flag
# or value, letter, many, words, file, dir, env. Fields are @program@ and @function@, and of an option @letter@,
# @name@, @arg@, @words@ and @help@.

function fault(what)
{
	printf "%s:%d: %s\n", FILENAME, FNR, what > "/dev/stderr"
	failed = 1
	exit 1
}

function has(traits,    i, n, want)
{
	n = split(traits, want, " ")
	for (i = 1; i <= n; i++)
		if (want[i] ~ /^!/ ? substr(want[i], 2) in trait : !(want[i] in trait))
			return 0
	return 1
}

# The traits and fields of an option beside those of the program. 0: of the program alone.
function choose(option,    i, n, t)
{
	split("", trait)
	n = split(program_traits (option ? " " option_traits[option] : ""), t, " ")
	for (i = 1; i <= n; i++)
		trait[t[i]] = 1
	if (option)
		split(fields[option], field_value, "\t")
}

function quoted(name, text,    i, c, out)
{
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		out = out (c == "'" ? quote : (index(escaped[name], c) ? "\\" : "") c)
	}
	return out
}

function value(name,    i)
{
	if (name == "program")
		return program
	if (name == "function")
		return function_name
	if (name in position)
		return quoted(name, field_value[position[name]])
	if (!(name in defined))
		fault("nothing is called @" name "@")
	for (i = 1; i <= definitions; i++)
		if (define_name[i] == name && has(define_traits[i]))
			return filled(define_text[i])
	return ""
}

function filled(text,    out, name)
{
	while (match(text, /@[a-z=+]+@/)) {
		name = substr(text, RSTART + 1, RLENGTH - 2)
		out = out substr(text, 1, RSTART - 1)
		text = substr(text, RSTART + RLENGTH)
		out = out value(name)
	}
	return out text
}

# Prints a line, unless an @if around it does not hold.
function line(text)
{
	if (text ~ /^@if /)
		off = !has(substr(text, 5))
	else if (text == "@else")
		off = !off
	else if (text == "@end")
		off = 0
	else if (!off)
		print filled(text)
}

function each(    option, i)
{
	for (option = 1; option <= options; option++) {
		choose(option)
		for (i = 1; i <= kept && has(each_traits); i++)
			line(keep[i])
	}
	choose(0)
}

BEGIN {
	FS = "\t"
	split("letter name arg words help", names, " ")
	for (i in names)
		position[names[i]] = i
}

FNR == 1 { files++ }
files == 1 && $1 == "program" {
	program = function_name = $2
	gsub(/-/, "_", function_name)
	program_traits = $3
	next
}
files == 1 {
	option_traits[++options] = $1
	fields[options] = $2 "\t" $3 "\t" $4 "\t" $5 "\t" $6
	if ($1 ~ /env/)
		program_traits = program_traits " envs"
	next
}
FNR == 1 { choose(0) }

/^@#/ { next }
/^@escape / { split($0, word, " "); escaped[word[2]] = word[3]; next }
/^@quote / { quote = substr($0, 8); next }
/^@define / {
	define_name[++definitions] = substr($1, 9)
	define_traits[definitions] = $2
	define_text[definitions] = $3
	defined[define_name[definitions]] = 1
	next
}
/^@each/ { inside = 1; kept = 0; each_traits = substr($0, 7); next }
inside && /^@if / { nested = 1 }
inside && /^@end$/ && !nested { inside = 0; each(); next }
inside && /^@end$/ { nested = 0 }
inside { keep[++kept] = $0; next }
{ line($0) }
END { exit failed }

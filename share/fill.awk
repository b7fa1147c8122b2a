# Fills generated text into a manual page. The first file holds the text in sections, each behind a line such as
# @FIELDS end@; the second file is the page, in which these lines stand where the sections are to go.

function fault(what)
{
	printf "%s: %s\n", FILENAME, what > "/dev/stderr"
	failed = 1
}

FNR == 1 { files++ }
files == 1 && /^@.*@$/ { key = $0; text[key] = ""; next }
files == 1 { text[key] = text[key] $0 "\n"; next }
$0 in text { printf "%s", text[$0]; used[$0] = 1; next }
/^@.*@$/ { fault("nothing was made for " $0) }
{ print }
END {
	for (key in text)
		if (!(key in used))
			fault("there is no line " key)
	exit failed
}

# The rules of the house, read off the source. Prints "RULE FILE:LINE: sentence" for each breach.
# Run in the root of a tree, with the files to read as arguments; their paths say which rules hold for them.

BEGIN {
	# The rooms of lib/, and which others a file of each may include beside its own. Programs and tests may
	# include all.
	allow("base", "")
	allow("io", "base")
	allow("record", "base io")
	allow("space", "base io")
	allow("nest", "base space")
	allow("tile", "nest space")
	allow("op", "base io nest space tile")
	allow("schedule", "nest op space tile")
	allow("target", "base io nest space tile")
	allow("algo", "base io nest op schedule space target tile")
	allow("draft", "base space nest")
	allow("features", "base space nest op algo draft target")
	allow("door", "base io record space op algo")
	allow("model", "base io record space op algo door target features")
	allow("baseline", "base io nest op target")
	allow("search", "base io algo features model")
	allow("host", "base io space target")
	allow("build", "base io target host")
	allow("trial", "base io record nest op algo target baseline host")
	allow("measure", "base io record space nest op algo door target host build trial")
	allow("store", "base io record op door host measure")
	allow("answer", "base io op algo features model search host store")
	allow("policy", "base io algo model search store answer")
	allow("replay", "base io record algo door host target trial measure store")
	allow("extract", "base io op")
	allow("export", "base io record space nest op algo door target")
	allow("fleet", "base io target")
	allow("report", "base io record space op algo host answer policy store target")
	allow("run", "base io record space nest tile op algo features door model baseline target build trial store answer extract")

	# The rooms of lib/extract, likewise, where "formats" are all that are not named. "extract" are the files
	# that are in none: they are above what graphs are made of, and below what makes graphs.
	inside("read", "")
	inside("graph", "read")
	inside("task", "graph")
	inside("call", "graph")
	inside("extract", "read graph task")
	inside("list", "read extract")
	inside("formats", "read graph call extract")

	# Where a library's header may stand: a header, and the start of the paths.
	place["archive.h"] = place["archive_entry.h"] = "lib/extract/read/"
	place["hdf5.h"] = "libexec/keras-hdf5.c"
	place["libpq-fe.h"] = "lib/store/postgresql.c"
	place["sqlite3.h"] = "lib/store/"
	place["csv.h"] = "lib/extract/ lib/io/ cmd/"
	place["expat.h"] = "lib/extract/openvino/ir.c"
	place["jsmn.h"] = "lib/io/json.c"
	place["omp.h"] = "lib/target/kernel.c lib/target/probe.c lib/baseline/onednn.c lib/baseline/cuda/makers.c lib/run/exec.c lib/run/weights.c lib/run/library.c libexec/ tests/ share/export/"
	place["cpuid.h"] = "share/export/"
	place["xmmintrin.h"] = "share/export/"
	# The same for all headers that begin so.
	family["dnnl"] = family["oneapi/dnnl/"] = "lib/baseline/onednn.c"
	family["nettle/"] = "lib/base/hash.c lib/base/base64.c"
	family["xgboost/"] = "lib/model/"
	# The C library and the kernel: everywhere.
	n = split("assert ctype dirent dlfcn elf endian errno fcntl fenv float fnmatch getopt glob grp inttypes libgen limits link locale " \
		"malloc math poll pthread pwd sched search setjmp signal spawn stdarg stdatomic stdbool stddef stdint stdio " \
		"stdlib stdnoreturn string strings termios time ucontext unistd wchar wctype", name)
	for (i = 1; i <= n; i++)
		libc[name[i] ".h"] = 1

	# Their comments have not been mended yet.
	n = split("cmd tests algo base baseline host io measure nest record report run schedule store target tile trial", name)
	for (i = 1; i <= n; i++)
		may_riddle[name[i]] = 1

	n = split("strcpy strcat sprintf vsprintf gets strtok strtok_r setlocale system fork vfork alloca", name)
	for (i = 1; i <= n; i++)
		banned[name[i]] = 1
	# Only programs print errors and exit; these three do it in their stead.
	n = split("exit _exit abort perror", name)
	for (i = 1; i <= n; i++)
		ends[name[i]] = 1
	may_end["lib/base/err.c"] = may_end["lib/io/opt.c"] = may_end["lib/io/descriptors.c"] = 1
	# proc.c: between vfork and exec, in the child. cell.c, stay.c: the child itself.
	may_end["lib/io/proc.c"] = may_end["lib/trial/cell.c"] = may_end["lib/trial/stay.c"] = 1
}

# Comments are sentences. Those that begin so mostly are none: their verb stands in the code, or nowhere.
function riddle(s)
{
	return s ~ /\/\* (Of|That of|Those|And which) /
}

function allow(room, others,    n, i, other)
{
	is_room[room] = 1
	may_see[room, room] = 1
	n = split(others, other, " ")
	for (i = 1; i <= n; i++)
		may_see[room, other[i]] = 1
}

function inside(part, others,    n, i, other)
{
	is_inside[part] = 1
	may_see_inside[part, part] = 1
	n = split(others, other, " ")
	for (i = 1; i <= n; i++)
		may_see_inside[part, other[i]] = 1
}

# The room of lib/extract that a path lies in; a format is a room of its own.
function inside_of(path,    p)
{
	return split(path, p, "/") < 4 ? "extract" : p[3]
}

function may_include_inside(from, to)
{
	return from == to || ((from in is_inside ? from : "formats", to) in may_see_inside)
}

function breach(rule, sentence)
{
	printf "%s %s:%d: %s\n", rule, FILENAME, FNR, sentence
}

# The line without strings, character constants and comments; a comment may go on to the next line.
function code(s,    out, c, i, n)
{
	n = length(s)
	for (i = 1; i <= n; i++) {
		c = substr(s, i, 1)
		if (in_comment) {
			if (c == "*" && substr(s, i + 1, 1) == "/") {
				in_comment = 0
				i++
			}
		} else if (c == "/" && substr(s, i + 1, 1) == "*") {
			in_comment = 1
			i++
		} else if (c == "/" && substr(s, i + 1, 1) == "/") {
			break
		} else if (c == "\"" || c == "'") {
			out = out c
			for (i++; i <= n && substr(s, i, 1) != c; i++)
				if (substr(s, i, 1) == "\\")
					i++
			out = out c
		} else {
			out = out c
		}
	}
	return out
}

function allowed_at(places,    p, n, i)
{
	n = split(places, p, " ")
	for (i = 1; i <= n; i++)
		if (index(FILENAME, p[i]) == 1)
			return 1
	return 0
}

function system_header(h,    f)
{
	if (h in place) {
		if (!allowed_at(place[h]))
			breach("headers", "<" h "> belongs in " place[h])
		return
	}
	for (f in family)
		if (index(h, f) == 1) {
			if (!allowed_at(family[f]))
				breach("headers", "<" h "> belongs in " family[f])
			return
		}
	if (!(h in libc) && h !~ /^(sys|linux|asm|arpa|netinet)\//)
		breach("headers", "<" h "> is not known; give it a place in tests/floors.awk")
}

# A file and its header are one module.
function module(path)
{
	sub(/\.[ch]$/, "", path)
	return path
}

function note_edge(from, to)
{
	if (from != to && !((from, to) in edge)) {
		edge[from, to] = 1
		out[from] = out[from] " " to
	}
}

# Walks from a module along its includes; seen: 1 while the walk is below it, 2 behind it.
function walk(m, path,    next_one, n, i)
{
	seen[m] = 1
	n = split(out[m], next_one, " ")
	for (i = 1; i <= n; i++)
		if (seen[next_one[i]] == 1)
			printf "cycles %s.c:1: includes go in a circle:%s %s\n", m, path " " m, next_one[i]
		else if (!seen[next_one[i]])
			walk(next_one[i], path " " m)
	seen[m] = 2
}

# Of lib/target the other rooms know what all targets have, and those that run kernels the runners; the commands that take a
# vendor's libraries know devices and compilers; references on a device open libraries there. Tests know all.
function may_know_target(header)
{
	if (FILENAME ~ /^libexec\/(cuda|opencl)\.c$/ && (header == "device.h" || header == "nvrtc.h"))
		return 1
	if (FILENAME ~ /^lib\/baseline\/cuda/ && (header == "device.h" || header == "nvrtc.h" || header == "shared.h"))
		return 1
	return header == "target.h" || header == "caches.h" || FILENAME ~ /^tests\// || (header == "runner.h" && FILENAME ~ /^(lib\/trial|lib\/run|libexec)\//)
}

function own_header(h,    p)
{
	split(h, p, "/")
	if (p[1] == "lib" && (p[2] in is_room)) {
		if (mine && !((mine, p[2]) in may_see))
			breach("floors", "\"" h "\": lib/" mine " may not include lib/" p[2])
		else if (mine == "extract" && p[2] == mine && !may_include_inside(inside_of(FILENAME), inside_of(h)))
			breach("floors", "\"" h "\": " inside_of(FILENAME) " of lib/extract may not include " inside_of(h))
		else if (mine == p[2])
			note_edge(module(FILENAME), module(h))
		else if (p[2] == "target" && !may_know_target(p[3]))
			breach("targets", "\"" h "\": what a target is made of is known in lib/target alone")
	} else if (!(p[1] == part[1] && (p[1] == "tests" || p[1] == "libexec")) && FILENAME !~ /^share\/export\//) {
		breach("floors", "\"" h "\": includes are written from the root, \"lib/ROOM/FILE.h\"")
	}
}

FNR == 1 {
	in_comment = 0
	is_c = FILENAME ~ /\.[ch]$/
	split(FILENAME, part, "/")
	mine = ""
	if (part[1] == "lib") {
		mine = part[2]
		if (!(mine in is_room)) {
			breach("floors", "lib/" part[2] " is no room")
			mine = ""
		}
	}
}

# Everything that is text: no folder of one machine.
{
	if (FILENAME != "tests/floors.t" && match($0, /(^|[^A-Za-z0-9._})-])\/(home|srv|root)\//))
		breach("paths", "names a folder of one machine: " substr($0, RSTART, 40))
}

is_c && /^[ \t]*#[ \t]*include/ {
	h = $0
	if (h ~ /</) {
		gsub(/^[^<]*<|>.*$/, "", h)
		system_header(h)
	} else {
		gsub(/^[^"]*"|"[^"]*$/, "", h)
		own_header(h)
	}
	next
}

is_c && riddle($0) && !(part[1] in may_riddle) && !(mine in may_riddle) {
	breach("comments", "a comment is a sentence, with a verb: " substr($0, index($0, "/*"), 40))
}

is_c {
	s = code($0)
	while (match(s, /[A-Za-z_][A-Za-z_0-9]*[ \t]*\(/)) {
		f = substr(s, RSTART, RLENGTH)
		before = RSTART > 1 ? substr(s, RSTART - 1, 1) : ""
		s = substr(s, RSTART + RLENGTH)
		gsub(/[ \t(]/, "", f)
		if (before == "." || before == ">") # a member of that name
			continue
		if (f in banned && !(f == "fork" && FILENAME ~ /lib\/trial\/(cell|stay)\.c$/) &&
			FILENAME !~ /tests\/torture\//)
			breach("banned", f "() is banned")
		if ((f in ends) && part[1] == "lib" && !(FILENAME in may_end))
			breach("ends", f "(): a library returns -1 and a sentence")
	}
}

END {
	for (m in out)
		if (!seen[m])
			walk(m, "")
}

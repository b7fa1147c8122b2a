# Results as tl-measure writes them, made up: reads workload records with ids, prints for each its group. The candidates
# are those that tl-gen of $BIN (bin) draws for a machine with AVX-512, so they are the same everywhere.
# -v n=N         results a workload (10)
# -v first=K     number of the first candidate (0), in the order in which tl-gen draws
# -v run=ID env=ID  (a1000000000000000000000000000000, e1000000000000000000000000000000); a name becomes the id that
#                its characters make in hexadecimal, with zeros behind
# -v seed=N      of the latencies (1)
# -v day=D       of November 2026 (21); each result comes 10 ms after the one before, from 9 o'clock on
# -v best=S      latencies are between best and 4 best (1e-4)
# -v drop=F      each later candidate draws from a range lower by the factor F (1)
# -v bare=1      no workload and end records around the results
# The fifth of the candidates is preempted, the seventh fails to build, the last one is timed again as finalist.

function hex8(x) { return sprintf("%08x", x % 4294967296) }
function random() { state = (state * 16807) % 2147483647; return state / 2147483647 }
function field(line, key,    s) {
	s = line
	if (!sub(".*\"" key "\":\"", "", s)) return ""
	sub("\".*", "", s)
	return s
}
# 32 digits that look random.
function code(wid, k,    i, h) {
	h = k * 2654435.0 + 12345
	for (i = 1; i <= 8; i++) h = (h * 31 + index("0123456789abcdef", substr(wid, i, 1))) % 4294967291
	return hex8(h) hex8(k) substr(wid, 1, 16)
}
function id(name,    i, s) {
	if (length(name) == 32) return name
	for (i = 1; i <= length(name); i++)
		s = s sprintf("%02x", index(printable, substr(name, i, 1)) + 31)
	return substr(s sprintf("%032d", 0), 1, 32)
}
# Fills candidate[0 .. count - 1]: what a record has from its candidate_id to its knobs.
function draw(record, count,    command, line, k) {
	gsub(/'/, "'\\''", record)
	command = "printf '%s\\n' '" record "' | env -u TL_ISA TL_LIMITS=l1d=49152,l2=2097152,l3=34603008,wide=1,l3rate=10 OMP_NUM_THREADS=2 " bin \
		"/tl-gen -q --arch=avx512 -a " (field(record, "op") == "matmul" ? "gemm" : "direct") " -n " count
	k = 0
	while ((command | getline line) > 0)
		if (sub(/^\{"tl":1,"type":"candidate",/, "", line)) {
			sub(/\}}.*/, "}", line)
			candidate[k++] = line
		}
	close(command)
	if (k < count) {
		print "results.awk: tl-gen draws " k " candidates of " count >"/dev/stderr"
		exit 1
	}
}
function at(    s) {
	s = int(hundredths / 100)
	return sprintf("2026-11-%02dT%02d:%02d:%02d.%02d0Z", day, 9 + s / 3600, s / 60 % 60, s % 60, hundredths++ % 100)
}
function result(k, status, stage, latency,    extra) {
	extra = status == "ok" ? "" : status == "preempted" ? ",\"why\":\"slower than the incumbent\",\"bound\":\"lower\"" : ",\"why\":\"the compiler failed\""
	printf "{\"tl\":1,\"type\":\"result\",%s,\"status\":\"%s\"%s,\"stage\":\"%s\",", candidate[k], status, extra, stage
	if (status != "build")
		printf "\"latency_s\":%.9g,\"ci_s\":[%.9g,%.9g],\"reps\":20,\"error\":{\"l2\":1.2e-07,\"max\":2.5e-07},", latency, latency * 0.99, latency * 1.01
	printf "\"baseline\":{\"impl\":\"onednn 2.6.3 direct jit:avx512_core\",\"layout\":\"nhwc\",\"latency_s\":%.9g,\"ci_s\":[%.9g,%.9g]},", best * 2, best * 1.98, best * 2.02
	if (stage == "final")
		printf "\"ratio\":{\"median\":%.9g,\"ci\":[%.9g,%.9g]},\"verdict\":\"%s\",", 2 * best / latency, 1.9 * best / latency, 2.1 * best / latency, latency < 1.8 * best ? "faster" : "same"
	printf "\"cost\":{\"build_s\":0.05,\"verify_s\":0.01,\"run_s\":0.1,\"core_s\":0.25,\"energy_J\":null,\"energy_why\":\"no energy counter can be read\"},\"env_id\":\"%s\",\"code_hash\":\"%s\",\"run\":\"%s\",\"at\":\"%s\",\"env\":{\"cpu\":\"Test\",\"isa\":\"avx512\",\"features\":\"avx2,fma,avx512f\",\"l1d\":49152,\"l2\":2097152,\"l3\":33554432,\"cores\":2,\"threads\":2,\"cc\":\"gcc %s\",\"libs\":\"onednn 2.6.3\"}}\n", \
		env, code(wid, k + 7), run, at(), env == "e1000000000000000000000000000000" ? "12.2.0" : "13.1.0"
}
BEGIN {
	printable = " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"
	bin = "BIN" in ENVIRON ? ENVIRON["BIN"] : "bin"
	if (n == "") n = 10
	if (first == "") first = 0
	if (run == "") run = "a1000000000000000000000000000000"
	if (env == "") env = "e1000000000000000000000000000000"
	if (day == "") day = 21
	run = id(run)
	env = id(env)
	hundredths = 0
	if (best == "") best = 1e-4
	if (drop == "") drop = 1
	state = (seed == "" ? 1 : seed) * 7919 + 1
	random(); random()
}
{
	wid = field($0, "workload_id")
	draw($0, first + n)
	if (!bare) print
	range = 1; fastest = 0; preempted = 0; failed = 0
	for (k = first; k < first + n; k++) {
		latency = best * range * (1 + 3 * random())
		range *= drop
		status = k % 7 == 6 ? "build" : k % 5 == 4 ? "preempted" : "ok"
		if (status == "ok" && (!fastest || latency < fastest)) { fastest = latency; winner = k }
		preempted += status == "preempted"; failed += status == "build"
		result(k, status, "race", latency)
	}
	if (fastest) result(winner, "ok", "final", fastest * (0.98 + 0.04 * random()))
	if (!bare)
		printf "{\"tl\":1,\"type\":\"end\",\"workload_id\":\"%s\",\"drawn\":%d,\"why\":\"n reached\",\"kept\":%d,\"refused\":%d,\"measured\":%d,\"preempted\":%d,\"failed\":%d,\"built\":%d,\"run\":\"%s\"}\n", \
			wid, 10 * n, n, 9 * n, n - preempted - failed, preempted, failed, n - failed, run
}

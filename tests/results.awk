# Results as tl-measure writes them, made up: reads workload records with ids, prints for each its group.
# -v n=N         results a workload (10)
# -v first=K     number of the first candidate (0); a candidate's id follows from its workload and number
# -v run=ID env=ID  (a1000000000000000000000000000000, e1000000000000000000000000000000)
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
function candidate(wid, k,    i, h, c) {
	h = k * 2654435.0 + 12345
	for (i = 1; i <= 8; i++) h = (h * 31 + index("0123456789abcdef", substr(wid, i, 1))) % 4294967291
	return hex8(h) hex8(k) substr(wid, 1, 16)
}
function at(    s) {
	s = int(hundredths / 100)
	return sprintf("2026-11-%02dT%02d:%02d:%02d.%02d0Z", day, 9 + s / 3600, s / 60 % 60, s % 60, hundredths++ % 100)
}
function result(k, status, stage, latency,    extra) {
	extra = status == "ok" ? "" : status == "preempted" ? ",\"why\":\"slower than the incumbent\",\"bound\":\"lower\"" : ",\"why\":\"the compiler failed\""
	printf "{\"tl\":1,\"type\":\"result\",\"candidate_id\":\"%s\",\"workload\":{%s},\"target\":\"cpu\",\"algo\":\"%s\",\"knobs\":{%s},\"status\":\"%s\"%s,\"stage\":\"%s\",", \
		candidate(wid, k), fields, algo, knobs, status, extra, stage
	if (status != "build")
		printf "\"latency_s\":%.9g,\"ci_s\":[%.9g,%.9g],\"reps\":20,\"error\":{\"l2\":1.2e-07,\"max\":2.5e-07},", latency, latency * 0.99, latency * 1.01
	printf "\"baseline\":{\"impl\":\"onednn 2.6.3 direct jit:avx512_core\",\"layout\":\"nhwc\",\"latency_s\":%.9g,\"ci_s\":[%.9g,%.9g]},", best * 2, best * 1.98, best * 2.02
	if (stage == "final")
		printf "\"ratio\":{\"median\":%.9g,\"ci\":[%.9g,%.9g]},\"verdict\":\"%s\",", 2 * best / latency, 1.9 * best / latency, 2.1 * best / latency, latency < 1.8 * best ? "faster" : "same"
	printf "\"cost\":{\"build_s\":0.05,\"verify_s\":0.01,\"run_s\":0.1,\"core_s\":0.25,\"energy_J\":null,\"energy_why\":\"no energy counter can be read\"},\"env_id\":\"%s\",\"code_hash\":\"%s\",\"run\":\"%s\",\"at\":\"%s\",\"env\":{\"cpu\":\"Test\",\"isa\":\"avx512\",\"features\":\"avx2,fma,avx512f\",\"l1d\":49152,\"l2\":2097152,\"l3\":33554432,\"cores\":2,\"threads\":2,\"cc\":\"gcc %s\",\"libs\":\"onednn 2.6.3\"}}\n", \
		env, candidate(wid, k + 7), run, at(), env == "e1000000000000000000000000000000" ? "12.2.0" : "13.1.0"
}
BEGIN {
	if (n == "") n = 10
	if (first == "") first = 0
	if (run == "") run = "a1000000000000000000000000000000"
	if (env == "") env = "e1000000000000000000000000000000"
	if (day == "") day = 21
	hundredths = 0
	if (best == "") best = 1e-4
	if (drop == "") drop = 1
	state = (seed == "" ? 1 : seed) * 7919 + 1
	random(); random()
}
{
	wid = field($0, "workload_id")
	algo = field($0, "op") == "matmul" ? "gemm" : "direct"
	knobs = algo == "gemm" ? "" : "\"vl\":16,\"nv\":4,\"mr\":6"
	fields = $0
	sub(/^\{"tl":1,"type":"workload",/, "", fields)
	sub(/,"count":.*/, "", fields)
	sub(/\}$/, "", fields)
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

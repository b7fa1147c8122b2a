# Table and geometric means from final results: ratios are the library's time over the candidate's, paired.
function field(name,   s) { # the text behind "name": up to the next comma or brace
	if (!match($0, "\"" name "\":")) return ""
	s = substr($0, RSTART + RLENGTH)
	if (substr(s, 1, 1) == "\"") { s = substr(s, 2); return substr(s, 1, index(s, "\"") - 1) }
	match(s, /^[^,}\]]*/)
	return substr(s, 1, RLENGTH)
}
function inner(object, name,   rest, at) { # "name" inside "object":{...}
	at = index($0, "\"" object "\":{")
	if (!at) return ""
	rest = substr($0, at); at = index(rest, "\"" name "\":")
	rest = substr(rest, at + length(name) + 3)
	sub(/^["\[]/, "", rest)
	match(rest, /^[^,}"\]]*/)
	return substr(rest, 1, RLENGTH)
}
function kind(op, prob) {
	if (op == "matmul") return "1x1 and matmul"
	if (prob ~ /mb1g/) return "depthwise and grouped"
	return prob ~ /_kh1(sh|$)/ ? "1x1 and matmul" : "other dense"
}
/"type":"result"/ && /"stage":"final"/ && /"status":"ok"/ {
	op = field("op"); prob = field("prob"); r = inner("ratio", "median"); d = inner("direct_ratio", "median")
	post = $0; sub(/.*"post":\[/, "", post); sub(/\].*/, "", post); gsub(/"/, "", post)
	if (d == "") d = r # the library's best is a direct one
	if (!n++) printf "%-7s %-36s %-13s %10s %10s %7s %15s %10s %8s  %s\n", "op", "problem", "post", "oneDNN us",
		"tuned us", "ratio", "interval", "verdict", "direct", "oneDNN's best"
	lo = $0; sub(/.*"ratio":\{"median":[^,]*,"ci":\[/, "", lo); hi = lo; sub(/,.*/, "", lo); sub(/^[^,]*,/, "", hi); sub(/\].*/, "", hi)
	printf "%-7s %-36s %-13s %10.1f %10.1f %7.3f   %5.3f - %5.3f %10s %8.3f  %s\n", op, substr(prob, op == "conv2d" ? 5 : 1), post,
		1e6 * inner("baseline", "latency_s"), 1e6 * field("latency_s"), r, lo, hi, field("verdict"), d, inner("baseline", "impl")
	k = kind(op, prob); count[k]++; sum[k] += log(r); direct[k] += log(d)
}
END {
	printf "\n%-24s %6s %16s %24s\n", "geometric mean", "n", "against best", "against best direct"
	for (k in count) printf "%-24s %6d %16.3f %24.3f\n", k, count[k], exp(sum[k] / count[k]), exp(direct[k] / count[k])
	exit !n
}

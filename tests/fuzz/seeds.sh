#!/bin/sh
# Seeds for a target of the fuzzer, out of what the tests have anyway: sh tests/fuzz/seeds.sh TARGET FOLDER
# Small ones only, for a fuzzer tries many.
set -eu
target=$1 to=$2
bin=${BIN:-bin}
largest=48k
mkdir -p "$to"

# The members of archives of networks, each a file. Weights of TensorFlow's variables are no models.
networks() {
	for f in "tests/networks/$target"/*; do
		name=$to/$(basename "$f")
		case $f in
		*.shapes | *.py) ;;
		*.tar.zst)
			mkdir -p "$name.d"
			tar -xf "$f" -C "$name.d"
			find "$name.d" -type f ! -name '*.data-*' ! -name '*.index' | while read -r member; do
				mv "$member" "$name-$(basename "$member")"
			done
			rm -r "$name.d"
			;;
		*.zst) zstd -qdcf "$f" >"${name%.zst}" ;;
		*.pt2 | *.keras)
			unzip -qp "$f" '*model.json' '*config.json' >"$name.json" 2>/dev/null || :
			;;
		*) cp "$f" "$name" ;;
		esac
	done
}

text() { # each line of standard input is one
	i=0
	while IFS= read -r line; do
		i=$((i + 1))
		printf %s "$line" >"$to/text-$i"
	done
}

[ ! -d "tests/networks/$target" ] || networks
[ ! -d "tests/fuzz/found/$target" ] || cp "tests/fuzz/found/$target"/* "$to"
case $target in
hdf5) cp tests/networks/keras/*.h5 "$to" ;;
index)
	for f in tests/networks/tensorflow/*.tar.zst; do
		tar -xOf "$f" --wildcards '*.index' >"$to/$(basename "$f" .tar.zst)" 2>/dev/null || :
	done
	find "$to" -size 0 -exec rm {} +
	;;
onnx)
	cp tests/run/*.onnx "$to"
	perl tests/tiny-onnx.pl >"$to/tiny.onnx"
	tar -xf tests/onnx-rules.tar.zst -C "$to" --wildcards '*[aeiou]_*[0-9].onnx' '*t.onnx' 2>/dev/null || :
	;;
csv)
	"$bin/tl-extract" -q --emit=csv share/models/squeezenet1_1.zip | head -5 >"$to/list.csv"
	printf 'op,prob,layout,post,rhs,count\nmatmul,2x8x4:2x4x3,,relu,computed,3\n' >"$to/all.csv"
	;;
trace) head -c 20000 tests/logs/pytorch.trace.json >"$to/trace.json" ;;
log)
	cp tests/logs/*.log tests/logs/*.json tests/logs/*.yaml "$to"
	"$bin/tl-extract" -q --emit=benchdnn share/models/squeezenet1_1.zip | head -5 >"$to/batch"
	;;
records) "$bin/tl-extract" -q share/models/squeezenet1_1.zip | head -5 >"$to/records" ;;
archive)
	cp share/models/*.zip tests/run/moves.onnx tests/networks/torch/alexnet.pt2 "$to"
	(cd tests/run && tar -cf - moves.onnx scatters.onnx pointwise.onnx) >"$to/some.tar"
	gzip -nc "$to/moves.onnx" >"$to/moves.onnx.gz"
	zstd -qc "$to/moves.onnx" >"$to/moves.onnx.zst"
	xz -c "$to/moves.onnx" >"$to/moves.onnx.xz"
	gzip -nc "$to/some.tar" >"$to/some.tar.gz"
	zip -qj "$to/some.zip" "$to/some.tar" "$to/moves.onnx"
	(cd "$to" && tar -cf twice.tar some.zip some.tar.gz)
	;;
where) printf '%s\n' 'flops>1e8 && kh==3' 'op==conv2d || !(m*n/k < 3 && layout!="nchw")' 'total>=-1%7' | text ;;
vary) printf '%s\n' 'mb=1,2,4,8; ih,iw*=2' 'm,k/=2;layout=nhwc,nchw' 'ic+=1; oc-=3' | text ;;
shape) printf '%s\n' 'input:1,3,224,224' 'x:batch,3,h*2' 'a:b:1,?' | text ;;
dim) printf '%s\n' 'seq=128' 'batch=1' '2*(n+1)=8' | text ;;
esac
# The three smallest in any case.
(cd "$to" && ls -Sr | sed 1,3d | while read -r f; do
	[ -z "$(find "$f" -size "+$largest")" ] || rm "$f"
done)

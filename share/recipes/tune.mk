# Tunes many models on this machine, the database in the middle: make -j -f tune.mk MODELS="a.onnx b.tflite" TIME=10m
#
# Extraction takes all cores. Tuning takes one model after the other, as the machine's lock lets one at a time measure. What is done
# is not done again. Each model gets its report, MODEL.md.
TIME ?= 10m
TL_DB ?= tune.db
export TL_DB

.PHONY: all
all: $(MODELS:%=%.md)

%.wl: %
	tl-extract -q -o $@ $<

%.tuned: %.wl
	tl-tune -q --time=$(TIME) -o $@ $<

%.md: %.tuned
	tl-query --report=$@ $*.wl

.PRECIOUS: %.wl %.tuned

# Tensor Lathe. `make help` lists the targets.
#
# One non-recursive Makefile. Adding a program, worker, operator, algorithm, strategy or test is adding a file: the
# lists below are wildcards, and the registries are made from them.

VERSION := 0.1.0
PREFIX ?= /usr/local
CC ?= cc
SAN ?=
JOBS ?= $(shell nproc)

# ONEDNN=FOLDER: the oneDNN there instead of the system's.
ONEDNN ?=
ONEDNN_FOLDER := $(abspath $(ONEDNN))

# Where things are built: bin/, libexec/tl/ and build/ for the ordinary build; all below build/san/ with SAN=1, and below
# build/onednn/ for a bench with another oneDNN, so that the ordinary build stays.
B := build$(if $(SAN),/san,$(if $(and $(ONEDNN_FOLDER),$(filter bench-kernels,$(MAKECMDGOALS))),/onednn))
CONFIG := $(if $(filter %/onednn,$B),$B/)config.mk
ifeq ($(B),build)
BIN := bin
LIBEXEC := libexec/tl
else
BIN := $(B)/bin
LIBEXEC := $(B)/libexec/tl
endif
ifeq ($(SAN),)
OPTFLAGS := -O2 -g
else
SANFLAGS := -fsanitize=address,undefined
OPTFLAGS := -O1 -g1 $(SANFLAGS) -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif

WARN := -Wall -Wextra -Wno-missing-field-initializers -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla
CPPFLAGS += -D_GNU_SOURCE -I. -DTL_VERSION='"$(VERSION)"'
CFLAGS ?=
ALL_CFLAGS = -std=gnu11 $(OPTFLAGS) $(WARN) $(CFLAGS)
LDFLAGS += -Wl,--as-needed $(SANFLAGS)

PROGRAMS := $(patsubst cmd/%.c,%,$(wildcard cmd/*.c))
WORKERS := $(patsubst libexec/%.c,%,$(wildcard libexec/*.c))
LIB_SRC := $(wildcard lib/*/*.c lib/*/*/*.c)
BENCH_C := $(patsubst bench/%.c,%,$(wildcard bench/*.c))
TEST_C := $(patsubst tests/%.c,%,$(wildcard tests/*.c))
TEST_SH := $(wildcard tests/*.t)
ALL_C := $(LIB_SRC) $(wildcard cmd/*.c libexec/*.c bench/*.c tests/*.c tests/fault/*.c tests/emulator/*.c)
ALL_H := $(wildcard lib/*/*.h lib/*/*/*.h libexec/*.h tests/*.h tests/emulator/*.h)
# What exports are made of: built there, and laid out here.
EXPORTED := $(wildcard share/export/*.[ch])
ALL_SH := $(wildcard share/*.sh share/recipes/*.sh share/recipes/*.sbatch bench/*.sh tests/*.t tests/*.sh) .ci/run

# A registry lists the files of a room but the one named after the room itself, and what all share.
registry_names = $(filter-out $(1) candidate convolution rows,$(patsubst lib/$(1)/%.c,%,$(wildcard lib/$(1)/*.c)))
# Names in small letters: those in capitals are for the command line, such as POLICIES of make bench-tune.
op_names := $(call registry_names,op)
algo_names := $(call registry_names,algo)
# These rooms have other files, too.
defined_names = $(patsubst lib/$(1)/%.c,%,$(shell grep -l '^const struct $(1) $(1)_' $(wildcard lib/$(1)/*.c)))
target_names := $(call defined_names,target)
search_names := $(call defined_names,search)
policy_names := $(call defined_names,policy)

LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o) $(B)/registry.o
LIBTL := $(B)/libtl.a

all: $(PROGRAMS:%=$(BIN)/%) $(WORKERS:%=$(LIBEXEC)/%) ## build the programs and workers (with SAN=1: under build/san, with sanitizers)

## Set-up

deps: ## install the Debian packages that are needed and missing (share/deps.txt)
	@sh share/deps.sh
deps-fleet: ## install what tests of fleets want: PostgreSQL, Slurm, GNU parallel, debhelper (share/deps-fleet.txt)
	@sh share/deps.sh deps-fleet.txt

# Nothing may look for a compiler or a library before `deps` is done, where it is among the goals (`make deps demo`):
# config.mk waits for it, and everything that is built waits for config.mk.
DEPS := $(filter deps,$(MAKECMDGOALS))
$(CONFIG): share/configure.sh | $(DEPS)
	@mkdir -p $(@D)
	@CC='$(CC)' ONEDNN='$(ONEDNN_FOLDER)' sh share/configure.sh > $@.tmp && mv $@.tmp $@
# Where it is for another oneDNN it is made anew, and with it all that was built.
ifneq ($(ONEDNN_FOLDER),$(shell sed -n 's/^ONEDNN_HERE := //p' $(CONFIG) 2>/dev/null))
$(CONFIG): another_onednn
.PHONY: another_onednn
endif
ifneq ($(filter-out deps deps-fleet help clean,$(or $(MAKECMDGOALS),all)),)
include $(CONFIG)
endif

## Building

# What some objects and programs need beyond the others. Only workers, lib/baseline and tl-run ever see OpenMP; keep starts with each
# child process, and has nothing but libc to load.
OPENMP_OBJ := $(B)/lib/run/exec.o $(B)/lib/run/library.o $(B)/lib/run/weights.o $(B)/lib/baseline/onednn.o $(B)/lib/target/kernel.o $(B)/lib/target/probe.o $(B)/bench/pairs.o $(B)/bench/read.o \
	$(patsubst %,$(B)/libexec/%.o,$(filter worker-%,$(WORKERS)))
$(OPENMP_OBJ): ALL_CFLAGS += -fopenmp
$(B)/lib/target/prelude.o build/fuzz/lib/target/prelude.o: $(wildcard lib/target/prelude/*)
$(B)/lib/baseline/onednn.o: ALL_CFLAGS += $(INCLUDE_onednn)
$(WORKERS:%=$(LIBEXEC)/%): LIBS_worker = -fopenmp $(LIBS_onednn) $(LIBS)
$(LIBEXEC)/keep: LIBS_worker =
$(LIBEXEC)/cuda $(LIBEXEC)/opencl: LIBS_worker = $(LIBS)
$(BIN)/tl-run: LIBS_tl-run = -fopenmp $(LIBS_onednn)
# Programs that nobody installs.
$(TEST_C:%=$(B)/tests/%): LDFLAGS += $(LINK_FAST)
ifneq ($(SAN),)
$(PROGRAMS:%=$(BIN)/%) $(WORKERS:%=$(LIBEXEC)/%): LDFLAGS += $(LINK_FAST)
endif
LIBS_test_onednn = -fopenmp $(LIBS_onednn)
LIBS_test_cuda_baseline = -fopenmp $(LIBS_onednn)
LIBS_test_probe = -fopenmp
LIBS_test_cache = -fopenmp
LIBS_test_kernels = -fopenmp
LIBS_test_nest = -fopenmp
LIBS_test_memory = -fopenmp $(LIBS_onednn)
LIBS_test_shared_weights = -fopenmp $(LIBS_onednn)

link = @mkdir -p $(@D); echo "  LINK $@"; $(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(LIBTL)
$(BIN)/%: $(B)/cmd/%.o $(LIBTL) $(CONFIG)
	$(link) $(LIBS_$*) $(LIBS)
$(LIBEXEC)/%: $(B)/libexec/%.o $(LIBTL) $(CONFIG)
	$(link) $(LIBS_worker)
$(LIBEXEC)/keras-hdf5: LIBS_worker = $(LIBS_hdf5)
$(B)/libexec/keras-hdf5.o: ALL_CFLAGS += $(INCLUDE_hdf5)
$(B)/lib/store/postgresql.o: ALL_CFLAGS += $(INCLUDE_pq)
$(B)/tests/%: $(B)/tests/%.o $(LIBTL) $(CONFIG)
	$(link) $(LIBS_test_$*) $(LIBS)
$(B)/bench/%: $(B)/bench/%.o $(LIBTL) $(CONFIG)
	$(link) -fopenmp $(LIBS)
# Tests look for workers where programs beside bin/ would; with SAN=1 they are there.
ifeq ($(SAN),)
$(TEST_C:%=build/tests/%): | build/libexec/tl
build/libexec/tl:
	@mkdir -p $(@D); ln -sfn ../../libexec/tl $@
endif

$(LIBTL): $(LIB_OBJ)
	@rm -f $@
	@$(AR) rcs $@ $^

# The compiler's warnings stay beside the object, where lint looks for them.
compile = @mkdir -p $(@D); echo "  CC   $<"; $(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $< 2>$@.said; \
	status=$$?; cat $@.said >&2; exit $$status
$(B)/%.o: %.c $(CONFIG)
	$(compile)

# The registries: op_list, target_list, algo_list, search_list, policy_list, in the order of the file names.
$(B)/registry.c: Makefile $(wildcard lib/op lib/target lib/algo lib/search lib/policy)
	@mkdir -p $(@D)
	@{ echo '/* Made by the Makefile from the file list. */'; \
	echo '#include "lib/op/op.h"'; echo '#include "lib/algo/algo.h"'; echo '#include "lib/search/search.h"'; \
	echo '#include "lib/policy/policy.h"'; \
	printf 'const struct op *const op_list[] = {'; printf '&op_%s, ' $(op_names); echo '0};'; \
	for a in $(algo_names); do echo "extern const struct algo algo_$$a;"; done; \
	printf 'const struct algo *const algo_list[] = {'; printf '&algo_%s, ' $(algo_names); echo '0};'; \
	for t in $(target_names); do echo "extern const struct target target_$$t;"; done; \
	printf 'const struct target *const target_list[] = {'; printf '&target_%s, ' $(target_names); echo '0};'; \
	for s in $(search_names); do echo "extern const struct search search_$$s;"; done; \
	printf 'const struct search *const search_list[] = {'; printf '&search_%s, ' $(search_names); echo '0};'; \
	for p in $(policy_names); do echo "extern const struct policy policy_$$p;"; done; \
	printf 'const struct policy *const policy_list[] = {'; printf '&policy_%s, ' $(policy_names); echo '0};'; \
	} > $@
$(B)/registry.o: $(B)/registry.c $(CONFIG)
	$(compile)

# Manual pages: man/NAME.1.in with the OPTIONS section put in as the program prints it, and man/tl-record.5.in with the fields
# of the record schema and the algorithms' knobs, as the programs print them. Completions: the template of a shell, that of the
# program's own name or any.in, with the options as the program prints them.
MAN1 := $(patsubst man/%.in,build/man/%,$(wildcard $(PROGRAMS:%=man/%.1.in)))
MAN57 := $(patsubst man/%,build/man/%,$(wildcard man/*.7)) build/man/tl-record.5
SHELLS := bash zsh fish
COMPLETIONS := $(foreach shell,$(SHELLS),$(PROGRAMS:%=build/completions/$(shell)/%))

doc: $(MAN1) $(MAN57) $(COMPLETIONS) ## make the manual pages (build/man) and completions (build/completions)
build/man/%.1: man/%.1.in $(BIN)/%
	@mkdir -p $(@D)
	@$(BIN)/$* --help-man > $@.options
	@sed -e '/^@OPTIONS@$$/{r $@.options' -e 'd}' -e 's/@VERSION@/$(VERSION)/' $< > $@.tmp
	@rm $@.options; mv $@.tmp $@
build/man/tl-record.5: man/tl-record.5.in share/fill.awk $(BIN)/tl-check $(BIN)/tl-gen
	@mkdir -p $(@D)
	@$(BIN)/tl-check --schema-manual > $@.text && $(BIN)/tl-gen --list-manual >> $@.text
	@awk -f share/fill.awk $@.text $< > $@.tmp && sed -e 's/@VERSION@/$(VERSION)/' $@.tmp > $@
	@rm $@.text $@.tmp
build/man/%: man/%
	@mkdir -p $(@D)
	@sed -e 's/@VERSION@/$(VERSION)/' $< > $@
build/completions/options/%: $(BIN)/%
	@mkdir -p $(@D)
	@$(BIN)/$* --help-options > $@
define completion
build/completions/$(1)/%: build/completions/options/% completions/fill.awk $(wildcard completions/$(1)/*.in)
	@mkdir -p $$(@D)
	@template=completions/$(1)/$$*.in; [ -e $$$$template ] || template=completions/$(1)/any.in; \
		LC_ALL=C awk -f completions/fill.awk $$< $$$$template > $$@
endef
$(foreach shell,$(SHELLS),$(eval $(call completion,$(shell))))

-include $(wildcard build/fuzz/*/*/*.d build/fuzz/*/*/*/*.d $(B)/registry.d $(ALL_C:%.c=$(B)/%.d))

## Checking

# The long ones begin, so that no core waits for the last of them; kernels is the longest.
LONG_TESTS := $(B)/tests/kernels $(patsubst %,tests/%.t,store-postgresql deb cuda train fault stranger slurm run tune torture graphs measure examples export fuzz replay) $(B)/tests/blocks
TESTS := $(LONG_TESTS) $(filter-out $(LONG_TESTS),$(TEST_C:%=$(B)/tests/%) $(TEST_SH))
# Sanitizers find nothing more in these: they look at texts and at what is installed, or run what other tests run as well.
ifneq ($(SAN),)
TESTS := $(filter-out $(patsubst %,tests/%.t,bench complete deb descriptors examples floors install man networks recipes schema slurm stranger),$(TESTS))
endif
# Tests never see the user's own database and cache, nor probe the machine, as none looks at how long something took.
# Threads of teams do not spin while they wait: they would keep the CPUs from the test beside this one.
# No kernel has sanitizers: with SAN=1 tests take those that the ordinary build's have compiled. Tests of compiling and of the
# cache have caches of their own.
# Leaks of other people's libraries are listed in share/lsan.supp.
TEST_ENV = BIN='$(CURDIR)/$(BIN)' LIBEXEC='$(CURDIR)/$(LIBEXEC)' TL_DB= TL_MODEL=none SAN=$(SAN) \
	TL_PROBE=0 OMP_WAIT_POLICY=passive LC_ALL=C.UTF-8 HOME='$(CURDIR)/$(B)/home' \
	XDG_DATA_HOME='$(CURDIR)/$(B)/home/data' XDG_CACHE_HOME='$(CURDIR)/build/home/cache' CUDA_CACHE_PATH='$(CURDIR)/build/home/cuda' \
	ASAN_OPTIONS='detect_leaks=1:abort_on_error=0:exitcode=86:handle_sigfpe=0:handle_sigill=0:handle_abort=0:$(ASAN_OPTIONS)' UBSAN_OPTIONS=print_stacktrace=1 \
	LSAN_OPTIONS='suppressions="$(CURDIR)/share/lsan.supp":print_suppressions=0'
# The harness gives each test the rest of its surroundings, and ends one that hangs.
# Tests wait, too, for clocks and for each other's processes: there are half as many again as CPUs.
PROVE = prove --norc --exec 'perl tests/harness.pl' -j $$(($(JOBS) + ($(JOBS) + 1) / 2)) --timer
# Runs tests, in these surroundings besides. What failed is told once more at the end, where the output of a long run is read.
RUN_TESTS = mkdir -p $(B)/home build/home; rm -f $(B)/failed; \
	env $(TEST_ENV) TL_TEST_FAILED='$(CURDIR)/$(B)/failed' $(1) $(PROVE) $(2) || { [ ! -e $(B)/failed ] || cat $(B)/failed >&2; exit 1; }

# What fails calls on demand is loaded into the programs from outside, and the same for all builds. Frame pointers lead
# the leak checker through it to who asked for memory.
FAULT := build/tests/fault.so
$(FAULT): tests/fault/fault.c $(CONFIG)
	@mkdir -p $(@D)
	@echo "  CC   $<"; $(CC) $(CPPFLAGS) -std=gnu11 -O1 -g -fno-omit-frame-pointer $(WARN) -fPIC -shared -o $@ $<

# Stand-ins for CUDA's libraries, which run its kernels on this processor; for all builds, too.
EMULATOR := $(addprefix build/tests/emulator/,libcuda.so.1 libnvrtc.so.12 libnvrtc.so.13 libnvidia-ml.so.1)
emulator = @mkdir -p $(@D); echo "  LINK $@"; $(CC) $(CPPFLAGS) -std=gnu11 -O2 -g $(WARN) -fPIC -fvisibility=hidden \
	-shared -Wl,-z,defs -o $@ $(filter %.c,$^) -lm $(LIBS_emulator)
EMULATOR_H := $(wildcard tests/emulator/*.h)
build/tests/emulator/libcuda.so.1: $(addprefix tests/emulator/,cuda.c memory.c graph.c box.c fiber.c) $(EMULATOR_H) $(CONFIG)
	$(emulator)
build/tests/emulator/libnvrtc.so.12 $(B)/tests/emulator/nvrtc.o: CPPFLAGS += -DTREE='"$(CURDIR)"'
build/tests/emulator/libnvrtc.so.12: LIBS_emulator = -Wl,--as-needed $(LIBS)
build/tests/emulator/libnvrtc.so.12: tests/emulator/nvrtc.c tests/emulator/kept.c lib/base/buf.c lib/base/err.c lib/base/hash.c $(EMULATOR_H) $(CONFIG)
	$(emulator)
build/tests/emulator/libnvidia-ml.so.1: tests/emulator/nvml.c $(CONFIG)
	$(emulator)
# The newest name is looked for first: none that the machine has may be found before it.
build/tests/emulator/libnvrtc.so.13: build/tests/emulator/libnvrtc.so.12
	@ln -sfn libnvrtc.so.12 $@
# And for NVIDIA's libraries on the same device.
CUDA_LIBRARIES := $(addprefix build/tests/emulator/,libcudnn.so.9 libcublasLt.so.12 libcublasLt.so.13)
build/tests/emulator/libcudnn.so.9: $(addprefix tests/emulator/,cudnn.c cudnn_rules.c cudnn_engines.c queue.c) $(EMULATOR_H) \
		lib/baseline/cuda/cudnn.h $(CONFIG)
	$(emulator)
build/tests/emulator/libcublasLt.so.12: tests/emulator/cublaslt.c tests/emulator/queue.c $(EMULATOR_H) $(CONFIG)
	$(emulator)
build/tests/emulator/libcublasLt.so.13: build/tests/emulator/libcublasLt.so.12
	@ln -sfn libcublasLt.so.12 $@

# Fuzzing: the readers and what they stand on, with libFuzzer's and the sanitizers' instructions, and one program for all targets.
FUZZ_FLAGS := -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
FUZZ_SRC := $(wildcard $(patsubst %,lib/%/*.c,base io space nest tile op extract) lib/extract/*/*.c tests/fuzz/*.c)
FUZZ_OBJ := $(FUZZ_SRC:%.c=build/fuzz/%.o) build/fuzz/registry.o
NO_CLANG = { echo 'make fuzz: there is no clang with libFuzzer; make deps installs it' >&2; exit 1; }
build/fuzz/%.o: %.c $(CONFIG)
	@[ -n '$(FUZZ_CC)' ] || $(NO_CLANG)
	@mkdir -p $(@D); echo "  FUZZ $<"; $(FUZZ_CC) $(CPPFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -w -MMD -MP -c -o $@ $<
build/fuzz/registry.c: $(B)/registry.c
	@mkdir -p $(@D); grep -e '^#include "lib/op/' -e op_list $< > $@
build/fuzz/registry.o: build/fuzz/registry.c
	@[ -n '$(FUZZ_CC)' ] || $(NO_CLANG)
	@$(FUZZ_CC) $(CPPFLAGS) $(FUZZ_FLAGS) -c -o $@ $<
build/fuzz/fuzz: $(FUZZ_OBJ) | build/libexec/tl
	@echo "  LINK $@"; $(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $(FUZZ_OBJ) $(LIBS)

fuzz: all build/fuzz/fuzz ## feed mutated bytes to a reader, or text to an option: FUZZ=onnx SECONDS=60
	@BIN='$(BIN)' sh tests/fuzz/fuzz.sh '$(or $(FUZZ),onnx)' '$(or $(SECONDS),60)'

TESTABLE := all doc $(TEST_C:%=$(B)/tests/%) $(FAULT) $(EMULATOR) $(CUDA_LIBRARIES)
ifeq ($(SAN),)
TESTABLE += $(if $(FUZZ_CC),build/fuzz/fuzz)
endif
# With SAN=1, too, what programs read stands beside bin/.
ifneq ($(SAN),)
TESTABLE += $(B)/share
$(B)/share:
	@mkdir -p $(@D); ln -sfn ../../share $@
endif
check: $(TESTABLE) ## run the tests (TESTS='tests/man.t build/tests/json' for some; SAN=1 under ASan and UBSan)
	@$(call RUN_TESTS,,$(TESTS))

# What runs other code, or judges otherwise, where the instruction set, the caches or the library's choice are others; but for
# what goes through all instruction sets by itself (kernels, cache), what is about processes that die, not about their kernels
# (resume, torture), and what measures nothing and plays one machine of its own (train).
ISA_TESTS := $(addprefix $(B)/tests/,cpu model onednn) \
	$(patsubst %,tests/%.t,filter gen measure probe replay tune)
# Machines to play, as far as this one can: a desktop of 2020, and a CPU without vectors worth the name.
AS_avx2 := TL_ISA=avx2 ONEDNN_MAX_CPU_ISA=AVX2 TL_LIMITS=l1d=32768,l2=524288,l3=33554432
AS_scalar := TL_ISA=scalar ONEDNN_MAX_CPU_ISA=SSE41 TL_LIMITS=l1d=32768,l2=262144,l3=4194304 OMP_NUM_THREADS=1

check-isa: $(TESTABLE) ## run the tests that depend on the instruction set as on a CPU with AVX2, and on one without
	@if ! TL_ISA=avx2 $(BIN)/tl-gen </dev/null 2>/dev/null; then echo '# SKIP as on a CPU with AVX2: this one has none'; \
	elif ! TL_ISA=avx512 $(BIN)/tl-gen </dev/null 2>/dev/null; then echo '# SKIP as on a CPU with AVX2: this one is, and check has run them'; \
	else echo '$(AS_avx2)'; $(call RUN_TESTS,$(AS_avx2),$(ISA_TESTS)); fi
	@echo '$(AS_scalar)'
	@$(call RUN_TESTS,$(AS_scalar),$(ISA_TESTS))

LINT_OBJ := $(ALL_C:%.c=$(B)/%.o)
LINT := lint-warnings lint-cppcheck lint-format lint-shell lint-tests
lint: $(LINT) ## no warning of -Wall -Wextra; cppcheck, clang-format, shellcheck, and the tests of floors and of the manual
lint-warnings: $(LINT_OBJ)
	@for f in $(LINT_OBJ); do \
		[ -e "$$f.said" ] || { echo "make lint: an older make compiled $$f, and kept no warnings: make clean, and again" >&2; exit 1; }; \
	done; ! cat $(LINT_OBJ:=.said) | grep . >&2
lint-cppcheck:
	@mkdir -p build/lint/cppcheck
	@cppcheck -q -j $(JOBS) --cppcheck-build-dir=build/lint/cppcheck --std=c11 -I. -D_GNU_SOURCE \
		--inline-suppr --suppressions-list=share/cppcheck.supp --enable=warning,performance,portability \
		--error-exitcode=1 $(ALL_C)
lint-format:
	@clang-format --dry-run -Werror $(ALL_C) $(ALL_H) $(EXPORTED)
lint-shell:
	@shellcheck -S warning $(ALL_SH)
lint-tests: all doc
	@$(call RUN_TESTS,,tests/floors.t tests/man.t)

format: ## lay the source out as clang-format wants it
	clang-format -i $(ALL_C) $(ALL_H) $(EXPORTED)

## Using

demo: all ## tune a ResNet kept in share/models, and show the table: TARGET=cuda BUDGET=SECONDS ONNXRUNTIME=FOLDER
	@BIN='$(BIN)' TARGET='$(TARGET)' BUDGET='$(BUDGET)' ONNXRUNTIME='$(ONNXRUNTIME)' sh share/demo.sh
bench-kernels: all ## the best kernels against oneDNN: MODELS="FILE..." DTYPE=bf16|int8 BUDGET=SECONDS THREADS=N ISA=avx2 ONEDNN=FOLDER
	@[ $(BIN) = bin ] || ln -sfn ../../share $(B)/share # beside bin/, where programs look for the model
	@BIN='$(BIN)' MODELS='$(MODELS)' DTYPE='$(DTYPE)' BUDGET='$(BUDGET)' THREADS='$(THREADS)' ISA='$(ISA)' sh bench/kernels.sh
bench-four-bits: all $(B)/bench/read ## products by weights of 4 bits, and their part of the memory's bandwidth: CANDIDATES=N TURNS=N
	@BIN='$(BIN)' BUILD='$(B)' CANDIDATES='$(CANDIDATES)' TURNS='$(TURNS)' sh bench/four-bits.sh
bench-gpu: all $(B)/tests/blocks ## all that is to be known of a GPU: TARGET=opencl SECTIONS="verify tune" MODELS="FILE..." BATCHES="1 32" TYPES="f32 bf16" BUDGET=SECONDS FINALS=N PROBLEMS=N KILLS=N EVERY=N
	@BIN='$(BIN)' TESTS_BIN='$(B)/tests' TARGET='$(TARGET)' SECTIONS='$(SECTIONS)' MODELS='$(MODELS)' BATCHES='$(BATCHES)' TYPES='$(TYPES)' BUDGET='$(BUDGET)' \
		FINALS='$(FINALS)' PROBLEMS='$(PROBLEMS)' KILLS='$(KILLS)' EVERY='$(EVERY)' sh bench/gpu.sh
bench-models: all $(B)/bench/neighbour ## whole models by tl-run against onnxruntime and OpenVINO: ONNXRUNTIME=FOLDER AGAINST=DB MODELS="FILE..." BUDGET=SECONDS THREADS=N TURNS=N ISA=avx2 CACHE=MODE BESIDE=CORE PRECISION=bf16|int8
	@BUILD='$(B)' BESIDE='$(BESIDE)' BIN='$(BIN)' ONNXRUNTIME='$(ONNXRUNTIME)' AGAINST='$(AGAINST)' MODELS='$(MODELS)' BUDGET='$(BUDGET)' THREADS='$(THREADS)' TURNS='$(TURNS)' \
		DB='$(DB)' ISA='$(ISA)' CACHE='$(CACHE)' PRECISION='$(PRECISION)' sh bench/models.sh
bench-onnx: all ## ONNX's node tests and light models by tl-run: ONNX=FOLDER ONLY=TEXT JOBS=N
	@BIN='$(BIN)' ONNX='$(ONNX)' ONLY='$(ONLY)' JOBS='$(JOBS)' PYTHON='$(PYTHON)' sh bench/onnx.sh
bench-measure: all $(B)/bench/plain ## what measuring costs against the plain way, and whether it can be trusted
	@sh bench/measure.sh
bench-trust: all $(B)/bench/neighbour ## whether verdicts and recordings come again, beside a neighbour, and whether tuning ends behind its start
	@sh bench/trust.sh
bench-store: all ## storing into and asking a big database (BENCH_RESULTS=10000000)
	@sh bench/store.sh

bench-fleet: all $(B)/bench/claims ## results and claims a second, with a server and with a file (RESULTS=N)
	@BIN='$(BIN)' BUILD='$(B)' sh bench/fleet.sh

bench-extract: all ## reading models of 2 GB, and 300 of them in one archive: time and memory
	@BIN='$(BIN)' sh bench/extract.sh

bench-model: all $(B)/bench/rank ## how well learned models rank what they have never seen, from the recorded spaces
	@sh bench/model.sh
bench-left-out: all $(B)/bench/left-out ## what learned models are worth on a CPU that they have not learned from: MODEL=FILE NETWORKS=test
	@MODEL='$(MODEL)' NETWORKS='$(NETWORKS)' LEARN='$(filter-out $(TEST_SPACES) $(OTHER_TYPES),$(CPU_SPACES))' TEST='$(TEST_SPACES)' BUILD='$(B)' sh bench/left-out.sh
bench-zero: all ## what schedules are worth that nobody has measured (after bench-model): MODEL=FILE SHOTS=TIME
	@MODEL='$(MODEL)' SHOTS='$(SHOTS)' sh bench/zero.sh
bench-filter: all ## what the filter, and a search in the model, are worth in a live run (after bench-model)
	@sh bench/filter.sh
bench-tune: all $(B)/bench/curves ## what tuning costs, and what it reaches, against other policies: MODELS="FILE..." POLICIES="NAME..." SEEDS="N..." BUDGET=TIME FINALS=N WARM=DB
	@BIN='$(BIN)' MODELS='$(MODELS)' POLICIES='$(POLICIES)' SEEDS='$(SEEDS)' BUDGET='$(BUDGET)' FINALS='$(FINALS)' WARM='$(WARM)' BUILD='$(B)' sh bench/tune.sh
bench-search: all $(B)/bench/curves ## the same in simulated runs, many seeds: MODELS="FILE..." POLICIES="NAME..." SEEDS="N..." RECORDING=FILE LOOKS=N BUDGET=TIME FINALS=N; GATE=1: beside live runs
	@BIN='$(BIN)' MODELS='$(MODELS)' POLICIES='$(POLICIES)' SEEDS='$(SEEDS)' RECORDING='$(RECORDING)' LOOKS='$(LOOKS)' BUDGET='$(BUDGET)' FINALS='$(FINALS)' GATE='$(GATE)' BUILD='$(B)' sh bench/search.sh
bench-metaschedule: all ## what tuning costs, and what it reaches, against TVM's MetaSchedule: TVM=FOLDER TRIALS=N OPS="OP PROB..." SEED=N MCPU=NAME
	@BIN='$(BIN)' TVM='$(TVM)' TRIALS='$(TRIALS)' OPS='$(OPS)' SEED='$(SEED)' MCPU='$(MCPU)' sh bench/metaschedule.sh
bench-machine: all ## what it costs to tune with what another machine has learned (after bench-model)
	@sh bench/machine.sh
spaces: all ## record whole spaces on this machine into share/spaces/CPU, to learn from (an hour): SPACES=CPU
	@SPACES='$(SPACES)' sh bench/spaces.sh

model: all ## train the models that come with the programs, from share/spaces
	$(BIN)/tl-train $(MODEL_OPTIONS) -o share/models/cpu.model $(filter-out $(TEST_SPACES),$(CPU_SPACES))
	$(BIN)/tl-train $(MODEL_OPTIONS) --target=cuda -o share/models/cuda.model share/spaces/h100/networks.zst
MODEL_OPTIONS := --trials=1 --bag=3
# Networks to test on: nothing is learned from them.
export BENCH_TEST ?= squeezenet1_1 resnet18 alexnet
# A folder a CPU; the one of a GPU is not among them.
CPU_SPACES = $(sort $(filter-out share/spaces/h100/%,$(wildcard share/spaces/*/*.zst)))
TEST_SPACES = $(foreach network,$(BENCH_TEST),$(filter %/$(network).zst %-$(network).zst,$(CPU_SPACES)))

# On a CPU that a model does not know, the draft ranks types other than f32.
OTHER_TYPES = $(foreach s,$(CPU_SPACES),$(if $(findstring bf16-,$s)$(findstring int8-,$s),$s))

# FILE:PLACE below the prefix, and the file's mode.
SHARE_DATA := $(wildcard share/models/* share/export/* share/recipes/*)
INSTALL_BIN = $(foreach f,$(PROGRAMS:%=bin/%) $(WORKERS:%=libexec/tl/%),$f:$f)
INSTALL_DATA = $(foreach f,$(MAN1),$f:share/man/man1/$(notdir $f)) \
	$(foreach f,$(MAN57),$f:share/man/man$(subst .,,$(suffix $f))/$(notdir $f)) \
	$(foreach p,$(PROGRAMS),build/completions/bash/$p:share/bash-completion/completions/$p) \
	$(foreach p,$(PROGRAMS),build/completions/zsh/$p:share/zsh/site-functions/_$p) \
	$(foreach p,$(PROGRAMS),build/completions/fish/$p:share/fish/vendor_completions.d/$p.fish) \
	$(foreach f,$(SHARE_DATA),$f:$(f:share/%=share/tl/%))
ROOT = $(DESTDIR)$(PREFIX)

install: all doc ## install programs, workers, manual pages, completions and data (PREFIX=/usr/local DESTDIR=)
	@for f in $(INSTALL_BIN); do install -D -m 755 "$${f%%:*}" "$(ROOT)/$${f#*:}" || exit; done
	@for f in $(INSTALL_DATA); do install -D -m 644 "$${f%%:*}" "$(ROOT)/$${f#*:}" || exit; done
uninstall: ## remove what install put there
	@for f in $(INSTALL_BIN) $(INSTALL_DATA); do rm -f "$(ROOT)/$${f#*:}"; done
	@for d in share/tl/models share/tl/export share/tl/recipes share/tl libexec/tl libexec; do \
		rmdir --ignore-fail-on-non-empty "$(ROOT)/$$d" 2>/dev/null || :; done

# Built in a copy of the tree, as dpkg-buildpackage writes beside it.
deb: ## a Debian package, build/deb/tensor-lathe_*.deb (wants debhelper)
	@rm -rf build/deb && mkdir -p build/deb/tree
	@tar --exclude=./build --exclude=./bin --exclude=./libexec/tl --exclude=./config.mk --exclude=./.git --exclude=./share/spaces -cf - . | tar -xf - -C build/deb/tree
	@cd build/deb/tree && dpkg-buildpackage -us -uc -b
	@rm -rf build/deb/tree && ls build/deb/*.deb

clean: ## remove all that was built
	rm -rf build bin libexec/tl config.mk

help: ## this list
	@echo 'Tensor Lathe $(VERSION). Targets:'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r target what; do \
		printf '  %-20s %s\n' "$$target" "$$what"; done

.PHONY: all deps deps-fleet doc check fuzz check-isa lint $(LINT) format demo bench-kernels bench-four-bits bench-gpu bench-models bench-onnx bench-measure bench-trust bench-store bench-fleet bench-extract bench-model bench-left-out bench-zero bench-filter bench-tune bench-search bench-metaschedule bench-machine spaces model install uninstall deb clean help
.DELETE_ON_ERROR:
.SECONDARY:

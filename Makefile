# Tensor Lathe. `make help` lists the targets.
#
# One non-recursive Makefile. Adding a program, operator, algorithm, strategy or input format is adding a file: the
# lists below are wildcards, and the registries are made from them.

VERSION := 0.1.0
PREFIX ?= /usr/local
CC ?= cc
SAN ?=

# Where things are built: bin/, libexec/tl/ and build/ for the ordinary build; all below build/san/ with SAN=1.
ifeq ($(SAN),)
B := build
BIN := bin
LIBEXEC := libexec/tl
OPTFLAGS := -O2 -g
else
B := build/san
BIN := build/san/bin
LIBEXEC := build/san/libexec/tl
SANFLAGS := -fsanitize=address,undefined
OPTFLAGS := -O1 -g $(SANFLAGS) -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif

WARN := -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla
CPPFLAGS += -D_GNU_SOURCE -I. -DTL_VERSION='"$(VERSION)"'
CFLAGS ?=
ALL_CFLAGS = -std=gnu11 $(OPTFLAGS) $(WARN) $(CFLAGS)
LDFLAGS += -Wl,--as-needed $(SANFLAGS)

PROGRAMS := $(patsubst cmd/%.c,%,$(wildcard cmd/*.c))
WORKERS := $(patsubst libexec/%.c,%,$(wildcard libexec/*.c))
LIB_SRC := $(wildcard lib/*/*.c)
TEST_C := $(patsubst tests/%.c,%,$(wildcard tests/*.c))
TEST_SH := $(wildcard tests/*.t)

# A registry lists the files of a room but the one named after the room itself.
registry_names = $(filter-out $(1) candidate,$(patsubst lib/$(1)/%.c,%,$(wildcard lib/$(1)/*.c)))
REGISTRIES := op algo search format
OPS := $(call registry_names,op)
ALGOS := $(call registry_names,algo)
SEARCHES := $(call registry_names,search)

LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o) $(B)/registry.o
LIBTL := $(B)/libtl.a

all: $(PROGRAMS:%=$(BIN)/%) $(WORKERS:%=$(LIBEXEC)/%)

-include config.mk
config.mk: share/configure.sh
	@sh share/configure.sh > $@.tmp && mv $@.tmp $@

$(BIN)/%: $(B)/cmd/%.o $(LIBTL) config.mk
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(LIBTL) $(LIBS_$*) $(LIBS)
$(LIBEXEC)/%: $(B)/libexec/%.o $(LIBTL) config.mk
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fopenmp $(LDFLAGS) -o $@ $< $(LIBTL) $(LIBS_ref) $(LIBS)
$(B)/tests/%: $(B)/tests/%.o $(LIBTL) config.mk
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(LIBTL) $(LIBS_test_$*) $(LIBS)
LIBS_test_onednn = -fopenmp $(LIBS_ref)

$(LIBTL): $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(B)/lib/ref/onednn.o $(B)/lib/target/kernel.o $(WORKERS:%=$(B)/libexec/%.o): ALL_CFLAGS += -fopenmp
$(B)/%.o: %.c config.mk
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The registries: op_list, algo_list, search_list, in the order of the file names.
$(B)/registry.c: Makefile $(wildcard lib/op lib/algo lib/search)
	@mkdir -p $(@D)
	@{ echo '/* Made by the Makefile from the file list. */'; \
	echo '#include "lib/op/op.h"'; echo '#include "lib/algo/algo.h"'; echo '#include "lib/search/search.h"'; \
	printf 'const struct op *const op_list[] = {'; printf '&op_%s, ' $(OPS); echo '0};'; \
	for a in $(ALGOS); do echo "extern const struct algo algo_$$a;"; done; \
	printf 'const struct algo *const algo_list[] = {'; printf '&algo_%s, ' $(ALGOS); echo '0};'; \
	for s in $(SEARCHES); do echo "extern const struct search search_$$s;"; done; \
	printf 'const struct search *const search_list[] = {'; printf '&search_%s, ' $(SEARCHES); echo '0};'; \
	} > $@
$(B)/registry.o: $(B)/registry.c
	$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

-include $(wildcard $(B)/*/*.d $(B)/lib/*/*.d)

clean:
	rm -rf build bin libexec/tl config.mk

.PHONY: all clean
.DELETE_ON_ERROR:
.SECONDARY:

# dpline. `make demo` and `make check` install what is missing first; `make` only builds.
VERSION := $(shell sed -n 's/.*DP_VERSION "\(.*\)"/\1/p' lib/base/version.h)
# The number of the public interface is that of the library.
SOVERSION := $(shell sed -n 's/^.define DPLINE_API //p' lib/public/dpline/error.h)
PREFIX ?= /usr/local
LIBDIR ?= lib
BUILD ?= build
# One spelling, so that the targets in .d files match however BUILD was given. abspath would split a path with a blank.
override BUILD := $(if $(word 2,$(CURDIR)),$(subst $(CURDIR)/,,$(BUILD)),$(patsubst $(CURDIR)/%,%,$(abspath $(BUILD))))
$(if $(word 2,$(BUILD)),$(error BUILD=$(BUILD) has a blank, and make splits names there))
CC ?= gcc
# For another machine: CC=aarch64-linux-gnu-gcc HOSTCC=gcc, and PKG_CONFIG for its libraries (tests/arm64).
HOSTCC ?= $(CC)
PKG_CONFIG ?= pkg-config
OBJCOPY ?= objcopy
CFLAGS ?= -O3 -g
# For developers and `make ci`, WERROR=-Werror: a warning of a compiler of tomorrow does not stop users.
WERROR ?=
# The libraries: pkg-config's name and Debian's package. msgpack is called msgpack-c since its version 6.
MSGPACK := $(shell pkg-config --exists msgpack-c 2>/dev/null && echo msgpack-c || echo msgpack)
LIBRARIES := $(MSGPACK)/libmsgpack-dev libzmq/libzmq3-dev gsl/libgsl-dev libsodium/libsodium-dev mpfr/libmpfr-dev gmp/libgmp-dev jansson/libjansson-dev zlib/zlib1g-dev liblzma/liblzma-dev libzstd/libzstd-dev libpng/libpng-dev libjpeg/libjpeg62-turbo-dev sqlite3/libsqlite3-dev
PACKAGES := $(patsubst %/,%,$(dir $(LIBRARIES)))

WARN := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wno-sign-conversion $(WERROR)
# -ffp-contract=off: the same bits whether or not the CPU has FMA.
OPENMP := -fopenmp
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(WARN) -ffp-contract=off -fno-math-errno -fPIC -fno-semantic-interposition $(OPENMP) -pthread -Ilib -Ilib/public $(CFLAGS) $(PKG_CFLAGS) $(EXTRA)
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null)
ALL_LIBS = $(PKG_LIBS) -lm $(OPENMP) -pthread $(EXTRA)

LIB_SRC := $(sort $(wildcard lib/*/*.c))
LIB_OBJ := $(LIB_SRC:lib/%.c=$(BUILD)/obj/%.o)
# An executable for each bin/dp-NAME.c, and for each other row of lib/stages/stages.h out of bin/stage.c.
STAGES := $(subst _,-,$(shell sed -n 's/^ *STAGE(\(.*\)).*/dp-\1/p' lib/stages/stages.h))
PROGRAMS := $(basename $(notdir $(wildcard bin/dp-*.c)))
BINS := $(patsubst %,$(BUILD)/bin/%,$(sort $(PROGRAMS) $(STAGES)))
PLAIN_STAGES := $(patsubst %,$(BUILD)/bin/%,$(filter-out $(PROGRAMS),$(STAGES)))
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNITS := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)

.DEFAULT_GOAL := all
.PHONY: all deps demo check check-asan fuzz mutants bench lint format install uninstall clean help
help:
	@printf '  make %-10s %s\n' '' 'build programs and libraries in build/' \
		demo 'install what is missing, train on pictures and draw the result' check 'install what is missing and run all tests' \
		quick 'tests of less than a minute' check-asan 'the tests with sanitizers' fuzz 'fuzz the decoders: TARGET, SECONDS' \
		mutants 'break the code on purpose; takes hours' bench 'measure speed: FIGURE' install 'under PREFIX (/usr/local) in DESTDIR' \
		uninstall 'what install wrote' deps 'the packages of Debian that all this needs' lint 'style, layers, pages' \
		format 'clang-format' clean 'remove build/'

# One short line per step; V=1 shows the commands.
ifndef V
.SILENT:
MAKEFLAGS += --no-print-directory
define say
	@printf '  %-5s %s\n' $(1) $(2)
endef
endif

# What the programs are linked with: the whole library. It is theirs: its name has the version, and other programs take libdpline.so.
# Calls within it are not looked up by name, as in an archive.
LIBRARY := $(BUILD)/lib/dpline/libdpline-$(VERSION).so
# A change of the library links no program again, another version does: the stamp changes only with it.
VERSIONED := $(BUILD)/version
NEEDED := Makefile $(VERSIONED) | $(LIBRARY)
# The last one is for systems without /proc, where the loader does not know $$ORIGIN.
RPATH ?= $$ORIGIN/../lib/dpline:$$ORIGIN/../../lib/dpline:$$ORIGIN/../$(LIBDIR)/dpline:$(PREFIX)/$(LIBDIR)/dpline
override LDFLAGS += -Wl,--as-needed -Wl,-rpath,'$(RPATH)'

.PHONY: programs
programs: $(BINS) $(LIBRARY)
all: programs $(BUILD)/lib/public/libdpline.a $(BUILD)/lib/libdpline.so.$(VERSION) $(BUILD)/completion/bash $(BUILD)/completion/zsh

$(VERSIONED): lib/base/version.h
	@mkdir -p $(@D)
	@echo $(VERSION) | cmp -s - $@ || echo $(VERSION) > $@

# Before anything is compiled: what is missing, and how to get it.
.PHONY: packages
packages:
	tests/check-packages $(firstword $(CC)) $(LIBRARIES)

$(BUILD)/obj/%.o: lib/%.c Makefile | packages
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# Multiple precision with correct rounding: the same numbers everywhere.
GAUSSIAN_TABLE := $(BUILD)/gen/math/gaussian_table.inc
$(GAUSSIAN_TABLE): bin/gaussian_table.c lib/math/gaussian.h | packages
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(HOSTCC) -std=c11 -D_GNU_SOURCE -Ilib $< -o $(BUILD)/gen/gaussian_table $$(pkg-config --cflags --libs mpfr gmp) -lm
	$(BUILD)/gen/gaussian_table > $@.part && mv $@.part $@
$(BUILD)/obj/math/gaussian.o $(BUILD)/unit/test_gaussian: $(GAUSSIAN_TABLE)
$(BUILD)/obj/math/gaussian.o $(BUILD)/unit/test_gaussian: ALL_CFLAGS += -I$(BUILD)/gen

# Nearly all of the time of a price, in builds for sanitizers, too.
$(BUILD)/obj/priv/pld_invert.o: override CFLAGS += -O3

# A template is compiled as one string.
$(BUILD)/gen/%.inc: bin/%.html
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	sed 's/[\\"]/\\&/g; s/^/"/; s/$$/\\n"/' $< > $@.part && mv $@.part $@
$(BUILD)/obj/bin/account/page.o: $(BUILD)/gen/account/page.inc
$(BUILD)/obj/bin/account/page.o: ALL_CFLAGS += -I$(BUILD)/gen

# C that dp-export writes, as lists of its lines: its own, and functions of the library that read numbers and dates.
LINES := $(patsubst bin/export/runtime/%.inc,$(BUILD)/gen/export/%.lines,$(wildcard bin/export/runtime/*.inc))
$(LINES): $(BUILD)/gen/export/%.lines: bin/export/runtime/%.inc bin/export/runtime/lines lib/base/number.c lib/data/date.c
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	bin/export/runtime/lines $* > $@.part && mv $@.part $@
$(BUILD)/obj/bin/export/c.o: $(LINES)
$(BUILD)/obj/bin/export/c.o: ALL_CFLAGS += -I$(BUILD)/gen

$(LIBRARY): $(LIB_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic-functions -Wl,--as-needed -o $@ $^ $(ALL_LIBS)

# The one that is installed: a single object in which everything but the public functions is local.
$(BUILD)/lib/public/libdpline.a: $(LIB_OBJ)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(LD) -r -o $(@D)/dpline.o $^
	$(OBJCOPY) -w --keep-global-symbol='dpline_*' $(@D)/dpline.o
	$(AR) qcs $@ $(@D)/dpline.o

$(BUILD)/lib/libdpline.so.$(VERSION): $(LIB_OBJ) lib/public/dpline.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-soname,libdpline.so.$(SOVERSION) -Wl,--version-script=lib/public/dpline.map $(LDFLAGS) -o $@ $(LIB_OBJ) $(ALL_LIBS)
	ln -sf libdpline.so.$(VERSION) $(BUILD)/lib/libdpline.so.$(SOVERSION)
	ln -sf libdpline.so.$(SOVERSION) $(BUILD)/lib/libdpline.so

# bin/dp-NAME.c, with the files of bin/NAME/ where it has more than one. Objects stay: make would remove them after the first build,
# and the next make, perhaps of a test, would link everything again.
.PRECIOUS: $(BUILD)/obj/bin/%.o
$(BUILD)/obj/bin/%.o: bin/%.c Makefile | packages
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/bin/dp-account: $(BUILD)/obj/bin/info/coefficients.o $(BUILD)/obj/bin/info/curves.o
$(BUILD)/bin/dp-info: $(BUILD)/obj/bin/account/plot.o
$(BUILD)/bin/dp-import: $(BUILD)/obj/bin/info/dataset.o
$(BUILD)/bin/dp-fit: $(BUILD)/obj/bin/export/formats.o

.SECONDEXPANSION:
$(BUILD)/bin/dp-%: $(BUILD)/obj/bin/dp-%.o $$(addprefix $(BUILD)/obj/,$$(addsuffix .o,$$(basename $$(wildcard bin/$$*/*.c)))) $(NEEDED)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(filter %.o,$^) $(LDFLAGS) -o $@ $(LIBRARY) $(ALL_LIBS)

$(PLAIN_STAGES): $(BUILD)/bin/dp-%: bin/stage.c $(NEEDED)
	$(call say,LD,$@)
	@mkdir -p $(@D) $(BUILD)/obj/bin
	$(CC) $(ALL_CFLAGS) -DSTAGE=dp_$(subst -,_,$*)_class -MMD -MP -MF $(BUILD)/obj/bin/stage-$*.d -MT $@ $< $(LDFLAGS) -o $@ $(LIBRARY) $(ALL_LIBS)

# What a command says of a model is also called in-process, by a unit test and a fuzzer.
$(BUILD)/unit/test_model $(BUILD)/replay/bin/frame $(BUILD)/bin/fuzz-frame: $(BUILD)/obj/bin/info/model.o

$(BUILD)/unit/%: tests/unit/%.c $(NEEDED)
	$(call say,LD,$@)
	@mkdir -p $(@D) $(BUILD)/obj/unit
	$(CC) $(ALL_CFLAGS) -MMD -MP -MF $(BUILD)/obj/unit/$*.d -MT $@ $< $(filter %.o,$^) $(LDFLAGS) -o $@ $(LIBRARY) $(shell $(PKG_CONFIG) --libs cmocka) $(ALL_LIBS)

# Of what is built now: a file that is gone is no reason to stop.
-include $(LIB_OBJ:.o=.d) $(wildcard $(BUILD)/obj/bin/*.d $(BUILD)/obj/bin/*/*.d) $(PLAIN_STAGES:$(BUILD)/bin/dp-%=$(BUILD)/obj/bin/stage-%.d) $(UNITS:$(BUILD)/unit/%=$(BUILD)/obj/unit/%.d) \
	$(wildcard $(BUILD)/obj/tests/*.d)

# The headers of a program that is made of several sources at once.
depend = @mkdir -p $(BUILD)/obj/tests && $(CC) $(ALL_CFLAGS) -MM -MP -MT $@ -MF $(BUILD)/obj/tests/$(notdir $(@D))-$(@F).d $(filter %.c,$^)

# --- what a fresh Debian needs -------------------------------------------------------------------------------------
DEPS := gcc libc6-dev pkg-config $(notdir $(LIBRARIES))
DEMO_DEPS := librsvg2-bin dataset-fashion-mnist
CHECK_DEPS := locales mawk gawk busybox gnuplot-nox g++ sqlite3 liblinear-tools man-db jq xz-utils zstd bats bats-assert bats-support bats-file parallel libcmocka-dev mandoc shellcheck pmccabe dataset-fashion-mnist procps strace spin iproute2 python3-msgpack python3-numpy python3-pil python3-onnx python3-opencv clang clang-format libclang-rt-dev

deps-build: WANT = $(DEPS)
deps-demo: WANT = $(DEPS) $(DEMO_DEPS)
deps-check: WANT = $(DEPS) $(DEMO_DEPS) $(CHECK_DEPS)
.PHONY: deps-build deps-demo deps-check
deps: deps-check
deps-build deps-demo deps-check:
	tests/install-packages "$(PACKAGES)" $(WANT)

demo: deps-demo
	+$(MAKE) all
	BUILD=$(BUILD) examples/demo/run.sh

# --- tests ---------------------------------------------------------------------------------------------------------
TESTS ?= unit fuzz lint bats
check: deps-check
	+$(MAKE) all units
	BUILD=$(BUILD) tests/run $(TESTS)

# Between two edits: less than a minute.
quick: TESTS = quick
.PHONY: quick
quick: check

FUZZ_TARGETS := $(filter-out fuzz replay,$(basename $(notdir $(sort $(wildcard tests/fuzz/*.c)))))
REPLAYS := $(FUZZ_TARGETS:%=$(BUILD)/replay/bin/%)
BENCHES := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(sort $(wildcard tests/bench/*.c)))

# Preloaded: allocations that fail, and a file system that lacks something (tests/bats/filesystems.bats).
PRELOADED := $(BUILD)/memory/fail.so $(BUILD)/files/less.so

.PHONY: units
units: $(UNITS) $(BUILD)/audit/dp-audit $(REPLAYS) $(PRELOADED) $(BENCHES)

# dp-audit that also knows stages which are wrong on purpose: their table stands in for the library's.
$(BUILD)/audit/dp-audit: bin/dp-audit.c tests/audit/mutant.c $(NEEDED)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(depend)
	$(CC) $(ALL_CFLAGS) $(filter %.c,$^) $(LDFLAGS) -o $@ $(LIBRARY) $(ALL_LIBS)

$(PRELOADED): $(BUILD)/%.so: tests/%.c
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(CC) -std=c11 -D_GNU_SOURCE $(WARN) -fPIC -shared -O1 -o $@ $<

# The same tests with address and undefined-behaviour sanitizers. ASAN_TESTS: which; all of them take half an hour.
ASAN_TESTS ?= unit fuzz bats
check-asan: asan
	BUILD=$(BUILD)/asan tests/run $(ASAN_TESTS)
	+$(MAKE) fuzz

# A report needs the lines of calls; descriptions of variables would take a fifth of the compiler's time. Undefined behaviour ends a
# program with SIGILL: descriptions of each check would be 5.5 MB that each start of a program relocates, half of its time. tests/run
# has the address sanitizer report the line.
SANITIZED := BUILD=$(BUILD)/asan CFLAGS="-O1 -g1" EXTRA="-fsanitize=address,undefined -fsanitize-undefined-trap-on-error"
.PHONY: asan
asan: deps-check
	+$(MAKE) all units $(SANITIZED)

# Boundaries, by themselves: the address sanitizer's malloc gives larger ones than malloc does.
ALIGNED := BUILD=$(BUILD)/aligned CFLAGS=-O1 EXTRA="-fsanitize=alignment -fno-sanitize-recover=all -Wno-error"
ALIGNED_UNITS := $(patsubst %,$(BUILD)/aligned/unit/test_%,data images ledger model nets registry shards)
ALIGNED_TESTS := $(ALIGNED_UNITS) $(patsubst %,tests/bats/%.bats,arrays cells dp-import dp-synth image-folders)
.PHONY: aligned check-aligned
aligned: deps-check
	+$(MAKE) programs $(ALIGNED_UNITS) $(ALIGNED)
check-aligned: aligned
	BUILD=$(BUILD)/aligned tests/run $(ALIGNED_TESTS)

# What .ci/run runs: all tests, a quick part of them with sanitizers, all in one queue, and each fuzzer for some seconds.
# Four units calculate for ten seconds and more each with sanitizers, in loops that dp-account.bats and dp-erm*.bats run through, too.
# Each fuzzer has the same sanitizers and begins with the inputs that `tests/run fuzz` has.
CI_SECONDS := 3
CI_ASAN_UNITS := $(filter-out %/test_pld_invert %/test_pld_solve %/test_prefixes %/test_erm,$(UNITS:$(BUILD)/%=$(BUILD)/asan/%))
CI_ASAN_TESTS := $(CI_ASAN_UNITS) $(patsubst %,tests/bats/%.bats,golden cells data-files dp-key ports dp-cat dp-cmp dp-eval dp-grad dp-net-grad dp-import dp-info dp-predict dp-synth \
	dp-linesearch dp-adapt dp-erm dp-erm-output dp-erm-objective dp-erm-coins dp-breed dp-select dp-moments dp-temperature dp-transform dp-tune \
	dp-account held linesearch-runs spend gate ledger ledger-own failures identity stages)
.PHONY: ci
ci: export WERROR := -Werror
ci: deps-check
	+tests/ci "$(MAKE) all units aligned" '$(MAKE) programs $(BUILD)/asan/audit/dp-audit $(CI_ASAN_UNITS) $(SANITIZED)' \
		"BUILD=$(BUILD) DPLINE_TESTS=whole tests/run unit fuzz lint bats $(CI_ASAN_TESTS:%=$(BUILD)/asan:%) $(ALIGNED_TESTS:%=$(BUILD)/aligned:%)" \
		"$(MAKE) fuzz SECONDS=$(CI_SECONDS)" "BUILD=$(BUILD) tests/arm64" "$(MAKE) check-clang"

# All of it read by clang without a warning, and the tests of what compilers make differently.
CLANG_UNITS := $(patsubst %,$(BUILD)/clang/unit/test_%,grid kernels nets line gaussian moments eigen)
.PHONY: check-clang
check-clang:
	+$(MAKE) all $(CLANG_UNITS) CC=clang BUILD=$(BUILD)/clang CFLAGS=-O2 WERROR=-Werror
	clang -fsyntax-only $(ALL_CFLAGS) -Werror -I$(BUILD)/clang/gen $(wildcard $(patsubst %,tests/%/*.c,unit bench fuzz audit memory files))
	for unit in $(CLANG_UNITS); do $$unit || exit 1; done

# The decoders under libFuzzer (clang), each SECONDS long and as many at a time as -j says: make -j4 fuzz SECONDS=600
# TARGET="csv arff". Targets are the files in tests/fuzz; seeds are made by the tools. What was reached stays in
# $(BUILD)/fuzz/corpus and is where the next run begins; what was found is in $(BUILD)/fuzz/findings, and goes, made small, into
# tests/fuzz/corpus/TARGET, which `make check` feeds to the targets without a fuzzer.
SECONDS ?= 20
TARGET ?= $(FUZZ_TARGETS)
FUZZ_BUILD := $(BUILD)/fuzz
FUZZ_CC := clang
FUZZ_FLAGS := -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all
fuzz: deps-check
	+$(MAKE) all
	+$(MAKE) fuzzers BUILD=$(FUZZ_BUILD) CC="$(FUZZ_CC)" CFLAGS="-O1 -g1" WARN= OPENMP=-Itests/fuzz/one-thread \
		EXTRA="$(FUZZ_FLAGS)"
	BUILD=$(BUILD) tests/fuzz/seeds $(FUZZ_BUILD)/seeds
	rm -f $(FUZZ_BUILD)/*.result
	+-$(MAKE) -k $(TARGET:%=fuzz-%)
	BUILD=$(BUILD) FUZZED="$(TARGET)" tests/run fuzzed

.PHONY: fuzzers $(FUZZ_TARGETS:%=fuzz-%)
fuzzers: $(FUZZ_TARGETS:%=$(BUILD)/bin/fuzz-%)
$(FUZZ_TARGETS:%=fuzz-%): fuzz-%:
	BUILD=$(BUILD) tests/fuzz/run fuzz $* $(SECONDS)

$(BUILD)/bin/fuzz-%: tests/fuzz/%.c tests/fuzz/fuzz.c $(wildcard tests/fuzz/*.h) $(NEEDED)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(depend)
	$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer $(filter %.c %.o,$^) $(LDFLAGS) -o $@ $(LIBRARY) $(ALL_LIBS)

$(BUILD)/replay/bin/%: tests/fuzz/%.c tests/fuzz/fuzz.c tests/fuzz/replay.c $(wildcard tests/fuzz/*.h) $(NEEDED)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(depend)
	$(CC) $(ALL_CFLAGS) $(filter %.c %.o,$^) $(LDFLAGS) -o $@ $(LIBRARY) $(ALL_LIBS)

# Breaks the code on purpose, once for each line of tests/mutants/run, and expects a test to notice each time; takes hours.
mutants: deps-check
	+$(MAKE) all units
	tests/mutants/run

lint:
	BUILD=$(BUILD) tests/run lint

# The one whose style the sources have; other versions break some lines elsewhere.
CLANG_FORMAT ?= clang-format-14
format:
	$(CLANG_FORMAT) -i $$(git ls-files '*.[ch]')

# Figures of speed; not part of the tests. FIGURE="scd adult" chooses some, see tests/bench/README.md.
FIGURE ?=
bench: all $(BENCHES)
	BUILD=$(BUILD) tests/bench/run $(FIGURE)

$(BUILD)/bench/%: tests/bench/%.c tests/bench/bench.h $(NEEDED)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(depend)
	$(CC) $(ALL_CFLAGS) $< $(LDFLAGS) -o $@ $(LIBRARY) $(ALL_LIBS)

# --- installation --------------------------------------------------------------------------------------------------
# STRIP=true leaves the symbols of the debugger in: for packages, whose tools take them out themselves.
STRIP ?= strip
PIPELINES = dpline $(notdir $(wildcard pipelines/*.sh pipelines/*.awk))
MANUALS = $(foreach n,1 3 5 7,$(patsubst man/%,share/man/man$n/%,$(wildcard man/*.$n)))
HEADERS = $(patsubst lib/public/%,include/%,$(wildcard lib/public/dpline/*.h))
COMPLETIONS = $(patsubst %,share/bash-completion/completions/%,dpline $(notdir $(BINS))) share/zsh/site-functions/_dpline
# What stands under PREFIX. A pipeline is called as `dpline WORD`.
INSTALLED = $(BINS:$(BUILD)/%=%) bin/dpline $(PIPELINES:%=share/dpline/pipelines/%) $(MANUALS) $(HEADERS) $(COMPLETIONS) \
	$(addprefix $(LIBDIR)/,dpline/$(notdir $(LIBRARY)) libdpline.a libdpline.so libdpline.so.$(SOVERSION) libdpline.so.$(VERSION) pkgconfig/dpline.pc)
D = $(DESTDIR)$(PREFIX)

# Completion for two shells, out of the tables of options.
$(BUILD)/completion/%: bin/completion $(BINS) $(wildcard pipelines/*)
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	LD_LIBRARY_PATH=$(BUILD)/lib/dpline BUILD=$(BUILD) bin/completion $* > $@.$$$$ && mv $@.$$$$ $@

install: all
	mkdir -p '$(D)' && cd '$(D)' && mkdir -p $(sort $(dir $(INSTALLED)))
	install -m 755 $(BINS) '$(D)/bin'
	install -m 755 $(PIPELINES:%=pipelines/%) '$(D)/share/dpline/pipelines'
	cd '$(D)/share/dpline/pipelines' && chmod 644 options*.sh *.awk
	ln -sf ../share/dpline/pipelines/dpline '$(D)/bin/dpline'
	install -m 644 $(LIBRARY) '$(D)/$(LIBDIR)/dpline'
	install -m 644 $(BUILD)/lib/public/libdpline.a $(BUILD)/lib/libdpline.so.$(VERSION) '$(D)/$(LIBDIR)'
	cd '$(D)' && $(STRIP) $(BINS:$(BUILD)/%=%) $(LIBDIR)/dpline/$(notdir $(LIBRARY)) $(LIBDIR)/libdpline.so.$(VERSION)
	cd '$(D)' && $(STRIP) --strip-debug $(LIBDIR)/libdpline.a
	ln -sf libdpline.so.$(VERSION) '$(D)/$(LIBDIR)/libdpline.so.$(SOVERSION)'
	ln -sf libdpline.so.$(SOVERSION) '$(D)/$(LIBDIR)/libdpline.so'
	for f in $(HEADERS); do install -m 644 lib/public/$${f#include/} '$(D)'/$$f; done
	for f in $(MANUALS); do install -m 644 man/$${f##*/} '$(D)'/$$f; done
	install -m 644 $(BUILD)/completion/bash '$(D)/share/bash-completion/completions/dpline'
	for p in $(notdir $(BINS)); do ln -sf dpline '$(D)/share/bash-completion/completions'/$$p; done
	install -m 644 $(BUILD)/completion/zsh '$(D)/share/zsh/site-functions/_dpline'
	sed -e 's|@PREFIX@|$(subst $() ,\\ ,$(PREFIX))|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|; s|@LIBS@|$(PKG_LIBS)|' lib/dpline.pc.in > '$(D)/$(LIBDIR)/pkgconfig/dpline.pc'

# Libraries of older versions go, too: an install replaces programs and leaves what they were linked with.
uninstall:
	[ ! -d '$(D)' ] || { cd '$(D)' && rm -f $(INSTALLED) $(LIBDIR)/dpline/libdpline-*.so $(LIBDIR)/libdpline.so.*; }
	-cd '$(D)' && rmdir -p --ignore-fail-on-non-empty $(LIBDIR)/dpline include/dpline share/dpline/pipelines

clean:
	rm -rf $(BUILD)

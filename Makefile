# dpline. `make demo` and `make check` install what is missing first; `make` only builds.
VERSION := $(shell sed -n 's/.*DP_VERSION "\(.*\)"/\1/p' lib/base/version.h)
SOVERSION := 0
PREFIX ?= /usr/local
BUILD ?= build
CC ?= gcc
CFLAGS ?= -O3 -g
PACKAGES := msgpack libzmq gsl libsodium mpfr jansson

WARN := -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wno-sign-conversion -Werror
# -ffp-contract=off: the same bits whether or not the CPU has FMA.
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(WARN) -ffp-contract=off -fno-math-errno -fPIC -fopenmp -pthread -Ilib $(CFLAGS) $(PKG_CFLAGS) $(EXTRA)
PKG_CFLAGS := $(shell pkg-config --cflags $(PACKAGES))
PKG_LIBS := $(shell pkg-config --libs $(PACKAGES))
ALL_LIBS = $(PKG_LIBS) -lz -lm -fopenmp -pthread $(EXTRA)

LIB_SRC := $(sort $(wildcard lib/*/*.c))
LIB_OBJ := $(LIB_SRC:lib/%.c=$(BUILD)/obj/%.o)
BIN_SRC := $(sort $(wildcard bin/*.c))
BINS := $(BIN_SRC:bin/%.c=$(BUILD)/bin/%)
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNITS := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)

.PHONY: all deps demo check check-asan unit bats lint format install uninstall clean bench
# One short line per step; V=1 shows the commands.
ifndef V
.SILENT:
define say
	@printf '  %-5s %s\n' $(1) $(2)
endef
endif

all: $(BINS) $(BUILD)/lib/libdpline.a $(BUILD)/lib/libdpline.so.$(VERSION)

$(BUILD)/obj/%.o: lib/%.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/lib/libdpline.a: $(LIB_OBJ)
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/lib/libdpline.so.$(VERSION): $(LIB_OBJ)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-soname,libdpline.so.$(SOVERSION) $(LDFLAGS) -o $@ $^ $(ALL_LIBS)
	ln -sf libdpline.so.$(VERSION) $(BUILD)/lib/libdpline.so.$(SOVERSION)
	ln -sf libdpline.so.$(SOVERSION) $(BUILD)/lib/libdpline.so

$(BUILD)/bin/%: bin/%.c $(BUILD)/lib/libdpline.a
	$(call say,LD,$@)
	@mkdir -p $(@D) $(BUILD)/obj/bin
	$(CC) $(ALL_CFLAGS) -MMD -MP -MF $(BUILD)/obj/bin/$*.d -MT $@ $< $(LDFLAGS) -o $@ $(BUILD)/lib/libdpline.a $(ALL_LIBS)

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/lib/libdpline.a
	$(call say,LD,$@)
	@mkdir -p $(@D) $(BUILD)/obj/unit
	$(CC) $(ALL_CFLAGS) -MMD -MP -MF $(BUILD)/obj/unit/$*.d -MT $@ $< $(LDFLAGS) -o $@ $(BUILD)/lib/libdpline.a $(shell pkg-config --libs cmocka) $(ALL_LIBS)

-include $(wildcard $(BUILD)/obj/*/*.d)

clean:
	rm -rf $(BUILD)

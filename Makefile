# SPDX-License-Identifier: GPL-2.0-or-later
# Outrider: `make help` lists the targets.

VERSION := 0.1.0

BUILD ?= build
PREFIX ?= /usr/local
# Where units of systemd go.
UNITS ?= $(PREFIX)/lib/systemd/system
DESTDIR ?=
SAN ?=
V ?=

ifeq ($(origin CC),default)
CC := gcc
endif

comma := ,
OUT := $(BUILD)$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
Q := $(if $(V),,@)
say = @printf '  %-7s %s\n' $(1) $(2)

# ---- flags ----

# Those of LAZY_PKGS are compiled against, and loaded when outrider first calls them (hv/base/library.h).
LAZY_PKGS := libdebuginfod libpq libvirt libvirt-qemu
LINKED_PKGS := capstone jansson libelf libseccomp libxml-2.0 sqlite3 libzstd zlib
PKGS := $(LINKED_PKGS) $(LAZY_PKGS)
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
# libdwarf has no pkg-config file in bookworm; its headers are included as <libdwarf/...>.
# libslirp's pkg-config file wants glib's, but no header of glib is needed.
PKG_LIBS = -ldwarf -lslirp -lm $(shell pkg-config --libs $(LINKED_PKGS) 2>/dev/null)

WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
# Sanitized objects are for tests only. With -O1 and line numbers alone, gcc needs 40% less CPU time for them, and a sanitizer's report still
# names each line. clang compiles the library no faster with -O1, but 5% faster with line numbers alone.
CFLAGS ?= $(if $(SAN),$(if $(findstring gcc,$(CC)),-O1,-O2) -g1,-O2 -g)
# How long a string may get is known less well at -O1, and gcc's warning is then wrong. The build without a sanitizer has it.
WARN += $(if $(findstring gcc,$(CC)),$(if $(SAN),-Wno-format-truncation))
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer $(if $(filter thread,$(SAN)),,-fno-sanitize-recover=all))
BASE_CFLAGS = -std=c17 -D_GNU_SOURCE -DOUTRIDER_VERSION='"$(VERSION)"' $(WARN) $(CPPFLAGS) $(CFLAGS) -I. -I$(OUT)/gen
# A mistake with hostile input shall end the process and be of no use. Sanitizers have their own checks. glibc's need an optimizing
# compiler, and a packager's own level of them is kept.
HARDEN_CFLAGS = $(if $(SAN),,-fstack-protector-strong -fPIE $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),, \
	$(if $(filter -O1 -O2 -O3 -Os -Og,$(CFLAGS)),-D_FORTIFY_SOURCE=2)))
HARDEN_LDFLAGS = $(if $(SAN),,-pie -Wl,-z,relro -Wl,-z,now)
ALL_CFLAGS = $(BASE_CFLAGS) -pthread $(PKG_CFLAGS) $(HARDEN_CFLAGS) $(SAN_FLAGS)
ALL_LDFLAGS = -pthread $(HARDEN_LDFLAGS) $(LDFLAGS) $(SAN_FLAGS)
# libcapstone's own pkg-config file adds its include folder, not the parent: include it as <capstone.h>.

# The unit tests are over 300 programs, plain and sanitized, each linked with the whole library. gold needs a third of the CPU time of ld for
# that. With clang's sanitizers gold warns of symbols of theirs.
TEST_LDFLAGS := $(if $(findstring gcc,$(CC)),$(if $(shell command -v ld.gold),-fuse-ld=gold))

# ---- what is built of what ----

LIB_SRCS := $(filter-out hv/cli/main.c,$(wildcard hv/*/*.c hv/*/*/*.c symbols/*/*.c pruner/*.c pruner/*/*.c pruner/*/*/*.c))
LIB_OBJS := $(LIB_SRCS:%.c=$(OUT)/obj/%.o)
MAIN_OBJ := $(OUT)/obj/hv/cli/main.o
AGENT_SRCS := $(wildcard guest-agent/*.c)
AGENT_OBJS := $(AGENT_SRCS:%.c=$(OUT)/obj/%.o)
UNIT_SRCS := $(wildcard tests/unit/*/test_*.c)
UNIT_BINS := $(UNIT_SRCS:tests/unit/%.c=$(OUT)/unit/%)
INTEGRATION = $(shell find tests/integration -maxdepth 1 -type f -perm -100 2>/dev/null | LC_ALL=C sort)
C_FILES := $(wildcard hv/*/*.[ch] hv/*/*/*.[ch] symbols/*/*.[ch] pruner/*.[ch] pruner/*/*.[ch] pruner/*/*/*.[ch] guest-agent/*.[ch] tests/unit/*/*.[ch] tests/fuzz/*.[ch] tests/lab/*.[ch] \
	tests/stacks/*.[ch] tests/snapshots/*.[ch] tests/bench/*.[ch] tests/real-bugs/*.h tests/real-bugs/*/*.c)

.PHONY: all
all: $(OUT)/outrider $(OUT)/guest-agent ## build outrider and the guest agent (the default)

# A tree whose packages are missing says so once, before the compiler does for every file.
$(OUT)/packages-found: Makefile
	@pkg-config --exists $(PKGS) && printf '#include <%s>\n' libdwarf/libdwarf.h slirp/libslirp.h | $(CC) -E - >/dev/null 2>&1 || \
		{ echo 'packages are missing: run `make deps`' >&2; exit 1; }
	@mkdir -p $(@D) && touch $@

# The git revision, with a + where files differ from it. It is empty where the tree is no git checkout. The file changes only when the
# revision does.
$(OUT)/gen/revision.h: FORCE
	@mkdir -p $(@D)
	@[ ! -e .git ] || revision=$$(git describe --always --dirty=+ --abbrev=12 --exclude='*' 2>/dev/null); \
		printf '#define OUTRIDER_REVISION "%s"\n' "$$revision" >$@.tmp
	@cmp -s $@.tmp $@ && rm $@.tmp || mv $@.tmp $@
$(OUT)/obj/hv/cli/version.o: $(OUT)/gen/revision.h
.PHONY: FORCE
FORCE:

# The machine's ACPI code, as a C array.
$(OUT)/gen/dsdt.h: hv/vmm/dsdt.asl
	$(call say,IASL,$@)
	@mkdir -p $(@D)
	$(Q)iasl -tc -p $(@D)/dsdt $< >$(@D)/iasl.log 2>&1 || { cat $(@D)/iasl.log >&2; exit 1; }
	$(Q)mv $(@D)/dsdt.hex $@

# The HTML pages' styles and script, as C strings.
PAGE := $(OUT)/gen/page.css.h $(OUT)/gen/page.js.h $(OUT)/gen/list.css.h
$(OUT)/gen/list.css.h: hv/campaign/list/list.css
$(OUT)/gen/page.css.h: hv/export/page.css
$(OUT)/gen/page.js.h: hv/export/page.js
$(PAGE):
	@mkdir -p $(@D)
	$(Q)sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< >$@.tmp && mv $@.tmp $@
$(OUT)/obj/hv/export/html_page.o $(OUT)/obj/hv/campaign/list/html.o $(OUT)/obj/hv/campaign/list/race_history_html.o: $(PAGE)

# The grammar of campaign files, as a C string.
$(OUT)/gen/campaign.rng.h: docs/campaign.rng
	@mkdir -p $(@D)
	$(Q)sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< >$@.tmp && mv $@.tmp $@
$(OUT)/obj/hv/campaign/plan/grammar.o: $(OUT)/gen/campaign.rng.h

# The tables of the store of campaigns, as C strings without comments: those of the first version, and each step to the next one.
$(OUT)/gen/store_%.h: hv/campaign/store/%.sql
	@mkdir -p $(@D)
	$(Q)sed '/^--/d; s/[\\"]/\\&/g; s/.*/"&\\n"/' $< >$@.tmp && mv $@.tmp $@
$(OUT)/obj/hv/campaign/store/schema.o: $(patsubst hv/campaign/store/%.sql,$(OUT)/gen/store_%.h,$(wildcard hv/campaign/store/*.sql))

# The pruner's lists, as one C string.
$(OUT)/gen/prune_conf.h: $(sort $(wildcard pruner/lists/*.conf))
	@mkdir -p $(@D)
	$(Q)sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $^ >$@.tmp && mv $@.tmp $@
$(OUT)/obj/pruner/lists/lists.o: $(OUT)/gen/prune_conf.h

# The list of the kernel's lock functions, as one C string.
$(OUT)/gen/linux_locks.h: hv/guest/linux_locks.conf
	@mkdir -p $(@D)
	$(Q)sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< >$@.tmp && mv $@.tmp $@
$(OUT)/obj/hv/guest/lock_functions.o: $(OUT)/gen/linux_locks.h

$(AGENT_OBJS): ALL_CFLAGS = $(BASE_CFLAGS)

$(OUT)/obj/%.o: %.c Makefile | $(OUT)/gen/dsdt.h $(OUT)/packages-found
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(OUT)/liboutrider.a: $(LIB_OBJS)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)ar rcs $@ $^

$(OUT)/outrider: $(MAIN_OBJ) $(OUT)/liboutrider.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS)

# What shells complete command lines by.
COMPLETION := $(OUT)/completion/outrider $(OUT)/completion/_outrider
$(OUT)/completion/outrider: SHELL_NAME = bash
$(OUT)/completion/_outrider: SHELL_NAME = zsh
$(COMPLETION): $(OUT)/outrider
	@mkdir -p $(@D)
	$(Q)$(OUT)/outrider completion $(SHELL_NAME) >$@.tmp && mv $@.tmp $@

# Static, and never sanitized: it is all the user space there is in a guest.
$(OUT)/guest-agent: $(AGENT_OBJS)
	$(call say,LD,$@)
	$(Q)$(CC) -static $(LDFLAGS) -o $@ $^

$(OUT)/unit/%: $(OUT)/obj/tests/unit/%.o $(OUT)/liboutrider.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) $(TEST_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(PKG_LIBS) -lcmocka

# What several tests of a folder share is an object of its own: unit_needs(tests, objects), both below tests/unit.
define unit_needs
$(filter $(addprefix $(OUT)/unit/,$(1)),$(UNIT_BINS)): $(2:%=$(OUT)/obj/tests/unit/%.o)
endef
# A machine in memory instead of one on KVM; for the detector's tests with a kernel that is not Linux, in place of hv/guest.
$(eval $(call unit_needs,detect/% session/test_suspector,target/fake_target detect/fake_guest detect/detect_rig))
$(eval $(call unit_needs,detect/test_steered detect/test_rate detect/test_coverage,detect/sampler_rig))
$(eval $(call unit_needs,target/% guest/% session/test_status,target/fake_target))
$(eval $(call unit_needs,target/test_kvm_%,target/fake_kvm))
$(eval $(call unit_needs,vmm/test_pci vmm/test_virtio vmm/test_snapshot,vmm/pci_rig))
$(eval $(call unit_needs,rsp/test_client target/test_gdb%,rsp/fake_stub))
# Two processes in place of the CPUs of a copy.
$(eval $(call unit_needs,replay/test_gdb%,replay/traced_copy))
# Ethernet frames.
$(eval $(call unit_needs,vmm/test_net_%,vmm/net_frames))
# Processes that are confined.
$(eval $(call unit_needs,sandbox/test_sandbox sandbox/test_others sandbox/test_opener,sandbox/sandbox_child))
$(eval $(call unit_needs,vmm/test_virtio_rng vmm/test_virtio_vsock,vmm/device_rig))
# The text of a race that one observation makes.
$(eval $(call unit_needs,report/test_text report/test_calls,report/report_text_of))
# A round summary of made-up runs.
$(eval $(call unit_needs,campaign/test_list%,campaign/summary_made))
# Reports and places for stores of campaigns.
$(eval $(call unit_needs,campaign/test_store%,campaign/store_rig campaign/postgres_rig))
# The pruner's rules with one recorded race. test_protect has a record of its own, in place of the library's.
$(eval $(call unit_needs,$(filter-out pruner/test_protect,$(filter pruner/%,$(UNIT_SRCS:tests/unit/%.c=%))),pruner/prune_bench))

# Each is a program with libFuzzer. That, and only that, is clang's: `make fuzz` builds them in a folder of their own.
FUZZ_SRCS := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ_BINS := $(FUZZ_SRCS:tests/fuzz/%.c=$(OUT)/fuzz/%)
FUZZ_MAKE = CC="$(patsubst %gcc,%clang,$(CC))" SAN=fuzzer-no-link,address,undefined
# No target needs what drives a live machine, nor the command line. These folders are a third of the library. If a target comes to need one of
# them, it does not link.
FUZZ_WITHOUT := $(addsuffix /%,hv/cli hv/session hv/campaign/runner hv/detect hv/guest hv/target hv/libvirt hv/report/naming)
FUZZ_OBJS := $(filter-out $(FUZZ_WITHOUT:%=$(OUT)/obj/%) $(patsubst %.c,$(OUT)/obj/%.o,$(wildcard hv/replay/*.c)),$(LIB_OBJS))
$(OUT)/libfuzzed.a: $(FUZZ_OBJS)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)ar rcs $@ $^
$(FUZZ_BINS): $(OUT)/fuzz/%: $(OUT)/obj/tests/fuzz/%.o $(OUT)/libfuzzed.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -fsanitize=fuzzer $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(PKG_LIBS) -lcmocka

# The devices' threads under ThreadSanitizer: vmm/test_sequence, with that part of the library alone, since to compile all of it takes
# a minute more.
SEQUENCE_OBJS := $(filter $(OUT)/obj/hv/base/% $(OUT)/obj/hv/sandbox/% $(OUT)/obj/hv/vmm/% $(OUT)/obj/hv/race/device.o,$(LIB_OBJS))
$(OUT)/libsequence.a: $(SEQUENCE_OBJS)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)ar rcs $@ $^
$(OUT)/sequence: $(OUT)/obj/tests/unit/vmm/test_sequence.o $(OUT)/libsequence.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS) -lcmocka

# Run in the labs by tests/integration/50-stacks.
$(OUT)/sample_stacks: $(OUT)/obj/tests/stacks/sample_stacks.o $(OUT)/liboutrider.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(PKG_LIBS)

# Run in the labs by tests/integration/51-snapshots.
$(OUT)/snapshots: $(OUT)/obj/tests/snapshots/snapshots.o $(OUT)/liboutrider.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(PKG_LIBS)

# Fills a store of campaigns, and says how large and how fast it is.
$(OUT)/store_fill: $(OUT)/obj/tests/bench/store_fill.o $(OUT)/liboutrider.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(PKG_LIBS)

# What tests/bench/learning lets runs learn by.
$(OUT)/learn_from: $(OUT)/obj/tests/bench/learn_from.o $(OUT)/liboutrider.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(PKG_LIBS)

# What tests/bench/start measures the pool with.
$(OUT)/pool_start: $(OUT)/obj/tests/bench/pool_start.o $(OUT)/liboutrider.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(PKG_LIBS)

.PRECIOUS: $(OUT)/obj/%.o

# The ground-truth module, for the stock kernel that vm-images/fetch gets.
$(OUT)/outrider_gt.ko: $(wildcard tests/ground-truth/module/*) tests/ground-truth/build-module
	$(call say,MODULE,$@)
	$(Q)tests/ground-truth/build-module "$$(vm-images/fetch kernel --print version)" $@

# ---- targets for people ----

.PHONY: unit
unit: unit-build ## run the unit tests (SAN=address,undefined or SAN=thread: under that sanitizer)
	$(Q)tests/check --logs $(OUT)/logs --jobs $(JOBS) $(UNIT_BINS)

.PHONY: unit-build
unit-build: $(UNIT_BINS)

.PHONY: fuzz-build
fuzz-build: $(FUZZ_BINS)

# How much CPU time each target has.
SECONDS ?= 60

.PHONY: fuzz
fuzz: deps-check ## feed hostile input to every reader of it, SECONDS=60 of CPU time each; what is found is kept in build/fuzz
	+$(Q)$(MAKE_PARALLEL) $(FUZZ_MAKE) fuzz-build
	$(Q)tests/fuzz/run --seconds $(SECONDS) --found $(OUT)/fuzz $(FUZZ_SRCS:tests/fuzz/%.c=$(OUT)/san-fuzzer-no-link-address-undefined/fuzz/%)

# The benchmarks whose figures docs/performance.md has.
BENCH ?= cost finds kcsan phases locks overhead start steered stub

.PHONY: bench
bench: deps-check ## measure what docs/performance.md says, BENCH="overhead ...": tables and JSON in build/bench; takes hours
	+$(Q)$(MAKE_PARALLEL) all unit-build $(OUT)/outrider_gt.ko
	$(Q)for bench in $(BENCH); do \
		OUTRIDER_BUILD=$(abspath $(OUT)) BENCH_OUT=$(abspath $(OUT))/bench tests/bench/$$bench || exit; \
	done

.PHONY: bench-page
bench-page: ## put the figures that make bench has left into docs/performance.md
	$(Q)tests/bench/page $(sort $(wildcard $(OUT)/bench/*.json))

# A make that was not told how many jobs at once takes as many as there are CPUs.
JOBS ?= $(shell nproc)
# One more than there are CPUs: tests that attach to a machine wait for its gdbstub or for their turn most of the time.
CHECK_JOBS ?= $(shell expr $(JOBS) + 1)
MAKE_PARALLEL = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

# Python tests that need neither a lab nor a guest.
QUICK_TESTS := $(filter-out tests/lab/test_lab.py tests/ground-truth/test_guest.py tests/ground-truth/test_module.py, \
	$(sort $(wildcard tests/*/test_*.py tests/unit/*/test_*.py)))

# A build with a sanitizer confines nothing, so it has nothing for tests of filters.
SAN_UNIT_BINS = $(patsubst $(OUT)/%,$(OUT)/san-address-undefined/%,$(filter-out %/sandbox/test_sandbox %/sandbox/test_others %/sandbox/test_opener,$(UNIT_BINS)))

# dpkg keeps one CPU busy for half a minute on a machine that has none of the packages. What needs the packages of `make deps` alone is built
# meanwhile.
.PHONY: check
check: deps ## everything: unit tests, plain and sanitized, lint, recorded, lab and ground-truth runs
	+$(Q)$(MAKE_PARALLEL) deps-check all
	+$(Q)$(MAKE_PARALLEL) all unit-build $(OUT)/sample_stacks $(OUT)/snapshots $(OUT)/outrider_gt.ko
	+$(Q)$(MAKE_PARALLEL) SAN=address,undefined unit-build
	+$(Q)$(MAKE_PARALLEL) SAN=thread $(OUT)/san-thread/sequence
	+$(Q)$(MAKE_PARALLEL) $(FUZZ_MAKE) fuzz-build
	$(Q)OUTRIDER_BUILD=$(abspath $(OUT)) tests/check --logs $(OUT)/logs --jobs $(CHECK_JOBS) \
		'$(MAKE) --no-print-directory lint' $(UNIT_BINS) $(SAN_UNIT_BINS) $(OUT)/san-thread/sequence \
		'tests/fuzz/run --runs 2000 $(FUZZ_SRCS:tests/fuzz/%.c=$(OUT)/san-fuzzer-no-link-address-undefined/fuzz/%)' \
		tests/recorded/check $(sort $(wildcard tests/*/test_*.py tests/unit/*/test_*.py)) $(INTEGRATION)

.PHONY: check-quick
check-quick: deps-check ## check without sanitizers, labs, guests and the ground-truth module, for work in between: a minute or two
	+$(Q)$(MAKE_PARALLEL) all unit-build
	$(Q)OUTRIDER_BUILD=$(abspath $(OUT)) tests/check --logs $(OUT)/logs --jobs $(JOBS) \
		'$(MAKE) --no-print-directory lint' $(UNIT_BINS) tests/recorded/check $(QUICK_TESTS)

.PHONY: demo
demo: deps ## the ground-truth races on Debian's stock kernel, found; leaves build/demo/races.json
	$(Q)$(MAKE) --no-print-directory all $(OUT)/outrider_gt.ko
	$(Q)OUTRIDER_BUILD=$(abspath $(OUT)) tests/demo

.PHONY: lint
lint: $(PAGE) $(OUT)/liboutrider.a $(OUT)/outrider $(AGENT_OBJS) ## clang-format, cppcheck, manual pages, hardening, and no circle nor upward include
	$(Q)clang-format --dry-run -Werror $(C_FILES)
	$(Q)cppcheck --quiet --error-exitcode=1 --std=c17 --enable=warning,performance,portability --inline-suppr -I. -I$(OUT)/gen \
		--suppress=missingIncludeSystem --cppcheck-build-dir= $(filter-out tests/unit/% tests/fuzz/%,$(filter %.c,$(C_FILES)))
	$(Q)mandoc -T lint docs/man/*.1
	$(Q)tests/structure/circles --build $(OUT) --most 0 --largest 1
	$(Q)tests/structure/hardened $(OUT)/outrider

# ---- packages ----

# What building and the demo need, and what only the tests need.
BUILD_PACKAGES := acpica-tools binutils gcc libc6-dev libcapstone-dev libdebuginfod-dev libdwarf-dev libelf-dev libjansson-dev libpq-dev \
	libseccomp-dev libslirp-dev libsqlite3-dev libvirt-dev libxml2-dev libzstd-dev linux-libc-dev make pkg-config python3 zlib1g-dev
CHECK_PACKAGES := chromium chromium-driver clang clang-format cppcheck elfutils gdb jq libclang-rt-dev libcmocka-dev mandoc munge postgresql \
	python3-drgn python3-jsonschema python3-junitparser python3-selenium slurm-client slurmctld slurmd zsh
DEB_PACKAGES := debhelper dh-python dpkg-dev git lintian mmdebstrap
packages_in = $(shell cat $1 2>/dev/null)
DEPS = $(BUILD_PACKAGES) $(call packages_in,tests/lab/packages tests/ground-truth/packages)
CHECK_DEPS = $(DEPS) $(CHECK_PACKAGES) $(DEB_PACKAGES) $(call packages_in,tests/lab/packages-check vm-images/packages)
missing = $(shell for p in $(sort $1); do dpkg-query -W -f='$${db:Status-Status}' $$p 2>/dev/null | grep -qx installed || echo $$p; done)
define install_missing
	@set -e; missing='$(call missing,$1)'; [ -n "$$missing" ] || exit 0; \
	install="apt-get install -y --no-install-recommends $$missing"; \
	[ "$$(id -u)" = 0 ] || { echo "packages are missing; run as root:  apt-get update && $$install" >&2; exit 1; }; \
	apt-get -q update; DEBIAN_FRONTEND=noninteractive $$install
endef

.PHONY: deps
deps: ## install the Debian packages that building and the demo need
	$(call install_missing,$(DEPS))

.PHONY: deps-check
deps-check: ## install the Debian packages that the tests need, too
	$(call install_missing,$(CHECK_DEPS))

.PHONY: install
install: $(OUT)/outrider $(OUT)/guest-agent $(COMPLETION) ## install under DESTDIR and PREFIX (default /usr/local)
	install -D -m 755 $(OUT)/outrider $(DESTDIR)$(PREFIX)/bin/outrider
	install -D -m 755 $(OUT)/guest-agent $(DESTDIR)$(PREFIX)/lib/outrider/guest-agent
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 docs/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -D -m 644 $(OUT)/completion/outrider $(DESTDIR)$(PREFIX)/share/bash-completion/completions/outrider
	install -D -m 644 $(OUT)/completion/_outrider $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_outrider
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/outrider docs/*.schema.json
	install -D -m 755 vm-images/build-initramfs $(DESTDIR)$(PREFIX)/lib/outrider/build-initramfs
	install -D -m 755 vm-images/build-rootdisk $(DESTDIR)$(PREFIX)/lib/outrider/build-rootdisk
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/outrider/images vm-images/images/*.py
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/lib/outrider vm-images/fetch
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/lib/outrider/lab tests/lab/outrider tests/lab/run tests/lab/pick
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/lib/outrider/lab/labhost tests/lab/labhost/*.py
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/lib/outrider/lab/labhost tests/lab/labhost/init
	cd vm-images && find rootdisk -type f -exec install -D -m 644 '{}' '$(abspath $(DESTDIR)$(PREFIX))/lib/outrider/{}' ';'
	chmod 755 $(DESTDIR)$(PREFIX)/lib/outrider/rootdisk/init
	install -d $(DESTDIR)$(PREFIX)/bin
	ln -sf ../lib/outrider/build-initramfs $(DESTDIR)$(PREFIX)/bin/outrider-build-initramfs
	ln -sf ../lib/outrider/build-rootdisk $(DESTDIR)$(PREFIX)/bin/outrider-build-rootdisk
	ln -sf ../lib/outrider/lab/outrider $(DESTDIR)$(PREFIX)/bin/outrider-lab
	for unit in service timer; do sed 's|@PREFIX@|$(PREFIX)|' "hv/campaign/outrider-campaign@.$$unit" \
		| install -D -m 644 /dev/stdin "$(DESTDIR)$(UNITS)/outrider-campaign@.$$unit" || exit; done
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/outrider README.md docs/*.md
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/doc/outrider/your-kernel docs/your-kernel/*

.PHONY: deb
deb: deps-check ## build the Debian package in a clean copy of the tree, judged by lintian; leaves it in build/deb
	$(Q)docs/debian/make-package $(OUT)/deb

.PHONY: clean
clean: ## remove what was built (the cache folder stays)
	rm -rf $(BUILD)

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20
	@echo 'Variables: BUILD=folder CC=gcc|clang CFLAGS=... JOBS=number SAN=address,undefined|thread V=1 PREFIX= UNITS= DESTDIR='

-include $(LIB_OBJS:.o=.d) $(MAIN_OBJ:.o=.d) $(AGENT_OBJS:.o=.d) $(patsubst %.c,$(OUT)/obj/%.d,$(wildcard tests/unit/*/*.c tests/stacks/*.c tests/snapshots/*.c tests/bench/*.c tests/fuzz/*.c))

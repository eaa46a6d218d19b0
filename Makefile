# dlm: make get URL=https://... downloads a file, make test runs the tests.
# Needs Swift 6.1 or later, git and make; Debian packages that are missing are installed when root or sudo allows it.

SWIFT = swift
PREFIX = /usr/local
DESTDIR =
URL =
ARGS =

# With all of ICU's data, half of the program would be this data. dlm needs a tenth of it (scripts/trim-icu.c).
ICU_DATA = $(CURDIR)/.build/icu/icudata.o
# Without debug information, the build takes an eighth less time. Backtraces have the names of functions, but no lines.
RELEASE = DLM_ICU_DATA='$(ICU_DATA)' $(SWIFT) build -c release -debug-info-format none --static-swift-stdlib --product dlm \
	$(LIBRARIES) \
	$(if $(shell $(SWIFT)c -frontend -help-hidden 2>/dev/null | grep -e $(DIRECT)),$(addprefix -Xswiftc ,-Xfrontend $(DIRECT)))
# Without this flag, libraries are first searched for in the folder of the program. If the program was unpacked among downloads,
# a download named libcurl.so.4 would be loaded.
LIBRARIES = --disable-local-rpath
# With this flag, if the compiler has it, the program makes generic types directly, and not from their names. A type that is
# made from its name is looked up among all conformances of the program. So dlm get of one byte takes 37 million instructions
# instead of 51.
DIRECT = -disable-concrete-type-metadata-mangled-name-accessors
# The program is copied once after the build, as an installation would do. The linker writes the file piece by piece, so the
# kernel has it in memory in small pieces, and each start takes 1 ms more.
BINARY = .build/release/dlm
SOURCES = Package.swift Makefile $(shell find Sources -type f)

# All targets that run tests build with these flags, so that nothing is built twice. The build is not optimised, so that a
# change is compiled in seconds. It is not a debug build, because there ArgumentParser checks every command at every start (a
# tenth of a second each).
TEST_FOLDER = .build/tests
TEST_FLAGS = -c release --scratch-path $(TEST_FOLDER) --disable-xctest $(LIBRARIES) $(addprefix -Xswiftc ,-Onone -enable-testing \
	-no-whole-module-optimization -enable-batch-mode -incremental -DDLM_FAULT_POINTS)
BUILD_TESTS = $(SWIFT) build --build-tests $(TEST_FLAGS)
# Takes the arguments of swift test, such as --filter and --skip.
TESTS = $(TEST_FOLDER)/release/dlmPackageTests.xctest --testing-library swift-testing

.PHONY: all get build test docs examples public-interface check coverage deploy-test fault-test torture disk-test heads protocol-test web-test \
	pictures release-test scale-test drop-in-test package-test debian-test mutate fuzz sanitize bench lint generate install install-files \
	uninstall clean deb dist dist-test container-test release-notes

all: build

get: export DLM_URL = $(URL)
get:
	@if [ -z "$$DLM_URL" ]; then echo 'usage: make get URL=https://... [ARGS="-d folder"]' >&2; exit 2; fi
	@$(MAKE) -s --no-print-directory $(BINARY)
	@$(BINARY) get $(ARGS) "$$DLM_URL"

build: $(BINARY)

$(ICU_DATA): scripts/icu-data scripts/trim-icu.c
	@scripts/icu-data '$@' $(SWIFT)

$(BINARY): $(SOURCES) $(ICU_DATA)
	@scripts/need build
	$(RELEASE)
	@cp $(BINARY) $(BINARY).copy && mv $(BINARY).copy $(BINARY)

# FILTER='GetTests|Retry' runs the suites and tests of these names only.
FILTER =
test:
	@scripts/need test
	$(BUILD_TESTS)
	$(TESTS) $(if $(FILTER),--filter '$(FILTER)')

# The guides and the reference of DownloadKit as static HTML; a warning is an error.
DOCS = .build/docs
docs:
	@scripts/need test
	$(BUILD_TESTS)
	scripts/symbol-graph $(TEST_FOLDER)/release .build/symbol-graph
	"$$(dirname "$$(readlink -f "$$(command -v $(SWIFT))")")/docc" convert Sources/DownloadKit/DownloadKit.docc --output-dir $(DOCS) \
		--additional-symbol-graph-dir .build/symbol-graph --fallback-display-name DownloadKit \
		--fallback-bundle-identifier org.dlm.DownloadKit --transform-for-static-hosting --warnings-as-errors

# Builds the examples as packages of their own, checks which packages they fetch, and uses one that is built without background
# sessions. make test builds and runs the same programs as targets of the main package.
examples:
	@scripts/need build
	scripts/examples $(SWIFT)

# Writes the list of public symbols anew. A test compares the list.
public-interface:
	@scripts/need test
	$(BUILD_TESTS)
	DLM_WRITE_INTERFACE=1 $(TESTS) --filter PublicInterfaceTests

# Runs all parts, which takes hours. If a part fails, the other parts still run, and the failed parts are named at the end.
check:
	@failed=; \
	for part in test release-test docs examples deploy-test scale-test fault-test protocol-test web-test drop-in-test package-test dist-test container-test debian-test fuzz sanitize mutate; do \
		echo "== make $$part"; $(MAKE) --no-print-directory $$part || failed="$$failed $$part"; \
	done; \
	if [ -n "$$failed" ]; then echo "make check: failed:$$failed" >&2; exit 1; fi

# Checks whether the tests notice wrong decisions. Each paragraph of scripts/mutations is one.
mutate:
	@scripts/need test
	scripts/mutate

# Shows how much of each module the tests run. Programs that the tests start or kill count, too, because the counters are mapped
# files.
coverage: TEST_FOLDER = .build/coverage
coverage: PROFILES = $(CURDIR)/$(TEST_FOLDER)/profiles
coverage: TEST_FLAGS += $(addprefix -Xswiftc ,-profile-generate -profile-coverage-mapping -Xllvm -runtime-counter-relocation)
coverage:
	@scripts/need test
	$(BUILD_TESTS)
	rm -rf $(PROFILES)
	-LLVM_PROFILE_FILE=$(PROFILES)/%m%c.profraw $(TESTS)
	scripts/coverage $(TEST_FOLDER)/release $(PROFILES)

# Runs the whole fault matrix, and writes .build/reliability.md from the results. A suite whose name ends in FaultTests belongs to
# the matrix. docs/reliability.md has the sums, and is written by hand.
fault-test: FAULTS = .build/fault-report
fault-test:
	@scripts/need test
	@mkdir -p .build; rm -f $(FAULTS)
	$(BUILD_TESTS)
	DLM_FAULT_TEST=full DLM_FAULT_REPORT="$(CURDIR)/$(FAULTS)" $(TESTS) --filter FaultTests
	scripts/reliability $(FAULTS) >.build/reliability.md

# Lets each call of a download fail, one in each run. All of it is a part of the fault matrix.
torture:
	@scripts/need test
	$(BUILD_TESTS)
	DLM_FAULT_TEST=full $(TESTS) --filter TortureFaultTests

# Cuts the power of ext4, XFS and Btrfs on loop devices while dlm downloads, CUTS times each. Needs root.
CUTS = 20
disk-test: $(BINARY)
	@scripts/need disk
	scripts/disk-test $(BINARY) $(CUTS)

# Compares what dlm and other programs make of 10,000 odd heads, and writes docs/heads.md.
heads: $(BINARY)
	@scripts/need bench
	scripts/heads $(BINARY) 10000 >.build/heads.md
	mv .build/heads.md docs/heads.md

# Tests every protocol with real servers, through every kind of proxy, and writes the tables of docs/protocols.md from the
# report of the tests (ProtocolTable.note).
protocol-test: CELLS = .build/protocol-report
protocol-test: PROTOCOL_SUITES = Protocol|Proxy|RealProxy|SignOn|Authentication|FTP|SSH|LocalFile|PartsWithoutHTTP
protocol-test:
	@scripts/need test
	@mkdir -p .build; rm -f $(CELLS)
	$(BUILD_TESTS)
	DLM_PROTOCOL_REPORT="$(CURDIR)/$(CELLS)" $(TESTS) --filter 'EndToEnd/($(PROTOCOL_SUITES))Tests'
	scripts/protocols $(CELLS) docs/protocols.md >$(CELLS).md
	mv $(CELLS).md docs/protocols.md

# Tests the recipes of deploy/ under the engines that Debian has. RECIPES='parallel htcondor' selects recipes.
RECIPES =
deploy-test:
	@scripts/need test
	@scripts/need deploy
	$(BUILD_TESTS)
	deploy/test $(TEST_FOLDER)/release/dlm $(RECIPES)

# Runs the end-to-end tests with the released program, which has less of ICU's data than the program of make test. Tests that
# end the program at a fault point are left out, because only the program of make test has fault points.
FAULT_POINT_TESTS = FaultTests TestSupportTests ContinueTests/killed HookTests/crash
release-test: $(BINARY)
	@scripts/need test
	$(BUILD_TESTS)
	DLM_BINARY='$(CURDIR)/$(BINARY)' $(TESTS) --filter EndToEnd $(addprefix --skip ,$(FAULT_POINT_TESTS))

# Downloads a list of 1 KiB files from 200 addresses with 8 workers that are killed at random: by shards, and by a queue in
# PostgreSQL. URLS is the number of files.
URLS = 1000000
scale-test: $(BINARY)
	@scripts/need test
	scripts/scale-test $(BINARY) $(URLS)
	scripts/scale-test $(BINARY) $(URLS) 8 40 postgres

# Tests the page in a real browser, clients made for aria2, aria2 itself for comparison, and floods of requests.
web-test:
	@scripts/need test
	$(BUILD_TESTS)
	scripts/web-test $(TEST_FOLDER)/release/dlm

# The pictures of the page in docs/pictures, and more of them in .build/pictures.
pictures:
	@scripts/need test
	$(BUILD_TESTS)
	@mkdir -p docs/pictures
	scripts/web-test $(TEST_FOLDER)/release/dlm pictures

# Tests every parser with random inputs for this many seconds. $(FUZZ) keeps the last input of each parser.
FUZZ = $(CURDIR)/.build/fuzz
fuzz: export DLM_FUZZ_SECONDS ?= 60
fuzz:
	@scripts/need test
	@mkdir -p $(FUZZ)
	$(BUILD_TESTS)
	DLM_FUZZ_NOTES=$(FUZZ) $(TESTS) --filter Fuzz

# The tests under AddressSanitizer (with leaks, and undefined behaviour in C), then under ThreadSanitizer.
sanitize:
	@scripts/need test
	scripts/sanitize address
	scripts/sanitize thread

# Measures dlm and similar programs with the same work, and writes .build/bench/performance.md. CASES="http-1g small-h1" selects
# cases; the figures of the other cases stay. ONLY is another name of CASES. docs/performance.md has the figures that matter to
# users, and Benchmarks/NOTES.md what measurements have taught. Both are written by hand.
ONLY =
CASES = $(ONLY)
bench: $(BINARY)
	@scripts/need bench
	@python3 -B Benchmarks/bench.py $(BINARY) $(CASES)

lint:
	$(SWIFT) format lint --strict --recursive Sources Tests Examples Package.swift
	scripts/mutate --check

# Writes man/, completions/ and docs/drop-in.md from the commands and the tables. All are committed, and tests fail if they are out
# of date.
generate:
	@scripts/need test
	mkdir -p man completions
	$(BUILD_TESTS)
	DLM_WRITE_DOCUMENTS=yes $(TESTS) --filter WrittenFilesTests

install: $(BINARY) install-files

# The folder with links to dlm under the names aria2c, wget and curl. A user who puts it first in PATH replaces these programs
# by dlm.
COMPAT = $(DESTDIR)$(PREFIX)/lib/dlm/compat
STRIP = -s
install-files:
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d $(DESTDIR)$(PREFIX)/lib/systemd/user
	install $(STRIP) -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/dlm
	install -d $(COMPAT)
	for name in aria2c wget curl; do ln -sf ../../../bin/dlm $(COMPAT)/$$name || exit 1; done
	install -m 644 man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	sed '1{/^#!/d}' completions/dlm.bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/dlm
	chmod 644 $(DESTDIR)$(PREFIX)/share/bash-completion/completions/dlm
	install -m 644 completions/_dlm $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_dlm
	install -m 644 completions/dlm.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/dlm.fish
	for unit in dlm.service dlm.socket; do \
		sed 's|@PREFIX@|$(PREFIX)|g' systemd/$$unit >$(DESTDIR)$(PREFIX)/lib/systemd/user/$$unit && \
		chmod 644 $(DESTDIR)$(PREFIX)/lib/systemd/user/$$unit || exit 1; \
	done

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/dlm $(DESTDIR)$(PREFIX)/share/man/man1/dlm.1 \
		$(DESTDIR)$(PREFIX)/share/man/man1/dlm-*.1 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/dlm \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_dlm \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/dlm.fish \
		$(DESTDIR)$(PREFIX)/lib/systemd/user/dlm.service $(DESTDIR)$(PREFIX)/lib/systemd/user/dlm.socket \
		$(COMPAT)/aria2c $(COMPAT)/wget $(COMPAT)/curl
	-rmdir $(COMPAT) $(DESTDIR)$(PREFIX)/lib/dlm 2>/dev/null

# Makes a Debian package in .build/deb. lintian finds no error and no warning in the package.
deb: $(BINARY)
	@scripts/need package
	scripts/deb $(BINARY)

# Makes an archive in .build/dist that can be unpacked anywhere, with SHA256SUMS and an SBOM (SPDX). For it, the program is linked
# once more, with the C library of Debian 11. Needs root.
OLDER_SYSTEM = $(CURDIR)/.build/older-system
dist: $(BINARY)
	@scripts/need package
	scripts/older-system $(OLDER_SYSTEM)
	DLM_OLDER_SYSTEM=$(OLDER_SYSTEM) $(RELEASE)
	cp $(BINARY) $(OLDER_SYSTEM)/dlm
	$(RELEASE)
	cp $(BINARY) $(BINARY).copy && mv $(BINARY).copy $(BINARY)
	scripts/dist $(OLDER_SYSTEM)/dlm

# Prints the section of the version in CHANGELOG.md.
VERSION = $(shell sed -n '1s/.*(\(.*\)).*/\1/p' packaging/debian/changelog)
release-notes:
	@awk '/^## /{ on = $$2 == "$(VERSION)"; next } on' CHANGELOG.md

# Installs and uses the archive on Debian 11: get, kill, resume. Needs root.
dist-test: dist
	@scripts/need test
	scripts/dist-test $(OLDER_SYSTEM)

# Installs, uses, upgrades (while a user has an unfinished download) and purges the package in a Debian root folder of its own. Needs root.
package-test: $(BINARY)
	@scripts/need package
	scripts/package-test $(BINARY)

# Builds the image of deploy/container with podman, and uses it. Needs root.
container-test: deb
	@scripts/need test
	@scripts/need container
	scripts/container-test

# Runs the tests on Debian 13 (or DLM_DEBIAN_SUITE), whose libcurl, OpenSSL and servers are newer. FILTER selects tests. Needs root.
debian-test:
	@scripts/need test
	@scripts/need package
	$(BUILD_TESTS)
	scripts/debian-test $(TEST_FOLDER)/release/dlmPackageTests.xctest $(if $(FILTER),--filter '$(FILTER)')

# Tests yt-dlp from PyPI with dlm in the place of aria2c and wget, with a page on this machine.
YT_DLP = $(CURDIR)/.build/yt-dlp
drop-in-test:
	@scripts/need test
	[ -x $(YT_DLP)/bin/yt-dlp ] || { python3 -m venv $(YT_DLP) && $(YT_DLP)/bin/pip install -q yt-dlp; }
	$(BUILD_TESTS)
	DLM_YT_DLP=$(YT_DLP)/bin/yt-dlp $(TESTS) --filter DropIn

clean:
	rm -rf .build

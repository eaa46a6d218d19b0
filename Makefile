# dlm: make get URL=https://... downloads a file, make test runs the tests.
# Needs Swift 6.1 or later, git and make; Debian packages that are missing are installed when root or sudo allows it.

SWIFT = swift
PREFIX = /usr/local
DESTDIR =
URL =
ARGS =

# Half of the program would be ICU's data, of which dlm needs a tenth (scripts/trim-icu.c).
ICU_DATA = $(CURDIR)/.build/icu/icudata.o
RELEASE = DLM_ICU_DATA='$(ICU_DATA)' $(SWIFT) build -c release --static-swift-stdlib --product dlm
BINARY = .build/release/dlm
SOURCES = Package.swift Makefile $(shell find Sources -type f)

# Everything that runs tests builds like this, so that nothing is built twice. Not optimised, so that a change is compiled in
# seconds; and not a debug build, in which ArgumentParser checks every command at every start (a tenth of a second each).
TEST_FOLDER = .build/tests
TEST_FLAGS = -c release --scratch-path $(TEST_FOLDER) --disable-xctest $(addprefix -Xswiftc ,-Onone -enable-testing \
	-no-whole-module-optimization -enable-batch-mode -incremental -DDLM_FAULT_POINTS)
BUILD_TESTS = $(SWIFT) build --build-tests $(TEST_FLAGS)
# With arguments as those of swift test: --filter, --skip.
TESTS = $(TEST_FOLDER)/release/dlmPackageTests.xctest --testing-library swift-testing

.PHONY: all get build test docs examples public-interface check coverage deploy-test fault-test protocol-test web-test pictures \
	release-test scale-test drop-in-test package-test mutate fuzz sanitize bench lint generate rpc-document install install-files uninstall clean deb dist

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
	@touch $(BINARY)

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

# The examples as what they are, packages of their own. make test builds and runs the same programs as targets of this one.
examples:
	@scripts/need build
	@for name in fetch mirror background; do \
		$(SWIFT) build --package-path Examples/$$name --scratch-path .build/examples || exit 1; \
	done

# The list of public symbols anew, which a test compares.
public-interface:
	@scripts/need test
	$(BUILD_TESTS)
	DLM_WRITE_INTERFACE=1 $(TESTS) --filter PublicInterfaceTests

# All there is, which takes hours; it goes on after a part that failed and names it in the end.
check:
	@failed=; \
	for part in test release-test docs examples deploy-test scale-test fault-test protocol-test web-test drop-in-test package-test fuzz sanitize mutate; do \
		echo "== make $$part"; $(MAKE) --no-print-directory $$part || failed="$$failed $$part"; \
	done; \
	if [ -n "$$failed" ]; then echo "make check: failed:$$failed" >&2; exit 1; fi

# Whether the tests notice wrong decisions: each line of scripts/mutations is one.
mutate:
	@scripts/need test
	scripts/mutate

# How much of each module the tests run, also in programs that they start or kill, for the counters are files in memory.
coverage: TEST_FOLDER = .build/coverage
coverage: PROFILES = $(CURDIR)/$(TEST_FOLDER)/profiles
coverage: TEST_FLAGS += $(addprefix -Xswiftc ,-profile-generate -profile-coverage-mapping -Xllvm -runtime-counter-relocation)
coverage:
	@scripts/need test
	$(BUILD_TESTS)
	rm -rf $(PROFILES)
	-LLVM_PROFILE_FILE=$(PROFILES)/%m%c.profraw $(TESTS)
	scripts/coverage $(TEST_FOLDER)/release $(PROFILES)

# The whole fault matrix, and docs/reliability.md made of what came out. A suite belongs to it when its name ends in FaultTests.
fault-test: FAULTS = .build/fault-report
fault-test:
	@scripts/need test
	@mkdir -p .build; rm -f $(FAULTS)
	$(BUILD_TESTS)
	DLM_FAULT_TEST=full DLM_FAULT_REPORT="$(CURDIR)/$(FAULTS)" $(TESTS) --filter FaultTests
	scripts/reliability $(FAULTS) >$(FAULTS).md
	mv $(FAULTS).md docs/reliability.md

# Every protocol from real servers, through every kind of proxy, and the tables of docs/protocols.md made of what the tests
# noted (ProtocolTable.note).
protocol-test: CELLS = .build/protocol-report
protocol-test: PROTOCOL_SUITES = Protocol|Proxy|RealProxy|SignOn|Authentication|FTP|SSH|LocalFile|PartsWithoutHTTP
protocol-test:
	@scripts/need test
	@mkdir -p .build; rm -f $(CELLS)
	$(BUILD_TESTS)
	DLM_PROTOCOL_REPORT="$(CURDIR)/$(CELLS)" $(TESTS) --filter 'EndToEnd/($(PROTOCOL_SUITES))Tests'
	scripts/protocols $(CELLS) docs/protocols.md >$(CELLS).md
	mv $(CELLS).md docs/protocols.md

# The recipes of deploy/ under the engines that Debian has. RECIPES='parallel htcondor' selects.
RECIPES =
deploy-test:
	@scripts/need test
	@scripts/need deploy
	$(BUILD_TESTS)
	deploy/test $(TEST_FOLDER)/release/dlm $(RECIPES)

# The end-to-end tests with the program that is released, which has less of ICU's data than the one of make test.
# Tests that end the program at a chosen point need the points, which only the program of make test has.
FAULT_POINT_TESTS = FaultTests TestSupportTests ContinueTests/killed HookTests/crash
release-test: $(BINARY)
	@scripts/need test
	$(BUILD_TESTS)
	DLM_BINARY='$(CURDIR)/$(BINARY)' $(TESTS) --filter EndToEnd $(addprefix --skip ,$(FAULT_POINT_TESTS))

# A list of 1 KiB files on 200 addresses, through 8 workers that are killed at random. URLS says how many.
URLS = 1000000
scale-test: $(BINARY)
	scripts/scale-test $(BINARY) $(URLS)

# The page in a real browser, clients made for aria2, aria2 itself for comparison, and floods.
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

# Random inputs for every parser, so many seconds each; $(FUZZ) keeps the input of each that was tried last.
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

# dlm and its peers at the same work, and docs/performance.md made of it. CASES="http-1g small-h1" selects; the others' figures stay.
CASES =
bench: $(BINARY)
	@scripts/need bench
	@python3 -B Benchmarks/bench.py $(BINARY) $(CASES)

lint:
	$(SWIFT) format lint --strict --recursive Sources Tests Examples Package.swift

# man/ and completions/ are made from the commands and committed; a test fails when they are stale.
generate: $(BINARY)
	mkdir -p man completions
	$(BINARY) manual --drop-in docs/drop-in.md man
	$(BINARY) --generate-completion-script bash >completions/dlm.bash
	$(BINARY) --generate-completion-script zsh >completions/_dlm
	$(BINARY) --generate-completion-script fish >completions/dlm.fish

# docs/aria2.md is made from the tables of the RPC server; a test fails when it is stale.
rpc-document:
	@scripts/need test
	$(BUILD_TESTS)
	DLM_WRITE_DOCUMENTS=yes $(TESTS) --filter Aria2DocumentTests

install: $(BINARY) install-files

# A folder with the names of the programs that dlm can take the place of, for those who put it first in PATH.
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

# .build/deb: a Debian package, which lintian has nothing to say against.
deb: $(BINARY)
	@scripts/need package
	scripts/deb $(BINARY)

# .build/dist: an archive that can be unpacked anywhere, with SHA256SUMS and an SBOM (SPDX).
dist: $(BINARY)
	@scripts/need package
	scripts/dist $(BINARY)

# The package's life in a Debian root of its own: install, use, upgrade with a queue, purge. Needs root.
package-test: $(BINARY)
	@scripts/need package
	scripts/package-test $(BINARY)

# yt-dlp from PyPI with dlm in the place of aria2c, wget and curl, from a page on this machine.
YT_DLP = $(CURDIR)/.build/yt-dlp
drop-in-test:
	@scripts/need test
	[ -x $(YT_DLP)/bin/yt-dlp ] || { python3 -m venv $(YT_DLP) && $(YT_DLP)/bin/pip install -q yt-dlp; }
	$(BUILD_TESTS)
	DLM_YT_DLP=$(YT_DLP)/bin/yt-dlp $(TESTS) --filter DropIn

clean:
	rm -rf .build

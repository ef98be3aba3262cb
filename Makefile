# One command for each thing one does with the project; `make help` lists them.

SWIFT ?= swift
PACKAGES = libsqlite3-dev libpcre2-dev zlib1g-dev

# Every directory with Swift of ours.
SOURCES = Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources
# What the files below Benchmarks/Results are named that the benchmarks write, and what each of them is told besides:
# `make bench BENCH='--documents 10000'`, `make bench-compare BENCH='--only q1'`.
RESULT ?= latest
BENCH ?=
RELEASE = @SWIFT="$(SWIFT)" scripts/build-release.sh
BENCHMARKS = $(SWIFT) run -c release --package-path Benchmarks Benchmarks
# How long `make fuzz` looks, and the seed it begins with; without one it draws a seed and says it.
SECONDS ?= 60
SEED ?=
# The tests with random input, which has fixed seeds in `make test`.
RANDOM_TESTS = (LawOne|TextSearch|RandomText|JSONBytes|RevisionOrder|DamagedFile|ImporterDamage|Shrinker)Tests

.PHONY: help packages build test test-newest fuzz sanitize lint format demo
.PHONY: bench bench-compare bench-latency bench-memory bench-processes bench-page

help: ## List the commands
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 20

packages: ## Install the system packages that a build needs
	@scripts/install-packages.sh $(PACKAGES)

build: packages ## Build cdtquery for release
	$(RELEASE)

test: packages lint ## Run every test
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build --disable-xctest

test-newest: packages ## Run every test with the newest SQLite in Debian
	$(SWIFT) build --build-tests
	@SWIFT="$(SWIFT)" scripts/test-with-newest-sqlite.sh

fuzz: packages ## Look for a query that an index answers differently: make fuzz SECONDS=600 SEED=1
	$(SWIFT) build --build-tests
	FUZZ_SECONDS=$(SECONDS) $(SWIFT) test --skip-build --disable-xctest --filter '$(RANDOM_TESTS)'
	FUZZ_SECONDS=$(SECONDS) FUZZ_SEED=$(SEED) $(SWIFT) test --skip-build --disable-xctest --filter FuzzTests

sanitize: packages ## Run the tests under the address sanitizer
	@SWIFT="$(SWIFT)" scripts/sanitize.sh

lint: ## Check the format of every source file
	$(SWIFT) format lint --strict --recursive $(SOURCES)

format: ## Format every source file
	$(SWIFT) format --in-place --recursive $(SOURCES)

demo: ## Import real data, index it, and ask five questions
	@scripts/install-packages.sh $(PACKAGES) iso-codes
	$(RELEASE)
	@scripts/demo.sh

bench: bench-compare bench-latency bench-memory bench-processes ## Measure everything: half an hour or more, 3 GB of disk

bench-compare: packages ## Measure the workload against SQLite by hand, 10,000 to 1,000,000 documents
	$(BENCHMARKS) compare --json Benchmarks/Results/$(RESULT).json $(BENCH)

bench-latency: packages ## Measure mixed queries and writes, and writes alone, up to the slowest
	$(BENCHMARKS) latency --json Benchmarks/Results/$(RESULT)-latency.json $(BENCH)

bench-memory: packages ## Measure the memory at rest, after the first query, and under 12 threads
	$(BENCHMARKS) memory --json Benchmarks/Results/$(RESULT)-memory.json $(BENCH)

bench-processes: build ## Measure cdtquery against sqlite3, as whole processes
	$(BENCHMARKS) processes --json Benchmarks/Results/$(RESULT)-processes.json $(BENCH)

bench-page: ## Write the tables of docs/performance.md from its results
	$(BENCHMARKS) page $(BENCH)

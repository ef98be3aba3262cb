# One command for each thing one does with the project; `make help` lists them.

SWIFT ?= swift
PACKAGES = libsqlite3-dev libpcre2-dev zlib1g-dev

# Every directory with Swift of ours.
SOURCES = Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources
# The file below Benchmarks/Results that `make bench` writes; `make bench BENCH='--only q1'` measures less.
RESULT ?= latest
BENCH ?=
# How long `make fuzz` looks, and the seed it begins with; without one it draws a seed and says it.
SECONDS ?= 60
SEED ?=

.PHONY: help packages build test fuzz lint format demo bench

help: ## List the commands
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

packages: ## Install the system packages that a build needs
	@scripts/install-packages.sh $(PACKAGES)

build: packages ## Build cdtquery for release
	$(SWIFT) build -c release --product cdtquery

test: packages lint ## Run every test
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build --disable-xctest

fuzz: packages ## Look for a query that an index answers differently: make fuzz SECONDS=600 SEED=1
	$(SWIFT) build --build-tests
	FUZZ_SECONDS=$(SECONDS) FUZZ_SEED=$(SEED) $(SWIFT) test --skip-build --disable-xctest --filter FuzzTests

lint: ## Check the format of every source file
	$(SWIFT) format lint --strict --recursive $(SOURCES)

format: ## Format every source file
	$(SWIFT) format --in-place --recursive $(SOURCES)

demo: ## Import real data, index it, and ask five questions
	@scripts/install-packages.sh $(PACKAGES) iso-codes
	$(SWIFT) build -c release --product cdtquery
	@scripts/demo.sh

bench: packages ## Measure the workload against SQLite by hand
	@mkdir -p Benchmarks/Results
	$(SWIFT) run -c release --package-path Benchmarks Benchmarks \
	  --json Benchmarks/Results/$(RESULT).json $(BENCH)

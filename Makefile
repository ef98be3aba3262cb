# One command for each thing one does with the project; `make help` lists them.

SWIFT ?= swift
PACKAGES = libsqlite3-dev libpcre2-dev

.PHONY: help packages build test lint format demo

help: ## List the commands
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

packages: ## Install the system packages that a build needs
	@scripts/install-packages.sh $(PACKAGES)

build: packages ## Build cdtquery for release
	$(SWIFT) build -c release --product cdtquery

test: packages lint ## Run every test
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build --disable-xctest

lint: ## Check the format of every source file
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests

format: ## Format every source file
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests

demo: ## Import real data, index it, and ask five questions
	@scripts/install-packages.sh $(PACKAGES) iso-codes
	$(SWIFT) build -c release --product cdtquery
	@scripts/demo.sh

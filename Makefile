# One command for each thing one does with the project; `make help` lists them.

SWIFT ?= swift
PACKAGES = libsqlite3-dev libpcre2-dev zlib1g-dev libssl-dev

# Every directory with Swift of ours.
SOURCES = Package.swift Sources Tests Benchmarks/Sources FuzzTargets/Package.swift FuzzTargets/Sources Examples/Sources \
	Examples/Tests
# What the files below Benchmarks/Results are named that the benchmarks write, and what each of them is told besides:
# `make bench BENCH='--documents 10000'`, `make bench-compare BENCH='--only q1'`.
RESULT ?= latest
BENCH ?=
BASE_PATH ?=
# Whether `make bench-gate` accepts the numbers that it counts, and `make api-check` the declarations.
ACCEPT ?=
RELEASE = @SWIFT="$(SWIFT)" scripts/build-release.sh
BENCHMARKS = .build/small/release/Benchmarks
# How long `make fuzz`, `make fuzz-replication`, `make fuzz-inputs` and `make fuzz-server` look, `make stress` runs each of its
# tests, and PouchDB syncs in `make test-clients`; and the seed of `make fuzz`, `make fuzz-replication` and `make fuzz-server`,
# which draw one if there is none, and say it.
SECONDS ?= 60
SEED ?=
# The targets of `make fuzz-inputs`, the directories of FuzzTargets/Corpus; without any it runs all.
TARGETS ?=
# The CouchDB that `make test-couchdb` replicates with and queries, and that `make bench-server` and `make bench-replication` compare
# with. Their databases in it are deleted afterwards. And 1 for attachments of 100 MB instead of 8 MB.
COUCHDB ?=
COUCHDB_LARGE ?=
# The bundle of PouchDB that `make test-clients` and `make bench-replication` use, pouchdb.min.js; without one they leave it out.
POUCHDB ?=
# The tests of `make test-page`, all without any; and 1 to write the pictures of docs/look.md, or the accepted structure of the page.
TESTS ?=
IMAGES ?=
STRUCTURE ?=
# What `make torture` does: processes to kill, crash points of power failures, calls of each kind to fail in each operation (0 for
# all, which takes hours), and damages of files. It takes SEED, too.
KILLS ?= 500
POINTS ?= 5000
FAULTS ?= 20
DAMAGES ?= 10000
# And how often it commits beside checkpoints of another process.
RACES ?= 1000000
# Where `make install` puts the program.
PREFIX ?= /usr/local
# The parts of `make test-more`; without any it runs all. `scripts/changed-parts.sh` prints those that a change concerns.
PARTS ?= random reliability newest inputs clients page requests gate examples release bundled

.PHONY: help packages build server release deb test test-more test-newest test-release test-bundled test-couchdb test-clients test-page fuzz fuzz-replication fuzz-inputs fuzz-server torture stress
.PHONY: sanitize install man lint format demo docs
.PHONY: examples api-check check-portability
.PHONY: benchmarks bench bench-gate bench-compare bench-latency bench-live bench-memory bench-processes bench-server bench-replication bench-rules bench-vectors bench-decisions bench-page

help: ## List the commands
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 20

packages: ## Install the system packages that a build needs
	@scripts/install-packages.sh $(PACKAGES)

build: packages ## Build cdtquery for stores for release: .build/small/release/cdtquery
	$(RELEASE) small

server: packages ## Build cdtquery with the server and replication for release, and its manual page: .build/release/cdtquery
	$(RELEASE)
	@scripts/man-page.sh .build/release/cdtquery > .build/cdtquery.1

release: ## Build cdtquery with the server in one file that needs nothing but the C library: .build-bundled/cdtquery
	@scripts/install-packages.sh binutils
	$(RELEASE) bundled

deb: release ## Make a package of it for Debian and Ubuntu, in .build-bundled
	@SWIFT="$(SWIFT)" scripts/build-deb.sh

test: packages lint ## Run the tests, but for those of `make test-more`
	@scripts/install-packages.sh curl openssl perl sqlite3
	@SWIFT="$(SWIFT)" scripts/build-tests.sh
	@SWIFT="$(SWIFT)" scripts/run-tests.sh

test-more: $(PARTS:%=more-%) ## Run what takes long: make test-more PARTS='random reliability newest inputs clients page requests gate examples release bundled'

# With fixed seeds; `make fuzz` draws one.
more-random more-reliability: packages
	@scripts/install-packages.sh curl openssl perl sqlite3
	@SWIFT="$(SWIFT)" scripts/build-tests.sh
	@SWIFT="$(SWIFT)" scripts/run-tests.sh $(@:more-%=%)

more-newest:
	@SWIFT="$(SWIFT)" scripts/build-tests.sh
	@SWIFT="$(SWIFT)" scripts/test-with-newest-sqlite.sh newest
	@SWIFT="$(SWIFT)" scripts/test-with-limited-sqlite.sh

more-inputs:
	@$(MAKE) fuzz-inputs SECONDS=0

more-clients:
	@$(MAKE) test-clients

more-page:
	@$(MAKE) test-page

more-requests:
	@$(MAKE) fuzz-server SECONDS=60

more-gate: bench-gate

more-examples: examples

more-release: test-release

more-bundled: test-bundled

test-newest: packages ## Run the tests with the newest SQLite in Debian: make test-newest FILTER=CDTQueryTests
	@SWIFT="$(SWIFT)" scripts/build-tests.sh
	@SWIFT="$(SWIFT)" scripts/test-with-newest-sqlite.sh $(if $(FILTER),--filter '$(FILTER)')

test-release: release ## Run what make release builds where nothing else is; install, upgrade and remove its package
	@scripts/install-packages.sh curl openssl
	@SWIFT="$(SWIFT)" scripts/test-release.sh

test-bundled: ## Run the tests of the core with the libraries that make release links in
	@scripts/install-packages.sh curl openssl perl sqlite3
	@SWIFT="$(SWIFT)" scripts/test-bundled.sh

test-couchdb: packages ## Replicate with a CouchDB, and query it: make test-couchdb COUCHDB=http://admin:password@127.0.0.1:5984 COUCHDB_LARGE=1
	@test -n "$(COUCHDB)" || { echo "COUCHDB is not set: make test-couchdb COUCHDB=http://admin:password@127.0.0.1:5984" >&2; exit 1; }
	@SWIFT="$(SWIFT)" scripts/build-tests.sh
	@COUCHDB="$(COUCHDB)" COUCHDB_LARGE="$(COUCHDB_LARGE)" \
		$(SWIFT) test --skip-build --disable-xctest --no-parallel --filter 'CouchDB(Replication|Law|Settings|Query)Tests'

test-clients: packages ## Use the server with clients of CouchDB: make test-clients POUCHDB=path/to/pouchdb.min.js SECONDS=60
	@SWIFT="$(SWIFT)" POUCHDB="$(POUCHDB)" POUCHDB_SECONDS=$(SECONDS) scripts/test-clients.sh

test-page: packages ## Use the page of the server in Chromium: make test-page TESTS=test_hostile IMAGES=1 STRUCTURE=1
	@SWIFT="$(SWIFT)" RECORD_IMAGES=$(IMAGES) RECORD_STRUCTURE=$(STRUCTURE) scripts/test-page.sh $(TESTS)

fuzz: packages ## Look for a query that an index answers differently: make fuzz SECONDS=600 SEED=1
	@SWIFT="$(SWIFT)" scripts/build-tests.sh
	@SWIFT="$(SWIFT)" FUZZ_SECONDS=$(SECONDS) scripts/run-tests.sh random
	FUZZ_SECONDS=$(SECONDS) FUZZ_SEED=$(SEED) $(SWIFT) test --skip-build --disable-xctest --filter FuzzTests

fuzz-replication: packages ## Look for a history after which two ends differ: make fuzz-replication SECONDS=600 SEED=1
	@SWIFT="$(SWIFT)" scripts/build-tests.sh
	REPLICATION_SECONDS=$(SECONDS) FUZZ_SEED=$(SEED) $(SWIFT) test --skip-build --disable-xctest --filter ReplicationFuzzTests

fuzz-inputs: packages ## Look for an input that crashes, hangs or breaks a rule: make fuzz-inputs SECONDS=600 TARGETS='json csv'
	@SWIFT="$(SWIFT)" SECONDS_IN_ALL=$(SECONDS) scripts/fuzz.sh $(TARGETS)

fuzz-server: packages ## Call a server with random requests of docs/openapi.yaml: make fuzz-server SECONDS=120 SEED=1
	@scripts/install-packages.sh curl python3-venv
	@SWIFT="$(SWIFT)" SECONDS_IN_ALL=$(SECONDS) SEED=$(SEED) scripts/fuzz-server.sh

torture: packages ## Kill processes, cut the power, fail calls, damage files: make torture KILLS=500 POINTS=5000 FAULTS=20 DAMAGES=10000 RACES=1000000 SEED=1
	@SWIFT="$(SWIFT)" scripts/build-tests.sh
	TORTURE=1 TORTURE_KILLS=$(KILLS) TORTURE_POINTS=$(POINTS) TORTURE_FAULTS=$(FAULTS) TORTURE_RACES=$(RACES) TORTURE_SEED=$(SEED) \
		DAMAGES=$(DAMAGES) DAMAGE_SEED=$(SEED) SERVER_KILLS=100 SERVER_CONNECTIONS=10200 \
		$(SWIFT) test --skip-build --disable-xctest --no-parallel --filter 'ReliabilityTests|DamageTests|ShutdownTests|ConnectionLimitTests'

stress: packages ## Do everything at once in threads and processes, and check it: make stress SECONDS=300
	@SWIFT="$(SWIFT)" scripts/build-tests.sh
	STRESS_SECONDS=$(SECONDS) $(SWIFT) test --skip-build --disable-xctest --no-parallel \
		--filter 'ReliabilityTests.(Stress|Linearizability)Tests'

sanitize: packages ## Run the tests under the address sanitizer, then under the thread sanitizer
	@SWIFT="$(SWIFT)" scripts/sanitize.sh

man: build ## Write the manual page of cdtquery: .build/cdtquery.1
	@scripts/man-page.sh .build/small/release/cdtquery > .build/cdtquery.1

install: ## Install what make server has built, with its manual page and its unit for systemd: make server && sudo make install PREFIX=/usr/local
	@test -x .build/release/cdtquery -a -s .build/cdtquery.1 || { echo "there is nothing to install; run make server first" >&2; exit 1; }
	install -D -s -m 755 .build/release/cdtquery $(DESTDIR)$(PREFIX)/bin/cdtquery
	install -D -m 644 .build/cdtquery.1 $(DESTDIR)$(PREFIX)/share/man/man1/cdtquery.1
	@mkdir -p $(DESTDIR)/etc/systemd/system
	sed 's|/usr/local/bin|$(PREFIX)/bin|' scripts/cdtquery.service > $(DESTDIR)/etc/systemd/system/cdtquery.service
	@chmod 644 $(DESTDIR)/etc/systemd/system/cdtquery.service

lint: ## Check the format of every source file
	$(SWIFT) format lint --strict --recursive $(SOURCES)

format: ## Format every source file
	$(SWIFT) format --in-place --recursive $(SOURCES)

demo: ## Import real data, index it, and ask five questions
	@scripts/install-packages.sh $(PACKAGES) iso-codes
	$(RELEASE) small
	@scripts/demo.sh

examples: ## Run each example, and the program of docs/getting-started.md
	@scripts/install-packages.sh $(PACKAGES) curl
	@SWIFT="$(SWIFT)" scripts/build-tests.sh
	@SWIFT="$(SWIFT)" scripts/run-getting-started.sh
	@SWIFT="$(SWIFT)" scripts/run-examples.sh

api-check: packages ## Compare the public declarations with scripts/public-api.txt: make api-check ACCEPT=1 writes it
	@scripts/install-packages.sh jq
	@SWIFT="$(SWIFT)" ACCEPT=$(ACCEPT) scripts/check-api.sh

check-portability: packages ## Type-check the library for macOS, iOS, musl and Android, as far as that is possible here
	@scripts/install-packages.sh python3-venv
	@scripts/check-portability.sh

docs: packages ## Build the documentation: make docs BASE_PATH=/cdtdatastore for a site that is served below a path
	@SWIFT="$(SWIFT)" BASE_PATH="$(BASE_PATH)" scripts/build-docs.sh

bench: bench-compare bench-latency bench-memory bench-processes bench-server bench-replication ## Measure everything: more than an hour, 5 GB of disk

benchmarks: packages
	@CDT_EXTRAS=1 SWIFT="$(SWIFT)" scripts/build-release.sh small --product Benchmarks

bench-compare: benchmarks ## Measure the workload against SQLite by hand, 10,000 to 1,000,000 documents
	$(BENCHMARKS) compare --json Benchmarks/Results/$(RESULT).json $(BENCH)

bench-gate: benchmarks ## Count the instructions of operations against Benchmarks/instructions.txt: make bench-gate ACCEPT=1 writes it
	@scripts/install-packages.sh valgrind binutils
	$(BENCHMARKS) gate $(if $(ACCEPT),--accept)

bench-latency: benchmarks ## Measure mixed queries and writes, and writes alone, up to the slowest
	$(BENCHMARKS) latency --json Benchmarks/Results/$(RESULT)-latency.json $(BENCH)

bench-live: benchmarks ## Measure how soon live queries have what was written
	$(BENCHMARKS) live --json Benchmarks/Results/$(RESULT)-live.json $(BENCH)

bench-memory: benchmarks ## Measure the memory at rest, after the first query, and under 12 threads
	$(BENCHMARKS) memory --json Benchmarks/Results/$(RESULT)-memory.json $(BENCH)

bench-processes: build benchmarks ## Measure cdtquery against sqlite3, as whole processes
	$(BENCHMARKS) processes --json Benchmarks/Results/$(RESULT)-processes.json $(BENCH)

bench-server: server benchmarks ## Measure the server, and a CouchDB beside it: make bench-server COUCHDB=http://admin:password@127.0.0.1:5984
	@scripts/install-packages.sh wrk
	@COUCHDB="$(COUCHDB)" $(BENCHMARKS) server --json Benchmarks/Results/$(RESULT)-server.json $(BENCH)

bench-replication: server benchmarks ## Measure replication, also of a CouchDB and of PouchDB: make bench-replication COUCHDB=http://admin:password@127.0.0.1:5984
	@test -z "$(POUCHDB)" || POUCHDB="$(POUCHDB)" scripts/install-clients.sh
	@COUCHDB="$(COUCHDB)" $(BENCHMARKS) replication --json Benchmarks/Results/$(RESULT)-replication.json \
		$(if $(POUCHDB),--pouchdb '$(POUCHDB)') $(BENCH)

bench-rules: benchmarks ## Measure what rules cost a write, and a query as a user: make bench-rules BENCH='--documents 100000'
	$(BENCHMARKS) rules $(BENCH)

bench-vectors: benchmarks ## Measure an index of vectors: make bench-vectors BENCH='--documents 10000'
	$(BENCHMARKS) vectors $(BENCH)

bench-decisions: benchmarks ## Measure what the decisions compare: make bench-decisions BENCH='--only 29'
	$(BENCHMARKS) decisions $(BENCH)

bench-page: benchmarks ## Write the tables and the plot of docs from the results
	$(BENCHMARKS) page $(BENCH)

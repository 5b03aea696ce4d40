# Every chore by name; CI runs the same names.

# Runs a command with a MariaDB and a PostgreSQL of our own.
SERVERS := tests/servers run --
SERVERS_DURABLE := tests/servers run --durable --

TARGET := $(or $(CARGO_TARGET_DIR),target)

# In CI what is committed must be complete.
LOCKED := $(if $(CI),--locked)

.PHONY: help demo test quick bless survey lint docs fuzz-api bench lab build clean

help: ## List the chores
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Build, serve the sample blog on embedded SQLite, print URLs to try
	cargo run --release $(LOCKED) -- demo

test: ## Everything: installs what it needs, lints, tests on every database and in Chromium
	tests/install
	$(MAKE) --no-print-directory lint
	$(SERVERS) cargo test --workspace $(LOCKED)

quick: ## What needs no database server; TRANSCRIPT=text plays only those with the text in their path
	cargo test --workspace $(LOCKED)

bless: ## Accept new transcripts and snapshots; review the diff
	BLESS=1 $(SERVERS) cargo test --workspace $(LOCKED)

survey: ## The example: a survey with its pop-up and console, on embedded SQLite
	examples/survey/run

lint: ## Formatting and warnings; the order of the house is a test, crates/server/tests/tidy.rs
	cargo fmt --all --check
	cargo clippy --workspace --all-targets $(LOCKED) -- -D warnings

docs: ## Write docs/configuration.md from the program; `make quick` says what else is missing
	cargo run --quiet $(LOCKED) -- docs configuration > docs/configuration.md.new
	mv docs/configuration.md.new docs/configuration.md

fuzz-api: ## Ask the sample blog for everything that /openapi describes; EXAMPLES=N for each operation
	tests/install build
	cargo build $(LOCKED)
	tests/fuzz-api $(TARGET)/debug/rowcast --max-examples $(or $(EXAMPLES),40)

bench: ## Measure: SCENARIOS="by-id list" selects, BASE=rev compares with another commit
	tests/install bench
	cargo build --release $(LOCKED) -p rowcast
	cargo build --release $(LOCKED) -p bench
	bench/base $(BASE)
	$(SERVERS_DURABLE) $(TARGET)/release/bench run --program $(TARGET)/release/rowcast \
		$(if $(BASE),--base $(TARGET)/bench/base/release/rowcast) --home $(TARGET)/bench $(SCENARIOS)

build: ## The program, in target/release/rowcast
	cargo build --release $(LOCKED)

lab: ## Race the contestants and write a report; RACE="core --services rowcast,go" races less, see docs/lab.md
	lab/install
	$(MAKE) --no-print-directory build
	cargo run --profile lean $(LOCKED) -p lab -- race $(RACE)

clean: ## Delete what was built, and the data of the tests' servers
	cargo clean

# Plain `make` lists the targets.
.DEFAULT_GOAL := help
ENV := python3 tests/env/run.py
STEPS := python3 tests/env/steps.py
.PHONY: help run test test-fast lint fmt bench engines compat spark fuzz-smoke docs verdicts deny schemathesis matrix engines-page

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | column -t -s "$$(printf '\t')"

run: ## start Guillemot on 127.0.0.1:8181 with SQLite and ./warehouse
	cargo run --release

test: ## everything: unit and integration tests, compose file, fixtures, engines, Spark
	$(ENV) --spark -- $(STEPS) test

test-fast: ## the unit tests alone: no database, no storage, no engine
	cargo test --locked --lib --bins

lint: ## formatting, clippy, rustdoc, Python, Dockerfile, dependencies
	$(ENV) --no-services -- $(STEPS) lint

fmt: ## format Rust and Python
	cargo fmt
	cargo fmt --manifest-path fuzz/Cargo.toml
	cargo fmt --manifest-path tests/engines/iceberg-rust/Cargo.toml
	$(ENV) --no-services -- ruff format tests examples fuzz
	$(ENV) --no-services -- ruff check --fix tests examples fuzz

bench: ## load on loadTable, commit and create, with the floor beside it
	$(ENV) -- cargo run --release --example bench

engines: ## every engine against a debug build: the tests, then the matrix of engine x step
	$(ENV) --spark -- $(STEPS) engines

matrix: ## every engine x step against a debug build (ENGINES="flink sail"), kept in tests/engines/matrix/results.jsonl
	cargo build --locked
	$(ENV) --spark -- python tests/engines/matrix run $(ENGINES)

engines-page: ## docs/engines.md from the kept results of the matrix
	$(ENV) --no-services -- python tests/engines/matrix page

compat: ## Iceberg's own catalog tests and tests of its Java client, against a debug build
	$(ENV) -- $(STEPS) compat

schemathesis: ## what is made of our OpenAPI document, for 15 minutes: half on SQLite, half on Postgres
	$(ENV) -- $(STEPS) schemathesis

spark: ## the Spark seed against a running server: URI=http://127.0.0.1:8181/iceberg WAREHOUSE=default
	examples/spark-seed/run $(if $(URI),--uri $(URI)) $(if $(WAREHOUSE),--warehouse $(WAREHOUSE))

verdicts: ## every corrupt commit and every real table of tests/data/fixtures, one line each
	cargo build --locked
	$(ENV) -- python tests/verdicts/verdicts.py

fuzz-smoke: ## each fuzz target for FUZZ_SECONDS (60), then the property tests with 80 times the cases
	python3 fuzz/run.py
	PROPTEST_CASES=20000 cargo test --locked --lib

docs: ## the API documentation, in target/doc
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps

deny: ## licences, sources and forbidden crates of the dependency tree
	$(ENV) --no-services -- cargo-deny --locked check bans licenses sources

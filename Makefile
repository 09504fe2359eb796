# The commands of contributors and of CI are the same.

CARGO ?= cargo
PYTHON ?= python3
# Where maturin is, which makes wheels.
BUILD_VENV = target/python/build
# Where Triton's client is, which asks the server.
CLIENT_VENV = target/python/client

.PHONY: build docs test test-browser test-inference test-python test-full check format fuzz bench bench-kernels wheel

build:
	$(CARGO) build --release

# Formatting, lints, documentation and every test. What is built here is built with --workspace: a part of it by
# itself would have its dependencies compiled again, with fewer features.
test: check
	$(CARGO) test --workspace
	$(MAKE) test-browser
	$(MAKE) test-inference
	$(MAKE) test-python
	$(PYTHON) -W error benchsuite/tests/test_runner.py
	$(PYTHON) -W error benchsuite/tests/test_any_graph.py
	$(PYTHON) -W error benchsuite/tests/test_growth.py

# The report of the paper and the explorer in a real browser; installs Chromium and Node.js where it may.
test-browser:
	$(CARGO) build --workspace --example sample_report --bin gfgcn
	target/debug/examples/sample_report target/sample-report
	tests/browser/run crates/gfgcn-paper/tests/browser.mjs target/sample-report
	tests/browser/run crates/gfgcn-serve/tests/browser.mjs target/debug/gfgcn

# The server, asked by Triton's client for the Open Inference Protocol.
test-inference: $(CLIENT_VENV)
	$(CARGO) build --workspace --bin gfgcn
	$(CLIENT_VENV)/bin/python crates/gfgcn-serve/tests/open_inference.py target/debug/gfgcn

$(CLIENT_VENV):
	$(PYTHON) -m venv $@
	$@/bin/pip install --quiet --only-binary :all: "tritonclient[http]>=2.60,<3" || { rm -rf $@; exit 1; }

# The Python package: in target/wheels, for CPython 3.9 and later.
wheel: $(BUILD_VENV)
	$(BUILD_VENV)/bin/maturin build --release -m python/Cargo.toml -o target/wheels

# A wheel of what the other tests have compiled, in a fresh virtual environment, against the command line.
test-python: $(BUILD_VENV)
	$(CARGO) build --workspace --bin gfgcn
	rm -rf target/python/test target/python/wheels
	$(BUILD_VENV)/bin/maturin build --profile dev -m python/Cargo.toml -o target/python/wheels
	$(PYTHON) -m venv target/python/test
	target/python/test/bin/pip install --quiet --only-binary :all: "$$(echo target/python/wheels/*.whl)[test]"
	cd python && ../target/python/test/bin/python -m pytest -q tests

$(BUILD_VENV):
	$(PYTHON) -m venv $@
	$@/bin/pip install --quiet "maturin>=1.16,<2"

# The docs as a small book, in target/book.
docs: target/python/docs
	target/python/docs/bin/python docs/build.py target/book

target/python/docs:
	$(PYTHON) -m venv $@
	$@/bin/pip install --quiet markdown

# Also what takes long: every model on twenty splits of each graph, commands ended at 200 moments each and under every
# limit of memory, property tests on other data than the last time, what the crate of formats says without its features, for which everything is compiled again, and the fuzz
# targets for a minute each (installs cargo-fuzz).
test-full: test
	$(CARGO) test --workspace --test accuracy --test audit --test experiments --test cli --test serve --test tune -- --ignored
	PROPTEST_RNG_SEED=$$(date +%s) $(CARGO) test --workspace --test properties --test tables
	$(CARGO) test -p gfgcn-data --lib
	$(MAKE) fuzz

check:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy -p gfgcn-data --all-targets -- -D warnings # its features are off
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps

format:
	$(CARGO) fmt --all

fuzz:
	$(CARGO) fuzz --version >/dev/null 2>&1 || $(CARGO) install --locked cargo-fuzz
	for target in arrow collections documents edge_lists matlab matrix_market model npz parquet planetoid split tables; do \
		$(CARGO) fuzz run $$target -s none -- -max_total_time=60 -rss_limit_mb=1024 || exit 1; \
	done

# Against other programs, on a quiet machine and for long. Options in BENCH: see benchsuite/README.md.
bench:
	$(PYTHON) benchsuite/run.py $(BENCH)

# The arithmetic, piece by piece.
bench-kernels:
	$(CARGO) bench -p gfgcn-bench

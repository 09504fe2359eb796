# The commands of contributors and of CI are the same.

CARGO ?= cargo
PYTHON ?= python3

.PHONY: build test test-browser test-full check format fuzz bench bench-kernels

build:
	$(CARGO) build --release

# Formatting, lints, documentation and every test.
test: check
	$(CARGO) test --workspace
	$(MAKE) test-browser
	$(PYTHON) -W error benchsuite/tests/test_runner.py

# The report of the paper in a real browser; installs Chromium and Node.js where it may.
test-browser:
	$(CARGO) run --quiet -p gfgcn-paper --example sample_report -- target/sample-report
	crates/gfgcn-paper/tests/browser/run target/sample-report

# Also the fuzz targets for a minute each (installs cargo-fuzz), and every baseline on twenty splits of each graph.
test-full: test fuzz
	$(CARGO) test -p gfgcn-baselines --test accuracy -- --ignored

check:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps

format:
	$(CARGO) fmt --all

fuzz:
	$(CARGO) fuzz --version >/dev/null 2>&1 || $(CARGO) install --locked cargo-fuzz
	for target in planetoid npz model; do \
		$(CARGO) fuzz run $$target -s none -- -max_total_time=60 -rss_limit_mb=1024 || exit 1; \
	done

# Against other programs, on a quiet machine and for long. Options in BENCH: see benchsuite/README.md.
bench:
	$(PYTHON) benchsuite/run.py $(BENCH)

# The arithmetic, piece by piece.
bench-kernels:
	$(CARGO) bench -p gfgcn-bench

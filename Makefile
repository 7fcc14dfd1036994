# Two commands matter: `make demo` shows a private lookup, `make test` checks everything.
# Both need only rustup's stable Rust, make and gcc (a linker); they set up the rest.

CARGO ?= cargo
TABLE ?= data/zones.csv
KEY   ?= zone
QUERY ?= Europe/Lisbon

.DEFAULT_GOAL := help
.PHONY: help demo test setup format lint unit docs bench nightly clean

help:
	@echo "make demo      a private lookup in $(TABLE), at 128-bit security"
	@echo "make test      format, lints, tests, documentation"
	@echo "make bench     the standard benchmark (not a test)"
	@echo "make nightly   slow full-size runs"
	@echo "make clean     remove what the build and the demo wrote"

setup:
	@command -v $(CARGO) >/dev/null || { echo "Rust is missing: install it with rustup (https://rustup.rs)" >&2; exit 1; }
	@$(CARGO) fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@$(CARGO) clippy --version >/dev/null 2>&1 || rustup component add clippy
	@$(CARGO) fetch --locked --quiet

demo: setup
	@$(CARGO) build --release --locked --package windlass-cli
	@rm -rf demo-out
	@$(CARGO) run --release --locked --quiet --package windlass-cli -- lookup --table "$(TABLE)" --key "$(KEY)" --query "$(QUERY)" --out demo-out

test: setup format lint unit docs

format: setup
	$(CARGO) fmt --all -- --check

lint: setup
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

# Without incremental compilation, which only costs time where everything is built once. The lints have
# compiled the examples.
unit: export CARGO_INCREMENTAL = 0
unit: setup
	$(CARGO) test --workspace --locked --lib --bins --tests
	$(CARGO) test --workspace --locked --doc

docs: setup
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked

bench: setup
	$(CARGO) build --release --locked --package windlass-cli
	$(CARGO) run --release --locked --package windlass-bench --features peers -- standard

# One full-size bootstrapping of each family, decrypted and compared: up to 5 GB.
nightly: setup
	WINDLASS_NIGHTLY=1 $(CARGO) test --release --workspace --locked
	$(CARGO) build --release --locked --package windlass-bench
	target/release/windlass-bench bootstrap --threads 4 --preset paper_hs15_18631
	target/release/windlass-bench bootstrap --threads 4 --preset paper_hs15_18631 --packed --bfv
	target/release/windlass-bench bootstrap --threads 4 --preset boot_n32768_p257 --bfv
	target/release/windlass-bench bootstrap --threads 4 --preset paper_ma24_set2_p8191

clean:
	$(CARGO) clean
	rm -rf demo-out

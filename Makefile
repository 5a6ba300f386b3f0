# `make demo` shows what trunkline does; `make test` checks that it does. Both set themselves up.

CARGO ?= cargo
SKIPS := $(CURDIR)/target/skipped.txt
ifeq ($(shell id -u), 0)
APART := unshare --net sh -c 'ip link set lo up && exec "$$0" "$$@"'
endif

.PHONY: demo demo-campaign build install uninstall quick test test-python python-docs wheel wheels wheel-test check deny dist dist-test peers man bench bench-sim bench-tuning bench-steering bench-gentle bench-watch-detection crash crash-sample stops soak model hostile agreement studies fuzz clean neighbours

demo: build
	./target/release/trunkline demo

# Two servers of this machine and a third one that commands: plan, a kill, status, verify.
demo-campaign: build
	docs/guide/demo-campaign.sh

build:
	$(CARGO) build --release --locked --bin trunkline

# Most tests wait for clocks and networks, so those of Python and of the program run beside those in
# Rust. The program's have a loopback of their own: they call servers that are gone, whose ports
# others may get.
test: export TRUNKLINE_SKIPS := $(SKIPS)
test: peers
	@mkdir -p target && rm -f $(SKIPS)
	$(CARGO) build --workspace --all-targets --locked
	$(MAKE) --jobs 2 --keep-going test-rust test-program
	@if [ -s $(SKIPS) ]; then sort -u $(SKIPS); else echo "nothing was skipped"; fi

.PHONY: test-rust test-program threads
test-rust:
	python3 tests/run.py
	$(MAKE) threads

# Threads that share something, in many orders: seconds, once built. The whole workspace, so that
# dependencies have the features that the other tests were built with: one crate is compiled.
threads:
	$(CARGO) test --workspace --locked --features trunkline-transfer/shuttle --test threads

# The same crashes each time; `make crash-sample` draws others.
test-program: test-python
	$(APART) python3 bench/crash/run.py --sample 60 --seed 1124 --minutes 1 --trunkline target/debug/trunkline
	python3 bench/hostile/run.py --list > target/hostile-cases.txt
	$(APART) python3 bench/hostile/run.py --trunkline target/debug/trunkline
	$(APART) python3 bench/stops/run.py --rounds 1 --jobs 8 --slack 5 --trunkline target/debug/trunkline
	$(APART) python3 bench/stops/again.py --count 6 --jobs 6 --trunkline target/debug/trunkline

# The Python package with the oldest and the newest Python of this machine; ONLY names tests.
test-python:
	$(CARGO) build --workspace --all-targets --locked
	python3 python/tools/test.py $(ONLY)

# The pages of the Python package, with the reference from its docstrings: target/python-docs.
PYTHON ?= python3
python-docs:
	$(PYTHON) -m sphinx -W --keep-going -q -b html python/docs target/python-docs

# The wheel for this machine, with the program inside, and the source distribution, in target/wheels.
wheel:
	sh packaging/tools.sh target/dist-tools
	target/dist-tools/bin/python python/tools/wheel.py

# The wheels of a release: both C libraries, both architectures.
wheels:
	ARCHS="x86_64 aarch64" KINDS="manylinux musllinux" $(MAKE) wheel

# Installs and runs what is in target/wheels; needs root, mmdebstrap and qemu-user-static.
wheel-test:
	sh packaging/test-wheels.sh

# Clippy reads each crate once, with the lints of its kind.
LINTED := RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/tests/clippy.sh

# While working: formatting, then lints and tests of the crates that neither wait nor need rights.
PURE := errors units stats models netpath link rate_control sim observe inference measure_protocol copy_protocol tune steer sweep probing changes watch_plan campaign_plan watch_metrics predict movers
quick:
	$(CARGO) fmt --all --check
	$(LINTED) $(CARGO) check --locked $(subst _,-,$(PURE:%=-p trunkline-%))
	$(CARGO) test --locked --lib $(subst _,-,$(PURE:%=-p trunkline-%))

# Formatting, lints and documentation, all as errors. With examples, whose dependencies have the
# features that the lints saw them with, documentation needs nothing that was not checked before.
BINS := $(shell sed -n '/^\[\[bin\]\]/,/^name/s/^name = "\(.*\)"/\1/p' bench/*/Cargo.toml)
check:
	$(CARGO) fmt --all --check
	$(LINTED) $(CARGO) check --workspace --all-targets --locked
	$(LINTED) RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --lib --examples $(BINS:%=--bin %)

# All fuzz targets with a nightly compiler, each for an equal share of MINUTES; see fuzz/README.md.
MINUTES ?= 15
fuzz:
	CARGO=$(CARGO) python3 fuzz/run.py $(MINUTES)

# Licences, sources and known holes of all dependencies; needs cargo-deny.
deny:
	$(CARGO) deny --locked check

# Static programs, .deb and .rpm, checksums, licences and a bill of materials, in target/dist.
dist:
	CARGO=$(CARGO) sh packaging/dist.sh

# Copies between this program and that of the last release, which is built from its commit.
neighbours:
	$(CARGO) build --locked --bin trunkline
	test -d target/last || git worktree add --detach target/last \
		$$(git log -1 --format=%H --grep='^Version [0-9]')
	cd target/last && $(CARGO) build --locked --bin trunkline
	python3 bench/neighbours.py target/debug/trunkline target/last/target/debug/trunkline

# Installs the packages of target/dist in clean systems; needs what packaging/test.sh names.
dist-test:
	sh packaging/test.sh

# The programs that tests talk to, through apt where this user may.
peers:
	@sh bench/peers.sh

# Below PREFIX, or for a package below DESTDIR/PREFIX.
PREFIX ?= /usr/local
DESTDIR ?=
SHARE := $(DESTDIR)$(PREFIX)/share

install: man
	install -Dm755 target/release/trunkline $(DESTDIR)$(PREFIX)/bin/trunkline
	install -d $(SHARE)/man/man1
	install -m644 target/man/trunkline*.1 $(SHARE)/man/man1/
	install -d $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	./target/release/trunkline completion bash > $(SHARE)/bash-completion/completions/trunkline
	./target/release/trunkline completion zsh > $(SHARE)/zsh/site-functions/_trunkline
	./target/release/trunkline completion fish > $(SHARE)/fish/vendor_completions.d/trunkline.fish

# What was kept in home folders stays.
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/trunkline $(SHARE)/man/man1/trunkline.1 $(SHARE)/man/man1/trunkline-*.1
	rm -f $(SHARE)/bash-completion/completions/trunkline $(SHARE)/zsh/site-functions/_trunkline $(SHARE)/fish/vendor_completions.d/trunkline.fish

# Manual pages of all commands, for packagers: target/man/trunkline*.1
man: build
	./target/release/trunkline man --dir target/man

bench:
	@echo "one script per question: see bench/README.md"

# trunkline simulate beside ns-2 and ns-3: what a packet costs, and whether the figures agree.
bench-sim: build
	python3 bench/simulator.py

# How soon changes are found in seeded visits, beside other detectors: half an hour.
bench-watch-detection:
	$(CARGO) build --release --locked -p trunkline-bench-watch
	bench/watch/page.sh > bench/results/watch-detection-$$(date -u +%F).md

# Copies that are steered beside the best fixed number of streams: half a minute of one processor.
bench-steering:
	$(CARGO) run --release --locked -p trunkline-bench-steering

# What the law of gentle copies does in virtual time: five minutes of two processors.
bench-gentle:
	$(CARGO) bench --locked -p trunkline-steer --bench gentle

# Every search against the exhaustive best of 300 random paths. The first time takes about an hour of two processors.
bench-tuning:
	python3 bench/tuning.py

# Copies whose end is killed, or whose disk refuses, at any system call: about 8,000 points, most of an hour of two processors.
crash: build peers
	python3 bench/crash/run.py --jobs 4

# Some of them, drawn anew each time: half a minute.
crash-sample: build peers
	python3 bench/crash/run.py --sample 200

# SIGTERM, SIGINT and SIGHUP to every command that waits, twenty of each in each of its states: half an hour.
stops: build peers
	python3 bench/stops/run.py --page
	python3 bench/stops/again.py --page

# A watch, a campaign and copies for MINUTES while hosts, disks, networks and clocks fail.
soak: build peers
	python3 bench/soak/run.py --minutes $(MINUTES) --page

# Both roles of a copy against a model, CASES seeds from FIRST on (drawn from the clock unless given).
CASES ?= 100000
FIRST ?= $(shell date +%s)000000
model:
	MODEL_CASES=$(CASES) MODEL_FIRST=$(FIRST) $(CARGO) test --release --locked -p trunkline-transfer --lib model:: -- --nocapture

# Peers that mean harm, written apart from our own protocol code: two minutes of two processors.
hostile: build peers
	python3 bench/hostile/run.py

agreement: build
	python3 bench/agreement.py

# The figures of published studies and whether their findings hold.
studies: build
	./target/release/trunkline study all --out target/studies

clean:
	$(CARGO) clean

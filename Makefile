# One entry point. Each target does its own set-up: it needs Python 3.11, make and git, nothing else.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
DATA ?= data
ARGS ?=
FROM ?=
OLD ?=
NEW ?=
DOWNLOAD ?=
# One process more than processors: for a quarter of their time, tests wait for timers and threads.
JOBS ?= $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")
# Files of tests go to processes, in the order of tests/conftest.py: the slow ones come first.
PARALLEL := -n $(JOBS) --maxprocesses 8 --dist loadfile --no-loadscope-reorder

FAST := --part fast --ignore=tests/style

# Each process of the tests imports thousands of files. Compiled files halve the time, also where the environment forbids them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: clients cluster constraints up demo test test-rest test-all fuzz check docs docs-update web web-check screenshots reference pictures translations bench loop-fuzz soak robustness attack conformance conformance-sample kinds kinds-report release install-check first-minutes clean

# What a server needs, with nodes for containers and etcd.
$(VENV)/.server: pyproject.toml hatch_build.py
	@command -v $(PYTHON) >/dev/null || { echo "Sampan needs $(PYTHON) on PATH (or: make PYTHON=python3.12 ...)" >&2; exit 1; }
	@echo "setting up $(VENV) (once; 10 to 30 seconds)" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=24.1"
	@$(BIN)/python scripts/install/pip_progress.py $(VENV) --editable '.[cri,etcd]'
	@touch $@

# What tests, checks and benchmarks need as well.
$(VENV)/.ready: $(VENV)/.server packaging/constraints.txt
	@echo "adding the tools of developers to $(VENV) (once; about a minute)" >&2
	@$(BIN)/python scripts/install/pip_progress.py $(VENV) --constraint packaging/constraints.txt --editable '.[dev]'
	@touch $@

# Upgrade what developers and CI install, and record the versions: a release of a tool must not fail an unrelated change.
constraints: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --upgrade --upgrade-strategy eager --editable '.[dev]'
	$(BIN)/python -m pip freeze --exclude-editable > packaging/constraints.txt

up: $(VENV)/.server
	@$(BIN)/python -m compileall -q src
	@exec $(BIN)/sampan up --data $(DATA) $(ARGS)

demo: $(VENV)/.ready
	@cd examples/01-network && exec $(CURDIR)/$(BIN)/python demo.py $(ARGS)

# A server and nodes for containers on separate machines, which are namespaces of this one. Needs Linux and root; on
# Debian it installs containerd. Ctrl-C ends and removes all of it. ARGS=--nodes=3: three nodes.
cluster: $(VENV)/.ready
	@exec $(BIN)/python -m tests.e2e.cri $(ARGS)

# Tests in the test's own process: minutes. ARGS with a path runs all tests there.
test: $(VENV)/.ready
	@$(BIN)/python -m compileall -q src
	$(BIN)/python -m pytest $(PARALLEL) $(if $(ARGS),$(ARGS),$(FAST))

# The others: tests that start processes, use kubectl and containers, or explore faults.
test-rest: $(VENV)/.ready
	$(BIN)/python -m pytest $(PARALLEL) --part rest $(ARGS)

test-all: test test-rest

# Clients in Rust and Java, if their compilers are installed. The first builds take minutes.
clients: $(VENV)/.ready
	SAMPAN_TEST_CLIENTS=1 $(BIN)/python -m pytest tests/e2e/test_other_clients.py $(ARGS)

fuzz: $(VENV)/.ready
	$(BIN)/python -m pytest $(PARALLEL) --hypothesis-profile=fuzz --timeout 0 -m hypothesis $(ARGS)

check: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/style
	@$(BIN)/python -m scripts.translations

# The documentation site in build/site. ARGS=--serve: serve it on 127.0.0.1 as well.
docs: $(VENV)/.ready
	@$(BIN)/python -m scripts.site $(ARGS)

# The page at /dashboard/, from web/, with the sizes of its files. Needs Node.js and npm.
web: $(VENV)/.ready
	@$(BIN)/python -m scripts.web $(ARGS)

# Types of the page's JavaScript.
web-check: $(VENV)/.ready
	@$(BIN)/python -m scripts.web --check

# Pictures of the site and of the dashboard (docs/pictures), by Debian's Chromium.
screenshots: $(VENV)/.ready
	@$(BIN)/python -m tests.site.screenshots
	@$(BIN)/python -m tests.dashboard.screenshots

# Output in the documents, from their commands: review the diff. ARGS: some documents. Needs Linux, root and kubectl.
docs-update: $(VENV)/.ready
	@$(BIN)/python -m tests.blocks.update $(ARGS)

# docs/reference, from the docstrings. ARGS=--released: also the snapshot of the public API (packaging/api).
reference: $(VENV)/.ready
	$(BIN)/python -m scripts.reference $(ARGS)

# Pictures of docs/reading, from scripts/pictures/descriptions; in Chinese with the texts of scripts/pictures/zh-CN.toml.
pictures: $(VENV)/.ready
	$(BIN)/python -m scripts.pictures

# Translated pages whose sources have changed since. ARGS="--accept PAGE": the page has followed; ARGS=--mark: write banners.
translations: $(VENV)/.ready
	@$(BIN)/python -m scripts.translations $(ARGS)

bench: $(VENV)/.ready
	$(BIN)/python -m benchmarks $(ARGS)
	$(if $(ARGS),,$(BIN)/python -m benchmarks --storage etcd)
	$(if $(ARGS),,$(BIN)/python -m benchmarks --toolkit)
	$(if $(ARGS),,$(BIN)/python -m benchmarks --scale)
	$(if $(ARGS),,$(BIN)/python -m benchmarks --testing)

loop-fuzz: $(VENV)/.ready
	$(BIN)/python -m benchmarks.loop_fuzz $(ARGS)

soak: $(VENV)/.ready
	$(BIN)/python -m benchmarks.soak $(ARGS)

robustness: $(VENV)/.ready
	$(BIN)/python -m tests.robustness $(ARGS)

attack: $(VENV)/.ready
	$(BIN)/python -m tests.attack $(ARGS)

# Kubernetes' own tests on two nodes with containers: root, Debian and Go. The first run builds for ten minutes, for all
# clones of a user. ARGS=--sample: a few of them, in three minutes.
conformance: $(VENV)/.ready
	@$(BIN)/python -m tests.e2e.conformance $(ARGS)

# The sample, for CI. If this machine lacks what it needs, it prints what is missing and succeeds.
conformance-sample: $(VENV)/.ready
	@$(BIN)/python -m tests.e2e.conformance --sample --or-skip $(ARGS)

# FROM, OLD, NEW: the path of a checkout of Kubernetes, or a version in Go's module cache. DOWNLOAD=1 downloads a version.
kinds: $(VENV)/.ready
	$(BIN)/python -m scripts.kinds generate $(FROM) $(if $(DOWNLOAD),--download)

kinds-report: $(VENV)/.ready
	@$(BIN)/python -m scripts.kinds report "$(OLD)" "$(NEW)" $(if $(DOWNLOAD),--download)

# All artefacts in dist/. The image needs Debian's mmdebstrap; without it: make release ARGS=--no-image
release: $(VENV)/.ready
	@$(BIN)/python -m scripts.release dist $(ARGS)

# Installed sizes, and wheels for each platform and Python version; needs a package index. After `make release`.
install-check: $(VENV)/.ready
	@$(BIN)/python -m scripts.install.sizes dist/*-any.whl
	@$(BIN)/python -m scripts.install.wheels $(ARGS)

# README in a new environment with the built wheel. ARGS=--reuse: without downloads.
first-minutes: $(VENV)/.ready
	@$(BIN)/python -m scripts.install.first_minutes $(ARGS)

clean:
	rm -rf $(VENV) dist .neutron .neutron.lock .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@for left in $(sort $(DATA) sampan-data); do \
		if [ -e "$$left" ]; then echo "left: $$left (data of a cluster; remove it with: rm -r $$left)"; fi; \
	done
	@for left in .conformance "$${XDG_CACHE_HOME:-$$HOME/.cache}/sampan-conformance"; do \
		if [ -e "$$left" ]; then echo "left: $$left (of make conformance; remove it with: rm -r $$left)"; fi; \
	done

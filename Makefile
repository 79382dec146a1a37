# `make` alone lists the targets. The environment in .venv is made on first use, and brought up to
# date when pyproject.toml changes.
#
# PYTHON=EXE  the Python to make environments with; otherwise the first of 3.10 or newer
# ARGS=...    more arguments for what a target runs: make test ARGS='tests/kernel -x'

.DEFAULT_GOAL := help
# Python's and npm's packages are fetched at the same time.
MAKEFLAGS += --jobs=2
.DELETE_ON_ERROR:
.PHONY: help demo test thorough lab lint types bench tables docs licenses dist oldest

BIN := .venv/bin
READY := .venv/.ready
CPU_READY := .venv/.ready-cpu
LAB_READY := .venv/.ready-lab
DOCS_READY := .venv/.ready-docs
DEMO_READY := .venv-demo/.ready
EXAMPLES_READY := .venv-examples/.ready
BENCH_READY := .venv-bench/.ready
IPYTHON8_READY := .venv-ipython8/.ready
OLDEST_READY := .venv-oldest/.ready
COLLABORATION_READY := .collaboration/.ready
# The environments beside .venv that tests use.
TEST_PYTHONS := $(IPYTHON8_READY) $(DEMO_READY) $(EXAMPLES_READY)

EXTENSION := extension
NPM := .ci/with-node npm --prefix $(EXTENSION)
MODULES := $(EXTENSION)/node_modules/.ready
CPU_BACKENDS := exploration/exploracoder/models/cpu_backends
UI_TESTS := $(EXTENSION)/ui-tests
UI_MODULES := $(UI_TESTS)/node_modules/.ready
BUILT := $(EXTENSION)/exploracoder_jupyter/labextension
BUILT_READY := $(BUILT)/package.json
SOURCES := $(shell find $(EXTENSION)/src $(EXTENSION)/style $(EXTENSION)/schema -type f)

# Files of tests that run at the same time. The browser's take longest, so that files begin in their
# order and not with the largest.
JOBS := 3

DEMO := examples/demo
DEMO_LIBRARY := justhtml
DEMO_NOTEBOOK := demo-output/exploration.ipynb

# What examples were made with that the demo's environment has not, or has in a newer version.
EXAMPLES := examples/dataframe_and_plot examples/library_upgrade

# What is tried with the oldest versions of what we depend on: a file or two for each of them.
OLDEST_EXTRAS := bench,keyring,lab,mcp,web,widgets
OLDEST_TOOLS := hatchling hypothesis jupyter-kernel-test nbclient pytest pytest-asyncio pytest-jupyter[server] \
  pytest-timeout pytest-xdist
OLDEST_TESTS := tests/exploration/test_api.py tests/exploration/test_document.py \
  tests/exploration/test_mcp.py tests/exploration/test_results.py \
  tests/extension/test_explorations.py tests/kernel/test_contract.py \
  tests/magics/test_notebook.py tests/magics/test_shell.py tests/magics/test_widgets.py tests/models/test_openai_client.py \
  tests/models/test_keys.py tests/retrieval/test_docs.py tests/retrieval/test_embeddings.py \
  tests/retrieval/test_index.py

PAGES_WITH_TABLES := README.md docs/evidence.md docs/api-use.md benchmarks/results/README.md

BENCH_LIBRARY := pandas
BENCH_VERSION := 2.2.3

# An environment whose Python is gone, after an upgrade of the system, is made anew with all it had.
$(shell test -x $(BIN)/python || rm -f .venv/.ready* $(COLLABORATION_READY))
$(shell for one in demo examples bench oldest; do \
  test -x .venv-$$one/bin/python || rm -f .venv-$$one/.ready; done)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(CPU_READY) $(DEMO_READY) ## explore a real task with the embedded model; leaves a notebook
	$(BIN)/exploracoder model pull
	@mkdir -p $(dir $(DEMO_NOTEBOOK))
	$(BIN)/exploracoder explore - --model embedded --library $(DEMO_LIBRARY) \
	  --python .venv-demo/bin/python --context $(DEMO)/context.py --check $(DEMO)/check.py \
	  --output $(DEMO_NOTEBOOK) $(ARGS) < $(DEMO)/task.txt

test: lint $(CPU_READY) $(LAB_READY) $(UI_MODULES) $(TEST_PYTHONS) ## lint, then run the tests, the embedded model's included
	$(NPM) test
	$(BIN)/exploracoder model pull
	EXPLORACODER_TEST_IPYTHON8="$(CURDIR)/.venv-ipython8/bin/python" \
	  $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

thorough: override ARGS += --thorough
thorough: $(COLLABORATION_READY)
thorough: test ## the same, with the tests that take long

lab: $(CPU_READY) $(LAB_READY) ## start JupyterLab with the sidebar in examples/
	@test -n "$$OPENAI_API_KEY$$OPENAI_BASE_URL$$EXPLORACODER_MODEL" || $(BIN)/exploracoder model pull
	$(BIN)/jupyter lab --ServerApp.root_dir="$(CURDIR)/examples" $(ARGS)

lint: $(READY) $(MODULES) ## check style, format, and types, of Python and TypeScript
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy docs
	$(NPM) run lint
	$(NPM) run types:check

types: $(READY) $(MODULES) ## make the TypeScript types from the Python models
	$(NPM) run types

bench: $(READY) $(BENCH_READY) ## run the benchmarks that need neither a model nor a kit
	$(BIN)/python -m exploracoder_bench.overhead --parts startup,engine,first-cell $(ARGS)
	$(BIN)/python -m exploracoder_bench.branching
	$(BIN)/python -m exploracoder_bench.index_speed $(BENCH_LIBRARY) \
	  --python .venv-bench/bin/python

tables: $(READY) ## draw the pages' tables from the results that are kept; ARGS=--check only looks
	$(BIN)/exploracoder bench tables $(PAGES_WITH_TABLES) $(ARGS)

docs: $(DOCS_READY) ## build the documentation as a site in build/site; a dead link is an error
	$(BIN)/python docs/generate.py
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs build/site
	@! grep -rnE '(src|srcset)="(https?:)?//|<link [^>]*href="(https?:)?//' build/site --include='*.html' || \
	  { echo 'The pages named above would ask another host for something.' >&2; exit 1; }
	@echo 'Open build/site/index.html'

licenses: $(LAB_READY) ## write down what of a wheel others made, and its licenses
	$(BIN)/python docs/licenses.py

oldest: $(OLDEST_READY) ## try the oldest versions of dependencies that pyproject.toml allows
	.venv-oldest/bin/python -m pytest -n $(JOBS) --dist loadfile -W default \
	  -m 'not slow and not model and not thorough' $(OLDEST_TESTS) $(ARGS)

# The wheel is built from the source distribution, so that this is known to be complete. Only the
# embedded model's arithmetic is not compiled once more.
dist: $(CPU_READY) $(LAB_READY) $(UI_MODULES) ## build the packages in dist/, and try the wheel where nothing else of ours is
	rm -rf dist
	$(BIN)/python -m hatchling build --target sdist
	tar --extract --gzip --file dist/exploracoder-*.tar.gz --directory dist
	cp -R $(CPU_BACKENDS)/[!_]*/ dist/exploracoder-*/$(CPU_BACKENDS)/
	cd dist/exploracoder-*/ && "$(CURDIR)/$(BIN)/python" -m hatchling build --target wheel --directory ..
	rm -r dist/exploracoder-*/
	.ci/with-node $(BIN)/python tests/release dist/*.whl $(ARGS)

$(BIN)/python:
	@.ci/make-venv .venv $(PYTHON)

$(READY): pyproject.toml | $(BIN)/python
	EXPLORACODER_EDITABLE=1 $(BIN)/python -m pip install --quiet -e '.[dev]'
	@touch $@

# What failed is tried again next time.
$(CPU_READY): $(READY) $(wildcard exploration/build_cpu_backends.*)
	@if $(BIN)/python exploration/build_cpu_backends.py; then touch $@; \
	  else echo 'Going on without: the embedded model reads prompts more slowly.'; fi

# A link, so that a build is seen at once.
$(LAB_READY): $(READY) $(BUILT_READY)
	@mkdir -p .venv/share/jupyter/labextensions
	@ln -sfn "$(CURDIR)/$(BUILT)" .venv/share/jupyter/labextensions/exploracoder
	@touch $@

$(DOCS_READY): $(READY)
	EXPLORACODER_EDITABLE=1 $(BIN)/python -m pip install --quiet -e '.[docs]'
	@touch $@

$(MODULES): $(EXTENSION)/package-lock.json | $(BIN)/python
	$(NPM) ci
	@touch $@

$(UI_MODULES): $(UI_TESTS)/package-lock.json | $(MODULES)
	PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 .ci/with-node npm --prefix $(UI_TESTS) ci --ignore-scripts
	@touch $@

$(BUILT_READY): $(MODULES) $(SOURCES) $(EXTENSION)/package.json $(EXTENSION)/tsconfig.json | $(READY)
	$(NPM) run build
	@touch $@

# .venv once more, with an older IPython before its own, and what that needs and the newer does not.
$(IPYTHON8_READY): $(READY)
	$(BIN)/python .ci/make-older .venv-ipython8 'ipython<9' decorator
	@touch $@

# Newer Pythons have no wheels of the oldest versions.
$(OLDEST_READY): pyproject.toml | $(READY)
	@test -x .venv-oldest/bin/python -a -x .venv-oldest/bin/pip || .ci/make-venv .venv-oldest '$(or $(PYTHON),python3.10 python3.11)'
	.venv-oldest/bin/python -m pip install --quiet uv
	EXPLORACODER_EDITABLE=1 .venv-oldest/bin/uv pip install --quiet --python .venv-oldest/bin/python \
	  --resolution lowest-direct -e '.[$(OLDEST_EXTRAS)]'
	.venv-oldest/bin/uv pip install --quiet --python .venv-oldest/bin/python $(OLDEST_TOOLS)
	@touch $@

# What people share notebooks with, for one server of the tests: in .venv it would be in all.
$(COLLABORATION_READY): | $(READY)
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --target .collaboration \
	  jupyter-collaboration jupyter-collaboration-ui jupyter-docprovider jupyter-server-ydoc \
	  jupyter-ydoc pycrdt pycrdt-store pycrdt-websocket jupyter-server-fileid sqlite-anyio
	@touch $@

$(DEMO_READY): $(DEMO)/requirements.txt | $(READY)
	@test -x .venv-demo/bin/python -a -x .venv-demo/bin/pip || .ci/make-venv .venv-demo $(PYTHON)
	.venv-demo/bin/python -m pip install --quiet ipykernel -r $(DEMO)/requirements.txt
	@touch $@

$(EXAMPLES_READY): $(EXAMPLES:=/requirements.txt) | $(READY)
	@test -x .venv-examples/bin/python -a -x .venv-examples/bin/pip || .ci/make-venv .venv-examples $(PYTHON)
	.venv-examples/bin/python -m pip install --quiet ipykernel $(EXAMPLES:%=-r %/requirements.txt)
	@touch $@

$(BENCH_READY): | $(READY)
	@test -x .venv-bench/bin/python -a -x .venv-bench/bin/pip || .ci/make-venv .venv-bench $(PYTHON)
	.venv-bench/bin/python -m pip install --quiet $(BENCH_LIBRARY)==$(BENCH_VERSION)
	@touch $@

# `make` alone lists the targets. The environment in .venv is made on first use, and brought up to
# date when pyproject.toml changes.
#
# PYTHON=EXE  the Python to make environments with; otherwise the first of 3.10 or newer
# ARGS=...    more arguments for what a target runs: make test ARGS='tests/kernel -x'

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lab lint bench docs

BIN := .venv/bin
READY := .venv/.ready
LAB_READY := .venv/.ready-lab
DEMO_READY := .venv-demo/.ready
BENCH_READY := .venv-bench/.ready

DEMO := examples/demo
DEMO_LIBRARY := justhtml
DEMO_NOTEBOOK := demo-output/exploration.ipynb

BENCH_LIBRARY := pandas
BENCH_VERSION := 2.2.3

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) $(DEMO_READY) ## explore a real task with the embedded model; leaves a notebook
	$(BIN)/exploracoder model pull
	@mkdir -p $(dir $(DEMO_NOTEBOOK))
	$(BIN)/exploracoder explore - --model embedded --library $(DEMO_LIBRARY) \
	  --python .venv-demo/bin/python --context $(DEMO)/context.py --check $(DEMO)/check.py \
	  --output $(DEMO_NOTEBOOK) $(ARGS) < $(DEMO)/task.txt

test: lint ## lint, then run all tests, the embedded model's included
	$(BIN)/exploracoder model pull
	$(BIN)/python -m pytest $(ARGS)

lab: $(LAB_READY) ## start JupyterLab in examples/
	@echo "JupyterLab opens exploration notebooks as they are; the sidebar is not built yet."
	$(BIN)/jupyter lab --ServerApp.root_dir=$(CURDIR)/examples $(ARGS)

lint: $(READY) ## check style, format, and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy docs

bench: $(READY) $(BENCH_READY) ## run the benchmarks that need neither a model nor a kit
	$(BIN)/python -m exploracoder_bench.overhead $(ARGS)
	$(BIN)/python -m exploracoder_bench.branching
	$(BIN)/python -m exploracoder_bench.index_speed $(BENCH_LIBRARY) \
	  --python .venv-bench/bin/python

docs: $(READY) ## write the pages that are made from the code
	$(BIN)/python docs/generate.py

$(READY): pyproject.toml
	@test -x $(BIN)/python || .ci/make-venv .venv $(PYTHON)
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	@touch $@

$(LAB_READY): $(READY)
	$(BIN)/python -m pip install --quiet -e '.[lab]'
	@touch $@

$(DEMO_READY): $(DEMO)/requirements.txt
	@test -x .venv-demo/bin/python || .ci/make-venv .venv-demo $(PYTHON)
	.venv-demo/bin/python -m pip install --quiet ipykernel -r $(DEMO)/requirements.txt
	@touch $@

$(BENCH_READY):
	@test -x .venv-bench/bin/python || .ci/make-venv .venv-bench $(PYTHON)
	.venv-bench/bin/python -m pip install --quiet $(BENCH_LIBRARY)==$(BENCH_VERSION)
	@touch $@

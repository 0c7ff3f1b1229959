# Every target makes what it needs: on a fresh machine only Python (3.11 or newer) and make are required.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := test,dev,docs,reproduction,plot,qp,dask,chunks,onnx,cli,serve,mcp,report,river,fast,excel,sql
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: demo transcript pictures docs gallery linkcheck test quick lint types contracts tests test-slow test-oldest torture release bench reproduce reproduce-quick clean

# A second stamp for the light install, so that the demo does not wait for the test tools.
$(VENV)/.base: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.all: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS)]'
	@touch $@ $(VENV)/.base

demo: $(VENV)/.base
	$(BIN)/python -m examples.demo

# The transcripts of `oneclass demo` in README and docs, made by the command itself.
transcript: $(VENV)/.all
	$(BIN)/python -m examples.transcript

# The pictures that pages and README keep.
pictures: $(VENV)/.all
	$(BIN)/python -m examples.front
	$(BIN)/python -m examples.howto
	$(BIN)/python -m examples.pages understand known_outliers time_series
	$(BIN)/python -m examples.streams
	$(BIN)/python -m examples.plots
	$(BIN)/python -m examples.report

# The site, with the gallery's pictures (GALLERY=0 leaves them out). Warnings and broken internal links are errors.
GALLERY ?= 1
SPHINX = $(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --define plot_gallery=$(GALLERY)
docs: $(VENV)/.all
	$(SPHINX) --builder html docs build/site
	@echo "build/site/index.html"

gallery: docs
	@echo "build/site/gallery/index.html"

# Links that leave the site; needs a network.
linkcheck: $(VENV)/.all
	$(SPHINX) --builder linkcheck docs build/links

test: lint types contracts tests

# What a contributor runs at every step: one parametrisation of each test, and the oracle tests whole. Two minutes.
quick: lint types contracts
	$(BIN)/pytest -q -n 2 -m "not slow and not browser" --quick

lint: $(VENV)/.all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.all
	$(BIN)/mypy

contracts: $(VENV)/.all
	$(BIN)/lint-imports

tests: $(VENV)/.all
	$(BIN)/pytest -q -n 2 -m "not slow"

test-slow: $(VENV)/.all
	$(BIN)/pytest -q -m slow

# The lowest versions that pyproject.toml allows, all at once, in an environment of its own.
OLDEST := build/oldest
test-oldest:
	@test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-oldest.txt \
		'.[cli,serve,qp,excel]' pytest pytest-xdist hypothesis array-api-strict polars httpx
	PYTHONPATH=src $(OLDEST)/bin/python -m pytest -q -n 2 -m "not slow" tests/core tests/baselines tests/machines \
		tests/tabular/test_cells.py tests/cli tests/io tests/files tests/serve/test_answers.py tests/test_import.py

# Hostile data and files, faults, threads, a long stream, and a high-precision reference; EFFORT=1 takes half a minute.
EFFORT ?= 50
torture: $(VENV)/.all
	$(BIN)/python -m torture --effort $(EFFORT) --page

# All steps of a release but the upload: builds, checks, an empty environment, the README, licences, a list of parts.
# DRY=1 only tells what the tree lacks, such as the address of the repository, where a release stops.
release: $(VENV)/.all
	$(BIN)/python -m release $(if $(DRY),--dry)

# Measurements: of speed (half an hour on two idle cores), with LONG=1 also those of many cores and of quality (a night), or
# only PARTS. Peers to measure against are not dependencies.
bench: export OPENBLAS_NUM_THREADS = 2
bench: $(VENV)/.all
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pyod river skops skl2onnx
	$(BIN)/python benchmarks $(PARTS) $(if $(LONG),--long)

# The page is written from what could be run, also where a task failed.
reproduce: $(VENV)/.all
	@$(BIN)/python -m reproduction run; failed=$$?; $(BIN)/python -m reproduction report && exit $$failed

reproduce-quick: $(VENV)/.all
	@$(BIN)/python -m reproduction run --quick --rows results/quick.jsonl; failed=$$?; \
	$(BIN)/python -m reproduction report --rows results/quick.jsonl --page results/quick.md && exit $$failed

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

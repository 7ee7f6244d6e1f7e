# `make demo` and `make test` are all that a newcomer needs; both create the environment first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
JOBS   ?= 2
MARKS  ?= not gpu

.DEFAULT_GOAL := help
.PHONY: help venv demo test bytecode test-gpu coverage check fix bench clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 12

# Installed again only when the dependencies may have changed.
$(STAMP): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 10) else "vitrify needs Python 3.10 or later, not " + sys.version.split()[0])'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[examples,dev]'
	touch $(STAMP)

venv: $(STAMP)  ## create .venv and install the package with everything that development needs

# The demo's matrices are small: a second BLAS thread costs more than it brings.
demo: export OPENBLAS_NUM_THREADS = 1
demo: $(STAMP)  ## train a digit classifier eagerly, compiled and half-compiled; compare; save and load
	$(BIN)/python examples/digits.py

# One BLAS thread a worker: more of them than cores only wait for each other.
test: export OPENBLAS_NUM_THREADS = 1
test: export OMP_NUM_THREADS = 1
# Many tests start a Python of their own. Where PYTHONDONTWRITEBYTECODE is set, each of those would compile what it imports,
# and each worker what it tests.
test bytecode: export PYTHONDONTWRITEBYTECODE =
# Half of the tests to each worker, which then share what remains: what the tests of a folder have in common is built once.
test: $(STAMP)  ## run every test that needs no GPU, the slow ones last (ARGS=... adds options of pytest, MARKS=... chooses)
	$(BIN)/python -m compileall -q src
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal -m "$(MARKS)" $(ARGS)

bytecode: $(STAMP)  ## compile the package and its tests, which the workers of `make test` would else do each for itself
	$(BIN)/python -m compileall -q src
	$(BIN)/python -m pytest -q -p no:cacheprovider --collect-only -m "$(MARKS)" >/dev/null

test-gpu: $(STAMP)  ## run the tests that need a CUDA device
	$(BIN)/python -m pytest -q -m gpu $(ARGS)

coverage: $(STAMP)  ## run the tests and say which lines none of them reaches
	$(MAKE) test ARGS="--cov=vitrify --cov-report=term --cov-report=html --cov-fail-under=95 $(ARGS)"

check: $(STAMP)  ## lint, types and house rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_house_rules.py
	$(BIN)/python tests/house_report.py

fix: $(STAMP)  ## repair what can be repaired automatically
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)  ## time vitrify, beside other frameworks where given: ARGS="--torch /path/to/python --jax ..."
	$(BIN)/python -m benchmarks.run $(ARGS)

clean:  ## remove the environment and everything generated
	rm -rf $(VENV) .venv-newest .pytest_cache .mypy_cache .ruff_cache .hypothesis htmlcov .coverage* runs vitrify_dump dist build

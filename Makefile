# Needs only Python 3.11+ and git. Everything is installed into .venv, from lock files with hashes.
#
#   make run     validate this repository's fleet, render generated/, print the plan
#   make test    all tests            make lint    format, ruff, mypy
#   make bench   the speed ratios     make docs    docs/reference, from schemas, help and codes
#   make lock    new lock files       make clean   remove what make made

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check -q

.DEFAULT_GOAL := run
.PHONY: run test lint format bench docs lock clean
.DELETE_ON_ERROR:

run: $(VENV)/.run
	$(BIN)/knaster validate
	$(BIN)/knaster render
	$(BIN)/knaster placement plan
	@printf '\nnext: . $(BIN)/activate, then knaster help\n'

test: $(VENV)/.dev
	$(BIN)/python -m pytest

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev
	$(BIN)/python -m bench

docs: $(VENV)/.run
	$(BIN)/python -m reference

# A stamp names what was installed; it is older than the files that say what to install when there is work to do.
$(VENV)/.made: Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "knaster needs Python 3.11 or newer; '$(PYTHON)' is not. Name one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot make virtual environments. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.run: $(VENV)/.made requirements.lock pyproject.toml knaster/version.py
	$(PIP) install --require-hashes -r requirements.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.lock
	$(PIP) install --require-hashes -r requirements-dev.lock
	@touch $@

# The build backend is locked too, so that an installation fetches nothing that has no hash.
LOCK := --quiet --no-cache --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
        --no-annotate --custom-compile-command "make lock"
lock:
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip --disable-pip-version-check -q install uv
	build/lock/bin/uv pip compile $(LOCK) --group build --extra dev pyproject.toml -o requirements-dev.lock
	build/lock/bin/uv pip compile $(LOCK) --group build -c requirements-dev.lock pyproject.toml -o requirements.lock
	rm -rf build/lock

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Set-up and checks. All is kept in .venv; PYTHON is any Python from 3.11 on.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test lint types layers unit filecheck conformance docs clean

# Take IR text through every phase, run it, and compare it with the reference.
demo: $(INSTALLED)
	$(BIN)/python -m transom.tools.demo

# Everything that must hold before a commit.
test: lint types layers unit filecheck conformance

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)
	$(BIN)/pyright

layers: $(INSTALLED)
	$(BIN)/python -m transom.tools.check_layers

unit: $(INSTALLED)
	$(BIN)/pytest -n 2

# The tests that the package onnx brings.
conformance: $(INSTALLED)
	$(BIN)/pytest -n 2 test/conformance/onnx

filecheck: $(INSTALLED)
	$(BIN)/lit -v --no-progress-bar test/filecheck

$(INSTALLED): pyproject.toml
	@test -n "$(PYTHON)" || { echo "expected Python 3.11 or later" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

# The pages of docs/reference, from the docstrings.
docs: $(INSTALLED)
	$(BIN)/python -m transom.tools.reference_docs
	$(BIN)/python -m transom.tools.operator_docs

clean:
	rm -rf $(VENV) build dist *.egg-info
	find . -name __pycache__ -prune -exec rm -rf {} +

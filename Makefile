# `make demo` and `make test` set everything up by themselves; a second call is quick.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

PAGE_PORT ?= 8000
LOCKED    ?=   # set: only files whose SHA-256 is in requirements.lock are installed

.PHONY: demo page test lint docs speed clean help

help:
	@echo "make demo    see what softhash does, in a minute or two"
	@echo "make page    look at the demo's pictures in a browser"
	@echo "make test    ruff, mypy, the import contract and pytest"
	@echo "make docs    build the documentation into site/"
	@echo "make speed   speed and memory, side by side with peers"
	@echo "make clean   remove the environment and what the demo wrote"

$(READY): pyproject.toml constraints.txt requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "softhash needs Python 3.11 or newer; try: make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) (once; a few minutes)"
ifeq ($(strip $(LOCKED)),)
	@$(PIP) 'pip>=25.1'
	@$(PIP) -c constraints.txt -e '.[all]' --group dev
else
	@$(PIP) --require-hashes --no-deps -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation --no-index -e .
endif
	@touch $@

demo: $(READY)
	@$(BIN)/softhash demo

page: $(READY)
	@$(BIN)/softhash demo --serve --port $(PAGE_PORT)

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

test: lint
	@OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal --cov --cov-report=term -m "not slow" $(TESTS)

docs: $(READY)
	@$(BIN)/mkdocs build --strict

speed: $(READY)
	@$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) demo site .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

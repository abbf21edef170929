# `make demo` and `make test` set everything up by themselves; a second call is quick.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready

PAGE_PORT ?= 8000

.PHONY: demo page test lint bench clean help

help:
	@echo "make demo    see what softhash does, in a minute"
	@echo "make page    look at the demo's pictures in a browser"
	@echo "make test    ruff, mypy and pytest"
	@echo "make bench   speed and memory, side by side with peers"
	@echo "make clean   remove the environment and what the demo wrote"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "softhash needs Python 3.11 or newer; try: make PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) (once; a few minutes)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,plot,serve,milvus]'
	@touch $@

demo: $(READY)
	@$(BIN)/softhash demo

page: $(READY)
	@$(BIN)/softhash demo --serve --port $(PAGE_PORT)

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

test: lint
	@$(BIN)/pytest --cov --cov-report=term -m "not slow" $(TESTS)

bench: $(READY)
	@$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) demo .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage

# Everything a newcomer needs: `make demo` and `make test` do all their own set-up.
.DEFAULT_GOAL := help
.PHONY: help demo test check format bench bench-peers docs clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ROWS ?= 100000

help: ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Horsies needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)

demo: $(READY) ## Run real tasks on an embedded PostgreSQL
	@$(BIN)/horsies demo

test: check ## Run every check and every test
	@rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest
	@$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --include='src/horsies/domain/*,src/horsies/application/*' --skip-covered --fail-under=95

check: $(READY) ## Lint, types, imports and generated docs, without the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	@$(BIN)/lint-imports --no-logo
	$(BIN)/python docs/generate.py --check

format: $(READY) ## Format the code and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY) ## Measure Horsies alone, in some minutes
	$(BIN)/python benchmarks/import_time.py
	$(BIN)/python benchmarks/memory_lives.py
	$(BIN)/python benchmarks/postgres_sends_and_claims.py $(ROWS)
	$(BIN)/python -m benchmarks.run $(BENCH)

bench-peers: $(READY) ## Measure it beside other queues; installs them in .venv-peers
	$(BIN)/python -m benchmarks.harness.environment
	$(BIN)/python -m benchmarks.run --peers $(BENCH)

docs: $(READY) ## Regenerate what is generated in the docs
	$(BIN)/python docs/generate.py

clean: ## Remove the environment and everything that was built
	rm -rf $(VENV) .venv-peers .coverage .coverage.* .hypothesis .pytest_cache .ruff_cache .import_linter_cache dist build

# Two commands are all a newcomer needs: `make audit` and `make test`. Each sets up what it uses.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= auto  # processes that share the tests: one a processor that may be used, 0 for none

.PHONY: audit test lint bench docs setup
setup: $(VENV)/.done

$(VENV)/.done: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

audit: $(VENV)/.done  ## audit the small BERT that is in the package
	$(BIN)/unmask audit

test: export OMP_NUM_THREADS ?= 1  # for models as small as those of the tests, a second thread costs more than it gives
test: $(VENV)/.done  ## run the tests
	$(BIN)/python -m pytest -q -n $(WORKERS) --maxprocesses 8 --dist worksteal

lint: $(VENV)/.done  ## formatting, style, types, and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.done  ## make the site of the pages in docs/, in site/; a broken link is an error
	$(BIN)/python -m sphinx -W --keep-going -q docs site
	@echo "The site: site/index.html"

bench: $(VENV)/.done  ## measure speed, as ratios in one run
	$(BIN)/python benchmarks/association.py
	$(BIN)/python benchmarks/sentiment.py
	$(BIN)/python benchmarks/inference.py
	$(BIN)/python benchmarks/geometry.py

# Two commands are all a newcomer needs: `make audit` and `make test`. Each sets up what it uses.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python compiles a module when it is first imported: compiling all of them here would take longer than the download.
INSTALL := -m pip install -qq --no-compile
LOCKED := --require-hashes --no-deps -r
WORKERS ?= auto  # test processes: one per available processor; 0 runs the tests in this process
PYTEST := -m pytest -q -n $(WORKERS) --maxprocesses 8 --dist loadfile --no-loadscope-reorder

.PHONY: audit golden test test-lowest test-latest lint lock bench docs setup
setup: $(VENV)/.main  ## an environment with the locked versions, for audits

$(VENV)/.locked: requirements/main.txt requirements/torch.txt requirements/cuda.txt
	@echo "Setting up $(VENV) (once; one to four minutes, longer where torch comes with CUDA)"
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python $(INSTALL) $(LOCKED) requirements/main.txt
	$(BIN)/python $(INSTALL) -r requirements/torch.txt -c requirements/cuda.txt
	touch $@

$(VENV)/.main: $(VENV)/.locked pyproject.toml
	$(BIN)/python $(INSTALL) --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.dev: $(VENV)/.main requirements/dev.txt
	@echo "Adding what the tests need to $(VENV) (once)"
	$(BIN)/python $(INSTALL) $(LOCKED) requirements/dev.txt
	touch $@

audit: $(VENV)/.main  ## audit the small BERT that is in the package
	$(BIN)/unmask audit

test test-lowest test-latest: export OMP_NUM_THREADS ?= 1  # a second thread slows models as small as those of the tests
test test-lowest test-latest: export PYTHONDONTWRITEBYTECODE :=  # otherwise every process compiles torch and transformers
test: $(VENV)/.dev  ## run the tests
	$(BIN)/python $(PYTEST)

test-lowest: $(VENV)-uv/.done  ## run the tests with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(VENV)-uv/bin/uv pip compile -q --resolution lowest-direct --only-binary :all: --python $(VENV)-lowest/bin/python \
		--extra docs --extra parquet --extra ray --extra spacy --no-annotate -o $(VENV)-lowest/lowest.txt pyproject.toml
	$(VENV)-lowest/bin/python $(INSTALL) -c $(VENV)-lowest/lowest.txt -e '.[dev]'
	$(VENV)-lowest/bin/python $(PYTEST)

test-latest:  ## run the tests with the newest releases, to see what is about to break
	$(PYTHON) -m venv --clear $(VENV)-latest
	$(VENV)-latest/bin/python $(INSTALL) -e '.[dev]'
	@echo "Newer than the lock:"
	@$(VENV)-latest/bin/python -m pip list --format freeze | sort > $(VENV)-latest/versions.txt
	@cut -d' ' -f1 requirements/*.txt | grep == | sort | comm -13 - $(VENV)-latest/versions.txt
	$(VENV)-latest/bin/python $(PYTEST)

lock: $(VENV)-uv/.done  ## resolve pyproject.toml anew and write requirements/*.txt
	$(VENV)-uv/bin/python tools/lock.py

$(VENV)-uv/.done:
	$(PYTHON) -m venv $(VENV)-uv
	$(VENV)-uv/bin/python $(INSTALL) 'uv==0.13.8' 'packaging==26.3'
	touch $@

lint: $(VENV)/.dev  ## formatting, style, types, and the direction of imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.dev  ## make the site of the pages in docs/, in site/; a broken link is an error
	$(BIN)/python -m sphinx -W --keep-going -q docs site
	@echo "The site: site/index.html"

bench: $(VENV)/.dev  ## measure speed, as ratios in one run
	$(BIN)/python benchmarks/association.py
	$(BIN)/python benchmarks/sentiment.py
	$(BIN)/python benchmarks/inference.py
	$(BIN)/python benchmarks/geometry.py

golden: $(VENV)/.dev  ## compare the numbers of many runs with the recorded ones, to the last bit (about ten minutes)
	$(BIN)/python tests/golden/check.py

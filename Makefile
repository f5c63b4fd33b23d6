# Every target sets up what it needs: nothing but Python 3.11 or later is expected.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test test-thorough fuzz browser check bench docs clean

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Tacita needs Python 3.11 or later; run make PYTHON=python3.11 (or newer)."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@

demo: $(INSTALLED)  ## the main job on a synthetic household survey
	$(BIN)/tacita demo --out demo --overwrite

# The parts of the suite one after the other; each prints its time. A part without any test (5) is no failure.
# Each process takes a half of the tests in their order, then what the other has left: what is compiled or made for a
# file of tests is so but once.
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
define part
	@echo "== $(1)"; began=$$(date +%s); $(2); code=$$?; \
	  echo "== $(1): $$(($$(date +%s) - began)) s"; [ $$code -eq 0 ] || [ $$code -eq 5 ]
endef

test: $(INSTALLED) browser spark  ## all tests, part by part; what was skipped is listed with its reason
	$(call part,core,$(PYTEST) -m "not browser and not spark and not fuzz" --doctest-modules src tests)
	$(call part,browser,$(PYTEST) -m browser tests)
	@$(MAKE) --no-print-directory -j 2 $(APART) test-spark test-fuzz

# One process each, beside each other: what each prints is shown when it has ended.
APART := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
.PHONY: test-spark test-fuzz
test-spark: $(INSTALLED) spark
	$(call part,spark,$(BIN)/python -m pytest -m spark tests)

test-fuzz: $(INSTALLED)
	$(call part,fuzz,$(BIN)/python -m pytest -m fuzz tests)

test-thorough: $(INSTALLED) browser spark  ## the same at once, every property on twenty times as many examples, and long tests
	$(PYTEST) --thorough --doctest-modules src tests

fuzz: $(INSTALLED)  ## 4,000 damaged files of each format and 10,000 senseless calls: each ends in a result or a sentence
	$(BIN)/python -m fuzz.files --count 4000
	$(BIN)/python -m fuzz.calls --count 10000

# Figures are opened in Debian's own Chromium, since Playwright's would be a download of its own. Where it may not be
# installed, those tests are skipped and say why.
browser:  ## Chromium for the tests of figures, where it may be installed
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	    { apt-get install -qq -y --no-install-recommends chromium >/dev/null 2>&1 || \
	      { apt-get update -qq >/dev/null 2>&1 && \
	        apt-get install -qq -y --no-install-recommends chromium >/dev/null 2>&1; }; }; } || \
	  echo "no Chromium and none could be installed: tests of figures in a browser will be skipped"

# PySpark is 456 MB and comes with no Java of its own: where either may not be installed, its tests are skipped and say why.
.PHONY: spark
spark: $(INSTALLED)  ## PySpark and a Java runtime for the tests on Spark, where they may be installed
	@$(BIN)/python -c 'import pyspark' 2>/dev/null || $(BIN)/python -m pip install --quiet --editable ".[spark]" || \
	  echo "PySpark could not be installed: tests on Spark will be skipped"
	@command -v java >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	    { apt-get install -qq -y --no-install-recommends default-jre-headless >/dev/null 2>&1 || \
	      { apt-get update -qq >/dev/null 2>&1 && \
	        apt-get install -qq -y --no-install-recommends default-jre-headless >/dev/null 2>&1; }; }; } || \
	  echo "no Java and none could be installed: tests on Spark will be skipped"

check: $(INSTALLED)  ## style and types
	$(BIN)/ruff check src tests benchmarks fuzz
	$(BIN)/ruff format --check src tests benchmarks fuzz
	$(BIN)/mypy

bench: $(INSTALLED)  ## times, memory, growth with n, ratios to rivals; models of risk against known populations
	$(BIN)/python benchmarks/run.py

docs: $(INSTALLED)  ## the documentation, in site/
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "the documentation is in site/index.html"

clean:  ## remove what the targets made
	rm -rf $(VENV) .venv-pycanon .venv-populations demo site .pytest_cache .mypy_cache .ruff_cache .hypothesis

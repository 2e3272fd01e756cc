# make run    set up and play the course's tournament    make test   set up and run every check
# make serve  set up and open the page with the lab, FILES="mine.py" for files of yours
# make bench  the performance ratios                    make docs   write the generated pages anew
# make bench-docs  measure anew all that docs/performance.md and docs/theory.md tell (minutes)
# make torture  kills at every write, hostile agents and heuristics, changing files, kills of the lab, damaged files (minutes)
# make leaderboard  ask all built-in agents the same won positions and write docs/leaderboard.md (minutes)
# make docs-site  the documentation as a site, in build/docs-site
# make package  the wheel and the sdist, installed alone and with each extra (minutes; gigabytes for torch)
# make wasm  the browser's engine, from the kernels (a minute; needs Debian's lld or pip install ziglang)
# make studies  fit and play the five studies again and write docs/studies/ (three quarters of an hour)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Files are shared out whole: what a file compiles or plays at its beginning is done once.
PARALLEL := --numprocesses 3 --dist loadfile --no-loadscope-reorder
# Python keeps the bytecode it makes, whatever the shell says: the tests start it a hundred times, and
# pytest's own bytecode takes either process half a minute.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: wasm browser bubblewrap run serve test test-shuffled test-slow test-learn torture compiled lint lint-python \
  lint-page bench bench-docs docs leaderboard docs-site package studies clean

run: $(VENV)/ready-to-run
	$(BIN)/knightfall tournament

serve: $(VENV)/ready-to-run
	$(BIN)/knightfall serve $(FILES)

# The page's tests need a browser: Debian's is installed where we may, and else they are skipped.
# The one without windows takes less time and memory than the other.
BROWSERS := chromium-headless-shell chromium chromium-browser google-chrome
browser:
	@found() { for one in $(BROWSERS); do command -v $$one >/dev/null && return; done; return 1; }; \
	  found && exit 0; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing Debian's chromium for the page's tests …"; \
	    install() { apt-get install --yes --quiet --no-install-recommends $$1 >/dev/null 2>&1; }; \
	    install chromium-headless-shell || { apt-get update --quiet >/dev/null 2>&1; \
	      install chromium-headless-shell || install chromium; } || true; \
	  fi; \
	  found || echo "no chromium here: the page's tests will be skipped"

# So do the tests of the sandbox: without bubblewrap, only that of our own namespaces is tested.
bubblewrap: browser
	@command -v bwrap >/dev/null && exit 0; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing Debian's bubblewrap for the tests of the sandbox …"; \
	    install() { apt-get install --yes --quiet --no-install-recommends bubblewrap >/dev/null 2>&1; }; \
	    install || { apt-get update --quiet >/dev/null 2>&1; install; } || true; \
	  fi; \
	  command -v bwrap >/dev/null || echo "no bubblewrap here: its sandbox will not be tested"

# Two things are done at a time: what one installs, the other compiles or checks meanwhile.  What
# a command prints appears when it ends.
test:
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=line lint-python compiled lint-page bubblewrap
	$(BIN)/python -m pytest $(PARALLEL)

compiled: $(VENV)/installed $(VENV)/tournament-compiled
	@$(BIN)/python tests/warm_up.py

# The same tests in a random order, another one each day; SEED=1 repeats one.
SEED ?= $(shell date +%Y%m%d)
test-shuffled: $(VENV)/ready-to-test
	$(BIN)/python -m pytest $(PARALLEL) --shuffle $(SEED)

test-slow: $(VENV)/ready-to-test
	$(BIN)/python -m pytest -m slow
	$(BIN)/python -m pytest $(PARALLEL) -m hypothesis --hypothesis-profile thorough

# The net is fitted by torch, which is large: these tests are skipped without it.
test-learn: $(VENV)/ready-to-test
	$(PIP) install --quiet --constraint constraints.txt --editable '.[net]'
	$(BIN)/python -m pytest tests/learning

# The files are damaged beside all the rest: either keeps one core busy.
torture: $(VENV)/ready-to-test bubblewrap
	@$(BIN)/python tests/torture/damaged_files.py 20000 1 > $(VENV)/damaged_files.txt & files=$$!; \
	  wrong=0; for part in kills agents heuristics changing_files lab; do \
	    $(BIN)/python tests/torture/$$part.py || wrong=1; echo; done; \
	  wait $$files || wrong=1; cat $(VENV)/damaged_files.txt; exit $$wrong

lint: lint-python lint-page

lint-python: $(VENV)/ready-to-test
	$(BIN)/ruff check src tests benchmarks docs examples
	$(BIN)/ruff format --check src tests benchmarks docs examples README.md
	$(BIN)/mypy

# The page's JavaScript: the TypeScript compiler reads the types in its comments, Biome lints and formats it.
# Both need node, and are installed once, in the versions of package.json, with Fairy-Stockfish for the tests of engines.
NODE_TOOLS := $(VENV)/node
NODE_BIN := $(NODE_TOOLS)/node_modules/.bin
lint-page: $(BIN)/python
	@command -v node >/dev/null && command -v npm >/dev/null || \
	  { echo "node and npm are not installed: the page's JavaScript is not checked"; exit 0; }; \
	  $(MAKE) --silent --no-print-directory $(NODE_TOOLS)/ready; test -e $(NODE_TOOLS)/ready || exit 0; \
	  set -ex; $(NODE_BIN)/tsc --project tsconfig.json; $(NODE_BIN)/tsc --project tsconfig.worker.json; \
	  $(NODE_BIN)/biome check --error-on-warnings

NPM_INSTALL := npm install --include=dev --include=optional --ignore-scripts --no-package-lock --no-audit --no-fund \
  --prefer-offline --fetch-retries=1 --fetch-retry-mintimeout=1000
$(NODE_TOOLS)/ready: package.json
	@rm -f $@; mkdir -p $(NODE_TOOLS); cp package.json $(NODE_TOOLS)
	@{ $(NPM_INSTALL) --prefix $(NODE_TOOLS) && $(NODE_BIN)/tsc --version && $(NODE_BIN)/biome --version; } \
	  >$(NODE_TOOLS)/install.log 2>&1 && touch $@ || \
	  echo "npm could not install tsc and biome ($(NODE_TOOLS)/install.log): the page's JavaScript is not checked"

bench: $(VENV)/ready-to-test
	$(BIN)/python -m benchmarks

docs: $(VENV)/ready-to-test
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/theory.py
	$(BIN)/python -m benchmarks.document

leaderboard: $(VENV)/ready-to-test
	$(BIN)/knightfall learn data $(VENV)/positions --positions 60000 --board 7x7 --workers 2
	$(BIN)/knightfall learn leaderboard $(VENV)/positions --workers 2 --json > $(VENV)/leaderboard.json
	mv $(VENV)/leaderboard.json docs/leaderboard.json
	$(BIN)/python docs/generate.py

# The site from docs/ and mkdocs.yml, with the examples and the page to play in it, and a check of
# all its links.  A page's links to ../examples/ would lead out of the site.
docs-site: $(VENV)/ready-for-docs
	$(BIN)/zensical build --clean --strict
	cp -R examples build/docs-site
	sed -i.old 's|"../../examples/|"../examples/|g' build/docs-site/*/index.html
	rm build/docs-site/*/index.html.old
	$(BIN)/knightfall site build/docs-site/play > /dev/null
	$(BIN)/python docs/check_site.py build/docs-site
	@echo "to read it: python3 -m http.server --directory build/docs-site"

# EXTRAS="dask fit" chooses some of the extras.
package: $(VENV)/ready-to-test
	@$(BIN)/python tests/installed_package.py $(EXTRAS)

bench-docs: $(VENV)/ready-to-test
	$(BIN)/python -m benchmarks --all --json > $(VENV)/measured.json
	mv $(VENV)/measured.json docs/measured.json
	$(BIN)/python docs/theory.py
	$(BIN)/python -m benchmarks.document

# Without this machine's vector instructions, which a browser has not: they double the file.
wasm: $(VENV)/ready-to-test
	NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES= $(BIN)/python -m knightfall.web.engine.build

studies: $(VENV)/ready-to-test
	$(BIN)/knightfall reproduce all --pairs 700 --budget all --seed 0 --fit --output docs/studies
	cp docs/studies/fit.json src/knightfall/studies/data/fitted.json

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "knightfall needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# What the tournament needs comes first: its search is compiled while the rest is installed.  Python
# compiles what a command imports when it does, which takes less time than compiling everything.
PLAYING := numba numpy platformdirs rich scipy typer
INSTALL := $(PIP) install --quiet --no-compile --constraint constraints.txt
$(VENV)/can-play: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) $(PLAYING)
	@touch $@

$(VENV)/tournament-compiled: $(VENV)/can-play
	@PYTHONPATH=src $(BIN)/python -c \
	  'import knightfall as kf; kf.tournament(course_only=True, workers=0, progress=False)'
	@touch $@

$(VENV)/installed: $(VENV)/can-play
	$(INSTALL) --editable .
	@touch $@

$(VENV)/ready-to-run: pyproject.toml constraints.txt
	@$(MAKE) --no-print-directory --jobs 2 $(VENV)/installed $(VENV)/tournament-compiled
	@touch $@

$(VENV)/ready-to-test: $(VENV)/installed
	$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(VENV)/ready-for-docs: $(VENV)/installed
	$(INSTALL) --editable '.[docs]'
	@touch $@

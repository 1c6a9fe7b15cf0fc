# make train    set up .venv, train the quick start, print its evaluation table
# make player   set up .venv, train the strongest player: teacher data, clone, self-play; two hours
# make test     set up .venv, run every check
# make bench    set up .venv, run the benchmarks
#
# Variables: PYTHON (the interpreter .venv is made with), ARGS (passed on to pytest or the
# benchmarks). pip's own environment, such as PIP_EXTRA_INDEX_URL, is left as it is.

# The first interpreter that really runs (version-manager shims may not) and is supported.
SUPPORTED := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))
ifndef PYTHON
PYTHON := $(shell for p in python3 python3.13 python3.12 python3.11; do \
	if "$$p" -c '$(SUPPORTED)' >/dev/null 2>&1; then echo "$$p"; break; fi; done)
endif

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ARGS ?=

# OpenMP threads that spin while they wait are many times slower on few or busy cores.
OMP_WAIT_POLICY ?= PASSIVE
export OMP_WAIT_POLICY

.PHONY: help install train player ablations test lint types imports bench constraints clean

help:
	@sed -n 's/^# \{0,1\}//; 1,7p' Makefile

install: $(STAMP)

# Only a change of what is installed installs again.
$(STAMP): pyproject.toml constraints.txt
	@"$(PYTHON)" -c '$(SUPPORTED)' >/dev/null 2>&1 || { \
		echo "prefa needs Python 3.11, 3.12 or 3.13; found $(or $(PYTHON),none that runs)." >&2; \
		echo "Name one that works: make PYTHON=/path/to/python3.12 ..." >&2; exit 1; }
	@echo "Installing into $(VENV) (a few minutes the first time) ..."
	@"$(BIN)/python" -c '$(SUPPORTED)' >/dev/null 2>&1 || "$(PYTHON)" -m venv --clear $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet \
		-c constraints.txt -e '.[train,report,dev]'
	@touch $@

train: $(STAMP)
	$(BIN)/python train.py --config configs/quickstart.yaml --resume true
	$(BIN)/python evaluate.py --config configs/quickstart_eval.yaml

player: $(STAMP)
	$(BIN)/python train.py \
		--stages configs/teacher.yaml,configs/clone.yaml,configs/selfplay.yaml
	rm -rf runs/player
	$(BIN)/python -m agents.release --source runs/selfplay --out runs/player \
		--onnx runs/player.onnx
	$(BIN)/python evaluate.py --config configs/evaluate_select.yaml --candidates runs/player

# Needs the teacher data of `make player`.
ablations: $(STAMP)
	$(BIN)/python -m benchmarks.ablations --json docs/results/ablations.json $(ARGS)

test: lint types imports
	$(BIN)/python -m pytest -n 2 $(ARGS)

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(STAMP)
	$(BIN)/mypy

imports: $(STAMP)
	$(BIN)/lint-imports --no-logo

bench: $(STAMP)
	$(BIN)/python -m benchmarks $(ARGS)

# Pins anew. uv looks at metadata only. What torch brings for CUDA is left out: torch pins it
# itself, and a CPU build of torch does not want it.
UV ?= uv
constraints:
	@{ sed -n '/^#/p' constraints.txt; $(UV) pip compile --quiet --universal \
		--python-version 3.11 --fork-strategy fewest --upgrade-package torch==2.13.0 \
		--extra train --extra report --extra dev --no-annotate --no-header pyproject.toml \
		| grep -Ev '^(cuda|nvidia|triton)(-|=)'; } > constraints.new
	@mv constraints.new constraints.txt

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

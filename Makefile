# Targets are names, not files: make cannot cope with a path that has a space in it.
# What is installed and up to date is for install.py to know.

PYTHON ?= python3
ARGS ?=
VENV_PYTHON := .venv/bin/python

# Progress must be seen as it happens, also in a log file.
export PYTHONUNBUFFERED := 1

# $(PYTHON) if it is new enough, otherwise the newest that is on the PATH.
INSTALL = @for python in "$(PYTHON)" python3.13 python3.12 python3.11; do \
	if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	then exec "$$python" install.py $(1); fi; \
	done; \
	echo "error: Python 3.11 or newer is needed: install it, or name one as in" \
	"make run PYTHON=/path/to/python3." >&2; exit 1

UV_COMPILE = .venv/bin/uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock" pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help run login test test-cluster clients coverage lint docs manifests images audit lock screens demo release stop clean install install-dev

help:
	@echo "make run    install what is missing and start the server (Ctrl-C ends it)"
	@echo "make login  print the API key and the admin's login; a changed password is set anew"
	@echo "make test   run the tests; make test ARGS='-k window' runs some"
	@echo "make test-cluster PG=/usr/lib/postgresql/18  run tests on a cluster of a PostgreSQL with Citus"
	@echo "make clients  check the clients' types, and run their tests against a server of their own"
	@echo "make coverage  run the tests and say how much of each module they run"
	@echo "make screens  take pictures of every screen of the admin (SCREENS=docs/screens)"
	@echo "make demo   start a server of its own, filled with three weeks of two tenants (var/demo)"
	@echo "make lint   check style, types, layers, migrations and Django's list for a deployment"
	@echo "make docs   build the documentation into docs/_build and check its links"
	@echo "make manifests  check the Dockerfiles, the compose file, the chart and the units"
	@echo "make images  build the container images and run the README's session in them (as root, on Debian)"
	@echo "make release  build the wheels and the npm package into dist, try each in an empty folder, and the images"
	@echo "make audit  ask whether a package that we pin has a known vulnerability"
	@echo "make stop   stop the embedded PostgreSQL, which outlives make run"
	@echo "make lock   resolve pyproject.toml into the lock files anew"
	@echo "make clean  remove .venv and caches; the data folder stays"
	@echo
	@echo "PYTHON=python3.12 chooses the interpreter, MEMORY_DATA_DIR the data folder (var)."

run:
	$(call INSTALL,--run)
	@exec $(VENV_PYTHON) manage.py run

login: install
	@exec $(VENV_PYTHON) manage.py login

# Under CI a skipped test is a failed run: nobody would read that it was skipped. There alone a
# test of the gate that fails is tried once more, and its first failure printed.
# All of the suite is run by two processes, each with a server of its own; a part by one.
test: install-dev
	@exec $(VENV_PYTHON) -m pytest $${CI:+-p tests.no_skips -p tests.reruns} $(if $(ARGS),$(ARGS),-n 3 --dist worksteal)

# PG names the folder with bin/. docs/cluster.md says how to get Citus.
CLUSTER_TESTS = tests/cluster tests/tenancy/test_matrix.py tests/security/test_attacks.py \
	tests/erasure/test_canary.py tests/erasure/test_facts.py tests/erasure/test_resurrection.py \
	tests/api
test-cluster: install-dev
	@if [ -z "$(PG)" ]; then echo "skipped: PG names no PostgreSQL with Citus"; \
	else TEST_CLUSTER_PG="$(PG)" exec $(VENV_PYTHON) -m pytest -m "not images" $(or $(ARGS),$(CLUSTER_TESTS)); fi

# What the clients need is in virtualenvs of its own: the server knows nothing of it. The
# frameworks stand apart, since langchain-tests brings plugins that change any run of pytest.
CLIENTS_PYTHON := $(CURDIR)/.venv-clients/bin/python
ADAPTERS_PYTHON := $(CURDIR)/.venv-adapters/bin/python
clients: install-dev
	$(VENV_PYTHON) clients/install.py
	cd clients/python && "$(ADAPTERS_PYTHON)" -m mypy src tests generate_types.py
	cd clients/python && "$(ADAPTERS_PYTHON)" -m mypy integration_tests
	cd clients/mcp && "$(CLIENTS_PYTHON)" -m mypy src ../hooks/memory_hook.py ../hooks/memory_calls.py ../hooks/install.py
	@$(VENV_PYTHON) clients/live.py sh clients/run_tests.sh $(ARGS)

lint: install-dev
	$(VENV_PYTHON) -m ruff check .
	$(VENV_PYTHON) -m ruff format --check .
	$(VENV_PYTHON) -m mypy
	.venv/bin/lint-imports
	$(VENV_PYTHON) manage.py makemigrations --check --dry-run
	MEMORY_HTTPS=true MEMORY_ALLOWED_HOSTS=memory.example.com \
		$(VENV_PYTHON) manage.py check --deploy --fail-level WARNING

# Any warning, such as a link that leads nowhere, ends the build. It needs no network.
docs: install-dev
	$(VENV_PYTHON) -m sphinx --builder html --fresh-env --fail-on-warning --keep-going --quiet \
		docs docs/_build

# Takes minutes the first time: a root file system is made, and packages are fetched into it.
images: install-dev
	.ci/podman
	@exec $(VENV_PYTHON) -m pytest -m images tests/deploy

# The Dockerfiles, the compose file, the chart and the units, by tools that nothing else needs.
manifests: install-dev
	@.venv/bin/uv run --quiet --no-project --python $(VENV_PYTHON) \
		--with-requirements deploy/requirements.lock deploy/check.py

# Wheels of server, Python client and MCP server, the npm package, and images: docs/releasing.md.
release: install-dev
	@$(VENV_PYTHON) deploy/release.py
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then exec $(MAKE) images; \
	else echo "Not tried here: the images (make images, as root on Debian)"; fi

# Known vulnerabilities of what the lock files pin; says so where nobody can be asked.
audit: install-dev
	@$(VENV_PYTHON) .ci/audit.py requirements.lock requirements-minilm.lock requirements-traces.lock requirements-dev.lock \
		clients/requirements.lock clients/adapters.lock clients/hermes.lock

# ARGS names tests, REPORT what to report on: make coverage ARGS=tests/notes REPORT='--include=wings/notes/*'
REPORT ?=
coverage: install-dev
	$(VENV_PYTHON) -m coverage run -m pytest $(ARGS)
	$(VENV_PYTHON) -m coverage report $(REPORT)

lock: install-dev
	$(UV_COMPILE) -o requirements.lock
	$(UV_COMPILE) --extra minilm -o requirements-minilm.lock
	$(UV_COMPILE) --extra traces -o requirements-traces.lock
	$(UV_COMPILE) --extra minilm --extra traces --group dev -o requirements-dev.lock
	$(UV_COMPILE:pyproject.toml=) --no-emit-package memory-server-client clients/python/pyproject.toml \
		clients/mcp/pyproject.toml clients/dev.in -o clients/requirements.lock
	$(UV_COMPILE:pyproject.toml=) deploy/requirements.in -o deploy/requirements.lock
	$(UV_COMPILE:pyproject.toml=) --no-emit-package memory-server-client --constraints clients/requirements.lock \
		clients/mcp/pyproject.toml -o clients/mcp/requirements.lock
	$(UV_COMPILE:pyproject.toml=) --all-extras clients/python/pyproject.toml clients/adapters.in \
		-o clients/adapters.lock
	$(UV_COMPILE:pyproject.toml=) --no-deps clients/hermes.in -o clients/hermes.lock

# Pictures of every screen of the admin, as the tests see them.
SCREENS ?= docs/screens
screens: install-dev
	SCREENS_DIR="$(SCREENS)" $(VENV_PYTHON) -m pytest -m gate tests/browser/test_screens.py

# A data folder of its own: what is in it is rewritten, to be three weeks old.
demo: export MEMORY_DATA_DIR ?= $(CURDIR)/var/demo
demo: export MEMORY_LLM = offline
demo: install-dev
	@$(VENV_PYTHON) manage.py migrate --verbosity 0
	@MEMORY_LOG_LEVEL=WARNING $(VENV_PYTHON) manage.py shell --no-imports -c "from tests.browser import demo; demo.main()"
	@exec $(VENV_PYTHON) manage.py run

stop:
	@if [ -x $(VENV_PYTHON) ]; \
	then exec $(VENV_PYTHON) -m memoryproject.embedded stop "$${MEMORY_DATA_DIR:-var}"; \
	else echo "Nothing is installed here, so nothing runs."; fi

# The server runs out of .venv: it must end first.
clean: stop
	rm -rf .venv .venv-clients .venv-adapters clients/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

install:
	$(call INSTALL)

install-dev:
	$(call INSTALL,--dev)

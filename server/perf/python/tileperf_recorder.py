"""The record of what a process of the user's really ran: its file, and what starts it.

The loop compares two versions of a kernel by running the user's own test and benchmark commands.
Only the process itself knows which file was imported and what was launched, so the process says
it: JSON Lines appended to the file that ``TILEPERF_RECORD`` names. Several processes share the
file; every line is one ``write`` to a file opened for appending.

Environment:

``TILEPERF_RECORD``        the file; without it nothing happens
``TILEPERF_RECORD_LIMIT``  distinct launches, compiles, searches and modules a process may report
``TILEPERF_TREE``          the tree under test
``TILEPERF_FILES``         JSON list of files under test, relative to that tree
``TILEPERF_OFF``           ``1`` switches everything off

Events written here: ``start`` once in a process, ``fault`` where the recorder itself failed, once
for each place. The others are described in `tileperf_launches` and `tileperf_modules`.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tileperf_launches import Launches

PROTOCOL = 1
DEFAULT_LIMIT = 10_000
# A line longer than this loses its largest fields: nobody reads it, and short appends stay whole.
LINE_BYTES = 64 * 1024
# The modules whose functions are wrapped once they are imported.
WRAPPED = ("cuda.tile", "cuda.tile.tune", "cuda.tile_experimental")

_recorder: Recorder | None = None


class Recorder:
    """Writes the record of this process."""

    def __init__(self, path: str, limit: int) -> None:
        self._path = os.path.abspath(path)
        self._limit = limit
        self._kept = 0
        self._faults: set[str] = set()
        self.dropped = 0
        self.tree = os.path.realpath(tree) if (tree := os.environ.get("TILEPERF_TREE")) else None
        # Called where a kernel is seen for the first time, and at exit.
        self.scan: Callable[[], None] = lambda: None

    def inside(self, file: str | None) -> bool | None:
        """Say whether a file lies in the tree under test; None without a tree or a file."""
        if self.tree is None or not file:
            return None
        return os.path.realpath(file).startswith(self.tree.rstrip(os.sep) + os.sep)

    def full(self) -> bool:
        """Tell, before a costly description, that a line will not be kept; count it as dropped."""
        if self._kept < self._limit:
            return False
        self.dropped += 1
        return True

    def keep(self, event: dict[str, Any]) -> None:
        """Write one of the lines that the limit counts, if it still allows one."""
        if not self.full():
            self._kept += 1
            self.write(event)

    def write(self, event: dict[str, Any]) -> None:
        """Append one line. A file that cannot be written is no business of the user's."""
        line = _line({**event, "pid": os.getpid()})
        try:
            # Opened for each line: a descriptor kept open could be closed and its number reused
            # by the program, and lines are rare.
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(self._path, flags, 0o600)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)
        except OSError:
            pass

    def fault(self, where: str, error: BaseException) -> None:
        """Report that the recorder failed at a place, the first time it does."""
        if where in self._faults:
            return
        self._faults.add(where)
        try:
            message = f"{type(error).__name__}: {error}"[:2000]
        except Exception:
            message = type(error).__name__
        self.write({"event": "fault", "where": where, "message": message})

    def forked(self) -> None:
        """Begin anew in a forked child, whose launches are not its parent's."""
        self._kept = 0
        self.dropped = 0
        self._faults.clear()


def _line(event: dict[str, Any]) -> bytes:
    line = json.dumps(event, allow_nan=False, separators=(",", ":"))
    if len(line) > LINE_BYTES:
        sizes = {name: len(json.dumps(value)) for name, value in event.items()}
        cut = [name for name, size in sizes.items() if size > LINE_BYTES // 16]
        event = {name: None if name in cut else value for name, value in event.items()}
        line = json.dumps({**event, "cut": cut}, separators=(",", ":"))
    return (line + "\n").encode()


class AfterImport:
    """A finder that finds nothing itself, but acts on some modules once they are imported.

    A module is left to the other finders; only its loader's ``exec_module`` is replaced, on the
    instance and until it has run, so that neither ``__loader__`` nor ``__spec__`` changes type.
    """

    def __init__(
        self, actions: dict[str, Callable[[ModuleType], None]], recorder: Recorder
    ) -> None:
        self._actions = actions
        self._recorder = recorder
        self._finding: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Prepare the spec of one of our modules, and leave every other name alone."""
        if name not in self._actions or name in self._finding:
            return None
        self._finding.add(name)
        try:
            spec = self._delegate(name, path, target)
            if spec is not None and spec.loader is not None:
                self._prepare(name, spec.loader)
            return spec
        except Exception as error:
            # The finders after this one are asked next, and raise whatever is theirs to raise.
            self._recorder.fault("import", error)
            return None
        finally:
            self._finding.discard(name)

    def _delegate(self, name: str, path: Any, target: Any) -> Any:
        for finder in list(sys.meta_path):
            find_spec = getattr(finder, "find_spec", None)
            if finder is self or find_spec is None:
                continue
            spec = find_spec(name, path, target)
            if spec is not None:
                return spec
        return None

    def _prepare(self, name: str, loader: Any) -> None:
        if isinstance(loader, type):
            return  # a loader of all built-in modules, not of this one
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            try:
                execute(module)
            except BaseException as error:
                hide_frame(error)
                raise
            finally:
                if module.__name__ == name:
                    vars(loader).pop("exec_module", None)
            if module.__name__ == name:
                self.act(module)

        loader.exec_module = exec_module

    def act(self, module: ModuleType) -> None:
        """Do what is to be done once the module is there."""
        try:
            self._actions[module.__name__](module)
        except Exception as error:
            self._recorder.fault(f"after import of {module.__name__}", error)


def hide_frame(error: BaseException) -> None:
    """Take the frame of a wrapper out of the traceback that is about to be raised again.

    Works from Python 3.11 on, where ``raise`` uses the exception's own traceback; Python 3.10
    shows the wrapper's frame.
    """
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next


def active() -> Recorder | None:
    """Return the recorder of this process, if it records."""
    return _recorder


def install() -> None:
    """Start recording as the environment says. Raises nothing, and does nothing twice."""
    global _recorder
    path = os.environ.get("TILEPERF_RECORD")
    if _recorder is not None or not path or os.environ.get("TILEPERF_OFF") == "1":
        return
    try:
        limit = int(os.environ.get("TILEPERF_RECORD_LIMIT", DEFAULT_LIMIT))
    except ValueError:
        limit = DEFAULT_LIMIT
    recorder = _recorder = Recorder(path, limit)
    try:
        _start(recorder)
    except Exception as error:
        recorder.fault("install", error)


def _start(recorder: Recorder) -> None:
    recorder.write(
        {
            "event": "start",
            "protocol": PROTOCOL,
            "ppid": os.getppid(),
            "python": ".".join(map(str, sys.version_info[:3])),
            "executable": sys.executable,
        }
    )
    if recorder.tree is not None and (files := os.environ.get("TILEPERF_FILES")):
        try:
            import tileperf_modules

            tileperf_modules.install(recorder, json.loads(files))
        except Exception as error:
            recorder.fault("files under test", error)

    launches: list[Launches] = []

    def wrap(module: ModuleType) -> None:
        # Most processes never get here, and do not pay for importing what describes launches.
        import tileperf_launches

        if not launches:
            launches.append(tileperf_launches.Launches(recorder))
        launches[0].wrap(module)

    def finish() -> None:
        try:
            recorder.scan()
            for one in launches:
                one.report_counts()
        except Exception as error:
            recorder.fault("exit", error)

    def forked() -> None:
        recorder.forked()
        for one in launches:
            one.forked()

    finder = AfterImport(dict.fromkeys(WRAPPED, wrap), recorder)
    sys.meta_path.insert(0, finder)
    for name in WRAPPED:
        if name in sys.modules:
            finder.act(sys.modules[name])
    atexit.register(finish)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forked)

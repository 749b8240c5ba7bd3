"""Keep executed code from doing anything but computing.

Slices hold definitions and constants of a workspace that the user trusts, so this is a guard
against accidents (a half-typed line, a constant read from a file), not a jail for hostile code.
There are three layers: slices see stand-ins for modules that touch the world (`tileperf_standins`),
Python's audit events refuse files, processes and the network while slices run, and the operating
system refuses new processes and written files for the whole life of this one.
"""

from __future__ import annotations

import os
import resource
import signal
import site
import stat
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# The exit status after an answer of kind `time`.
TIME_IS_UP = 75

# What reports a request to the world outside, by the beginning of its audit event.
_WORLD = (
    "_posixsubprocess.",
    "_thread.",
    "_winapi.",
    "ctypes.",
    "fcntl.",
    "ftplib.",
    "glob.",
    "http.",
    "imaplib.",
    "mmap.",
    "msvcrt.",
    "nntplib.",
    "os.",
    "pathlib.",
    "poplib.",
    "pty.",
    "resource.",
    "shutil.",
    "signal.",
    "smtplib.",
    "socket.",
    "sqlite3.",
    "subprocess.",
    "sys.addaudithook",
    "syslog.",
    "telnetlib.",
    "tempfile.",
    "urllib.",
    "webbrowser.",
    "winreg.",
)
# What imports of the standard library need, in Python's own folders.
_LOOKING = ("os.listdir", "os.scandir")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class RefusedError(PermissionError):
    """Executed code asked for something that slices may not do."""


class _Guard:
    """The audit hook. It cannot be taken away again, so it is one for the process."""

    def __init__(self) -> None:
        self.active = False
        folders = {sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values()}
        folders.update(site.getsitepackages())
        folders.update(path for path in sys.path if path)
        self._own = tuple(os.path.join(os.path.abspath(folder), "") for folder in folders)

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active:
            return
        if event == "open":
            path, mode, flags = arguments
            writes = bool(flags & _WRITING) if isinstance(flags, int) else mode not in (None, "r")
            if not writes and self._is_own(path):
                return
            raise RefusedError(f"a kernel's code may not open {path!r} while it is compiled")
        if event.startswith(_WORLD):
            if event in _LOOKING and self._is_own(arguments[0]):
                return
            raise RefusedError(f"a kernel's code may not use {event} while it is compiled")

    def _is_own(self, path: Any) -> bool:
        """Tell whether a path lies in a folder that Python imports from."""
        if not isinstance(path, (str, bytes)):
            return False
        full = os.path.abspath(os.fsdecode(path))
        return os.path.join(full, "").startswith(self._own)


_guard: _Guard | None = None


@contextmanager
def refusing() -> Iterator[None]:
    """Refuse the world outside while a block runs."""
    global _guard
    if _guard is None:
        _guard = _Guard()
        sys.addaudithook(_guard)
    _guard.active = True
    try:
        yield
    finally:
        _guard.active = False


def limit_process(memory_mib: int) -> None:
    """Limit memory, and forbid written files and new processes, for good."""
    _lower(resource.RLIMIT_AS, memory_mib << 20)
    _lower(resource.RLIMIT_CORE, 0)
    # Threads count as processes here; all that are needed run already. Root is not bound by it.
    _lower(resource.RLIMIT_NPROC, 0)
    # Unless what we print is itself collected in a file.
    if not stat.S_ISREG(os.fstat(2).st_mode):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        _lower(resource.RLIMIT_FSIZE, 0)


def _lower(what: int, limit: int) -> None:
    hard = resource.getrlimit(what)[1]
    if hard == resource.RLIM_INFINITY or limit < hard:
        hard = limit
    resource.setrlimit(what, (hard, hard))


class Watchdog:
    """Ends what takes too long.

    A thread measures the time that passes. Code that never lets another thread run, such as a huge
    power, is ended without a word by the timer of the operating system for processor time.
    """

    def __init__(self, expired: Callable[[float], None]) -> None:
        self._expired = expired
        self._changed = threading.Condition()
        self._limit: tuple[float, float] | None = None
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        threading.Thread(target=self._watch, daemon=True).start()

    @contextmanager
    def limit(self, seconds: float) -> Iterator[None]:
        """Give a block so many seconds."""
        self._set((time.monotonic() + seconds, seconds))
        # Later than the thread, which can say what happened.
        signal.setitimer(signal.ITIMER_PROF, seconds + 1.0)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            self._set(None)

    def _set(self, limit: tuple[float, float] | None) -> None:
        with self._changed:
            self._limit = limit
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while True:
                limit = self._limit
                rest = None if limit is None else limit[0] - time.monotonic()
                if limit is not None and rest is not None and rest <= 0:
                    self._expired(limit[1])
                self._changed.wait(rest)

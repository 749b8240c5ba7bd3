"""Prove which copy of the files under test a process ran, and that no stale bytecode did.

Two ways lead a benchmark to measure the wrong code without any error: an editable install that
imports the original tree, and a ``.pyc`` that still passes for the source, because Python
compares only size and whole seconds. So each module whose path ends with a file under test is
reported when its code is about to be loaded::

    {"event": "module", "file", "relative", "match": "full" | "tail", "name", "inside",
     "cached", "sha256", "stale", "pid"}

``match`` is ``tail`` where only the relative path without its first folder fits (``src/pkg/k.py``
installed as ``pkg/k.py``); such a file is reported only if it lies outside the tree. ``stale`` is
true if the bytecode in ``cached`` would be run although it is not that of the source, null where
that is not Python's own cache (a test module that pytest rewrote). ``sha256`` is of the source.

Seen are imports, ``python -m``, scripts, ``runpy.run_path`` and modules loaded through a spec.
This works for any Python module, whatever it computes with.
"""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
import sys
import warnings
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from tileperf_recorder import Recorder, hide_frame


class Watch:
    """Knows the files under test and reports each copy once, again when its text changes."""

    def __init__(self, recorder: Recorder, files: list[str]) -> None:
        self._recorder = recorder
        self._seen: set[tuple[str, str]] = set()
        self._paths: set[str] = set()
        self._endings: dict[str, tuple[str, str]] = {}
        for relative in files:
            parts = [part for part in relative.split("/") if part not in ("", ".")]
            # The tail must name a folder: `kernel.py` alone fits files of any project.
            if len(parts) > 2:
                self._endings.setdefault(os.sep + os.path.join(*parts[1:]), (relative, "tail"))
        for relative in files:
            parts = [part for part in relative.split("/") if part not in ("", ".")]
            if parts:
                self._endings[os.sep + os.path.join(*parts)] = (relative, "full")
        self._suffixes = tuple(self._endings)

    def concerns(self, path: str) -> bool:
        """Tell, in well under a microsecond, whether a path may be a file under test."""
        return path.endswith(self._suffixes)

    def note(self, path: str, name: str, own_cache: bool) -> None:
        """Report a file that is about to run, or has run.

        ``own_cache`` says that Python's own bytecode cache is about to be asked for it.
        """
        try:
            self._note(os.path.abspath(path), name, own_cache)
        except Exception as error:
            self._recorder.fault("module", error)

    def _note(self, path: str, name: str, own_cache: bool) -> None:
        # The longest ending is the most telling one.
        ending = max((e for e in self._endings if path.endswith(e)), key=len)
        relative, match = self._endings[ending]
        inside = self._recorder.inside(path)
        if match == "tail" and inside:
            return
        if inside is False and _is_of_another(name, path, relative):
            return
        with open(path, "rb") as file:
            source = file.read()
        digest = hashlib.sha256(source).hexdigest()
        self._paths.add(path)
        if (path, digest) in self._seen:
            return
        self._seen.add((path, digest))
        cached = importlib.util.cache_from_source(path)
        self._recorder.keep(
            {
                "event": "module",
                "file": path,
                "relative": relative,
                "match": match,
                "name": name,
                "inside": inside,
                "cached": cached,
                "sha256": digest,
                "stale": _is_stale(path, source, cached) if own_cache else None,
            }
        )

    def scan(self) -> None:
        """Report what came into `sys.modules` by another way than Python's source loader."""
        for name, module in list(sys.modules.items()):
            # Through the dictionary: reading an attribute of a lazy module would import it.
            path = vars(module).get("__file__") if isinstance(module, ModuleType) else None
            if not isinstance(path, str) or not self.concerns(path):
                continue
            if os.path.abspath(path) not in self._paths:
                self.note(path, name, own_cache=False)


def _is_of_another(name: str, path: str, relative: str) -> bool:
    """Say whether a module is surely no copy of a file under test, by the name it was imported by.

    ``torch.nn.modules.linear`` ends as ``linear.py`` does. A copy of that has the file's own name:
    ``linear``, as that of ``src/pkg/linear.py`` has ``pkg.linear``. Modules that were not imported
    by the name that their path gives them may be anything.
    """
    names = name.split(".")
    wanted = _module_names(relative)
    return _module_names(path)[-len(names) :] == names and wanted[-len(names) :] != names


def _module_names(path: str) -> list[str]:
    parts = os.path.splitext(path)[0].split(os.sep)
    return parts[:-1] if parts[-1] == "__init__" else parts


def _is_stale(path: str, source: bytes, cached: str) -> bool:
    """Say whether Python would run ``cached`` for this source although it is other code."""
    try:
        with open(cached, "rb") as file:
            data = file.read()
    except OSError:
        return False
    if len(data) < 16 or data[:4] != importlib.util.MAGIC_NUMBER:
        return False
    flags = int.from_bytes(data[4:8], "little")
    if flags & 0b01:
        if flags & 0b10:
            return False  # Python compares the hash of the source itself
    else:
        status = os.stat(path)
        stamp = (int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF)
        if stamp != (int.from_bytes(data[8:12], "little"), int.from_bytes(data[12:16], "little")):
            return False
    kept = marshal.loads(data[16:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fresh: CodeType = compile(source, path, "exec", dont_inherit=True)
        except SyntaxError:
            return True
    # Positions count too, so a moved line makes other code here; that is on the safe side.
    return bool(kept != fresh)


def install(recorder: Recorder, files: list[str]) -> None:
    """Watch for the files under test in this process."""
    watch = Watch(recorder, files)
    recorder.scan = watch.scan
    if sys.argv and watch.concerns(script := os.path.abspath(sys.argv[0])):
        watch.note(script, "__main__", own_cache=False)
    _hook_loader(watch)
    _hook_run_path(watch)
    watch.scan()


def _hook_loader(watch: Watch) -> None:
    """Look on where the source loader asks for a file's time and size, before it gets its code.

    That method is a leaf which imports, ``-m``, and specs loaded by hand have in common: nothing
    of the user's runs below it, so no traceback can show it. Exactly there, too, is what decides
    about the bytecode still on disk.
    """
    path_stats = SourceFileLoader.path_stats

    def observed(self: SourceFileLoader, path: str) -> Any:
        if watch.concerns(path):
            watch.note(path, self.name, own_cache=True)
        return path_stats(self, path)

    SourceFileLoader.path_stats = observed  # type: ignore[method-assign]


def _hook_run_path(watch: Watch) -> None:
    """Look on where ``runpy.run_path`` reads a script."""
    import runpy

    read = getattr(runpy, "_get_code_from_file", None)
    if read is None:
        return

    def observed(*args: Any) -> Any:
        try:
            code = read(*args)
        except BaseException as error:
            hide_frame(error)
            raise
        if args and watch.concerns(path := os.path.abspath(os.fsdecode(args[-1]))):
            watch.note(path, "<run_path>", own_cache=False)
        return code

    runpy._get_code_from_file = observed  # type: ignore[attr-defined]

"""Start tileperf's recorder in a process of the user's, without taking anybody's place.

Python imports one ``sitecustomize``, the first on the path, and ours is put first. So this file
finds the one that would have been imported without it and runs that as the interpreter would:
under its own name, with its own errors. Where there is none, the import ends as "no such module",
which the interpreter ignores by contract. ``usercustomize`` needs nothing: we bring none.

The file parses on every Python 3, because interpreters older than the recorder inherit the path.
"""

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder


def _is_ours(entry: str) -> bool:
    """Tell whether a folder of the path holds a copy of this file that has already run."""
    return os.path.realpath(entry or os.curdir) in _sites


def _find() -> "ModuleSpec | None":
    """Find the ``sitecustomize`` that a path without our folder leads to."""
    rest = [entry for entry in sys.path if not _is_ours(entry)]
    for finder in list(sys.meta_path):
        if finder is PathFinder:
            spec = PathFinder.find_spec("sitecustomize", rest)
        else:
            find_spec = getattr(finder, "find_spec", None)
            spec = find_spec("sitecustomize", None) if find_spec else None
        if spec is not None and spec.loader is not None:
            return spec
    return None


def _run(spec: ModuleSpec) -> None:
    """Load the module of ``spec`` as the interpreter would have."""
    from importlib.util import module_from_spec

    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    if spec.loader is not None:
        spec.loader.exec_module(module)


def _is_between(file: str) -> bool:
    """Tell whether a frame is this file's, or the import system's called by it."""
    return file == __file__ or file.startswith("<frozen importlib")


def _record() -> None:
    """Start the recorder, which reports its own failures and raises none."""
    if sys.version_info < (3, 10) or os.environ.get("TILEPERF_OFF") == "1":
        return
    if not os.environ.get("TILEPERF_RECORD"):
        return
    try:
        import tileperf_recorder
    except Exception:
        # Nothing of ours may be seen in the user's process. Without the recorder's "start" line
        # the loop knows that this process was not observed.
        return
    tileperf_recorder.install()


# Kept in `sys`, where a second copy of this file, met further down the path, looks too.
_sites = vars(sys).setdefault("_tileperf_sites", set())
_sites.add(os.path.dirname(os.path.realpath(__file__)))

try:
    _found = _find()
    if _found is None:
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    _run(_found)
except BaseException as error:
    # Where the interpreter shows a traceback, it begins with the frame of what we stand for.
    trace = error.__traceback__
    while trace is not None and _is_between(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    error.__traceback__ = trace
    raise
finally:
    _record()

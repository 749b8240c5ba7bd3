"""Execute slices: the texts of a request as modules that see each other and nothing else.

Modules of a request are private to it. The frontend reads a function's source through `inspect`,
so each text stands in `linecache` under its path while the request is served: that is how an
unsaved text has true lines. A statement that raises does not keep the following from being
executed; what it raised is kept.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import importlib.util
import io
import linecache
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from tileperf_guard import RefusedError
from tileperf_problem import Problem, of_exception
from tileperf_standins import StandinModule

# Modules that compute and do nothing else. Any other is a stand-in.
_PURE = frozenset(
    {
        "__future__",
        "abc",
        "bisect",
        "cmath",
        "collections",
        "contextlib",
        "copy",
        "dataclasses",
        "decimal",
        "enum",
        "fractions",
        "functools",
        "heapq",
        "itertools",
        "keyword",
        "math",
        "numbers",
        "numpy",
        "operator",
        "re",
        "statistics",
        "string",
        "struct",
        "textwrap",
        "types",
        "typing",
        "typing_extensions",
        "warnings",
    }
)
# Of these only submodules.
_PURE_BELOW = ("cuda.tile",)

# Builtins that reach out of the slice.
_REFUSED = ("breakpoint", "compile", "eval", "exec", "exit", "help", "input", "open", "quit")


@dataclass(frozen=True)
class Source:
    """A module of a request."""

    name: str
    path: str
    text: str

    @property
    def package(self) -> str:
        """What relative imports in it start from."""
        if self.is_package:
            return self.name
        return self.name.rpartition(".")[0]

    @property
    def is_package(self) -> bool:
        """Whether it is the ``__init__`` of a package."""
        return os.path.basename(self.path) == "__init__.py"


class Slices:
    """The modules of one request."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = {source.name: source for source in sources}
        self._modules: dict[str, ModuleType] = {}
        self._packages = {
            name.rsplit(".", depth)[0]
            for name in self._sources
            for depth in range(1, name.count(".") + 1)
        }
        self._builtins = _builtins(self._import)
        self.paths = frozenset(source.path for source in sources)
        # What statements raised, in the order of execution.
        self.failures: list[Problem] = []

    @contextmanager
    def visible(self) -> Iterator[None]:
        """Let `inspect`, `dataclasses` and the like find the modules while a block runs."""
        for source in self._sources.values():
            # As a file is read: other characters that `splitlines` knows end no line.
            lines = io.StringIO(source.text, newline=None).readlines()
            linecache.cache[source.path] = (len(source.text), None, lines, source.path)
        try:
            yield
        finally:
            for path in self.paths:
                linecache.cache.pop(path, None)
            for module in self._modules.values():
                if sys.modules.get(module.__name__) is module:
                    del sys.modules[module.__name__]

    def execute(self, name: str, values: Mapping[str, Any]) -> ModuleType:
        """Execute a module, which starts with these values, and those that it imports.

        Raises a `Problem` if the text cannot be parsed.
        """
        return self._execute(self._sources[name], values)

    def _execute(self, source: Source, values: Mapping[str, Any]) -> ModuleType:
        # Not in the way of a real module that happens to have the name.
        name = f"_slice.{source.name}" if source.name in sys.modules else source.name
        module = ModuleType(name)
        space = module.__dict__
        space.update(values)
        space.update(__builtins__=self._builtins, __file__=source.path, __package__=source.package)
        if source.is_package:
            module.__path__ = []
        self._modules[source.name] = sys.modules[name] = module
        try:
            # `dont_inherit`: the flags of this very file are none of the slice's.
            tree = compile(source.text, source.path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise of_exception(error, "syntax") from None
        flags = _future_flags(tree)
        for statement in tree.body:
            try:
                part = ast.Module([statement], [])
                code = compile(part, source.path, "exec", flags, dont_inherit=True)
                exec(code, space)
            except Problem:
                raise
            except Exception as error:
                kind = "refused" if isinstance(error, RefusedError) else "load"
                self.failures.append(of_exception(error, kind, self.paths))
        return module

    # Imports, as Python's own statement asks for them.

    def _import(
        self,
        name: str,
        space: Mapping[str, Any] | None = None,
        _locals: object = None,
        wanted: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if level:
            package = (space or {}).get("__package__") or ""
            name = importlib.util.resolve_name("." * level + name, package)
        if not self._is_ours(name) and _is_pure(name):
            try:
                return builtins.__import__(name, {}, {}, tuple(wanted or ()), 0)
            except ImportError:
                # numpy is not needed by cuda.tile, and not every Python has typing_extensions.
                pass
        module = self._module(name)
        if not wanted:
            return module if level else self._module(name.partition(".")[0])
        for item in wanted:
            below = f"{name}.{item}"
            if self._is_ours(below) and item not in module.__dict__:
                setattr(module, item, self._module(below))
        return module

    def _is_ours(self, name: str) -> bool:
        return name in self._sources or name in self._packages

    def _module(self, name: str) -> ModuleType:
        """Return a module of ours or a stand-in, known to its package."""
        if (module := self._modules.get(name)) is not None:
            return module
        package, _, last = name.rpartition(".")
        parent = self._module(package) if package else None
        # Its package may have imported it just now.
        if (module := self._modules.get(name)) is None:
            if (source := self._sources.get(name)) is not None:
                module = self._execute(source, {})
            else:
                module = self._modules[name] = StandinModule(name)
        if parent is not None:
            setattr(parent, last, module)
        return module


def _is_pure(name: str) -> bool:
    return name.partition(".")[0] in _PURE or any(
        name == pure or name.startswith(f"{pure}.") for pure in _PURE_BELOW
    )


def _builtins(importer: Callable[..., ModuleType]) -> dict[str, Any]:
    def refused(name: str) -> Callable[..., Any]:
        def refuse(*args: object, **kwargs: object) -> Any:
            raise RefusedError(f"a kernel's code may not call {name}() while it is compiled")

        return refuse

    named = dict(builtins.__dict__)
    named.update((name, refused(name)) for name in _REFUSED)
    named["__import__"] = importer
    return named


def _future_flags(tree: ast.Module) -> int:
    """Return what ``from __future__ import`` asks for, for each statement is compiled alone."""
    flags = 0
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                feature = getattr(__future__, alias.name, None)
                flags |= getattr(feature, "compiler_flag", 0)
    return flags

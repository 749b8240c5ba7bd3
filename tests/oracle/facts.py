"""The facts of a file, in the shape that ``tileperf facts --format json`` prints.

Entries that a careful reader may count or not (a kernel that only a caller in a test
makes one, a registration for another backend in a file without cuTile) carry
``"optional": true``: a comparison neither demands nor forbids them.
"""

from __future__ import annotations

import ast
from typing import Any

from contexts import Contexts
from corpus import Corpus, SourceFile
from evaluate import KERNEL_NAMES, Evaluator
from scopes import parameters
from spaces import SpaceFinder
from values import External, Func, Kernel, Partial, PyFunc, Unknown, Value, Values

LAUNCHES = {
    "cuda.tile.launch": 2,
    "cuda.tile._cext.launch": 2,
    "cuda.tile.jax.cutile_call": 1,
    "cuda.tile.jax._jax.cutile_call": 1,
}
# Position of the space and of the kernel in the call.
SEARCHES = {
    "cuda.tile.tune.exhaustive_search": (0, 3),
    "cuda.tile.tune._tune.exhaustive_search": (0, 3),
    "cuda.tile_experimental.autotune_launch": (None, 2),
    "cuda.tile_experimental._autotuner.autotune_launch": (None, 2),
}
CONSTANT = {"cuda.tile.Constant", "cuda.tile._stub.Constant"}
# Ways to reach a kernel that leave the file or its text.
INDIRECT = {"foreign", "parametrize", "fixture", "dynamic"}
Fact = dict[str, Any]


class FileFacts:
    """Collects the facts of one file."""

    def __init__(self, evaluator: Evaluator, spaces: SpaceFinder, file: SourceFile) -> None:
        self.evaluator = evaluator
        self.file = file
        self.spaces = spaces
        self.contexts = Contexts(evaluator, file)
        self.uses_cutile = any(
            isinstance(node, (ast.Import, ast.ImportFrom)) and _imports_cutile(node) for node in ast.walk(file.tree)
        )

    def collect(self) -> Fact:
        """All facts of the file."""
        launches, registrations, searches, hints = [], [], [], []
        for call, frame in self.evaluator.calls_of(self.file):
            functions = self.evaluator.eval(call.func, frame)
            launch = self._launch(call, functions)
            if launch:
                launches.append(launch)
            search = self._search(call, functions)
            if search:
                searches.append(search)
            registration = self._registration(call)
            if registration:
                registrations.append(registration)
            hint = self._replace_hints(call, functions)
            if hint:
                hints.append(hint)
        facts: Fact = {
            "path": self.file.relative,
            "kernels": self._kernels(),
            "launches": launches,
            "registrations": registrations,
            "searches": searches,
            "replace_hints": hints,
        }
        for entries in facts.values():
            if isinstance(entries, list):
                entries.sort(key=lambda entry: entry["line"])
        return facts

    # -- kernels -----------------------------------------------------------------

    def _kernels(self) -> list[Fact]:
        found: dict[ast.AST, Fact] = {}
        for node in ast.walk(self.file.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for decorator in node.decorator_list:
                    at = self.evaluator.frame_at(self.file, decorator)
                    if self.evaluator.makes_kernel(decorator, at):
                        found[node] = self._kernel(node, decorator, decorator)
                        break
        for call, frame in self.evaluator.calls_of(self.file):
            for function, source in self._wrapped(call, frame):
                if function.node in found or not isinstance(function.node, ast.FunctionDef):
                    continue
                if function.file is not self.file:
                    continue
                kernel = self._kernel(function.node, call, call)
                if source & {"caller", *INDIRECT}:
                    kernel["optional"] = True
                found[function.node] = kernel
        return list(found.values())

    def _wrapped(self, call: ast.Call, frame: Any) -> list[tuple[Func, frozenset[str]]]:
        """The plain functions that ``ct.kernel(f)`` or ``ct.kernel(...)(f)`` turns into kernels."""
        if not call.args:
            return []
        makers = self.evaluator.eval(call.func, frame)
        if not any(_is_maker(value) for value in makers):
            return []
        values = self.evaluator.eval(call.args[0], frame)
        return [(value, tags) for value, tags in values.items() if isinstance(value, Func)]

    def _kernel(self, node: ast.FunctionDef | ast.AsyncFunctionDef, made_by: ast.expr, hints_of: ast.expr) -> Fact:
        hints: Fact = {}
        call: ast.expr | None = hints_of
        while isinstance(call, ast.Call):
            for keyword in call.keywords:
                if keyword.arg is not None:
                    hints.setdefault(keyword.arg, self._literal(keyword.value))
            call = call.func
        return {
            "name": node.name,
            "line": node.lineno,
            "decorator_line": made_by.lineno,
            "hints": hints,
            "params": [{"name": a.arg, "constant": self._is_constant(a)} for a in parameters(node)],
        }

    def _literal(self, node: ast.expr) -> object:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str, bool, type(None))):
            return node.value
        return self.file.segment(node)

    def _is_constant(self, argument: ast.arg) -> bool:
        annotation = argument.annotation
        if annotation is None:
            return False
        frame = self.evaluator.frame_at(self.file, annotation)
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                parsed = ast.parse(annotation.value, mode="eval").body
            except SyntaxError:
                return False
            for name in ast.walk(parsed):
                self.evaluator.scopes(self.file).scope_of[name] = frame.scope
            annotation = parsed
        return any(isinstance(v, External) and v.name in CONSTANT for v in self.evaluator.eval(annotation, frame))

    # -- launches ----------------------------------------------------------------

    def _launch(self, call: ast.Call, functions: Values) -> Fact | None:
        for value, tags in functions.items():
            given = list(call.args)
            optional = bool(tags & {"caller", *INDIRECT})
            if isinstance(value, Partial) and isinstance(value.function, External):
                given = [*value.call.args[1:], *given]
                optional = True
                value = value.function
            if not isinstance(value, External) or value.name not in LAUNCHES:
                continue
            kernel = _argument(given, call, LAUNCHES[value.name], "kernel")
            fact = {"line": call.lineno, "kernel": self.file.segment(kernel) if kernel is not None else None}
            fact |= self._candidates(kernel)
            if optional:
                fact["optional"] = True
            return fact
        return None

    def _candidates(self, kernel: ast.expr | None) -> Fact:
        """Kernels that a launch certainly may run, and those found only from afar.

        ``complete`` says that nothing else can be launched there as far as the corpus shows.
        """
        sure: set[str] = set()
        indirect: set[str] = set()
        complete = kernel is not None
        if kernel is not None:
            frame = self.evaluator.frame_at(self.file, kernel)
            for value, tags in self.evaluator.eval(kernel, frame).items():
                if isinstance(value, Kernel):
                    (indirect if tags & INDIRECT else sure).add(value.name)
                elif isinstance(value, Unknown):
                    complete = False
        return {"candidates": sorted(sure), "indirect": sorted(indirect - sure), "complete": complete}

    # -- searches ----------------------------------------------------------------

    def _search(self, call: ast.Call, functions: Values) -> Fact | None:
        for value in functions:
            if not isinstance(value, External) or value.name not in SEARCHES:
                continue
            space_at, kernel_at = SEARCHES[value.name]
            space = _argument(call.args, call, space_at, "search_space")
            kernel = _argument(call.args, call, kernel_at, "kernel")
            if space is not None:
                self.spaces.add(self.file, space)
            return {
                "line": call.lineno,
                "api": value.name.rsplit(".", 1)[-1],
                "space": self.file.segment(space) if space is not None else None,
                "kernel": self.file.segment(kernel) if kernel is not None else None,
            }
        return None

    # -- registrations -----------------------------------------------------------

    def _registration(self, call: ast.Call) -> Fact | None:
        if self._called_name(call.func) != "register_impl":
            return None
        parent = self.file.parents.get(call)
        function: str | None = None
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and call in parent.decorator_list:
            function = parent.name
        elif isinstance(parent, ast.Call) and parent.func is call and parent.args:
            function = self.file.segment(parent.args[0])
        else:
            return None
        fact: Fact = {
            "line": call.lineno,
            "op": _text(_argument(call.args, call, 0, "name")),
            "backend": _text(_argument(call.args, call, 1, "backend")),
            "function": function,
        }
        if not self.uses_cutile and fact["backend"] != "cutile":
            fact["optional"] = True
        return fact

    def _called_name(self, function: ast.expr) -> str | None:
        """The original name of what is called: import aliases are undone."""
        if isinstance(function, ast.Attribute):
            return function.attr
        if not isinstance(function, ast.Name):
            return None
        for definition in self.contexts.scopes.resolve(function):
            if isinstance(definition.node, ast.alias):
                return definition.node.name.rsplit(".", 1)[-1]
            if definition.value is not None and isinstance(definition.value, (ast.Name, ast.Attribute)):
                return self._called_name(definition.value)
        return function.id

    # -- replace_hints -----------------------------------------------------------

    def _replace_hints(self, call: ast.Call, functions: Values) -> Fact | None:
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr == "replace_hints":
            owners = self.evaluator.eval(function.value, self.evaluator.frame_at(self.file, function.value))
            if not self.uses_cutile and not any(isinstance(owner, Kernel) for owner in owners):
                return None
            return self._hint(call, function.value, self.contexts.classify(call))
        if self._called_name(function) == "cached_replace_hints" and call.args:
            return self._hint(call, call.args[0], "cached")
        if call.args and any(_is_maker(value) for value in functions):
            frame = self.evaluator.frame_at(self.file, call.args[0])
            inner = call.args[0]
            if isinstance(inner, ast.Attribute) and inner.attr == "_pyfunc":
                return self._hint(call, inner.value, self.contexts.classify(call))
            if any(isinstance(value, PyFunc) for value in self.evaluator.eval(inner, frame)):
                # The re-wrapped function arrives in a variable.
                return self._hint(call, inner, self.contexts.classify(call)) | {"optional": True}
        return None

    def _hint(self, call: ast.Call, kernel: ast.expr, context: str) -> Fact:
        fact: Fact = {"line": call.lineno, "kernel": self.file.segment(kernel), "context": context}
        if context == "module" and self.contexts.is_inside_function(call):
            # A factory used at import only: run once, but nothing keeps others from calling it.
            fact["also"] = "hot"
        return fact


def collect(corpus: Corpus) -> tuple[list[Fact], SpaceFinder]:
    """The facts of every file of a corpus, and the configuration spaces its searches use."""
    evaluator = Evaluator(corpus)
    spaces = SpaceFinder(corpus, evaluator)
    facts = [FileFacts(evaluator, spaces, file).collect() for file in corpus.files]
    return facts, spaces


def _is_maker(value: Value) -> bool:
    """Whether calling the value with a function makes a kernel."""
    name = type(value).__name__
    if name == "KernelDecorator":
        return True
    if isinstance(value, Partial):
        return _is_maker(value.function)
    return isinstance(value, External) and value.name in KERNEL_NAMES


def _argument(args: list[ast.expr], call: ast.Call, index: int | None, name: str) -> ast.expr | None:
    """The argument at a position or of a name, None if it is not written out."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if index is None or index >= len(args) or any(isinstance(a, ast.Starred) for a in args[: index + 1]):
        return None
    return args[index]


def _text(node: ast.expr | None) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def _imports_cutile(node: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(node, ast.Import):
        return any(_is_cutile(alias.name) for alias in node.names)
    if node.module == "cuda":
        return any(alias.name == "tile" for alias in node.names)
    return node.module is not None and _is_cutile(node.module)


def _is_cutile(name: str) -> bool:
    return name.split(".")[:2] in (["cuda", "tile"], ["cuda", "tile_experimental"])

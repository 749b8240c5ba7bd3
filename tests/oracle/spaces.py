"""Which functions and lists are configuration spaces: what searches are given, traced back.

A space is where configurations are made: the generator or list-building function, or the
list. ``list(...)``, a local variable, a parameter, a helper that only hands a space on and
a comprehension that only filters are passed through.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from corpus import Corpus, SourceFile
from evaluate import Evaluator
from scopes import FUNCTIONS, FunctionNode, parameters
from values import CallResult, Container, Frame, Func, Value, make_frame

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)


@dataclass
class Space:
    """One configuration space."""

    file: SourceFile
    node: FunctionNode | ast.expr
    name: str | None
    optional: bool

    @property
    def line(self) -> int:
        """The def line of a function, the first line of a list."""
        return self.node.lineno

    @property
    def is_function(self) -> bool:
        """Whether the space is made by calling a function."""
        return isinstance(self.node, FUNCTIONS)


class SpaceFinder:
    """Traces the space arguments of searches to where the configurations are made."""

    def __init__(self, corpus: Corpus, evaluator: Evaluator) -> None:
        self.evaluator = Evaluator(corpus, follow_calls=False, shared=evaluator)
        self.found: dict[ast.AST, Space] = {}

    def add(self, file: SourceFile, argument: ast.expr) -> None:
        """Trace the space argument of one search."""
        frame = self.evaluator.frame_at(file, argument)
        self._trace(argument, frame, optional=False, seen=set())

    def _trace(self, node: ast.expr, frame: Frame, *, optional: bool, seen: set[Value]) -> None:
        for value in self.evaluator.eval(node, frame):
            self._value(value, optional=optional, seen=seen)

    def _value(self, value: Value, *, optional: bool, seen: set[Value]) -> None:
        if value in seen:
            return
        seen.add(value)
        match value:
            case CallResult():
                function = value.function
                inner = make_frame(function.scope, function.closure, value.call, value.frame, function.receiver)
                self._function(function, inner, optional=optional, seen=seen)
            case Func():
                inner = make_frame(value.scope, value.closure)
                self._function(value, inner, optional=optional, seen=seen)
            case Container():
                self._container(value, optional=optional, seen=seen)

    def _function(self, function: Func, frame: Frame, *, optional: bool, seen: set[Value]) -> None:
        handed_on = self._handed_on(function, frame)
        self._record(function.file, function.node, optional=optional or handed_on is not None)
        for value in handed_on or ():
            self._value(value, optional=optional, seen=seen)

    def _handed_on(self, function: Func, frame: Frame) -> list[Value] | None:
        """The spaces a helper passes through, None if it makes configurations itself."""
        scope = function.scope
        source = _filtered_parameter(function.node)
        if source is not None:
            return list(self.evaluator.eval(source, frame))
        if scope.yields or scope.yields_from or not scope.returns:
            return None
        values: list[Value] = []
        for returned in scope.returns:
            for value in self.evaluator.eval(returned, frame):
                if not isinstance(value, (CallResult, Container)):
                    return None
                if isinstance(value, Container) and value.frame.scope is scope and _filtered(value.node) is None:
                    return None
                values.append(value)
        return values

    def _container(self, container: Container, *, optional: bool, seen: set[Value]) -> None:
        node, frame = container.node, container.frame
        if isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                self._trace(side, frame, optional=optional, seen=seen)
            return
        source = _filtered(node)
        if source is not None:
            self._record(frame.scope.file, node, optional=True)
            self._trace(source, frame, optional=optional, seen=seen)
            return
        self._record(frame.scope.file, node, optional=optional)
        if isinstance(node, COMPREHENSIONS) and len(node.generators) == 1:
            # [Config(*c) for c in rows()]: rows() may be seen as the space, too.
            for value in self.evaluator.eval(node.generators[0].iter, frame):
                if isinstance(value, (CallResult, Container)):
                    self._value(value, optional=True, seen=set(seen))

    def _record(self, file: SourceFile, node: FunctionNode | ast.expr, *, optional: bool) -> None:
        if not hasattr(node, "lineno"):
            return
        known = self.found.get(node)
        if known is not None:
            known.optional = known.optional and optional
            return
        self.found[node] = Space(file, node, self._name(file, node), optional)

    @staticmethod
    def _name(file: SourceFile, node: FunctionNode | ast.expr) -> str | None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return node.name
        parent = file.parents.get(node)
        while isinstance(parent, ast.Call) and ast.unparse(parent.func) in {"list", "tuple", "sorted", "set"}:
            parent = file.parents.get(parent)
        if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], (ast.Name, ast.Attribute)):
            return ast.unparse(parent.targets[0]).rsplit(".", 1)[-1]
        if isinstance(parent, ast.AnnAssign) and isinstance(parent.target, ast.Name):
            return parent.target.id
        if isinstance(parent, ast.keyword):
            return parent.arg
        return None


def _filtered_parameter(function: FunctionNode) -> ast.expr | None:
    """The parameter a function filters: ``for c in parameter: ... kept.append(c)``, or yields.

    Such a function chooses among configurations that somebody else made.
    """
    if isinstance(function, ast.Lambda):
        return None
    names = {argument.arg for argument in parameters(function)}
    source: ast.expr | None = None
    kept = 0
    for node in ast.walk(function):
        produced: ast.expr | None = None
        if isinstance(node, ast.Yield):
            produced = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            produced = node.args[0] if node.args else None
        if produced is None:
            continue
        kept += 1
        loop = _loop_over_parameter(function, produced, names)
        if loop is None:
            return None
        source = loop.iter
    return source if kept else None


def _loop_over_parameter(function: ast.AST, produced: ast.expr, names: set[str]) -> ast.For | None:
    for loop in ast.walk(function):
        if not isinstance(loop, ast.For) or ast.unparse(loop.target) != ast.unparse(produced):
            continue
        if isinstance(loop.iter, ast.Name) and loop.iter.id in names:
            return loop
    return None


def _filtered(node: ast.expr) -> ast.expr | None:
    """The source of ``[c for c in source if ...]`` and ``filter(test, source)``, else None."""
    if isinstance(node, COMPREHENSIONS) and len(node.generators) == 1:
        generator = node.generators[0]
        same = isinstance(generator.target, ast.Name) and isinstance(node.elt, ast.Name)
        if same and ast.unparse(generator.target) == ast.unparse(node.elt):
            return generator.iter
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "filter":
        return node.args[1] if len(node.args) == 2 else None
    return None

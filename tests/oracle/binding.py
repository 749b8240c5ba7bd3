"""What a parameter is: bound by a known call, or the union over every caller."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from scopes import FUNCTIONS, Def, FunctionNode, Scope
from values import (
    NO_TAGS,
    Class,
    Container,
    Frame,
    Func,
    Instance,
    Partial,
    Unknown,
    Value,
    Values,
    add,
    join,
    make_frame,
)

if TYPE_CHECKING:
    from corpus import SourceFile
    from evaluate import Evaluator

CallSite = tuple[ast.Call, Frame, Func]


class Binder:
    """Finds the callers of functions and binds arguments to parameters."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.owner = evaluator
        self._sites: dict[SourceFile, dict[ast.AST, list[CallSite]]] = {}
        self._shallow: Evaluator | None = None
        self._rests: dict[ast.Call, ast.Tuple] = {}
        self._rows: dict[ast.Call, ast.Tuple] = {}

    def unfollowed(self, found: Def, frame: Frame) -> Values:
        """A parameter while callers are still being collected: only ``self`` is known."""
        node = found.scope.node
        assert isinstance(found.node, ast.arg) and isinstance(node, FUNCTIONS)
        return self._receiver(node, found.scope, found.node, frame) or {Unknown(): NO_TAGS}

    def parameter(self, found: Def, frame: Frame, evaluator: Evaluator) -> Values:
        """The values of a parameter in a frame."""
        argument = found.node
        assert isinstance(argument, ast.arg)
        scope = found.scope
        node = scope.node
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        receiver = self._receiver(node, scope, argument, frame)
        if receiver is not None:
            return receiver
        if frame.call is not None and frame.caller is not None:
            skip = 1 if frame.receiver is not None else 0
            return self._bound(node, argument, frame.call, frame.caller, frame, skip, evaluator)
        result: Values = {}
        join(result, self._from_pytest(node, scope, argument, evaluator))
        sites = self.callers(scope)
        tag = frozenset({"caller"})
        if not sites:
            sites = self._foreign_callers(scope)
            tag = frozenset({"foreign"})
        for call, caller, function in sites:
            inner = make_frame(scope, function.closure, call, caller, function.receiver)
            skip = 1 if function.receiver is not None or function.skip_first else 0
            join(result, self._bound(node, argument, call, caller, inner, skip, evaluator), tag)
        if not result:
            default = _default(node, argument)
            if default is not None:
                join(result, evaluator.eval(default, frame.outer or frame))
            add(result, Unknown(), NO_TAGS)
        return result

    def _receiver(self, node: FunctionNode, scope: Scope, argument: ast.arg, frame: Frame) -> Values | None:
        positional = [*node.args.posonlyargs, *node.args.args]
        parent = scope.parent
        if parent is None or not isinstance(parent.node, ast.ClassDef) or isinstance(node, ast.Lambda):
            return None
        decorators = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
        if "staticmethod" in decorators or not positional or positional[0] is not argument:
            return None
        if frame.receiver is not None:
            return {frame.receiver: NO_TAGS}
        outer = self.owner.root_frame(parent)
        cls = Class(scope.file, parent.node, parent, outer.outer or outer)
        return {cls if "classmethod" in decorators else Instance(cls): NO_TAGS}

    def _bound(
        self,
        node: FunctionNode,
        argument: ast.arg,
        call: ast.Call,
        caller: Frame,
        inner: Frame,
        skip: int,
        evaluator: Evaluator,
    ) -> Values:
        given = self.argument(node, argument, call, skip)
        if given is not None:
            return evaluator.eval(given, caller)
        if argument is node.args.vararg:
            positional = len(node.args.posonlyargs) + len(node.args.args) - skip
            rest = ast.Tuple(elts=call.args[positional:], ctx=ast.Load())
            # One tuple per call, so that values compare equal.
            return {Container(self._rests.setdefault(call, rest), caller): NO_TAGS}
        default = _default(node, argument)
        if default is not None:
            return evaluator.eval(default, inner.outer or inner)
        return {Unknown(): NO_TAGS}

    @staticmethod
    def argument(node: FunctionNode, argument: ast.arg, call: ast.Call, skip: int) -> ast.expr | None:
        """The expression a call passes for a parameter, if it says so plainly."""
        for keyword in call.keywords:
            if keyword.arg == argument.arg:
                return keyword.value
        positional = [*node.args.posonlyargs, *node.args.args][skip:]
        for index, candidate in enumerate(positional):
            if candidate is argument and index < len(call.args):
                before = call.args[: index + 1]
                if not any(isinstance(a, ast.Starred) for a in before):
                    return call.args[index]
        return None

    def callers(self, scope: Scope) -> list[CallSite]:
        """The calls of a function in its own file."""
        return self._in_file(scope.file).get(scope.node, [])

    def _in_file(self, file: SourceFile) -> dict[ast.AST, list[CallSite]]:
        """Call sites of a file by the function they run, found without following parameters."""
        if file not in self._sites:
            if self._shallow is None:
                self._shallow = type(self.owner)(self.owner.corpus, shared=self.owner, follow_parameters=False)
            found: dict[ast.AST, list[CallSite]] = {}
            for call, frame in self._shallow.calls_of(file):
                for value in self._shallow.eval(call.func, frame):
                    for function in self.functions(value):
                        found.setdefault(function.node, []).append((call, frame, function))
            self._sites[file] = found
        return self._sites[file]

    def functions(self, value: Value) -> list[Func]:
        """The corpus functions that a call of ``value`` runs."""
        match value:
            case Func():
                return [value]
            case Class():
                made = self.owner.attribute(Instance(value), "__init__")
                return [v for v in made if isinstance(v, Func)]
            case Partial(function=Func() as function):
                return [function]
        return []

    def _foreign_callers(self, scope: Scope) -> list[CallSite]:
        """Calls from other files that import the function by name."""
        node = scope.node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return []
        found: list[CallSite] = []
        for file in self.owner.corpus.files:
            if file is scope.file or node.name not in file.text:
                continue
            found.extend(self._in_file(file).get(node, []))
        return found

    def row(self, call: ast.Call) -> ast.Tuple:
        """``pytest.param(a, b)`` as the tuple it stands for."""
        return self._rows.setdefault(call, ast.Tuple(elts=call.args, ctx=ast.Load()))

    def _from_pytest(self, node: FunctionNode, scope: Scope, argument: ast.arg, evaluator: Evaluator) -> Values:
        """Values from ``pytest.mark.parametrize`` and from fixtures of the file."""
        if isinstance(node, ast.Lambda):
            return {}
        outer = evaluator.root_frame(scope.parent) if scope.parent else evaluator.root_frame(scope)
        result: Values = {}
        decorators = list(node.decorator_list)
        if scope.parent is not None and isinstance(scope.parent.node, ast.ClassDef):
            decorators.extend(scope.parent.node.decorator_list)
        for decorator in decorators:
            if not isinstance(decorator, ast.Call) or len(decorator.args) < 2:
                continue
            if not ast.unparse(decorator.func).endswith("parametrize"):
                continue
            names = _parametrized(decorator.args[0])
            if argument.arg not in names:
                continue
            index = names.index(argument.arg)
            for rows in evaluator.eval(decorator.args[1], outer):
                for value, tags in evaluator.contents.element(rows, None, outer).items():
                    cell: Values = {value: tags}
                    if len(names) > 1 or (isinstance(value, Container) and value.node in self._rows.values()):
                        cell = evaluator.contents.element(value, index, outer)
                    join(result, cell, frozenset({"parametrize"}))
        fixture = evaluator.scopes(scope.file).module.lookup(argument.arg)
        for definition in fixture:
            made = definition.node
            if isinstance(made, ast.FunctionDef) and any("fixture" in ast.unparse(d) for d in made.decorator_list):
                inner = evaluator.scopes(scope.file).scopes[made]
                frame = evaluator.root_frame(inner)
                for produced in [*inner.returns, *inner.yields]:
                    join(result, evaluator.eval(produced, frame), frozenset({"fixture"}))
        return result


def _default(node: FunctionNode, argument: ast.arg) -> ast.expr | None:
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    offset = len(positional) - len(args.defaults)
    for index, candidate in enumerate(positional):
        if candidate is argument and index >= offset:
            return args.defaults[index - offset]
    for candidate, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        if candidate is argument:
            return default
    return None


def _parametrized(node: ast.expr) -> list[str]:
    """The argument names of a parametrize mark: a comma string or a sequence."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [part.strip() for part in node.value.split(",")]
    if isinstance(node, (ast.Tuple, ast.List)):
        return [str(e.value) for e in node.elts if isinstance(e, ast.Constant)]
    return []

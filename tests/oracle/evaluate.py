"""Points-to evaluation: which kernels, functions and containers an expression can be.

Demand driven and context sensitive: a call of a corpus function is followed into its
``return`` expressions with the parameters bound to that call's arguments; a parameter
read without a known call is the union over all callers. Containers are named by the
expression that creates them, and their contents are that expression plus every store.
Values carry tags for how they were reached, so that a comparison can treat "through a
caller in another file" differently from "in plain sight".
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from binding import Binder
from contents import Contents
from corpus import Corpus, SourceFile
from fixpoint import Fixpoint
from scopes import FUNCTIONS, Def, FileScopes, Scope
from values import (
    NO_TAGS,
    CallResult,
    Class,
    Const,
    Container,
    Elements,
    External,
    Frame,
    Func,
    Instance,
    Kernel,
    KernelDecorator,
    Method,
    Module,
    Partial,
    PyFunc,
    Unknown,
    Value,
    Values,
    add,
    join,
    make_frame,
)

KERNEL_NAMES = {"cuda.tile.kernel", "cuda.tile._execution.kernel"}
MAX_DEPTH = 6
WRAPPERS = {"list", "tuple", "set", "frozenset", "sorted", "reversed", "iter", "dict"}
DICT_MAKERS = {"collections.OrderedDict", "collections.defaultdict", "collections.deque", "weakref.WeakKeyDictionary"}


class Evaluator:
    """Evaluates expressions of one corpus."""

    def __init__(
        self,
        corpus: Corpus,
        *,
        follow_calls: bool = True,
        shared: Evaluator | None = None,
        follow_parameters: bool = True,
    ) -> None:
        self.corpus = corpus
        self.follow_calls = follow_calls
        self.follow_parameters = follow_parameters
        self._scopes: dict[SourceFile, FileScopes] = shared._scopes if shared else {}
        self._calls: dict[SourceFile, list[tuple[ast.Call, Frame]]] = shared._calls if shared else {}
        self.memo = Fixpoint()
        self.binder: Binder = shared.binder if shared else Binder(self)
        self.contents = Contents(self)

    # -- scopes and frames -------------------------------------------------------

    def scopes(self, file: SourceFile) -> FileScopes:
        """The scopes of a file, built on first use."""
        if file not in self._scopes:
            self._scopes[file] = FileScopes(file)
        return self._scopes[file]

    def root_frame(self, scope: Scope) -> Frame:
        """The frame that stands for every activation of a scope."""
        outer = None if scope.parent is None else self.root_frame(scope.parent)
        return make_frame(scope, outer)

    def frame_at(self, file: SourceFile, node: ast.AST) -> Frame:
        """The all-calls frame of the scope in which an expression stands."""
        scopes = self.scopes(file)
        return self.root_frame(scopes.scope_of.get(node, scopes.module))

    def eval(self, node: ast.expr, frame: Frame) -> Values:
        """What ``node`` can be in ``frame``."""
        return self.memo.solve((node, frame), lambda: self._eval(node, frame))

    def _eval(self, node: ast.expr, frame: Frame) -> Iterator[Values]:
        match node:
            case ast.Constant():
                yield {Const(node.value): NO_TAGS}
            case ast.Name():
                yield self._name(node, frame)
            case ast.Attribute():
                for value, tags in self.eval(node.value, frame).items():
                    yield join({}, self.attribute(value, node.attr), tags)
            case ast.Call():
                for function, tags in self.eval(node.func, frame).items():
                    yield join({}, self.call(function, node, frame), tags)
            case ast.IfExp():
                yield self.eval(node.body, frame)
                yield self.eval(node.orelse, frame)
            case ast.BoolOp():
                for part in node.values:
                    yield self.eval(part, frame)
            case ast.NamedExpr() | ast.Await() | ast.Starred():
                yield self.eval(node.value, frame)
            case ast.Lambda():
                scope = self.scopes(frame.scope.file).scopes[node]
                yield {Func(frame.scope.file, node, scope, frame): NO_TAGS}
            case (
                ast.Dict()
                | ast.List()
                | ast.Tuple()
                | ast.Set()
                | ast.ListComp()
                | ast.SetComp()
                | ast.DictComp()
                | ast.GeneratorExp()
            ):
                yield {Container(node, frame): NO_TAGS}
            case ast.BinOp():
                sides = join(dict(self.eval(node.left, frame)), self.eval(node.right, frame))
                if isinstance(node.op, ast.Add) and any(isinstance(v, (Container, CallResult)) for v in sides):
                    yield {Container(node, frame): NO_TAGS}
                else:
                    yield {Unknown(): NO_TAGS}
            case ast.Subscript():
                yield self._subscript(node, frame)
            case _:
                yield {Unknown(): NO_TAGS}

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Values:
        result: Values = {}
        keys = [v.value for v in self.eval(node.slice, frame) if isinstance(v, Const)]
        key = keys[0] if len(keys) == 1 and isinstance(node.slice, (ast.Constant, ast.UnaryOp)) else None
        if isinstance(node.slice, ast.UnaryOp) and isinstance(node.slice.operand, ast.Constant):
            operand = node.slice.operand.value
            key = -operand if isinstance(node.slice.op, ast.USub) and isinstance(operand, int) else None
        for value, tags in self.eval(node.value, frame).items():
            if isinstance(node.slice, ast.Slice):
                join(result, {value: tags})
            elif isinstance(value, External):
                # ct.Constant[int] and the like stay what they are.
                join(result, {value: tags})
            else:
                join(result, self.contents.element(value, key, frame), tags)
        return result

    # -- names -------------------------------------------------------------------

    def _name(self, node: ast.Name, frame: Frame) -> Values:
        result: Values = {}
        found = self.scopes(frame.scope.file).resolve(node)
        if not found:
            return {External(f"builtins.{node.id}"): NO_TAGS}
        for definition in found:
            join(result, self.definition(definition, frame))
        return result

    def definition(self, found: Def, frame: Frame) -> Values:
        """The values of one binding, seen from ``frame``."""
        owner: Frame | None = frame
        while owner is not None and owner.scope is not found.scope:
            owner = owner.outer
        if owner is None:
            owner = self.root_frame(found.scope)
        return self.memo.solve((found, owner), lambda: self._definition(found, owner))

    def _definition(self, found: Def, frame: Frame) -> Iterator[Values]:
        file = found.scope.file
        match found.kind, found.node:
            case "param", ast.arg():
                if self.follow_parameters or frame.call is not None:
                    yield self.binder.parameter(found, frame, self)
                else:
                    yield self.binder.unfollowed(found, frame)
            case "import", ast.alias():
                yield self._import(found, file)
            case "func", ast.FunctionDef() | ast.AsyncFunctionDef():
                yield self.decorated(found.node, frame)
            case "class", ast.ClassDef():
                scope = self.scopes(file).scopes[found.node]
                yield {Class(file, found.node, scope, frame): NO_TAGS}
            case "expr" | "comp" | "aug" | "with", _ if found.value is not None:
                values = self.eval(found.value, frame)
                if found.kind == "with":
                    values = self._entered(values, frame)
                for step in found.steps:
                    taken: Values = {}
                    for value, tags in values.items():
                        key = None if step == "each" else step
                        join(taken, self.contents.element(value, key, frame), tags)
                    values = taken
                yield values
            case _:
                yield {Unknown(): NO_TAGS}

    def _entered(self, values: Values, frame: Frame) -> Values:
        """What ``with value as name`` binds: what a context manager function yields."""
        result: Values = {}
        for value, tags in values.items():
            if isinstance(value, Elements):
                join(result, self.contents.element(value, None, frame), tags)
            else:
                add(result, Unknown(), NO_TAGS)
        return result

    def _import(self, found: Def, file: SourceFile) -> Values:
        alias = found.node
        assert isinstance(alias, ast.alias)
        statement = file.parents[alias]
        if isinstance(statement, ast.Import):
            if alias.asname is None:
                top = alias.name.split(".")[0]
                module = self.corpus.find(top, file) if top != "cuda" else None
                return {Module(module) if module else External(top): NO_TAGS}
            module = self.corpus.find(alias.name, file)
            return {Module(module) if module else External(alias.name): NO_TAGS}
        assert isinstance(statement, ast.ImportFrom)
        source = statement.module or ""
        prefix = f"{source}." if source else ""
        sub = self.corpus.find(prefix + alias.name, file, statement.level)
        module = self.corpus.find(source, file, statement.level) if source or statement.level else None
        if module is not None and self.module_defines(module, alias.name):
            return join({}, self.attribute(Module(module), alias.name), frozenset({"import"}))
        if sub is not None:
            return {Module(sub): frozenset({"import"})}
        return {External(prefix + alias.name): NO_TAGS}

    def module_defines(self, file: SourceFile, name: str) -> bool:
        """Whether a module binds a name at its top level, star imports aside."""
        return name in self.scopes(file).module.defs

    # -- attributes --------------------------------------------------------------

    def attribute(self, value: Value, name: str) -> Values:
        """``value.name``."""
        key = ("attribute", value, name)
        return self.memo.solve(key, lambda: self._attribute(value, name))

    def _attribute(self, value: Value, name: str) -> Iterator[Values]:
        match value:
            case External():
                yield {External(f"{value.name}.{name}"): NO_TAGS}
            case Module():
                scope = self.scopes(value.file).module
                found = scope.lookup(name)
                frame = self.root_frame(scope)
                for definition in found:
                    yield self.definition(definition, frame)
                if not found:
                    dotted = ".".join((*value.file.dotted, name))
                    module = self.corpus.find(dotted, value.file)
                    yield {Module(module) if module else Unknown(): NO_TAGS}
            case Kernel():
                yield {PyFunc(value) if name == "_pyfunc" else Method(value, name): NO_TAGS}
            case Container() | Elements() | CallResult():
                yield {Method(value, name): NO_TAGS}
            case Class() | Instance():
                yield self.contents.member(value, name)
            case _:
                yield {Unknown(): NO_TAGS}

    # -- functions and calls -----------------------------------------------------

    def decorated(self, node: ast.FunctionDef | ast.AsyncFunctionDef, frame: Frame) -> Values:
        """A def with its decorators applied, innermost first.

        A decorator of unknown origin is taken to hand its argument through, as the
        marking and wrapping decorators of real code do.
        """
        file = frame.scope.file
        scope = self.scopes(file).scopes[node]
        current: Values = {Func(file, node, scope, frame): NO_TAGS}
        for decorator in reversed(node.decorator_list):
            if self.makes_kernel(decorator, frame):
                current = {Kernel(file, node): NO_TAGS}
        return current

    def makes_kernel(self, decorator: ast.expr, frame: Frame) -> bool:
        """Whether a decorator is cuTile's ``kernel``, bare, with hints, aliased or partial."""
        for value in self.eval(decorator, frame):
            if isinstance(value, KernelDecorator):
                return True
            maker = value.function if isinstance(value, Partial) else value
            if isinstance(maker, External) and maker.name in KERNEL_NAMES:
                return True
            if isinstance(value, Func) and self._returns_kernel(value):
                return True
        return False

    def _returns_kernel(self, function: Func) -> bool:
        """Whether a corpus decorator returns ``ct.kernel(its argument)``."""
        node = function.node
        if isinstance(node, ast.Lambda) or not node.args.args:
            return False
        frame = make_frame(function.scope, function.closure)
        for returned in function.scope.returns:
            if isinstance(returned, ast.Call) and returned.args:
                makers = self.eval(returned.func, frame)
                hits = any(isinstance(m, External) and m.name in KERNEL_NAMES for m in makers)
                hits = hits or any(isinstance(m, KernelDecorator) for m in makers)
                argument = returned.args[0]
                if hits and isinstance(argument, ast.Name) and argument.id == node.args.args[0].arg:
                    return True
        return False

    def call(self, function: Value, node: ast.Call, frame: Frame) -> Values:
        """The result of calling ``function`` with the arguments of ``node``."""
        return self.memo.solve(("call", function, node, frame), lambda: self._call(function, node, frame))

    def _call(self, function: Value, node: ast.Call, frame: Frame) -> Iterator[Values]:
        match function:
            case External():
                yield self._external_call(function.name, node, frame)
            case KernelDecorator():
                yield self._wrap(node, frame)
            case Partial():
                yield from self._call_partial(function, node, frame)
            case Func():
                yield self._follow(function, node, frame)
            case Class():
                yield {Instance(function, node, frame): NO_TAGS}
            case Method(owner=Kernel() as kernel, name="replace_hints"):
                yield {kernel: NO_TAGS}
            case Method():
                yield self.contents.method_call(function, node, frame)
            case _:
                yield {Unknown(): NO_TAGS}

    def _call_partial(self, partial: Partial, node: ast.Call, frame: Frame) -> Iterator[Values]:
        if isinstance(partial.function, External) and partial.function.name in KERNEL_NAMES:
            yield self._wrap(node, frame)
        else:
            yield self.call(partial.function, partial.call, partial.frame)

    def _follow(self, function: Func, node: ast.Call, frame: Frame) -> Values:
        if not self.follow_calls:
            return {CallResult(function, node, frame): NO_TAGS}
        if frame.depth >= MAX_DEPTH:
            return {Unknown(): NO_TAGS}
        inner = make_frame(function.scope, function.closure, node, frame, function.receiver)
        if function.scope.yields or function.scope.yields_from:
            return {Elements(CallResult(function, node, frame), "yields"): NO_TAGS}
        result: Values = {}
        for returned in function.scope.returns:
            join(result, self.eval(returned, inner))
        return result

    def _wrap(self, node: ast.Call, frame: Frame) -> Values:
        """``ct.kernel(f, ...)``: the kernels made of what the first argument can be."""
        result: Values = {}
        if not node.args:
            return {KernelDecorator(node): NO_TAGS}
        for value, tags in self.eval(node.args[0], frame).items():
            match value:
                case Func(node=ast.FunctionDef() | ast.AsyncFunctionDef() as inner):
                    add(result, Kernel(value.file, inner), tags)
                case PyFunc():
                    add(result, value.kernel, tags)
                case Kernel():
                    add(result, value, tags)
                case _:
                    add(result, Unknown(), tags)
        return result

    def _external_call(self, name: str, node: ast.Call, frame: Frame) -> Values:
        if name in KERNEL_NAMES:
            return self._wrap(node, frame)
        last = name.rsplit(".", 1)[-1]
        if name.startswith("builtins."):
            return self._builtin(last, node, frame)
        if name in DICT_MAKERS:
            return {Container(node, frame): NO_TAGS}
        if name == "functools.partial" and node.args:
            functions = self.eval(node.args[0], frame)
            return {Partial(value, node, frame): tags for value, tags in functions.items()}
        if name in {"importlib.import_module", "pytest.importorskip"} and node.args:
            module = node.args[0]
            if isinstance(module, ast.Constant) and isinstance(module.value, str):
                return {External(module.value): frozenset({"dynamic"})}
        if name == "pytest.param":
            return {Container(self.binder.row(node), frame): NO_TAGS}
        if name == "types.SimpleNamespace":
            return {Instance(None, node, frame): NO_TAGS}
        if last == "cached_replace_hints" and node.args:
            return {v: tags for v, tags in self.eval(node.args[0], frame).items() if isinstance(v, (Kernel, Unknown))}
        if name in {"copy.copy", "copy.deepcopy", "itertools.chain", "itertools.islice"} and node.args:
            return self.eval(node.args[0], frame)
        return {Unknown(): NO_TAGS}

    def _builtin(self, name: str, node: ast.Call, frame: Frame) -> Values:
        if name in WRAPPERS:
            if not node.args or name == "dict":
                return {Container(node, frame): NO_TAGS}
            return self.eval(node.args[0], frame)
        if name in {"enumerate", "zip", "map", "filter"}:
            return {Container(node, frame): NO_TAGS}
        if name in {"min", "max", "next"} and node.args:
            result: Values = {}
            for value, tags in self.eval(node.args[0], frame).items():
                join(result, self.contents.element(value, None, frame), tags)
            return result
        if name == "getattr" and len(node.args) >= 2 and isinstance(node.args[1], ast.Constant):
            result = {}
            for value, tags in self.eval(node.args[0], frame).items():
                join(result, self.attribute(value, str(node.args[1].value)), tags)
            for default in node.args[2:]:
                join(result, self.eval(default, frame))
            return result
        if name == "super":
            return {Unknown(): NO_TAGS}
        return {Unknown(): NO_TAGS}

    # -- callers -----------------------------------------------------------------

    def calls_of(self, file: SourceFile) -> list[tuple[ast.Call, Frame]]:
        """All calls of a file with the frame they stand in."""
        if file not in self._calls:
            calls = [n for n in ast.walk(file.tree) if isinstance(n, ast.Call)]
            self._calls[file] = [(call, self.frame_at(file, call)) for call in calls]
        return self._calls[file]

    def innermost_function(self, frame: Frame) -> Frame | None:
        """The frame of the function that runs an expression, None at module level."""
        current: Frame | None = frame
        while current is not None and not isinstance(current.scope.node, FUNCTIONS):
            current = current.outer
        return current

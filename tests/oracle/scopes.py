"""Names, scopes and which assignments reach a use.

Python decides at compile time which scope a name lives in; which of its
assignments a read sees depends on control flow. ``FileScopes`` walks each scope
once, keeps an environment of reaching definitions, merges it where branches meet
and drops it after ``return``, ``raise``, ``break`` and ``continue``. A function
reads a name of an enclosing scope when it is called, so such reads see every
definition that survives to the end of that scope.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from corpus import SourceFile

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ScopeNode = ast.Module | ast.ClassDef | FunctionNode
Env = dict[str, frozenset["Def"]]
Step = int | str

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# except* came with Python 3.11.
TryStar: type[ast.Try] = getattr(ast, "TryStar", ast.Try)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(eq=False, repr=False)
class Def:
    """One binding of a name.

    ``steps`` says how the name is taken out of ``value``: an index for tuple
    unpacking, ``"each"`` for the elements of an iterable.
    """

    name: str
    kind: str
    node: ast.AST
    scope: Scope
    value: ast.expr | None = None
    steps: tuple[Step, ...] = ()


@dataclass(eq=False, repr=False)
class Scope:
    """A module, class or function with the names it binds."""

    node: ScopeNode
    file: SourceFile
    parent: Scope | None
    defs: dict[str, list[Def]] = field(default_factory=dict)
    comprehension_defs: dict[str, list[Def]] = field(default_factory=dict)
    final: Env = field(default_factory=dict)
    outer_names: dict[str, str] = field(default_factory=dict)
    returns: list[ast.expr] = field(default_factory=list)
    yields: list[ast.expr] = field(default_factory=list)
    yields_from: list[ast.expr] = field(default_factory=list)

    @property
    def is_function(self) -> bool:
        """Whether this scope is run by a call."""
        return isinstance(self.node, FUNCTIONS)

    def lookup(self, name: str) -> frozenset[Def]:
        """What a read of ``name`` from a function inside this scope may see."""
        if name in self.outer_names or name not in self.defs:
            return frozenset()
        return self.final.get(name) or frozenset(self.defs[name])


def parameters(node: FunctionNode) -> list[ast.arg]:
    """All parameters in the order of the signature."""
    args = node.args
    found = [*args.posonlyargs, *args.args]
    if args.vararg:
        found.append(args.vararg)
    found.extend(args.kwonlyargs)
    if args.kwarg:
        found.append(args.kwarg)
    return found


class FileScopes:
    """The scopes of one file and the reaching definitions of each name read."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.uses: dict[ast.Name, frozenset[Def]] = {}
        self.scope_of: dict[ast.AST, Scope] = {}
        self.scopes: dict[ScopeNode, Scope] = {}
        self._ids: dict[tuple[ast.AST, str], Def] = {}
        self._pending: list[Scope] = []
        self.module = self.open_scope(file.tree, None)
        while self._pending:
            scope = self._pending.pop()
            _Walker(self, scope).run()

    def open_scope(self, node: ScopeNode, parent: Scope | None) -> Scope:
        """The scope of a node; a loop body is walked twice and must not make two."""
        if node in self.scopes:
            return self.scopes[node]
        scope = Scope(node, self.file, parent)
        self.scopes[node] = scope
        if isinstance(node, ast.ClassDef):
            return scope
        self._pending.append(scope)
        return scope

    def define(self, found: Def) -> Def:
        """Register a definition once, however often loops make the walker see it."""
        known = self._ids.setdefault((found.node, found.name), found)
        if known is found:
            owner = found.scope
            if found.name in owner.outer_names and owner.parent is not None:
                owner = self.module if owner.outer_names[found.name] == "global" else owner.parent
            names = owner.comprehension_defs if found.kind == "comp" else owner.defs
            names.setdefault(found.name, []).append(known)
            if owner is not found.scope:
                owner.final[found.name] = owner.final.get(found.name, frozenset()) | {known}
        return known

    def resolve(self, name: ast.Name) -> frozenset[Def]:
        """The definitions that a read may see; empty for builtins."""
        local = self.uses.get(name)
        if local:
            return local
        scope: Scope | None = self.scope_of.get(name, self.module)
        inner = True
        while scope is not None:
            if inner or not isinstance(scope.node, ast.ClassDef):
                found = scope.lookup(name.id)
                if found:
                    return found
            inner = False
            scope = scope.parent
        # A lambda inside a comprehension reads the comprehension's variable.
        scope = self.scope_of.get(name)
        while scope is not None:
            if name.id in scope.comprehension_defs:
                return frozenset(scope.comprehension_defs[name.id])
            scope = scope.parent
        return frozenset()


def merge(*envs: Env | None) -> Env | None:
    """The environment where control flow meets; None is unreachable code."""
    live = [env for env in envs if env is not None]
    if not live:
        return None
    if len(live) == 1:
        return live[0]
    merged: Env = dict(live[0])
    for env in live[1:]:
        for name, found in env.items():
            merged[name] = merged[name] | found if name in merged else found
    return merged


@dataclass
class _Loop:
    """Environments that leave a loop early."""

    breaks: list[Env] = field(default_factory=list)
    continues: list[Env] = field(default_factory=list)


class _Walker:
    """Walks the statements of one scope."""

    def __init__(self, owner: FileScopes, scope: Scope) -> None:
        self.owner = owner
        self.scope = scope
        self.loops: list[_Loop] = []
        self.raised: list[list[Env]] = []

    def run(self) -> None:
        node = self.scope.node
        env: Env = {}
        if isinstance(node, FUNCTIONS):
            for argument in parameters(node):
                env = self._bind(env, Def(argument.arg, "param", argument, self.scope))
            if isinstance(node, ast.Lambda):
                self._expr(node.body, env)
                self.scope.returns.append(node.body)
                self._finish(env)
                return
            self._declared(node)
        self._finish(self._block(node.body, env))

    def _declared(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        pending: list[ast.AST] = list(node.body)
        while pending:
            current = pending.pop()
            if isinstance(current, (ast.Global, ast.Nonlocal)):
                kind = "global" if isinstance(current, ast.Global) else "nonlocal"
                self.scope.outer_names.update(dict.fromkeys(current.names, kind))
            elif not isinstance(current, (*FUNCTIONS, ast.ClassDef)):
                pending.extend(ast.iter_child_nodes(current))

    def _finish(self, env: Env | None) -> None:
        if env is None:
            return
        for name, found in env.items():
            self.scope.final[name] = self.scope.final.get(name, frozenset()) | found

    def _bind(self, env: Env, found: Def) -> Env:
        known = self.owner.define(found)
        return {**env, known.name: frozenset({known})}

    def _assign(self, target: ast.expr, env: Env, value: ast.expr | None, steps: tuple[Step, ...], kind: str) -> Env:
        if isinstance(target, ast.Name):
            self.owner.scope_of[target] = self.scope
            return self._bind(env, Def(target.id, kind, target, self.scope, value, steps))
        if isinstance(target, (ast.Tuple, ast.List)):
            starred = next((i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)), None)
            for index, element in enumerate(target.elts):
                if isinstance(element, ast.Starred):
                    env = self._assign(element.value, env, None, (), kind)
                elif starred is not None and index > starred:
                    env = self._assign(element, env, value, (*steps, index - len(target.elts)), kind)
                else:
                    env = self._assign(element, env, value, (*steps, index), kind)
            return env
        self._expr(target, env)
        return env

    def _block(self, body: list[ast.stmt], env: Env | None) -> Env | None:
        for statement in body:
            if env is None:
                # Dead code is still looked at: it is text that an editor shows.
                env = {}
                self._statement(statement, env)
                env = None
                continue
            if self.raised:
                self.raised[-1].append(env)
            env = self._statement(statement, env)
        if env is not None and self.raised:
            self.raised[-1].append(env)
        return env

    def _statement(self, node: ast.stmt, env: Env) -> Env | None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for part in [*node.decorator_list, *_signature_parts(node)]:
                    env = self._expr(part, env)
                self.owner.scope_of[node] = self.scope
                self.owner.open_scope(node, self.scope)
                return self._bind(env, Def(node.name, "func", node, self.scope))
            case ast.ClassDef():
                return self._class(node, env)
            case ast.Return():
                if node.value is not None:
                    self._expr(node.value, env)
                    _add(self.scope.returns, node.value)
                return None
            case ast.Assign():
                env = self._expr(node.value, env)
                for target in node.targets:
                    env = self._assign(target, env, node.value, (), "expr")
                return env
            case ast.AnnAssign():
                env = self._expr(node.annotation, env)
                if node.value is None:
                    return env
                env = self._expr(node.value, env)
                return self._assign(node.target, env, node.value, (), "expr")
            case ast.AugAssign():
                env = self._expr(node.value, env)
                if isinstance(node.target, ast.Name):
                    before = env.get(node.target.id, frozenset())
                    env = self._assign(node.target, env, node.value, (), "aug")
                    env = {**env, node.target.id: env[node.target.id] | before}
                else:
                    env = self._expr(node.target, env)
                return env
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(node, env)
            case ast.If():
                env = self._expr(node.test, env)
                return merge(self._block(node.body, env), self._block(node.orelse, env))
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    env = self._expr(item.context_expr, env)
                    if item.optional_vars is not None:
                        env = self._assign(item.optional_vars, env, item.context_expr, (), "with")
                return self._block(node.body, env)
            case ast.Try() | TryStar():
                return self._try(node, env)
            case ast.Match():
                return self._match(node, env)
            case ast.Raise() | ast.Assert() | ast.Expr() | ast.Delete():
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        env = self._expr(child, env)
                return None if isinstance(node, ast.Raise) else env
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    name = alias.asname or alias.name.split(".")[0]
                    env = self._bind(env, Def(name, "import", alias, self.scope))
                return env
            case ast.Break() | ast.Continue():
                if self.loops:
                    loop = self.loops[-1]
                    (loop.breaks if isinstance(node, ast.Break) else loop.continues).append(env)
                return None
            case _:
                return env

    def _class(self, node: ast.ClassDef, env: Env) -> Env:
        for part in [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]:
            env = self._expr(part, env)
        self.owner.scope_of[node] = self.scope
        scope = self.owner.open_scope(node, self.scope)
        body = _Walker(self.owner, scope)
        # A class body runs where it stands, but its names are its own.
        body._finish(body._block(node.body, {}))
        return self._bind(env, Def(node.name, "class", node, self.scope))

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, env: Env) -> Env | None:
        if not isinstance(node, ast.While):
            env = self._expr(node.iter, env)
        entry: Env | None = env
        leaving: list[Env | None] = []
        after: Env | None = None
        for _ in range(2):
            assert entry is not None
            self.loops.append(_Loop())
            if isinstance(node, ast.While):
                start = self._expr(node.test, entry)
            else:
                start = self._assign(node.target, entry, node.iter, ("each",), "expr")
            after = self._block(node.body, start)
            loop = self.loops.pop()
            leaving = list(loop.breaks)
            entry = merge(entry, after, *loop.continues) or entry
        if isinstance(node, ast.For) and isinstance(node.iter, (ast.List, ast.Tuple)) and node.iter.elts:
            # A loop over a written-out list runs at least once.
            entry = merge(after, *loop.continues)
        endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant) and bool(node.test.value)
        done = None if endless or entry is None else self._block(node.orelse, entry)
        return merge(done, *leaving)

    def _try(self, node: ast.Try, env: Env) -> Env | None:
        self.raised.append([env])
        after = self._block(node.body, env)
        at_raise = merge(*self.raised.pop())
        ends = [self._block(node.orelse, after) if after is not None else None]
        for handler in node.handlers:
            start = at_raise or env
            if handler.type is not None:
                start = self._expr(handler.type, start)
            if handler.name:
                start = self._bind(start, Def(handler.name, "except", handler, self.scope))
            ends.append(self._block(handler.body, start))
        merged = merge(*ends)
        if not node.finalbody:
            return merged
        final = self._block(node.finalbody, merge(merged, at_raise) or env)
        return final if merged is not None else None

    def _match(self, node: ast.Match, env: Env) -> Env | None:
        env = self._expr(node.subject, env)
        ends: list[Env | None] = [env]
        for case in node.cases:
            start = env
            for pattern in ast.walk(case.pattern):
                if isinstance(pattern, (ast.MatchAs, ast.MatchStar)) and pattern.name:
                    start = self._bind(start, Def(pattern.name, "match", pattern, self.scope))
                elif isinstance(pattern, ast.expr):
                    self._expr(pattern, start)
            if case.guard is not None:
                start = self._expr(case.guard, start)
            ends.append(self._block(case.body, start))
        return merge(*ends)

    def _expr(self, node: ast.expr, env: Env) -> Env:
        """Record reads in evaluation order; returns the environment after walrus bindings."""
        self.owner.scope_of[node] = self.scope
        match node:
            case ast.Name():
                if isinstance(node.ctx, ast.Load) and node.id in env:
                    # A loop body is walked twice; the second pass sees more.
                    self.owner.uses[node] = env[node.id] | self.owner.uses.get(node, frozenset())
                return env
            case ast.NamedExpr():
                env = self._expr(node.value, env)
                return self._assign(node.target, env, node.value, (), "expr")
            case ast.Lambda():
                for part in _signature_parts(node):
                    env = self._expr(part, env)
                self.owner.open_scope(node, self.scope)
                return env
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                inner = env
                for generator in node.generators:
                    inner = self._expr(generator.iter, inner)
                    inner = self._assign(generator.target, inner, generator.iter, ("each",), "comp")
                    for test in generator.ifs:
                        inner = self._expr(test, inner)
                parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
                for part in parts:
                    self._expr(part, inner)
                return env
            case ast.Yield():
                if node.value is not None:
                    _add(self.scope.yields, node.value)
                    return self._expr(node.value, env)
                return env
            case ast.YieldFrom():
                _add(self.scope.yields_from, node.value)
                return self._expr(node.value, env)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                env = self._expr(child, env)
            elif isinstance(child, ast.keyword):
                env = self._expr(child.value, env)
        return env


def _add(found: list[ast.expr], node: ast.expr) -> None:
    """Append a node that a second pass over a loop may bring again."""
    if not any(known is node for known in found):
        found.append(node)


def _signature_parts(node: FunctionNode) -> list[ast.expr]:
    """Defaults and annotations: they are evaluated where the function is defined."""
    args = node.args
    parts = [*args.defaults, *(default for default in args.kw_defaults if default is not None)]
    parts.extend(argument.annotation for argument in parameters(node) if argument.annotation is not None)
    if not isinstance(node, ast.Lambda) and node.returns is not None:
        parts.append(node.returns)
    return parts

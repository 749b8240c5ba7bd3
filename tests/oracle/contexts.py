"""Where a kernel is re-hinted: on every call, behind a cache miss, cached, or once at import."""

from __future__ import annotations

import ast

from corpus import SourceFile
from evaluate import Evaluator
from scopes import FUNCTIONS, FileScopes

CACHE_DECORATORS = {"functools.cache", "functools.lru_cache", "functools.cached_property"}
Polarity = bool | None
FunctionDef = ast.FunctionDef | ast.AsyncFunctionDef


class Contexts:
    """Classifies expressions of one file."""

    def __init__(self, evaluator: Evaluator, file: SourceFile) -> None:
        self.evaluator = evaluator
        self.file = file
        self.scopes: FileScopes = evaluator.scopes(file)

    def classify(self, node: ast.AST, seen: frozenset[ast.AST] = frozenset()) -> str:
        """``module``, ``cached``, ``guarded`` or ``hot``."""
        functions = self._functions_around(node)
        if not functions:
            return "module"
        if any(self._is_cached(function) for function in functions):
            return "cached"
        if self._is_guarded(node):
            return "guarded"
        # A function is as hot as the places that use it; the innermost one that is
        # used anywhere decides, since a closure lives inside its function.
        for function in functions:
            uses = [use for use in self._uses(function) if use not in seen]
            if not uses:
                continue
            contexts = {self._of_use(use, seen | {use, function}) for use in uses}
            if "hot" in contexts:
                continue
            if len(contexts) == 1:
                return contexts.pop()
            return "guarded"
        return "hot"

    def _of_use(self, use: ast.AST, seen: frozenset[ast.AST]) -> str:
        """The context that a place gives to what it calls.

        What a script runs under ``if __name__ == "__main__"`` says nothing about how often
        the function runs elsewhere.
        """
        current: ast.AST | None = use
        while current is not None:
            if isinstance(current, ast.If) and "__main__" in ast.unparse(current.test):
                return "hot"
            current = self.file.parents.get(current)
        return self.classify(use, seen)

    def is_inside_function(self, node: ast.AST) -> bool:
        """Whether a call runs the node."""
        return bool(self._functions_around(node))

    def _functions_around(self, node: ast.AST) -> list[ast.AST]:
        """The functions whose body holds a node, innermost first."""
        found: list[ast.AST] = []
        child = node
        current = self.file.parents.get(node)
        while current is not None:
            if (isinstance(current, ast.Lambda) and child is current.body) or (
                isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef)) and child in current.body
            ):
                found.append(current)
            child, current = current, self.file.parents.get(current)
        return found

    def _is_cached(self, function: ast.AST) -> bool:
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        for decorator in function.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            values = self.evaluator.eval(target, self.evaluator.frame_at(self.file, target))
            if any(getattr(value, "name", None) in CACHE_DECORATORS for value in values):
                return True
        return False

    def _uses(self, function: ast.AST) -> list[ast.AST]:
        """Calls of a function and places that hand it on as a value, in this file."""
        if isinstance(function, ast.Lambda):
            return []
        assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        if isinstance(self.file.parents.get(function), ast.ClassDef):
            scope = self.scopes.scopes[function]
            return [call for call, _, _ in self.evaluator.binder.callers(scope)]
        uses: list[ast.AST] = []
        for name in ast.walk(self.file.tree):
            if not isinstance(name, ast.Name) or name.id != function.name or not isinstance(name.ctx, ast.Load):
                continue
            if any(definition.node is function for definition in self.scopes.resolve(name)):
                uses.append(name)
        return uses

    # -- guards ------------------------------------------------------------------

    def _is_guarded(self, node: ast.AST) -> bool:
        """Whether every way to a node passes a cache miss, up to the outermost function."""
        child = node
        parent = self.file.parents.get(node)
        while parent is not None:
            if isinstance(parent, (ast.If, ast.IfExp)):
                body = parent.body if isinstance(parent.body, list) else [parent.body]
                orelse = parent.orelse if isinstance(parent.orelse, list) else [parent.orelse]
                miss = self._is_miss(parent.test)
                if miss is True and any(child is part for part in body):
                    return True
                if miss is False and any(child is part for part in orelse):
                    return True
            if isinstance(parent, ast.ExceptHandler) and self._catches_miss(parent):
                return True
            for block in _blocks(parent):
                if any(child is statement for statement in block) and self._left_on_hit(block, child):
                    return True
            child, parent = parent, self.file.parents.get(parent)
        return False

    def _left_on_hit(self, block: list[ast.stmt], statement: ast.AST) -> bool:
        """Whether an earlier statement of the block leaves it when the cache has the answer."""
        for earlier in block:
            if earlier is statement:
                return False
            if isinstance(earlier, ast.If):
                miss = self._is_miss(earlier.test)
                if miss is False and _always_leaves(earlier.body):
                    return True
                if miss is True and earlier.orelse and _always_leaves(earlier.orelse):
                    return True
            handlers = earlier.handlers if isinstance(earlier, ast.Try) and _always_leaves(earlier.body) else []
            if any(self._catches_miss(handler) for handler in handlers):
                return True
        return False

    def _catches_miss(self, handler: ast.ExceptHandler) -> bool:
        """``except KeyError`` around a subscript, ``except AttributeError`` around an attribute."""
        attempt = self.file.parents[handler]
        if handler.type is None or not isinstance(attempt, ast.Try):
            return False
        names = {n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)}
        kinds: tuple[type[ast.AST], ...] = ()
        if "KeyError" in names or "LookupError" in names:
            kinds += (ast.Subscript,)
        if "AttributeError" in names:
            kinds += (ast.Attribute,)
        return bool(kinds) and any(isinstance(n, kinds) for s in attempt.body for n in ast.walk(s))

    def _is_miss(self, test: ast.expr) -> Polarity:
        """True if the test holds on a cache miss, False if on a hit, None if it is no guard."""
        match test:
            case ast.UnaryOp(op=ast.Not()):
                inner = self._is_miss(test.operand)
                return None if inner is None else not inner
            case ast.BoolOp():
                known = {self._is_miss(part) for part in test.values} - {None}
                return known.pop() if len(known) == 1 else None
            case ast.Compare(ops=[ast.In() | ast.NotIn() as op], comparators=[container]):
                if not self._is_cache(container):
                    return None
                return isinstance(op, ast.NotIn)
            case ast.Compare(ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]):
                return isinstance(op, ast.Is) if self._is_lookup(test.left) else None
            case ast.Call(func=ast.Name(id="hasattr")):
                return False
            case ast.Name() | ast.Call() | ast.NamedExpr() | ast.Attribute() | ast.Subscript():
                return False if self._is_lookup(test) else None
        return None

    def _is_cache(self, node: ast.expr) -> bool:
        """A container that the file fills: ``x[...] = ...`` or ``x.setdefault(...)`` somewhere."""
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            return False
        wanted = ast.unparse(node)
        return any(ast.unparse(base) == wanted for base, *_ in self.evaluator.contents.stores(self.file))

    def _is_lookup(self, node: ast.expr) -> bool:
        """An expression that holds what a cache had, or a slot that is filled when empty."""
        match node:
            case ast.NamedExpr():
                return self._is_lookup(node.value)
            case ast.Call(func=ast.Attribute(attr="get", value=container)):
                return self._is_cache(container)
            case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str() as name), *_]):
                return any(isinstance(t, ast.Attribute) and t.attr == name for t in self._attribute_targets())
            case ast.Subscript():
                return self._is_cache(node.value)
            case ast.Attribute():
                wanted = ast.unparse(node)
                return any(wanted == ast.unparse(target) for target in self._attribute_targets())
            case ast.Name():
                definitions = self.scopes.resolve(node)
                if any(d.value is not None and not d.steps and self._is_lookup(d.value) for d in definitions):
                    return True
                return any(self._is_lazy_slot(node.id, d.scope.node) for d in definitions)
        return False

    def _attribute_targets(self) -> list[ast.expr]:
        found: list[ast.expr] = []
        for statement in ast.walk(self.file.tree):
            if isinstance(statement, ast.Assign):
                found.extend(t for t in statement.targets if isinstance(t, ast.Attribute))
        return found

    def _is_lazy_slot(self, name: str, owner: ast.AST) -> bool:
        """A variable of an outer scope that a function assigns through global or nonlocal."""
        if isinstance(owner, ast.Lambda):
            return False
        for scope in self.scopes.scopes.values():
            if isinstance(scope.node, FUNCTIONS) and name in scope.outer_names and scope.node is not owner:
                return True
        return False


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    """The statement lists of a node."""
    found = []
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            found.append(block)
    return found


def _always_leaves(block: list[ast.stmt]) -> bool:
    """Whether a block ends by leaving the function or the loop round."""
    last = block[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _always_leaves(last.body) and _always_leaves(last.orelse)
    if isinstance(last, ast.With):
        return _always_leaves(last.body)
    return isinstance(last, (ast.Return, ast.Raise, ast.Continue))

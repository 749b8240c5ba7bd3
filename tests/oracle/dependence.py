"""Whether the number of configurations a function makes depends on its arguments.

A name is tainted if its value may come from an argument. The count depends on arguments if
a tainted value decides how often something happens: a branch, a loop, a filter, a slice or
a call whose result is iterated. A literal list has its length whatever its elements are.
"""

from __future__ import annotations

import ast

SIZED = (ast.List, ast.Tuple)
KEEP_LENGTH = {"list", "tuple", "sorted", "reversed", "enumerate"}


def depends_on_arguments(function: ast.FunctionDef, parameters: set[str]) -> bool:
    """Whether a tainted value controls the flow of ``function``."""
    tainted = set(parameters)
    while True:
        size = len(tainted)
        for node in ast.walk(function):
            _spread(node, tainted)
        if len(tainted) == size:
            break
    return any(_controls(node, tainted) for node in ast.walk(function))


def _reads(node: ast.AST | None, tainted: set[str]) -> bool:
    return node is not None and any(isinstance(n, ast.Name) and n.id in tainted for n in ast.walk(node))


def _spread(node: ast.AST, tainted: set[str]) -> None:
    """Taint what is assigned from tainted values."""
    targets: list[ast.expr] = []
    value: ast.AST | None = None
    if isinstance(node, ast.Assign):
        targets, value = node.targets, node.value
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        targets, value = [node.target], node.value
    elif isinstance(node, (ast.For, ast.comprehension)):
        targets, value = [node.target], node.iter
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        targets, value = [node.optional_vars], node.context_expr
    elif isinstance(node, (ast.FunctionDef, ast.Lambda)):
        return
    if _reads(value, tainted):
        for target in targets:
            tainted |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _controls(node: ast.AST, tainted: set[str]) -> bool:
    if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Match)):
        test = node.subject if isinstance(node, ast.Match) else node.test
        return _reads(test, tainted)
    if isinstance(node, ast.For):
        return _unsized(node.iter, tainted)
    if isinstance(node, ast.comprehension):
        return _unsized(node.iter, tainted) or any(_reads(test, tainted) for test in node.ifs)
    if isinstance(node, ast.YieldFrom):
        return _unsized(node.value, tainted)
    if isinstance(node, ast.Return):
        # A returned value has a fixed length only if its text says so.
        return node.value is not None and _unsized(node.value, tainted)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return _reads(node, tainted)
    if isinstance(node, (ast.BoolOp, ast.Set, ast.SetComp)):
        # A set merges equal elements; a short circuit chooses between values.
        return _reads(node, tainted)
    return False


def _unsized(node: ast.expr, tainted: set[str]) -> bool:
    """Whether the length of an iterable may depend on a tainted value."""
    if isinstance(node, SIZED):
        return any(isinstance(e, ast.Starred) and _reads(e, tainted) for e in node.elts)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return False
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _unsized(node.left, tainted) or _unsized(node.right, tainted)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in KEEP_LENGTH and node.args:
        return _unsized(node.args[0], tainted)
    if isinstance(node, ast.Name) and node.id in tainted:
        return True
    return _reads(node, tainted)

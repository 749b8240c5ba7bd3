"""Counts configurations by running the code that makes them, once per architecture.

This is the strongest oracle there is for a static count, and it runs code of the corpus:
test-only, on pinned public packages, in a child process with stubs instead of torch and
cuTile, an empty environment and limits on time and memory.
"""

from __future__ import annotations

import ast
import copy
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dependence import depends_on_arguments
from scopes import FUNCTIONS
from spaces import Space
from stubs import ARCHITECTURES, Device, Finder, Stub

TIMEOUT_S = 120
MEMORY_BYTES = 2 << 30
MAX_CONFIGS = 20_000
SAMPLES = 40
# Devices of one architecture differ in size; a count that follows it is a run-time value.
MULTIPROCESSORS = (108, 148)
SWITCHES = ("TILEGYM_DISABLE_AUTOTUNE", "DISABLE_AUTOTUNE", "DISABLE_CUTILE_TUNE")
INTEGERS = (1, 8, 16, 32, 64, 80, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192)


@dataclass
class Counts:
    """What running a space gave.

    ``exact`` per architecture where the count follows from the architecture alone;
    ``sampled`` holds the counts seen for some arguments, which a static range must contain.
    """

    exact: dict[str, int] = field(default_factory=dict)
    sampled: dict[str, list[int]] = field(default_factory=dict)
    reason: str = ""


def count(root: Path, spaces: list[Space]) -> list[Counts]:
    """Run every space on every architecture, in one child per architecture."""
    results = [_literal(space) for space in spaces]
    pending = [(result, space) for result, space in zip(results, spaces, strict=True) if not result.exact]
    requests = [_request(space) for _, space in pending]
    for arch in ARCHITECTURES:
        answers = _run(root, arch, requests)
        for (result, _), request, answer in zip(pending, requests, answers, strict=True):
            seen = sorted(set(answer["counts"]))
            if not seen:
                result.reason = answer["error"] or "nothing could be run"
            elif len(seen) == 1 and not request["depends"] and not answer["partial"]:
                result.exact[arch] = seen[0]
            else:
                result.sampled[arch] = seen
                result.reason = "depends on arguments" if request["depends"] else "depends on the environment"
    return results


def _literal(space: Space) -> Counts:
    """The length of a written-out list that nothing is added to."""
    node = space.node
    if not isinstance(node, (ast.List, ast.Tuple)) or any(isinstance(e, ast.Starred) for e in node.elts):
        return Counts()
    added = f"{space.name}."
    for call in ast.walk(_function_around(space) or space.file.tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func).startswith(added):
            return Counts()
        if isinstance(call, ast.AugAssign) and ast.unparse(call.target) == space.name:
            return Counts()
    return Counts(exact=dict.fromkeys(ARCHITECTURES, len(node.elts)))


def _request(space: Space) -> dict[str, Any]:
    """What the child needs to run a space."""
    node = space.node
    owner = node if space.is_function else _function_around(space)
    code, names = "", []
    if isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if space.is_function:
            code = ast.unparse(_undecorated(owner, owner.body))
            names = [argument.arg for argument in _arguments(owner)]
        else:
            kept, names = _slice(owner, node)
            body = [*kept, ast.Return(value=_result(space, node))]
            code = ast.unparse(ast.fix_missing_locations(_undecorated(owner, body)))
    else:
        expression = _result(space, node)
        code = f"def _space():\n    return {ast.unparse(expression)}"
    parsed = ast.parse(code).body[0]
    assert isinstance(parsed, ast.FunctionDef)
    return {
        "file": space.file.relative,
        "module": ".".join(space.file.dotted),
        "code": code,
        "name": parsed.name,
        "nested": owner is not None and not _is_top_level(space, owner),
        "arguments": _samples(owner, names),
        "depends": depends_on_arguments(parsed, set(names)),
    }


def _is_top_level(space: Space, owner: ast.AST) -> bool:
    parent = space.file.parents.get(owner)
    while isinstance(parent, (ast.If, ast.Try, ast.ClassDef)):
        parent = space.file.parents.get(parent)
    return isinstance(parent, ast.Module)


def _function_around(space: Space) -> ast.AST | None:
    current = space.file.parents.get(space.node)
    while current is not None and not isinstance(current, FUNCTIONS):
        current = space.file.parents.get(current)
    return current


def _result(space: Space, node: ast.AST) -> ast.expr:
    """The list's variable, which has what was appended since, or the list itself."""
    parent = space.file.parents.get(node)
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        return ast.Name(id=parent.targets[0].id, ctx=ast.Load())
    assert isinstance(node, ast.expr)
    return node


def _undecorated(owner: ast.FunctionDef | ast.AsyncFunctionDef, body: list[ast.stmt]) -> ast.FunctionDef:
    """The function without decorators and annotations, whose names may be stubs."""
    arguments = copy.deepcopy(owner.args)
    for node in ast.walk(arguments):
        if isinstance(node, ast.arg):
            node.annotation = None
    bare = ast.FunctionDef(name=owner.name, args=arguments, body=body, decorator_list=[], lineno=1)
    return ast.fix_missing_locations(bare)


def _arguments(owner: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    args = owner.args
    return [*args.posonlyargs, *args.args, *args.kwonlyargs]


def _slice(owner: ast.FunctionDef | ast.AsyncFunctionDef, node: ast.AST) -> tuple[list[ast.stmt], list[str]]:
    """The statements of a function that make a list, and the parameters they read."""
    needed = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    kept: set[int] = set()
    statements = owner.body
    holder = next(i for i, s in enumerate(statements) if any(inner is node for inner in ast.walk(s)))
    for name in ast.walk(statements[holder]):
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store) and _holds(statements[holder], node):
            needed.add(name.id)
    changed = True
    while changed:
        changed = False
        for index, statement in enumerate(statements):
            if index not in kept and _makes(statement, needed) and not _searches(statement):
                kept.add(index)
                needed |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
                changed = True
    names = [argument.arg for argument in _arguments(owner) if argument.arg in needed]
    return [statements[i] for i in sorted(kept)], names


def _holds(statement: ast.stmt, node: ast.AST) -> bool:
    return isinstance(statement, ast.Assign) and any(inner is node for inner in ast.walk(statement.value))


def _makes(statement: ast.stmt, needed: set[str]) -> bool:
    """Whether a statement binds or fills one of the needed names."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in needed:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            base = node.func.value
            if isinstance(base, ast.Name) and base.id in needed and node.func.attr in {"append", "extend", "insert"}:
                return True
    return False


def _searches(statement: ast.stmt) -> bool:
    return "exhaustive_search" in ast.unparse(statement) or "autotune_launch" in ast.unparse(statement)


def _samples(owner: ast.AST | None, names: list[str]) -> list[dict[str, Any]]:
    """Argument sets to try: the defaults, then a seeded choice of plausible values."""
    if not isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [{}]
    if not names:
        return [{a.arg: {"stub": a.arg} for a in _arguments(owner)}]
    generator = random.Random(7)
    pools = {a.arg: _pool(owner, a) for a in _arguments(owner)}
    samples = []
    for _ in range(SAMPLES):
        samples.append({name: generator.choice(pool) for name, pool in pools.items()})
    uniform = [{name: pool[min(i, len(pool) - 1)] for name, pool in pools.items()} for i in range(len(INTEGERS))]
    return samples + uniform


def _pool(owner: ast.FunctionDef | ast.AsyncFunctionDef, argument: ast.arg) -> list[Any]:
    annotation = ast.unparse(argument.annotation) if argument.annotation is not None else ""
    positional = [*owner.args.posonlyargs, *owner.args.args]
    defaults = dict(zip(reversed(positional), reversed(owner.args.defaults), strict=False))
    keyword_defaults = zip(owner.args.kwonlyargs, owner.args.kw_defaults, strict=True)
    defaults.update({name: default for name, default in keyword_defaults if default is not None})
    default = defaults.get(argument)
    extra: list[Any] = []
    if isinstance(default, ast.Constant) and isinstance(default.value, (int, bool, str, type(None))):
        extra = [default.value]
    name = argument.arg.lower()
    if "bool" in annotation or (extra and isinstance(extra[0], bool)) or name.startswith(("is_", "use_", "trans")):
        return [False, True]
    if any(word in name for word in ("device", "dtype", "tensor")) or "Tensor" in annotation:
        return [{"stub": argument.arg}]
    if "shape" in name:
        return [[rows, columns] for rows in (1, 128, 4096) for columns in INTEGERS]
    return [*extra, *INTEGERS]


def _run(root: Path, arch: str, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not requests:
        return []
    with tempfile.TemporaryDirectory() as folder:
        job = {"root": str(root.resolve()), "arch": arch, "requests": requests}
        done = subprocess.run(
            [sys.executable, "-S", str(Path(__file__).resolve())],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
            timeout=TIMEOUT_S,
            check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(f"counting on {arch} failed: {done.stderr.strip()[-2000:]}")
    answers: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return answers


# -- in the child ----------------------------------------------------------------


def _child() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (TIMEOUT_S, TIMEOUT_S))
    except ImportError:
        pass
    job = json.loads(sys.stdin.read())
    answers: list[dict[str, Any]] = [{"counts": [], "error": "", "partial": False} for _ in job["requests"]]
    output = sys.stdout
    sys.stdout = sys.stderr
    before = set(sys.modules)
    for multiprocessors, disabled in itertools.product(MULTIPROCESSORS, (False, True)):
        for name in set(sys.modules) - before:
            del sys.modules[name]
        for switch in SWITCHES:
            os.environ.pop(switch, None)
            if disabled:
                os.environ[switch] = "1"
        sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, Finder)]
        sys.meta_path.insert(0, Finder(Path(job["root"]), Device(job["arch"], multiprocessors)))
        for request, answer in zip(job["requests"], answers, strict=True):
            _attempt(request, answer)
    print(json.dumps(answers), file=output)


def _argument(name: str, value: Any) -> Any:
    """A sampled argument back from JSON: stubs travel as objects, tuples as arrays."""
    if isinstance(value, dict):
        return Stub(name)
    return tuple(value) if isinstance(value, list) else value


def _attempt(request: dict[str, Any], answer: dict[str, Any]) -> None:
    import importlib

    try:
        module = importlib.import_module(request["module"])
        if request["module"].rpartition(".")[2] and module.__dict__.get("__file__", "").endswith("__init__.py"):
            getattr(module, "_oracle_touch", None)
        namespace = module.__dict__
        scope: dict[str, Any] = {}
        exec(compile(request["code"], request["file"], "exec", dont_inherit=True), namespace, scope)
        function = scope[request["name"]]
    except Exception as error:
        answer["error"] = f"{type(error).__name__}: {error}"
        return
    for arguments in request["arguments"]:
        values = {name: _argument(name, value) for name, value in arguments.items()}
        try:
            made = function(**values)
            total = sum(1 for _ in itertools.islice(made, MAX_CONFIGS + 1))
        except Exception as error:
            # Arguments that the code refuses are no evidence about its count.
            answer["error"] = f"{type(error).__name__}: {error}"
            answer["partial"] = answer["partial"] or not request["depends"]
            continue
        if total <= MAX_CONFIGS:
            answer["counts"].append(total)


if __name__ == "__main__":
    _child()

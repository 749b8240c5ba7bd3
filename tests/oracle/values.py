"""What an expression can be: the value kinds of the oracle's points-to analysis."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache

from corpus import SourceFile
from scopes import FunctionNode, Scope

Tags = frozenset[str]
NO_TAGS: Tags = frozenset()


@dataclass(frozen=True, eq=False)
class Frame:
    """One activation of a scope.

    ``call`` is the call that made it, None when every call is meant. ``outer`` is the
    frame of the enclosing scope, where free variables live. Made by ``make_frame`` only,
    so that equal frames are one object and comparing them never recurses.
    """

    scope: Scope
    outer: Frame | None = None
    call: ast.Call | None = None
    caller: Frame | None = None
    receiver: Value | None = None

    @property
    def depth(self) -> int:
        """How many known calls are on the way to this frame."""
        return 0 if self.caller is None else self.caller.depth + 1


@cache
def make_frame(
    scope: Scope,
    outer: Frame | None = None,
    call: ast.Call | None = None,
    caller: Frame | None = None,
    receiver: Value | None = None,
) -> Frame:
    """The one frame of these parts."""
    return Frame(scope, outer, call, caller, receiver)


@dataclass(frozen=True)
class Value:
    """Base of all abstract values."""


@dataclass(frozen=True)
class Unknown(Value):
    """Anything the analysis cannot follow."""


@dataclass(frozen=True)
class Const(Value):
    """A literal."""

    value: object


@dataclass(frozen=True)
class External(Value):
    """Something outside the corpus, by its dotted name."""

    name: str


@dataclass(frozen=True)
class Module(Value):
    """A file of the corpus."""

    file: SourceFile


@dataclass(frozen=True)
class Kernel(Value):
    """A cuTile kernel, by the def of its function."""

    file: SourceFile
    node: ast.FunctionDef | ast.AsyncFunctionDef

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.node.name


@dataclass(frozen=True)
class PyFunc(Value):
    """``kernel._pyfunc``: the plain function inside a kernel."""

    kernel: Kernel


@dataclass(frozen=True)
class KernelDecorator(Value):
    """``ct.kernel(occupancy=2)``: makes a kernel of the function it is applied to."""

    call: ast.Call


@dataclass(frozen=True)
class Func(Value):
    """A function or lambda of the corpus with the frame it closes over."""

    file: SourceFile
    node: FunctionNode
    scope: Scope
    closure: Frame
    receiver: Value | None = None
    skip_first: bool = False


@dataclass(frozen=True)
class Partial(Value):
    """``functools.partial(function, ...)``."""

    function: Value
    call: ast.Call
    frame: Frame


@dataclass(frozen=True)
class Class(Value):
    """A class of the corpus."""

    file: SourceFile
    node: ast.ClassDef
    scope: Scope
    frame: Frame


@dataclass(frozen=True)
class Instance(Value):
    """An object: of a class of the corpus, or a namespace made by ``call``."""

    cls: Class | None
    call: ast.Call | None = None
    frame: Frame | None = None


@dataclass(frozen=True)
class Container(Value):
    """A list, tuple, set, dict or comprehension, by the expression that made it."""

    node: ast.expr
    frame: Frame


@dataclass(frozen=True)
class Elements(Value):
    """The results of a generator function or of ``d.values()``: elements without order."""

    source: Value
    part: str


@dataclass(frozen=True)
class Method(Value):
    """A method of a kernel or container, before it is called."""

    owner: Value
    name: str


@dataclass(frozen=True)
class CallResult(Value):
    """A call of a corpus function that was deliberately not followed."""

    function: Func
    call: ast.Call
    frame: Frame


Values = dict[Value, Tags]


def add(into: Values, value: Value, tags: Tags) -> None:
    """Add a value; of two ways to reach it, the one that needs fewer steps is kept."""
    known = into.get(value)
    if known is None or len(tags) < len(known):
        into[value] = tags


def join(into: Values, values: Values, extra: Tags = NO_TAGS) -> Values:
    """Add all of ``values`` to ``into``, each with ``extra`` tags."""
    for value, tags in values.items():
        add(into, value, tags | extra)
    return into

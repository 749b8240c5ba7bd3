"""What containers hold and what attributes of classes and instances are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scopes import Scope
from values import (
    NO_TAGS,
    CallResult,
    Class,
    Const,
    Container,
    Elements,
    Frame,
    Func,
    Instance,
    Method,
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

ADDERS = {"append": 0, "add": 0, "insert": 1, "appendleft": 0, "setdefault": 1}
LITERALS = (ast.Tuple, ast.List, ast.Set)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
Store = tuple[ast.expr, ast.expr, ast.expr | None, bool, Frame]


class Contents:
    """Elements of containers and members of objects."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._stores: dict[SourceFile, list[Store]] = {}
        self._fields: dict[SourceFile, list[tuple[ast.Attribute, ast.expr, Frame]]] = {}

    # -- elements ----------------------------------------------------------------

    def element(self, value: Value, key: object, reader: Frame) -> Values:
        """``value[key]``; a None key means any element."""
        return self.evaluator.memo.solve(("element", value, key, reader), lambda: self._element(value, key, reader))

    def _element(self, value: Value, key: object, reader: Frame) -> Iterator[Values]:
        evaluator = self.evaluator
        match value:
            case Container():
                literal = self._literal(value, key)
                yield literal
                stored = self._stored(value, key, reader)
                yield stored
                if not literal and not stored and not isinstance(value.node, (*LITERALS, ast.Dict)):
                    yield {Unknown(): NO_TAGS}
            case Elements(source=Container() as container, part="values"):
                yield self.element(container, None, reader)
            case Elements(source=CallResult() as made, part="yields"):
                scope = made.function.scope
                inner = make_frame(scope, made.function.closure, made.call, made.frame, made.function.receiver)
                for produced in scope.yields:
                    yield evaluator.eval(produced, inner)
                for produced in scope.yields_from:
                    for part, tags in evaluator.eval(produced, inner).items():
                        yield join({}, self.element(part, None, inner), tags)
            case Elements(source=Container() as container, part="items"):
                if key == 1:
                    yield self.element(container, None, reader)
                elif key is None:
                    yield {value: NO_TAGS}
                else:
                    yield {Unknown(): NO_TAGS}
            case Instance(cls=Class() as cls) if isinstance(key, int):
                # A NamedTuple unpacks in the order of its fields.
                names = field_names(cls)
                if 0 <= key < len(names):
                    yield self.member(value, names[key])
                else:
                    yield {Unknown(): NO_TAGS}
            case CallResult() as made:
                scope = made.function.scope
                inner = make_frame(scope, made.function.closure, made.call, made.frame, made.function.receiver)
                for produced in scope.yields if key is None else ():
                    yield evaluator.eval(produced, inner)
                for produced in (*scope.returns, *scope.yields_from):
                    for part, tags in evaluator.eval(produced, inner).items():
                        yield join({}, self.element(part, key, inner), tags)
            case Const():
                # Indexing None raises; it is no way for a value to come about.
                yield {}
            case _:
                yield {Unknown(): NO_TAGS}

    def _literal(self, container: Container, key: object) -> Values:
        node, frame = container.node, container.frame
        evaluator = self.evaluator
        result: Values = {}
        if isinstance(node, LITERALS):
            elements = node.elts
            if isinstance(key, int) and not any(isinstance(e, ast.Starred) for e in elements):
                if -len(elements) <= key < len(elements):
                    return dict(evaluator.eval(elements[key], frame))
                return {}
            for element in elements:
                if isinstance(element, ast.Starred):
                    for value, tags in evaluator.eval(element.value, frame).items():
                        join(result, self.element(value, None, frame), tags)
                else:
                    join(result, evaluator.eval(element, frame))
        elif isinstance(node, ast.Dict):
            for item_key, item in zip(node.keys, node.values, strict=True):
                if item_key is None:
                    for value, tags in evaluator.eval(item, frame).items():
                        join(result, self.element(value, key, frame), tags)
                elif key is None or not isinstance(item_key, ast.Constant) or item_key.value == key:
                    join(result, evaluator.eval(item, frame))
        elif isinstance(node, COMPREHENSIONS):
            join(result, evaluator.eval(node.elt, frame))
        elif isinstance(node, ast.DictComp):
            join(result, evaluator.eval(node.value, frame))
        elif isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                for value, tags in evaluator.eval(side, frame).items():
                    join(result, self.element(value, None, frame), tags)
        elif isinstance(node, ast.Call):
            self._call_elements(node, frame, key, result)
        return result

    def _call_elements(self, node: ast.Call, frame: Frame, key: object, result: Values) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "dict":
            for keyword in node.keywords:
                if keyword.arg is not None and (key is None or key == keyword.arg):
                    join(result, self.evaluator.eval(keyword.value, frame))
        if name in {"zip", "enumerate"} and key is None:
            # Each element is a tuple; keep it symbolic until it is unpacked.
            rows = ast.Tuple(elts=[_first_of(a) for a in node.args], ctx=ast.Load())
            if name == "enumerate":
                rows = ast.Tuple(elts=[ast.Constant(0), *rows.elts[:1]], ctx=ast.Load())
            cache: dict[ast.Call, ast.Tuple] = self.__dict__.setdefault("_rows", {})
            add(result, Container(cache.setdefault(node, rows), frame), NO_TAGS)
        elif name in {"map"} and len(node.args) >= 2:
            add(result, Unknown(), NO_TAGS)
        elif name in {"filter", "dict", "OrderedDict", "list", "tuple", "set"} and node.args:
            for value, tags in self.evaluator.eval(node.args[-1], frame).items():
                join(result, self.element(value, key, frame), tags)

    # -- stores ------------------------------------------------------------------

    def _stored(self, container: Container, key: object, reader: Frame) -> Values:
        """Everything put into a container after it was made, by stores in its file.

        Several functions may share one cache under keys of their own. One that fills the
        cache itself reads back what it stored, not what the others did.
        """
        own: Values = {}
        others: Values = {}
        evaluator = self.evaluator
        around = set(_scopes_around(reader))
        for base, value, store_key, spread, root in self.stores(container.frame.scope.file):
            if isinstance(key, (str, int)) and isinstance(store_key, ast.Constant) and store_key.value != key:
                continue
            keyed_here = store_key is not None and root.scope.is_function and root.scope in around
            result = own if keyed_here else others
            for frame in self._store_frames(base, root, container, reader):
                if container not in evaluator.eval(base, frame):
                    continue
                values = evaluator.eval(value, frame)
                if spread:
                    for item, tags in values.items():
                        join(result, self.element(item, key, frame), tags)
                else:
                    join(result, values)
        return own or others

    def _store_frames(self, base: ast.expr, root: Frame, container: Container, reader: Frame) -> list[Frame]:
        """The activations of the storing function that can have filled this container.

        A cache filled and read by one call was filled with that call's arguments: where
        the reader is inside an activation of the storing function, only that one counts.
        Otherwise each known call counts whose arguments make the base this container.
        """
        current: Frame | None = reader
        while current is not None:
            if current.scope is root.scope:
                return [current]
            current = current.outer
        if container not in self.evaluator.eval(base, root):
            return []
        sites = self.evaluator.binder.callers(root.scope)
        frames = [make_frame(root.scope, f.closure, call, caller, f.receiver) for call, caller, f in sites]
        return frames or [root]

    def stores(self, file: SourceFile) -> list[Store]:
        """All stores of a file: (container, value, key, value is spread, frame)."""
        if file in self._stores:
            return self._stores[file]
        found: list[Store] = []
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Subscript):
                        frame = self.evaluator.frame_at(file, node.value)
                        found.append((target.value, node.value, target.slice, False, frame))
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                frame = self.evaluator.frame_at(file, node.value)
                load = ast.Name(id=node.target.id, ctx=ast.Load())
                scopes = self.evaluator.scopes(file)
                scopes.scope_of[load] = scopes.scope_of[node.target]
                found.append((load, node.value, None, True, frame))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                frame = self.evaluator.frame_at(file, node)
                method, base = node.func.attr, node.func.value
                index = ADDERS.get(method)
                if index is not None and len(node.args) > index:
                    key = node.args[0] if method == "setdefault" else None
                    found.append((base, node.args[index], key, False, frame))
                elif method in {"extend", "update", "extendleft"} and node.args:
                    found.append((base, node.args[0], None, True, frame))
        self._stores[file] = found
        return found

    # -- methods -----------------------------------------------------------------

    def method_call(self, method: Method, node: ast.Call, frame: Frame) -> Values:
        """``container.get(...)`` and the like."""
        owner = method.owner
        if isinstance(owner, (Container, Elements)):
            if method.name in {"get", "pop", "setdefault", "popleft", "popitem"}:
                key = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
                result = dict(self.element(owner, key, frame))
                for default in node.args[1:]:
                    join(result, self.evaluator.eval(default, frame))
                return result
            if method.name in {"values", "items"}:
                return {Elements(owner, method.name): NO_TAGS}
            if method.name == "copy":
                return {owner: NO_TAGS}
        return {Unknown(): NO_TAGS}

    # -- members -----------------------------------------------------------------

    def member(self, value: Class | Instance, name: str) -> Values:
        """``value.name`` for a class or an object."""
        evaluator = self.evaluator
        result: Values = {}
        cls = value if isinstance(value, Class) else value.cls
        if isinstance(value, Instance):
            self._constructor_field(value, name, result)
            if value.cls is None:
                return result or {Unknown(): NO_TAGS}
        assert cls is not None
        seen: set[Class] = set()
        pending = [cls]
        while pending:
            current = pending.pop(0)
            if current in seen:
                continue
            seen.add(current)
            self._own_member(current, value, name, result)
            if result and name != "__init__":
                return result
            for base in current.node.bases:
                pending.extend(v for v in evaluator.eval(base, current.frame) if isinstance(v, Class))
        if not result and name == "apply" and isinstance(value, Class):
            # torch.autograd.Function.apply(...) runs forward(ctx, ...).
            for forward, tags in self.member(value, "forward").items():
                if isinstance(forward, Func):
                    bound = Func(forward.file, forward.node, forward.scope, forward.closure, Unknown(), True)
                    add(result, bound, tags)
        return result or {Unknown(): NO_TAGS}

    def _own_member(self, cls: Class, value: Class | Instance, name: str, result: Values) -> None:
        evaluator = self.evaluator
        scope = cls.scope
        frame = make_frame(scope, cls.frame)
        for definition in scope.lookup(name):
            for member, tags in evaluator.definition(definition, frame).items():
                add(result, self._bind(member, cls, value), tags)
        for target, stored, root in self._field_stores(cls.file):
            if target.attr != name or not _assigns_own(target, root.scope, cls):
                continue
            join(result, evaluator.eval(stored, _constructing(value, root)))

    @staticmethod
    def _bind(member: Value, cls: Class, value: Class | Instance) -> Value:
        if not isinstance(member, Func) or isinstance(member.node, ast.Lambda):
            return member
        decorators = {d.id for d in member.node.decorator_list if isinstance(d, ast.Name)}
        if "staticmethod" in decorators:
            return member
        receiver: Value | None = value if isinstance(value, Instance) else None
        if "classmethod" in decorators:
            receiver = cls
        return Func(member.file, member.node, member.scope, member.closure, receiver)

    def _constructor_field(self, value: Instance, name: str, result: Values) -> None:
        """A field of a namespace, dataclass or NamedTuple, from its construction."""
        if value.call is None or value.frame is None:
            return
        if value.cls is not None and "__init__" in value.cls.scope.defs:
            return
        for keyword in value.call.keywords:
            if keyword.arg == name:
                join(result, self.evaluator.eval(keyword.value, value.frame))
                return
        if value.cls is not None and name in (names := field_names(value.cls)):
            index = names.index(name)
            if index < len(value.call.args):
                join(result, self.evaluator.eval(value.call.args[index], value.frame))

    def _field_stores(self, file: SourceFile) -> list[tuple[ast.Attribute, ast.expr, Frame]]:
        if file not in self._fields:
            found = []
            for node in ast.walk(file.tree):
                if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                    continue
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Attribute):
                        found.append((target, node.value, self.evaluator.frame_at(file, node.value)))
            self._fields[file] = found
        return self._fields[file]


def _constructing(value: Class | Instance, root: Frame) -> Frame:
    """The frame of ``__init__`` as the construction of ``value`` called it, if that is known."""
    if isinstance(value, Class) or value.call is None or value.frame is None:
        return root
    if isinstance(root.scope.node, ast.FunctionDef) and root.scope.node.name == "__init__":
        return make_frame(root.scope, root.outer, value.call, value.frame, value)
    return root


def _scopes_around(frame: Frame) -> list[Scope]:
    """The scope of a frame and those it is nested in."""
    found = []
    current: Frame | None = frame
    while current is not None:
        found.append(current.scope)
        current = current.outer
    return found


def _assigns_own(target: ast.Attribute, scope: Scope, cls: Class) -> bool:
    """Whether ``self.x = ...``, ``cls.x = ...`` or ``Name.x = ...`` writes a member of ``cls``."""
    if not isinstance(target.value, ast.Name):
        return False
    if target.value.id == cls.node.name:
        return True
    current: Scope | None = scope
    while current is not None and current.parent is not None:
        if current.parent.node is cls.node and isinstance(current.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = [*current.node.args.posonlyargs, *current.node.args.args]
            return bool(first) and first[0].arg == target.value.id
        current = current.parent
    return False


def field_names(cls: Class) -> list[str]:
    """The annotated fields of a dataclass or NamedTuple, in order."""
    return [
        statement.target.id
        for statement in cls.node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    ]


def _first_of(node: ast.expr) -> ast.expr:
    """An expression for an arbitrary element: ``next(iter(node))``."""
    call = ast.Call(func=ast.Name(id="next", ctx=ast.Load()), args=[node], keywords=[])
    return ast.copy_location(call, node)

"""The files of one corpus and which of them an import means.

The oracle looks at a whole folder at once, because a kernel may be launched in
another file than the one that defines it. Imports are resolved by path, as the
interpreter would with any of the folder's directories on ``sys.path``: the file
whose path ends in the dotted name wins, the nearest one if there are several.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

SKIPPED_FOLDERS = {".git", "__pycache__", ".venv", "node_modules"}


@dataclass(eq=False, repr=False)
class SourceFile:
    """One parsed Python file."""

    path: Path
    relative: str
    text: str
    tree: ast.Module
    is_package: bool

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The parent of every node of the tree."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def dotted(self) -> tuple[str, ...]:
        """The path as module name parts, relative to the corpus root."""
        parts = Path(self.relative).with_suffix("").parts
        return parts[:-1] if self.is_package else parts

    def segment(self, node: ast.AST) -> str:
        """The source text of a node."""
        return ast.get_source_segment(self.text, node) or ""


class Corpus:
    """All parseable Python files under one root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: list[SourceFile] = []
        self.broken: list[str] = []
        self._by_last: dict[str, list[SourceFile]] = {}
        paths = [root] if root.is_file() else sorted(root.rglob("*.py"))
        for path in paths:
            if SKIPPED_FOLDERS.isdisjoint(path.parts):
                self._read(path)

    def _read(self, path: Path) -> None:
        relative = path.name if path == self.root else path.relative_to(self.root).as_posix()
        try:
            text = path.read_bytes().decode("utf-8-sig")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except (SyntaxError, UnicodeDecodeError, ValueError):
            self.broken.append(relative)
            return
        file = SourceFile(path, relative, text, tree, path.name == "__init__.py")
        self.files.append(file)
        if file.dotted:
            self._by_last.setdefault(file.dotted[-1], []).append(file)

    def find(self, dotted: str, importer: SourceFile, level: int = 0) -> SourceFile | None:
        """The file that ``import dotted`` means in ``importer``, if the corpus has it."""
        if level:
            base = importer.dotted if importer.is_package else importer.dotted[:-1]
            base = base[: len(base) - (level - 1)] if level > 1 else base
            wanted = (*base, *(part for part in dotted.split(".") if part))
            return next((f for f in self._by_last.get(wanted[-1], []) if f.dotted == wanted), None) if wanted else None
        wanted = tuple(dotted.split("."))
        if wanted[0] == "cuda":
            return None
        matches = [f for f in self._by_last.get(wanted[-1], []) if f.dotted[-len(wanted) :] == wanted]
        return max(matches, key=lambda f: _shared(f.dotted, importer.dotted), default=None)


def _shared(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    """How many leading parts two paths have in common."""
    count = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        count += 1
    return count

"""What is wrong and where: the errors of the protocol, made from exceptions.

Places are lines from 1 and columns in bytes of UTF-8 from 0, as cuTile and Python's code objects
have them; only Python's own syntax errors count characters and are converted.
"""

from __future__ import annotations

import traceback
from collections.abc import Container
from dataclasses import asdict, dataclass, field
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Place:
    """A range of a file."""

    path: str | None = None
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    # The function that it is in.
    function: str | None = None


@dataclass
class Problem(Exception):
    """An error that is an answer."""

    kind: str
    message: str
    type: str | None = None
    place: Place = field(default_factory=Place)
    # Calls that led there, innermost first.
    chain: list[Place] = field(default_factory=list)
    failures: list[Problem] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the ``error`` of an answer."""
        chain = [asdict(place) for place in self.chain]
        head = {"kind": self.kind, "type": self.type, "message": self.message}
        return {**head, **asdict(self.place), "chain": chain}

    def answer(self) -> dict[str, Any]:
        """Return the parts of an answer that says so."""
        failures = [failure.as_json() for failure in self.failures]
        return {"error": self.as_json(), "failures": failures}


def of_exception(error: BaseException, kind: str, paths: Container[str] = ()) -> Problem:
    """Describe an exception of any other kind, at the deepest frame within ``paths``."""
    name = type(error).__name__
    message = str(error) or name
    if isinstance(error, KeyError) and kind == "request":
        message = f"{error.args[0]!r} is missing"
    if isinstance(error, MemoryError):
        kind, message = "memory", "the compiler ran out of the memory it may use"
    if isinstance(error, RecursionError):
        message = f"Python's limit of nested calls was reached: {message}"
    if isinstance(error, SyntaxError):
        return Problem(kind, error.msg or message, name, _of_syntax_error(error))
    return Problem(kind, message, name, _deepest(error.__traceback__, paths))


def _of_syntax_error(error: SyntaxError) -> Place:
    column, end = error.offset, error.end_offset
    line = error.text or ""
    end_lineno = error.end_lineno or error.lineno
    start = len(line[: column - 1].encode()) if column else None
    finish = None
    # The text has the first line only.
    if end and end_lineno == error.lineno:
        finish = len(line[: end - 1].encode())
    return Place(error.filename, error.lineno, start, end_lineno, finish)


def _deepest(trace: TracebackType | None, paths: Container[str]) -> Place:
    """Return the innermost place of a traceback that lies in one of the files."""
    found = Place()
    for frame in traceback.extract_tb(trace):
        if frame.filename in paths:
            found = Place(
                frame.filename,
                frame.lineno,
                # Python 3.10 knows lines only.
                getattr(frame, "colno", None),
                getattr(frame, "end_lineno", None),
                getattr(frame, "end_colno", None),
            )
    return found

"""What one run of an item came to, gathered from pytest's reports of its phases.

Fields of a "ran" event, beside the item's name: ``outcome`` (``passed``, ``failed``, ``skipped``,
``error``: the setup or teardown failed), ``seconds`` of the call itself, ``properties`` as
recorded by ``record_property`` (a name recorded again becomes ``name#2``), ``output`` (captured
standard output, its last 64 KiB), and where there is something to say ``message``, ``file`` and
``line`` of the failing assertion, ``frames`` (the project's own frames on the way there, outermost
first) and ``reprs``: names of properties that JSON cannot express and that are Python literals.
PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import json
import numbers
from typing import Any

import pytest

OUTPUT_BYTES = 64 * 1024
MESSAGE_CHARACTERS = 4096
PROPERTY_CHARACTERS = 256 * 1024
FRAMES = 8


class Observed:
    """The phases of one run of an item."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._reports: list[pytest.TestReport] = []
        self._frames: list[dict[str, Any]] = []
        # What an earlier attempt recorded, which a plugin that reruns items leaves in the list.
        self._earlier: list[tuple[str, Any]] = []

    def add(self, call: pytest.CallInfo[Any], report: pytest.TestReport) -> None:
        """Take note of a phase. A setup begins anew: a plugin may rerun an item by itself."""
        if report.when == "setup":
            self._earlier = self._reports[-1].user_properties if self._reports else []
            self._reports.clear()
            self._frames.clear()
        self._reports.append(report)
        if call.excinfo is not None and report.failed and not self._frames:
            self._frames = self._project_frames(call.excinfo)

    def fields(self) -> dict[str, Any]:
        """Return what there is to tell of the run."""
        outcome, deciding = self._outcome()
        call = next((report for report in self._reports if report.when == "call"), None)
        last = self._reports[-1] if self._reports else None
        properties, reprs = _properties(self._recorded())
        fields: dict[str, Any] = {
            "outcome": outcome,
            "seconds": float(call.duration) if call else 0.0,
            "properties": properties,
            # The last phase has the sections of all.
            "output": _tail(last.capstdout) if last else "",
        }
        if reprs:
            fields["reprs"] = reprs
        if deciding is not None:
            fields["message"] = message_of(deciding)
            crash = getattr(getattr(deciding, "longrepr", None), "reprcrash", None)
            if outcome in ("failed", "error"):
                if self._frames:
                    fields.update(self._frames[-1], frames=self._frames)
                elif crash is not None:
                    fields.update(file=str(crash.path), line=int(crash.lineno))
        return fields

    def _recorded(self) -> list[tuple[str, Any]]:
        recorded = self._reports[-1].user_properties if self._reports else []
        earlier = {id(entry) for entry in self._earlier}
        return [entry for entry in recorded if id(entry) not in earlier]

    def _outcome(self) -> tuple[str, pytest.TestReport | None]:
        """Return the outcome and the report that decided it, if it is no plain success."""
        for report in self._reports:
            if report.failed:
                return ("failed" if report.when == "call" else "error"), report
        for report in self._reports:
            if report.skipped:
                return "skipped", report
        if not self._reports:
            return "error", None
        return "passed", None

    def _project_frames(self, excinfo: pytest.ExceptionInfo[BaseException]) -> list[dict[str, Any]]:
        root = str(self._item.config.rootpath).rstrip("/") + "/"
        frames = []
        for entry in excinfo.traceback:
            path = str(entry.path)
            if path.startswith(root) and "/site-packages/" not in path:
                frames.append({"file": path, "line": entry.lineno + 1})
        return frames[-FRAMES:]


def message_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the short reason for a failure or a skip."""
    longrepr: Any = report.longrepr
    if isinstance(longrepr, tuple):
        text = str(longrepr[2])
    elif (crash := getattr(longrepr, "reprcrash", None)) is not None:
        text = str(crash.message)
    else:
        text = str(longrepr or "")
    if isinstance(reason := getattr(report, "wasxfail", None), str):
        text = f"expected to fail: {reason}"
    return text[:MESSAGE_CHARACTERS]


def _tail(text: str) -> str:
    data = text.encode("utf-8", "replace")
    return data[-OUTPUT_BYTES:].decode("utf-8", "ignore")


def _properties(recorded: list[tuple[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    properties: dict[str, Any] = {}
    reprs = []
    for name, value in recorded:
        key, again = str(name), 1
        while key in properties:
            again += 1
            key = f"{name}#{again}"
        try:
            text = json.dumps(value, allow_nan=False, default=_number)
            fits = len(text) <= PROPERTY_CHARACTERS
        except (TypeError, ValueError, RecursionError):
            fits = False
        if fits:
            properties[key] = json.loads(text)
        else:
            properties[key] = repr(value)[:PROPERTY_CHARACTERS]
            reprs.append(key)
    return properties, reprs


def _number(value: object) -> int | float:
    """Turn the numbers of other libraries into Python's."""
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    raise TypeError(f"{type(value).__name__} is no JSON")

"""Tests of the oracle itself, on fixtures whose markers say what must be found.

A comment ``# launch: a b`` says that a launch is reported on its line; files are compared in
both directions, so a fact without a marker fails as well. Run with ``python3 -m unittest``.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import re
import sys
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import compare
import fetch_corpora
from oracle import facts_of
from stubs import ARCHITECTURES

FIXTURES = Path(__file__).parent / "fixtures"
MARKER = re.compile(r"\b(kernel|launch|search|hint|space|registers)\b(?::([^,#]*))?")


def expected(path: Path) -> set[str]:
    """The markers of a fixture, with their lines."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        comment = line.rpartition("  # ")[2] if "  # " in line else ""
        for kind, value in MARKER.findall(comment):
            words = value.split()
            found.append(f"{number} {kind} {' '.join(words if kind in ('registers', 'space') else sorted(words))}")
    return _numbered(found)


def actual(fact: dict[str, Any]) -> set[str]:
    """The facts of a fixture as markers."""
    found = []
    for entry in fact.get("kernels", []):
        constants = sorted(p["name"] for p in entry["params"] if p["constant"])
        found.append(f"{entry['line']} kernel {' '.join(constants)}")
    for entry in fact.get("launches", []):
        found.append(f"{entry['line']} launch {' '.join(entry['candidates'])}")
    for entry in fact.get("searches", []):
        found.append(f"{entry['line']} search {entry['api']}")
    for entry in fact.get("replace_hints", []):
        found.append(f"{entry['line']} hint {entry['context']}")
    for entry in fact.get("registrations", []):
        found.append(f"{entry['line']} registers {entry['op']} {entry['backend']} {entry['function']}")
    for entry in fact.get("spaces", []):
        if not entry.get("optional"):
            found.append(f"{entry['line']} space {_counts(entry)}")
    return _numbered(found)


def _counts(space: dict[str, Any]) -> str:
    if not space["exact"]:
        return "sampled" if space["sampled"] else f"not run: {space.get('reason')}"
    if len(set(space["exact"].values())) == 1:
        return str(next(iter(space["exact"].values())))
    return " ".join(f"{arch}={space['exact'][arch]}" for arch in ARCHITECTURES)


def _numbered(found: list[str]) -> set[str]:
    """Equal markers of a line stay apart."""
    return {f"{marker.strip()} #{found[:i].count(marker)}" for i, marker in enumerate(found)}


class Fixtures(unittest.TestCase):
    """The oracle says what the markers say."""

    facts: dict[str, dict[str, Any]]

    @classmethod
    def setUpClass(cls) -> None:
        """Run the oracle once over all fixtures."""
        cls.facts = {fact["path"]: fact for fact in facts_of(FIXTURES)}

    def test_every_fixture(self) -> None:
        """Facts and markers agree, both ways."""
        names = sorted(path.name for path in FIXTURES.glob("*.py"))
        self.assertGreaterEqual(len(names), 6)
        for name in names:
            with self.subTest(name):
                want, got = expected(FIXTURES / name), actual(self.facts.get(name, {}))
                self.assertEqual(sorted(want - got), [], "not found")
                self.assertEqual(sorted(got - want), [], "found without a marker")

    def test_hints_and_decorator_lines(self) -> None:
        """Hints come from the call that makes the kernel, literals as values."""
        kernels = {k["name"]: k for k in self.facts["kernels.py"]["kernels"]}
        self.assertEqual(
            kernels["in_a_stack"]["hints"], {"occupancy": "ct.ByTarget(sm_100=2, default=1)", "num_ctas": 1}
        )
        self.assertEqual(kernels["in_a_stack"]["line"] - kernels["in_a_stack"]["decorator_line"], 2)
        self.assertEqual(kernels["wrapped"]["hints"], {"occupancy": 4})
        self.assertEqual(kernels["curried"]["hints"], {"num_ctas": 2})

    def test_a_range_for_what_depends_on_arguments(self) -> None:
        """Sampled counts are the ones that some argument gives."""
        spaces = {s["name"]: s for s in self.facts["searches.py"]["spaces"]}
        self.assertEqual(spaces["by_argument"]["sampled"]["sm_90"], [0, 1, 2, 3])


class Comparing(unittest.TestCase):
    """The comparison notices what differs."""

    facts: list[dict[str, Any]]

    @classmethod
    def setUpClass(cls) -> None:
        """Run the oracle once."""
        cls.facts = facts_of(FIXTURES)

    def compare(self, change: Callable[[dict[str, dict[str, Any]]], None]) -> tuple[int, str]:
        """Compare with a tool that prints the oracle's own facts after ``change``."""
        facts = {fact["path"]: copy.deepcopy(fact) for fact in self.facts}
        for fact in facts.values():
            for space in fact["spaces"]:
                exact = {arch: {"min": n, "max": n} for arch, n in space.pop("exact").items()}
                sampled = {arch: {"min": min(n), "max": None} for arch, n in space.pop("sampled").items()}
                space["configs"] = exact | sampled
        change(facts)
        with tempfile.TemporaryDirectory() as folder:
            tool = Path(folder) / "tool"
            lines = "\n".join(json.dumps(fact) for fact in facts.values())
            tool.write_text(f"#!{sys.executable}\nprint({lines!r})\n", encoding="utf-8")
            tool.chmod(0o755)
            output = io.StringIO()
            with (
                mock.patch.object(compare, "facts_of", return_value=self.facts),
                mock.patch.object(sys, "argv", ["compare.py", str(tool), str(FIXTURES)]),
                contextlib.redirect_stdout(output),
            ):
                status = compare.main()
        return status, output.getvalue()

    def test_equal(self) -> None:
        """The oracle agrees with itself."""
        status, output = self.compare(lambda facts: None)
        self.assertEqual(status, 0, output)
        self.assertIn("0 wrong", output)

    def test_missing_kernel(self) -> None:
        """A kernel that the tool lacks is listed with its place."""
        status, output = self.compare(lambda facts: facts["shared.py"]["kernels"].pop(0))
        self.assertEqual(status, 1)
        self.assertIn("kernels missing (1):\n  fixtures/shared.py:7 exported", output)
        self.assertIn("MISSED: kernels.recall", output)

    def test_false_friend(self) -> None:
        """A launch that is none counts against precision."""

        def change(facts: dict[str, dict[str, Any]]) -> None:
            facts["shared.py"]["launches"].append({"line": 9, "kernel": "x", "candidates": []})

        status, output = self.compare(change)
        self.assertEqual(status, 1)
        self.assertIn("launches that the oracle does not have (1):\n  fixtures/shared.py:9 x", output)

    def test_wrong_kernel_and_context(self) -> None:
        """A launch without its kernel and a wrong context are listed."""

        def change(facts: dict[str, dict[str, Any]]) -> None:
            for launch in facts["launches.py"]["launches"]:
                launch["candidates"] = ["nothing"]
            for hint in facts["hints.py"]["replace_hints"]:
                hint["context"] = "hot"

        status, output = self.compare(change)
        self.assertEqual(status, 1)
        self.assertIn("MISSED: candidates.right is 0.00%", output)
        self.assertRegex(output, r"hints.py:\d+: hot, really guarded")

    def test_one_wrong_count_fails(self) -> None:
        """A range that leaves out a real count fails whatever the share."""

        def change(facts: dict[str, dict[str, Any]]) -> None:
            facts["shared.py"]["spaces"][0]["configs"]["sm_90"] = {"min": 4, "max": 9}

        status, output = self.compare(change)
        self.assertEqual(status, 1)
        self.assertIn("MISSED: counts.never_wrong", output)
        self.assertIn("sm_90 4..9, really [3]", output)

    def test_uncounted_is_not_wrong(self) -> None:
        """A range that holds the real count is not exact but not wrong either."""

        def change(facts: dict[str, dict[str, Any]]) -> None:
            facts["shared.py"]["spaces"][0]["configs"]["sm_90"] = {"min": 0, "max": None}

        _, output = self.compare(change)
        self.assertIn("1 not counted", output)
        self.assertIn("0 wrong", output)


class Fetching(unittest.TestCase):
    """The download script."""

    def test_unpacked_packages_are_left_alone(self) -> None:
        """A second run downloads nothing."""
        with tempfile.TemporaryDirectory() as folder:
            for name, version in fetch_corpora.PINNED.items():
                (Path(folder) / name).mkdir()
                (Path(folder) / name / fetch_corpora.STAMP).write_text(version, encoding="utf-8")
            with mock.patch("fetch_corpora.subprocess.run", side_effect=AssertionError("downloaded")):
                self.assertEqual(len(fetch_corpora.fetch(Path(folder))), len(fetch_corpora.PINNED))

    def test_a_failed_download_says_why(self) -> None:
        """pip's last line reaches the user."""
        failed = mock.Mock(returncode=1, stderr="WARNING: x\nERROR: No matching distribution found\n")
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch("fetch_corpora.subprocess.run", return_value=failed),
            self.assertRaisesRegex(fetch_corpora.FetchError, "No matching distribution"),
        ):
            fetch_corpora.fetch(Path(folder))


if __name__ == "__main__":
    unittest.main()

"""Compares what a tileperf binary says with what the oracle says, fact by fact.

python3 compare.py TILEPERF ROOT... [--min NAME=PERCENT]... [--list N]

Prints recall and precision of each kind of fact and every disagreement with its place.
Exit status: 0 if every threshold is reached, 1 if one is missed, 2 if it cannot run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oracle import facts_of

TIMEOUT_S = 300
# Percentages that a release must reach; ``--min`` changes one.
THRESHOLDS = {
    "kernels.recall": 99.5,
    "kernels.precision": 99.5,
    "launches.recall": 99.0,
    "launches.precision": 99.0,
    "candidates.right": 98.0,
    "registrations.recall": 98.0,
    "registrations.precision": 98.0,
    "searches.recall": 98.0,
    "searches.precision": 98.0,
    "replace_hints.recall": 98.0,
    "replace_hints.precision": 98.0,
    "contexts.right": 98.0,
    "counts.exact": 95.0,
    "counts.never_wrong": 100.0,
}
Fact = dict[str, Any]


@dataclass
class Tally:
    """How often the two agree on one kind of fact."""

    right: int = 0
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        """Percent of the oracle's facts that the tool has."""
        return _percent(self.right, len(self.missing))

    @property
    def precision(self) -> float:
        """Percent of the tool's facts that the oracle has."""
        return _percent(self.right, len(self.extra))

    @property
    def share(self) -> float:
        """Percent right of those both have."""
        return _percent(self.right, len(self.wrong))


class Comparison:
    """The tallies over all corpora."""

    def __init__(self) -> None:
        names = ("kernels", "launches", "registrations", "searches", "replace_hints", "spaces")
        self.kinds = {name: Tally() for name in names}
        self.candidates = Tally()
        self.far_candidates = Tally()
        self.contexts = Tally()
        self.counts = Tally()
        self.details = Tally()
        self.uncounted: list[str] = []
        self.unknown_launches = 0
        self.exact_candidates = 0

    def add(self, root: Path, expected: list[Fact], actual: list[Fact]) -> None:
        """Compare the facts of one corpus."""
        theirs = {fact["path"]: fact for fact in actual}
        ours = {fact["path"]: fact for fact in expected}
        for path in sorted({*theirs, *ours}):
            place = f"{root.name}/{path}"
            left, right = ours.get(path, {}), theirs.get(path, {})
            for kind, tally in self.kinds.items():
                pairs = _match(kind, place, left.get(kind, []), right.get(kind, []), tally)
                for want, got in pairs:
                    self._compare(kind, f"{place}:{want['line']}", want, got)
            for space in left.get("spaces", []):
                if not any(s["line"] == space["line"] for s in right.get("spaces", [])):
                    self._count(f"{place}:{space['line']}", space, {})

    def _compare(self, kind: str, place: str, want: Fact, got: Fact) -> None:
        match kind:
            case "kernels":
                self._detail(place, "decorator_line", want, got)
                self._detail(place, "hints", want, got, _hints)
                self._detail(place, "params", want, got)
            case "launches":
                self._detail(place, "kernel", want, got, _text)
                self._launch(place, want, got)
            case "replace_hints":
                self._detail(place, "kernel", want, got, _text)
                right = got.get("context") in (want["context"], want.get("also", want["context"]))
                _judge(self.contexts, right, place, want["context"], got.get("context"))
            case "spaces":
                self._count(place, want, got.get("configs") or {})

    def _detail(
        self, place: str, name: str, want: Fact, got: Fact, normal: Callable[[Any], Any] = lambda value: value
    ) -> None:
        ours, theirs = normal(want.get(name)), normal(got.get(name))
        _judge(self.details, ours == theirs, f"{place} {name}", ours, theirs)

    def _launch(self, place: str, want: Fact, got: Fact) -> None:
        found = {_last(name) for name in got.get("candidates", [])}
        sure, far = set(want["candidates"]), set(want["indirect"])
        if sure:
            _judge(self.candidates, sure <= found, place, sorted(sure), sorted(found))
            self.exact_candidates += found == sure or (found <= sure | far and sure <= found)
        elif far:
            _judge(self.far_candidates, far <= found, place, sorted(far), sorted(found))
        else:
            self.unknown_launches += 1

    def _count(self, place: str, want: Fact, configs: Fact) -> None:
        """One space: exact on every architecture, wrong on any, or not counted."""
        wrong = []
        for arch, seen in [*((a, [n]) for a, n in want["exact"].items()), *want["sampled"].items()]:
            given = configs.get(arch)
            if given is None:
                continue
            least, most = given.get("min") or 0, given.get("max")
            if any(number < least or (most is not None and number > most) for number in seen):
                wrong.append(f"{arch} {least}..{most}, really {seen}")
        if wrong:
            self.counts.wrong.append(f"{place} {want['name']}: {'; '.join(wrong)}")
        if not want["exact"] or want["sampled"] or want.get("optional"):
            return
        if all(configs.get(a) == {"min": n, "max": n} for a, n in want["exact"].items()):
            self.counts.right += 1
        elif not wrong:
            self.uncounted.append(f"{place} {want['name']}: {configs or 'absent'}, really {want['exact']}")

    def results(self) -> dict[str, float]:
        """The measured percentages by threshold name."""
        measured: dict[str, float] = {}
        for name in ("kernels", "launches", "registrations", "searches", "replace_hints"):
            measured[f"{name}.recall"] = self.kinds[name].recall
            measured[f"{name}.precision"] = self.kinds[name].precision
        measured["candidates.right"] = self.candidates.share
        measured["contexts.right"] = self.contexts.share
        measured["counts.exact"] = _percent(self.counts.right, len(self.uncounted) + len(self.counts.wrong))
        measured["counts.never_wrong"] = 0.0 if self.counts.wrong else 100.0
        return measured

    def report(self, limit: int) -> Iterable[str]:
        """The lines to print: a table, then the disagreements."""
        yield f"{'':16}{'oracle':>8}{'found':>8}{'recall':>9}{'precision':>11}"
        for name, tally in self.kinds.items():
            total = tally.right + len(tally.missing)
            yield f"{name:16}{total:8}{tally.right:8}{tally.recall:8.2f}%{tally.precision:10.2f}%"
        right, wrong = self.candidates.right, len(self.candidates.wrong)
        yield (
            f"launch -> kernel: {right} of {right + wrong} have every right kernel among the candidates, "
            f"{self.exact_candidates} with no other; {self.unknown_launches} launches without a known kernel left out"
        )
        far = self.far_candidates
        yield f"  known only from other files' callers, fixtures or marks: {far.right} of {far.right + len(far.wrong)}"
        yield f"contexts: {self.contexts.right} of {self.contexts.right + len(self.contexts.wrong)} right"
        countable = self.counts.right + len(self.uncounted)
        yield (
            f"configuration counts: {self.counts.right} exact, {len(self.uncounted)} not counted "
            f"(of {countable} countable spaces), {len(self.counts.wrong)} wrong"
        )
        yield f"details (decorator lines, hints, parameters, texts): {self.details.share:.2f}% equal"
        for title, entries in self._disagreements():
            if entries:
                yield f"\n{title} ({len(entries)}):"
                yield from (f"  {entry}" for entry in entries[:limit])
                if len(entries) > limit:
                    yield f"  ... and {len(entries) - limit} more"

    def _disagreements(self) -> Iterable[tuple[str, list[str]]]:
        for name, tally in self.kinds.items():
            yield f"{name} missing", tally.missing
            yield f"{name} that the oracle does not have", tally.extra
        yield "right kernel not among the candidates", self.candidates.wrong
        yield "kernel known from afar not among the candidates", self.far_candidates.wrong
        yield "contexts", self.contexts.wrong
        yield "wrong counts", self.counts.wrong
        yield "countable spaces not counted", self.uncounted
        yield "details", self.details.wrong


def _match(kind: str, place: str, ours: list[Fact], theirs: list[Fact], tally: Tally) -> list[tuple[Fact, Fact]]:
    """Pair facts with equal keys; what has no partner is missing or extra unless optional."""
    left = list(theirs)
    pairs: list[tuple[Fact, Fact]] = []
    # Demanded facts choose their partners before those that may be absent.
    for want in sorted(ours, key=lambda fact: bool(fact.get("optional"))):
        partner = next((got for got in left if _key(kind, got) == _key(kind, want)), None)
        if partner is not None:
            left.remove(partner)
            if not want.get("optional"):
                tally.right += 1
                pairs.append((want, partner))
            elif kind == "spaces":
                pairs.append((want, partner))
        elif not want.get("optional"):
            tally.missing.append(f"{place}:{want['line']} {_label(kind, want)}")
    tally.extra.extend(f"{place}:{got['line']} {_label(kind, got)}" for got in left)
    return pairs


def _key(kind: str, fact: Fact) -> tuple[Any, ...]:
    """What must agree for two facts to be the same one."""
    line = fact["line"]
    match kind:
        case "kernels":
            return line, _last(fact["name"])
        case "registrations":
            return line, fact.get("op"), fact.get("backend"), _last(fact.get("function") or "")
        case "searches":
            return line, fact["api"], _text(fact.get("space")), _text(fact.get("kernel"))
    return (line,)


def _label(kind: str, fact: Fact) -> str:
    names = {
        "kernels": ("name",),
        "launches": ("kernel",),
        "registrations": ("op", "backend", "function"),
        "searches": ("api", "space", "kernel"),
        "replace_hints": ("kernel", "context"),
        "spaces": ("name",),
    }[kind]
    return " ".join(str(fact.get(name)) for name in names)


def _judge(tally: Tally, equal: bool, place: str, ours: object, theirs: object) -> None:
    if equal:
        tally.right += 1
    else:
        tally.wrong.append(f"{place}: {theirs}, really {ours}")


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _text(text: str | None) -> str:
    """Source text without layout."""
    return "".join((text or "").split())


def _hints(hints: Fact | None) -> dict[str, str]:
    return {name: _text(str(value)) for name, value in (hints or {}).items()}


def _percent(right: int, other: int) -> float:
    return 100.0 * right / (right + other) if right + other else 100.0


def run_tool(binary: Path, root: Path) -> list[Fact]:
    """The facts that a tileperf binary prints, with paths relative to ``root``."""
    command = [str(binary), "facts", str(root), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} exited with {done.returncode}: {done.stderr.strip()[-2000:]}")
    facts = []
    for line in done.stdout.splitlines():
        if line.strip():
            fact = json.loads(line)
            fact["path"] = _relative(Path(fact["path"]), root)
            facts.append(fact)
    return facts


def _relative(path: Path, root: Path) -> str:
    """A path as the oracle writes it, whether the tool gave it absolute or not."""
    if not path.is_absolute() and (root / path).is_file():
        return path.as_posix()
    return path.resolve().relative_to(root).as_posix()


def main() -> int:
    """Parse the command line, compare, print."""
    parser = argparse.ArgumentParser(description="Compare a tileperf binary with the oracle.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("roots", type=Path, nargs="+", metavar="ROOT")
    parser.add_argument("--min", action="append", default=[], metavar="NAME=PERCENT", help="change one threshold")
    parser.add_argument("--list", type=int, default=40, metavar="N", help="disagreements to print of each kind")
    arguments = parser.parse_args()
    thresholds = dict(THRESHOLDS)
    for setting in arguments.min:
        name, _, percent = setting.partition("=")
        if name not in thresholds:
            parser.error(f"unknown threshold {name!r}; known: {', '.join(thresholds)}")
        thresholds[name] = float(percent)
    comparison = Comparison()
    try:
        for root in arguments.roots:
            root = root.resolve(strict=True)
            comparison.add(root, facts_of(root), run_tool(arguments.binary.resolve(strict=True), root))
    except (OSError, RuntimeError, ValueError, subprocess.TimeoutExpired) as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2
    for line in comparison.report(arguments.list):
        print(line)
    missed = [
        f"{name} is {value:.2f}%, must be {thresholds[name]:.2f}%"
        for name, value in comparison.results().items()
        if value < thresholds[name]
    ]
    for line in missed:
        print(f"MISSED: {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

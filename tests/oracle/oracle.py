"""The oracle's command line: the facts of a folder as JSON Lines.

python3 oracle.py ROOT [--out FILE] [--no-counts]
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
from pathlib import Path
from typing import Any, TextIO

from corpus import Corpus
from execute import Counts, count
from facts import Fact, collect

# The evaluation recurses as deep as chains of calls and assignments go.
RECURSION = 100_000
STACK_BYTES = 512 << 20


def facts_of(root: Path, *, counts: bool = True) -> list[Fact]:
    """The facts of every file under ``root`` that has any."""
    result: list[Fact] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            result.extend(_collect(root, counts))
        except BaseException as error:
            failure.append(error)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(RECURSION)
    before = threading.stack_size(STACK_BYTES)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    threading.stack_size(before)
    sys.setrecursionlimit(limit)
    if failure:
        raise failure[0]
    return result


def _collect(root: Path, counts: bool) -> list[Fact]:
    corpus = Corpus(root)
    facts, finder = collect(corpus)
    by_path = {fact["path"]: fact for fact in facts}
    for fact in facts:
        fact["spaces"] = []
    spaces = sorted(finder.found.values(), key=lambda s: (s.file.relative, s.line))
    folder = root if root.is_dir() else root.parent
    counted = count(folder, spaces) if counts else [Counts() for _ in spaces]
    for space, numbers in zip(spaces, counted, strict=True):
        entry: Fact = {"line": space.line, "name": space.name, "exact": numbers.exact, "sampled": numbers.sampled}
        if numbers.reason:
            entry["reason"] = numbers.reason
        if space.optional:
            entry["optional"] = True
        by_path[space.file.relative]["spaces"].append(entry)
    return [fact for fact in facts if _has_facts(fact)]


def _has_facts(fact: dict[str, Any]) -> bool:
    return any(value for key, value in fact.items() if key != "path")


def write(facts: list[Fact], output: TextIO) -> None:
    """One JSON object per line."""
    for fact in facts:
        output.write(json.dumps(fact, sort_keys=True) + "\n")


def main() -> None:
    """Parse the command line and print the facts."""
    parser = argparse.ArgumentParser(description="Facts about cuTile code, by Python's own parser and interpreter.")
    parser.add_argument("root", type=Path)
    parser.add_argument("--out", type=Path, help="write here instead of to standard output")
    parser.add_argument("--no-counts", action="store_true", help="do not run the spaces to count configurations")
    arguments = parser.parse_args()
    facts = facts_of(arguments.root, counts=not arguments.no_counts)
    if arguments.out is None:
        write(facts, sys.stdout)
        return
    with arguments.out.open("w", encoding="utf-8") as output:
        write(facts, output)


if __name__ == "__main__":
    main()

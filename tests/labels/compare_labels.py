"""Compares what `tileperf check` finds in public kernels with what people labelled by hand.

    compare_labels.py TILEPERF NAME=FOLDER...

A label (tests/labels/*.jsonl) names a corpus, a file, a line, a rule and a verdict: `positive` if the
rule should find something on that line, `negative` if it should not although it looks like it. Labels
of a corpus that is not given are left out and counted. Exits with 1 below 98 % precision or 95 %
recall.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

PRECISION = 0.98
RECALL = 0.95


def labels() -> list[dict[str, Any]]:
    """Every label, in the order of the files."""
    files = sorted(Path(__file__).parent.glob("*.jsonl"))
    lines = [line for file in files for line in file.read_text().splitlines()]
    return [json.loads(line) for line in lines if line.strip()]


def findings(program: str, folder: Path) -> set[tuple[str, int, str]]:
    """Path, line and code of everything found in a folder."""
    done = subprocess.run(
        [program, "check", ".", "--format", "json", "--config", "rules.select=all"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"tileperf check {folder}: {done.stderr}")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {(f["path"], f["line"], f["code"]) for f in found}


def corpus(name: str, folders: dict[str, Path]) -> Path | None:
    """The folder of a corpus; a version may follow its name on either side."""
    for given, folder in folders.items():
        if given == name or name.startswith(f"{given}-"):
            return folder
    return None


def main(program: str, given: list[str]) -> int:
    """Compares and prints what disagrees, and the shares."""
    folders = {name: Path(at) for name, at in (g.split("=", 1) for g in given)}
    found: dict[Path, set[tuple[str, int, str]]] = {}
    counts: Counter[str] = Counter()
    for label in labels():
        folder = corpus(label["corpus"], folders)
        if folder is None:
            counts["left out"] += 1
            continue
        if folder not in found:
            found[folder] = findings(program, folder)
        hit = (label["path"], label["line"], label["code"]) in found[folder]
        positive = label["verdict"] == "positive"
        counts[f"{'true' if hit == positive else 'false'} {hit}"] += 1
        if hit != positive:
            what = "found" if hit else "missed"
            place = f"{label['corpus']}/{label['path']}:{label['line']}"
            print(f"{what}: {label['code']} at {place}: {label['reason']}")
    true, extra, missed = (
        counts["true True"],
        counts["false True"],
        counts["false False"],
    )
    precision = true / max(true + extra, 1)
    recall = true / max(true + missed, 1)
    judged = counts.total() - counts["left out"]
    print(
        f"{judged} labels: precision {precision:.1%}, recall {recall:.1%}"
        f"; {counts['left out']} of corpora that are not here"
    )
    return 0 if precision >= PRECISION and recall >= RECALL and judged else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

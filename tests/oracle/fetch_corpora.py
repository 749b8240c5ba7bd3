"""Downloads and unpacks the public packages that the oracle is compared on.

python3 fetch_corpora.py DIR

Each package lands in ``DIR/<name>``; one that is there already in the pinned version is
left alone. Prints the folders, one a line. Exit status 1 with a sentence if a download fails.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PINNED = {
    "tilegym": "1.5.1",
    "bastile": "0.1.3",
    "turboquant-gpu": "0.1.8",
    "cutile-gpt": "0.2.1",
}
STAMP = ".oracle-version"
TIMEOUT_S = 600


class FetchError(Exception):
    """A download or unpacking that failed, in words for the person at the terminal."""


def fetch(folder: Path) -> list[Path]:
    """Make sure every pinned package is unpacked under ``folder``; returns their folders."""
    folder.mkdir(parents=True, exist_ok=True)
    return [_package(folder, name, version) for name, version in PINNED.items()]


def _package(folder: Path, name: str, version: str) -> Path:
    target = folder / name
    stamp = target / STAMP
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == version:
        return target
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        wheel = _download(Path(temporary), name, version)
        unpacked = Path(temporary) / "unpacked"
        _unpack(wheel, unpacked)
        (unpacked / STAMP).write_text(version, encoding="utf-8")
        # Only a complete folder ever gets the final name.
        if target.exists():
            shutil.rmtree(target)
        unpacked.rename(target)
    return target


def _download(into: Path, name: str, version: str) -> Path:
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
        *("--no-deps", "--ignore-requires-python", "--python-version", "3.13", "--only-binary=:all:"),
        *("--dest", str(into), f"{name}=={version}"),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"downloading {name} {version} took longer than {TIMEOUT_S} s") from error
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        if any("No module named pip" in line for line in lines):
            raise FetchError(f"{sys.executable} has no pip; install python3-pip or python3-venv")
        reason = lines[-1] if lines else f"pip exited with {done.returncode}"
        raise FetchError(f"cannot download {name} {version}: {reason}")
    wheels = list(into.glob("*.whl"))
    if len(wheels) != 1:
        raise FetchError(f"expected one wheel for {name} {version}, pip brought {len(wheels)}")
    return wheels[0]


def _unpack(wheel: Path, into: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            root = into.resolve()
            for entry in archive.namelist():
                if not (root / entry).resolve().is_relative_to(root):
                    raise FetchError(f"{wheel.name} holds a path outside its folder: {entry}")
            archive.extractall(into)
    except zipfile.BadZipFile as error:
        raise FetchError(f"{wheel.name} is not a readable wheel: {error}") from error


def main() -> int:
    """Parse the command line, fetch, print the folders."""
    parser = argparse.ArgumentParser(description="Fetch the packages that the oracle is compared on.")
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    try:
        folders = fetch(arguments.folder)
    except FetchError as error:
        print(f"fetch_corpora: {error}", file=sys.stderr)
        return 1
    for folder in folders:
        print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The record proves which copy of a file ran, and whether Python took stale bytecode for it."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from support import Workspace, write

KERNEL = "def speed(): return 1\nprint('speed', speed())\n"


def watching(workspace: Workspace, *paths: Path, files: list[str], **extra: str) -> dict[str, str]:
    """Return the environment of a process whose project is the tree under test."""
    tree = str(workspace.project)
    extra |= {"TILEPERF_TREE": tree, "TILEPERF_FILES": json.dumps(files)}
    env = {**workspace.environment(*paths), **extra}
    return {name: value for name, value in env.items() if value}


def only(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the one event there is."""
    [event] = events
    return event


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["src/pkg/kernel.py"], "__main__"),
        (["-m", "pkg.kernel"], "pkg.kernel"),
        (["-c", "import pkg.kernel"], "pkg.kernel"),
        (["-c", "import runpy; runpy.run_path('src/pkg/kernel.py')"], "<run_path>"),
        (["-c", "import runpy; runpy.run_module('pkg.kernel')"], "pkg.kernel"),
        (
            [
                "-c",
                "import importlib.util as u; "
                "s = u.spec_from_file_location('k', 'src/pkg/kernel.py'); "
                "s.loader.exec_module(u.module_from_spec(s))",
            ],
            "k",
        ),
    ],
    ids=["script", "-m", "import", "run_path", "run_module", "spec"],
)
def test_every_way_of_running_a_file_is_seen(
    workspace: Workspace, arguments: list[str], name: str
) -> None:
    """One line for the file, however it came to run, and the same output as without."""
    file = workspace.write("src/pkg/kernel.py", KERNEL)
    source = workspace.project / "src"

    result = workspace.run(
        *arguments, env=watching(workspace, source, files=["src/pkg/kernel.py", "src/pkg/none.py"])
    )

    assert (result.stdout, result.stderr) == ("speed 1\n", "")
    event = only(workspace.record("module"))
    assert event["file"] == str(file)
    assert event["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (event["name"], event["inside"], event["match"]) == (name, True, "full")
    assert event["relative"] == "src/pkg/kernel.py"
    assert workspace.record("fault") == []


def test_the_original_of_an_editable_install_is_outside(workspace: Workspace) -> None:
    """The same file imported from another tree is reported as outside."""
    workspace.write("src/pkg/kernel.py", KERNEL)
    original = write(workspace.root / "original" / "src" / "pkg" / "kernel.py", KERNEL)
    paths = [workspace.root / "original" / "src", workspace.project / "src"]

    workspace.run(
        "-c", "import pkg.kernel", env=watching(workspace, *paths, files=["src/pkg/kernel.py"])
    )

    event = only(workspace.record("module"))
    assert (event["file"], event["inside"], event["match"]) == (str(original), False, "full")


def test_an_installed_copy_without_its_source_folder_is_outside(workspace: Workspace) -> None:
    """A copy in site-packages has no ``src/`` in its path and is found by the rest of it."""
    workspace.write("src/pkg/kernel.py", KERNEL)
    copy = write(workspace.root / "site-packages" / "pkg" / "kernel.py", KERNEL)
    env = watching(workspace, workspace.root / "site-packages", files=["src/pkg/kernel.py"])

    workspace.run("-c", "import pkg.kernel", env=env)

    event = only(workspace.record("module"))
    assert (event["file"], event["inside"], event["match"]) == (str(copy), False, "tail")


def test_a_file_of_the_same_ending_is_another_file(workspace: Workspace) -> None:
    """``my_kernel.py`` is not ``kernel.py``."""
    workspace.write("my_kernel.py", KERNEL)
    env = watching(workspace, workspace.project, files=["kernel.py"])
    workspace.run("-c", "import my_kernel", env=env)
    assert workspace.record("module") == []


def test_a_test_module_that_pytest_rewrites_is_seen(workspace: Workspace) -> None:
    """A kernel written in a test module does not go through Python's own loader."""
    file = workspace.write("test_kernel.py", "def test_one(): assert True\n")
    env = watching(workspace, workspace.project, files=["test_kernel.py"])

    assert workspace.run("-m", "pytest", "-q", env=env).returncode == 0

    event = only(workspace.record("module"))
    assert (event["file"], event["inside"], event["stale"]) == (str(file), True, None)


def test_an_edit_of_the_same_size_and_second_is_stale(workspace: Workspace) -> None:
    """The trap itself, and the way out: one bytecode folder for each variant."""
    file = workspace.write("pkg/kernel.py", KERNEL)
    second = 1_700_000_000
    os.utime(file, (second, second))

    def run(prefix: str) -> tuple[str, dict[str, Any]]:
        env = watching(
            workspace,
            workspace.project,
            files=["pkg/kernel.py"],
            PYTHONPYCACHEPREFIX=str(workspace.root / prefix),
            PYTHONDONTWRITEBYTECODE="",
        )
        output = workspace.run("-c", "import pkg.kernel", env=env).stdout
        return output, workspace.record("module")[-1]

    output, event = run("base")
    assert (output, event["stale"]) == ("speed 1\n", False)
    cached = Path(event["cached"])
    assert cached.is_relative_to(workspace.root / "base")
    assert cached.exists()

    output, event = run("base")
    assert (output, event["stale"]) == ("speed 1\n", False)

    file.write_text(KERNEL.replace("return 1", "return 2"))
    os.utime(file, (second, second))
    output, event = run("base")
    assert (output, event["stale"]) == ("speed 1\n", True), (
        "Python runs the old code, and we say so"
    )

    output, event = run("candidate")
    assert (output, event["stale"]) == ("speed 2\n", False)

    os.utime(file, (second + 1, second + 1))
    output, event = run("base")
    assert (output, event["stale"]) == ("speed 2\n", False)


def test_an_error_in_the_file_looks_as_ever(workspace: Workspace) -> None:
    """Neither a syntax error nor an exception of the file shows a frame of the helper's."""
    for text in ("def (\n", "raise ValueError('mine')\n"):
        workspace.write("pkg/kernel.py", text)
        for program in ("import pkg.kernel", "import runpy; runpy.run_path('pkg/kernel.py')"):
            plain = workspace.run(
                "-c", program, env=workspace.environment(workspace.project, helper=False)
            )
            observed = workspace.run(
                "-c", program, env=watching(workspace, workspace.project, files=["pkg/kernel.py"])
            )
            if "run_path" in program and "def" in text and _shows_wrappers():
                continue
            assert observed.stderr == plain.stderr


def _shows_wrappers() -> bool:
    """Python 3.10 raises again with the traceback it had, so a wrapper's frame stays."""
    return sys.version_info < (3, 11)


def test_a_list_that_is_no_list_is_a_fault(workspace: Workspace) -> None:
    """A mistake of the loop's is reported, and the process runs."""
    env = workspace.environment(TILEPERF_TREE="/", TILEPERF_FILES="{")
    assert workspace.run("-c", "print(1)", env=env).stdout == "1\n"
    assert only(workspace.record("fault"))["where"] == "files under test"


@pytest.mark.parametrize(
    ("files", "installed", "imported", "outside"),
    [
        # A module of another package that ends in the same name is another file.
        (["linear.py"], "other/nn/linear.py", "other.nn.linear", False),
        (["linear.py"], "linear.py", "linear", True),
        (["src/pkg/linear.py"], "pkg/linear.py", "pkg.linear", True),
        (["src/pkg/linear.py"], "other/pkg/linear.py", "other.pkg.linear", False),
        (["pkg/__init__.py"], "pkg/__init__.py", "pkg", True),
        (["pkg/__init__.py"], "other/pkg/__init__.py", "other.pkg", False),
    ],
)
def test_a_copy_has_the_name_of_the_file(
    workspace: Workspace, files: list[str], installed: str, imported: str, outside: bool
) -> None:
    """What is imported from elsewhere counts if it can be an installed copy."""
    site = workspace.root / "site"
    write(site / installed, KERNEL)
    workspace.run("-c", f"import {imported}", env=watching(workspace, site, files=files))

    events = workspace.record("module")
    assert [event["inside"] for event in events] == ([False] if outside else [])

"""The helper takes nobody's place, and nothing that goes wrong in it is seen."""

from __future__ import annotations

import sys

import pytest

from support import Workspace, install_helper, write

SHOW = """
import sys
site = sys.modules.get("sitecustomize")
print(getattr(site, "__file__", None), getattr(site, "greeting", None))
"""


def test_the_sitecustomize_that_was_hidden_is_the_one_in_place(workspace: Workspace) -> None:
    """The next one on the path runs, once and under its own name; the one after it does not."""
    first, second = workspace.root / "first", workspace.root / "second"
    file = write(first / "sitecustomize.py", "greeting = 'hello'; print('first ran')")
    write(second / "sitecustomize.py", "print('second ran')")

    plain = workspace.run("-c", SHOW, env=workspace.environment(first, second, helper=False))
    observed = workspace.run("-c", SHOW, env=workspace.environment(first, second))

    assert observed.stdout == plain.stdout == f"first ran\n{file} hello\n"
    assert observed.stderr == plain.stderr == ""
    assert len(workspace.record("start")) == 1


@pytest.mark.parametrize(
    "text",
    ["raise RuntimeError('mine')", "import not_there_at_all", "def (", "raise SystemExit(3)"],
)
def test_its_errors_are_what_they_were(workspace: Workspace, text: str) -> None:
    """The interpreter reports a broken sitecustomize in the same words, and goes on or not."""
    first = workspace.root / "first"
    write(first / "sitecustomize.py", text)

    plain = workspace.run("-c", SHOW, env=workspace.environment(first, helper=False))
    observed = workspace.run("-c", SHOW, env=workspace.environment(first))

    assert (observed.returncode, observed.stdout) == (plain.returncode, plain.stdout)
    if "SystemExit" not in text or sys.version_info >= (3, 11):  # 3.10 shows our frames, too
        assert observed.stderr == plain.stderr
    assert len(workspace.record("start")) == 1


def test_where_there_was_none_there_is_none(workspace: Workspace) -> None:
    """``import sitecustomize`` fails in a process that has none, as without the helper."""
    program = "try:\n import sitecustomize\nexcept ImportError as e: print(e.name)\nelse: print(0)"
    plain = workspace.run("-c", program, env=workspace.environment(helper=False))
    observed = workspace.run("-c", program, env=workspace.environment())

    assert observed.stdout == plain.stdout
    assert observed.stderr == ""


def test_two_copies_of_the_helper_call_each_other_once(workspace: Workspace) -> None:
    """A loop inside a loop: the user's own runs once, and so does the recorder."""
    other = install_helper(workspace.root / "other")
    first = workspace.root / "first"
    write(first / "sitecustomize.py", "print('ran')")
    env = workspace.environment(other, workspace.helper, first)

    result = workspace.run("-c", "", env=env)

    assert (result.stdout, result.stderr) == ("ran\n", "")
    assert len(workspace.record("start")) == 1


def test_switched_off_it_records_nothing(workspace: Workspace) -> None:
    """``TILEPERF_OFF=1`` leaves the user's own sitecustomize, and no trace of the helper's."""
    first = workspace.root / "first"
    write(first / "sitecustomize.py", "greeting = 'hello'")
    program = (
        SHOW + "print([m for m in sys.modules if m.startswith('tileperf')], len(sys.meta_path))"
    )

    plain = workspace.run("-c", program, env=workspace.environment(first, helper=False))
    off = workspace.run("-c", program, env=workspace.environment(first, TILEPERF_OFF="1"))

    assert off.stdout == plain.stdout
    assert workspace.record() == []


@pytest.mark.parametrize("text", ["def (", "raise RuntimeError('broken')", "import not_there"])
def test_a_broken_recorder_is_not_seen(workspace: Workspace, text: str) -> None:
    """The user's process runs as ever when the recorder cannot even be imported."""
    write(workspace.helper / "tileperf_recorder.py", text)
    result = workspace.run("-c", "print('fine')")
    assert (result.returncode, result.stdout, result.stderr) == (0, "fine\n", "")


def test_a_fault_inside_is_written_down(workspace: Workspace) -> None:
    """A failure after the record file is known becomes one line of it."""
    write(workspace.helper / "tileperf_launches.py", "raise RuntimeError('broken')")
    workspace.write("cuda/tile/__init__.py", "def launch(): pass")
    result = workspace.run("-c", "import cuda.tile as ct; print(ct.launch.__name__)")

    assert (result.stdout, result.stderr) == ("launch\n", "")
    [fault] = workspace.record("fault")
    assert fault["where"] == "after import of cuda.tile"
    assert fault["message"] == "RuntimeError: broken"


def test_a_record_that_cannot_be_written_is_not_seen(workspace: Workspace) -> None:
    """A record file in a folder that does not exist costs nothing but the record."""
    env = workspace.environment(TILEPERF_RECORD=str(workspace.root / "no" / "such" / "file"))
    result = workspace.run("-c", "print('fine')", env=env)
    assert (result.returncode, result.stdout, result.stderr) == (0, "fine\n", "")

"""The plugin repeats items in the process that ran them, and pytest's own account stays that."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support import SECONDS, Workspace, has, loop_of

# Says in a file what is set up and torn down, so that order and number can be compared.
CONFTEST = """
    import os, pytest

    def say(text):
        with open("log.txt", "a") as file:
            file.write(text + "\\n")

    @pytest.fixture(scope="session")
    def device():
        say("session up")
        yield {"pid": os.getpid(), "runs": 0}
        say("session down")

    @pytest.fixture(scope="module")
    def library(request):
        say(f"module up {request.module.__name__}")
        yield object()
        say(f"module down {request.module.__name__}")

    @pytest.fixture
    def buffer():
        say("buffer up")
        yield []
        say("buffer down")
"""
BENCH = """
    import sys, warnings
    import pytest

    class Test_Op:
        @pytest.mark.parametrize("n", [1, 2], ids=["n=1 [x]::/ü", "two"])
        def test_perf(self, n, device, library, buffer, record_property, record_xml_attribute):
            assert buffer == []
            buffer.append(n)
            device["runs"] += 1
            print("Cutile: {'forward': ...} ms", n)
            warnings.warn("slow")
            record_xml_attribute("n", n)
            record_property("benchmark", {"cutile": {"forward": {"mean": 0.5 * n, "runs": 1}}})
            record_property("seen", (device["runs"], library is not None))

    def test_flaky(device):
        device["flaky"] = device.get("flaky", 0) + 1
        expected = 1
        assert device["flaky"] == expected, "again"

    def test_capsys(capsys, record_property):
        print("inner")
        assert capsys.readouterr().out == "inner\\n"
        record_property("odd", {1, 2})
        record_property("inf", float("inf"))
        record_property("inf", 1)
        print("left over")

    @pytest.mark.skip(reason="no such backend")
    def test_skip(): pass

    @pytest.mark.xfail(reason="known")
    def test_xfail(): assert 0
"""


@pytest.fixture
def bench(workspace: Workspace) -> Workspace:
    """Return a workspace with a project that has benchmark items."""
    workspace.write("conftest.py", CONFTEST)
    workspace.write("test_bench.py", BENCH)
    return workspace


def items_of(events: list[dict[str, Any]]) -> list[str]:
    """Return the ids of the items that were collected."""
    [collected] = [event for event in events if event["event"] == "collected"]
    return [entry["item"] for entry in collected["items"]]


def ran(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the runs among events."""
    return [event for event in events if event["event"] == "ran"]


def test_a_conversation(bench: Workspace) -> None:
    """First runs, repeats with fresh function fixtures and warm wider ones, and the exit."""
    with loop_of(bench, "-q", "-p", "no:cacheprovider", "--junitxml=out.xml") as loop:
        events = loop.until("ready")
        hello = events[0]
        assert (hello["event"], hello["protocol"]) == ("hello", 1)
        assert (hello["pid"], hello["pytest"]) == (loop.process.pid, pytest.__version__)
        items = items_of(events)
        collected = events[1]["items"]
        assert collected[0]["id"] == "n=1 [x]::/\\xfc"
        assert collected[0]["item"] == f"test_bench.py::Test_Op::test_perf[{collected[0]['id']}]"
        assert [entry["id"] for entry in collected[1:3]] == ["two", ""]

        first = ran(events)
        assert [event["item"] for event in first] == items
        assert {event["run"] for event in first} == {1}
        outcomes = ["passed"] * 4 + ["skipped"] * 2
        assert [event["outcome"] for event in first] == outcomes
        assert first[0]["properties"] == {
            "benchmark": {"cutile": {"forward": {"mean": 0.5, "runs": 1}}},
            "seen": [1, True],
        }
        assert first[0]["output"] == "Cutile: {'forward': ...} ms 1\n"
        assert first[3]["properties"] == {"odd": "{1, 2}", "inf": "inf", "inf#2": 1}
        assert first[3]["reprs"] == ["odd", "inf"]
        assert first[3]["output"] == "left over\n"
        assert first[4]["message"] == "Skipped: no such backend"
        assert first[5]["message"] == "expected to fail: known"
        log = (bench.project / "log.txt").read_text().splitlines()
        assert log == ["session up", "module up test_bench", *["buffer up", "buffer down"] * 2]

        one, two, flaky, capsys = items[:4]
        again = loop.repeat(two, one, one, capsys)
        assert [event["item"] for event in again] == [two, one, one, capsys]
        assert [event["run"] for event in again] == [2, 2, 3, 2]
        assert [event["outcome"] for event in again] == ["passed"] * 4
        seen = [event["properties"]["seen"] for event in again[:3]]
        assert seen == [[3, True], [4, True], [5, True]]
        assert again[0]["output"] == "Cutile: {'forward': ...} ms 2\n"
        assert again[3]["output"] == "left over\n"
        assert all(event["seconds"] > 0 for event in again)

        [failure] = loop.repeat(flaky)
        assert (failure["outcome"], failure["run"]) == ("failed", 2)
        assert failure["message"].splitlines()[0] == "AssertionError: again"
        assert failure["file"] == str(bench.project / "test_bench.py")
        lines = (bench.project / "test_bench.py").read_text().splitlines()
        assert lines[failure["line"] - 1].strip().startswith('assert device["flaky"]')
        assert loop.finish() == 0

        log = (bench.project / "log.txt").read_text().splitlines()
        assert log[2:-2] == ["buffer up", "buffer down"] * 5
        assert log[-2:] == ["module down test_bench", "session down"]
        cases = ET.parse(bench.project / "out.xml").getroot().findall(".//testcase")
        assert len(cases) == len(items)
        values = [p.get("value") for p in cases[1].findall(".//property[@name='seen']")]
        assert values == ["(2, True)"]
        env = bench.environment(bench.project, helper=False)
        plain = bench.run("-m", "pytest", "-q", "--junitxml=plain.xml", env=env)
        summary = plain.stdout.splitlines()[-1].partition(" in ")[0]
        assert summary in loop.log()


def test_the_record_is_complete_when_ready(bench: Workspace) -> None:
    """What was imported is known before the first repeat, also of a module pytest rewrote."""
    env = bench.environment(bench.project)
    env |= {"TILEPERF_TREE": str(bench.project), "TILEPERF_FILES": '["test_bench.py"]'}
    with loop_of(bench, "-q", "-k", "capsys", env=env) as loop:
        loop.until("ready")
        [module] = bench.record("module")
        assert (module["relative"], module["inside"]) == ("test_bench.py", True)
        assert loop.finish() == 0


def test_items_of_other_modules_and_classes(workspace: Workspace) -> None:
    """Going to and fro between modules sets up and tears down as pytest would."""
    workspace.write("conftest.py", CONFTEST)
    for name in ("a", "b"):
        text = "class Test_X:\n    def test_x(self, library, device): pass\n"
        workspace.write(f"{name}/test_{name}.py", text)
        workspace.write(f"{name}/__init__.py", "")
    with loop_of(workspace, "-q") as loop:
        a, b = items_of(loop.until("ready"))
        assert [event["outcome"] for event in loop.repeat(a, b, b, a)] == ["passed"] * 4
        assert [event["outcome"] for event in loop.repeat(a)] == ["passed"]
        assert loop.finish() == 0
    log = (workspace.project / "log.txt").read_text().splitlines()
    rounds = [line for name in "abab" for line in (f"module up {name}", f"module down {name}")]
    rounds = [line.replace(" a", " a.test_a").replace(" b", " b.test_b") for line in rounds]
    rounds += ["module up a.test_a", "module down a.test_a"]
    assert log == ["session up", *rounds, "session down"]


def test_items_that_are_no_functions(workspace: Workspace) -> None:
    """Cases of unittest and doctests are repeated, the set-up of their class kept."""
    workspace.write(
        "test_case.py",
        """
        import unittest
        class Case(unittest.TestCase):
            classes = 0
            @classmethod
            def setUpClass(cls): Case.classes += 1
            def setUp(self): self.ready = True
            def test_case(self):
                assert self.ready and Case.classes == 1
                self.ready = False
        """,
    )
    workspace.write("doc.py", '"""\n>>> 1 + 1\n2\n"""\n')
    arguments = ("-q", "-W", "error", "--doctest-modules", "--import-mode=importlib", ".")
    with loop_of(workspace, *arguments) as loop:
        items = items_of(loop.until("ready"))
        assert items == ["doc.py::doc", "test_case.py::Case::test_case"]
        doc, case = items
        again = loop.repeat(case, case, doc, doc)
        assert [event["outcome"] for event in again] == ["passed"] * 4
        assert loop.finish() == 0


def test_failures_of_every_kind(workspace: Workspace) -> None:
    """Whatever a repeated item does is reported, and the process goes on."""
    workspace.write(
        "test_it.py",
        """
        import helper_of_tests, os, pytest, sys
        runs = {}
        @pytest.fixture
        def flaky(request):
            runs[request.node.name] = n = runs.get(request.node.name, 0) + 1
            yield n
            if "down" in request.node.name and n > 1:
                raise RuntimeError("teardown")
        @pytest.fixture
        def broken(flaky):
            if flaky > 1:
                raise RuntimeError("setup")
        def test_up(broken): pass
        def test_down(flaky): pass
        def test_exit(flaky):
            if flaky > 1: pytest.exit("leaving")
        def test_sys_exit(flaky):
            if flaky > 1: sys.exit(3)
        def test_skip(flaky):
            if flaky > 1: pytest.skip("not now")
        def test_helper(flaky): helper_of_tests.check(flaky)
        def test_good(flaky): pass
        """,
    )
    workspace.write("helper_of_tests.py", "def check(n):\n    assert n < 2\n")
    with loop_of(workspace, "-q", "-x") as loop:
        items = items_of(loop.until("ready"))
        events = {event["item"].split("::")[1]: event for event in loop.repeat(*items)}
        outcomes = ["error", "error", "error", "failed", "skipped", "failed", "passed"]
        assert [event["outcome"] for event in events.values()] == outcomes
        assert events["test_up"]["message"] == "RuntimeError: setup"
        assert events["test_down"]["message"] == "RuntimeError: teardown"
        assert "leaving" in events["test_exit"]["message"]
        assert events["test_skip"]["message"] == "Skipped: not now"
        helper = events["test_helper"]
        assert (Path(helper["file"]).name, helper["line"]) == ("helper_of_tests.py", 2)
        frames = [Path(frame["file"]).name for frame in helper["frames"]]
        assert frames == ["test_it.py", "helper_of_tests.py"]
        [unknown] = loop.repeat("test_it.py::nothing")
        assert (unknown["outcome"], unknown["message"]) == ("error", "no such item")
        assert loop.repeat(items[-1])[0]["outcome"] == "passed"
        assert loop.finish() == 0, "only the first runs count"


def test_commands_that_are_none(bench: Workspace) -> None:
    """What cannot be understood is refused, with its id if it has one, and nothing breaks."""
    with loop_of(bench, "-q", "-k", "capsys") as loop:
        [item] = items_of(loop.until("ready"))
        for line in (b"nonsense\n", b"[1]\n", b'{"cmd":"run"}\n', b'{"cmd":"x","cmd_id":5}\n'):
            loop.connection.sendall(line)
            assert loop.next()["event"] == "refused"
        assert loop.repeat(item)[0]["outcome"] == "passed"
        assert loop.finish() == 0


def test_a_failing_first_run_with_x(bench: Workspace) -> None:
    """``-x`` ends the run after the first failure as ever; the loop is told why."""
    bench.write("test_a.py", "def test_bad(): assert 1 == 2\ndef test_good(): pass\n")
    with loop_of(bench, "-q", "-x", "test_a.py") as loop:
        events = loop.until("finished")
        assert [event["outcome"] for event in ran(events)] == ["failed"]
        assert ran(events)[0]["message"].startswith("assert 1 == 2")
        assert events[-2]["event"] == "stopped"
        assert (events[-1]["status"], loop.process.wait(SECONDS)) == (1, 1)


def test_failures_without_x_keep_pytests_status(bench: Workspace) -> None:
    """A failed first run does not stop the others; the exit status is pytest's."""
    bench.write("test_a.py", "def test_bad(): assert 0\ndef test_good(): pass\n")
    with loop_of(bench, "-q", "test_a.py") as loop:
        events = loop.until("ready")
        assert [event["outcome"] for event in ran(events)] == ["failed", "passed"]
        assert loop.finish() == 1


@pytest.mark.parametrize(
    ("text", "status", "errors"), [("def (", 2, 1), ("x = 1", 5, 0)], ids=["broken", "empty"]
)
def test_nothing_to_run(workspace: Workspace, text: str, status: int, errors: int) -> None:
    """A collection that fails or finds nothing ends as in pytest alone."""
    workspace.write("test_it.py", text)
    with loop_of(workspace, "-q") as loop:
        events = loop.until("finished")
        assert "stopped" in [event["event"] for event in events]
        assert len(events[1]["errors"]) == errors
        assert (events[-1]["status"], loop.process.wait(SECONDS)) == (status, status)


def test_a_teardown_that_fails_at_the_end(workspace: Workspace) -> None:
    """A module fixture that fails as pytest leaves is an error of the run, as ever."""
    workspace.write(
        "test_it.py",
        """
        import pytest
        @pytest.fixture(scope="module")
        def library():
            yield
            raise RuntimeError("cannot close")
        def test_it(library): pass
        """,
    )
    with loop_of(workspace, "-q") as loop:
        [item] = items_of(loop.until("ready"))
        assert loop.repeat(item)[0]["outcome"] == "passed"
        assert loop.finish() == 1
        assert "cannot close" in loop.log()


def test_a_loop_that_vanishes_while_it_is_waited_for(bench: Workspace) -> None:
    """The end of the connection ends pytest as the command would."""
    with loop_of(bench, "-q", "-k", "perf") as loop:
        loop.until("ready")
        loop.hang_up()
        assert loop.process.wait(SECONDS) == 0
    assert (bench.project / "log.txt").read_text().splitlines()[-1] == "session down"


@pytest.mark.parametrize("repeat", [False, True], ids=["first", "repeat"])
def test_a_loop_that_vanishes_while_an_item_runs(bench: Workspace, repeat: bool) -> None:
    """The item is interrupted, what is set up is torn down, and pytest says so."""
    bench.write(
        "test_long.py",
        f"""
        import os, time
        def test_long(device):
            device["n"] = device.get("n", 0) + 1
            if device["n"] > {int(repeat)}:
                open("sleeping", "w").close()
                time.sleep({SECONDS * 2})
        """,
    )
    with loop_of(bench, "-q", "test_long.py") as loop:
        items = items_of(loop.until("ready" if repeat else "collected"))
        if repeat:
            loop.send(cmd="run", cmd_id=1, items=items)
        while not (bench.project / "sleeping").exists():
            assert loop.process.poll() is None
        # A signal between Python's last look for one and the sleep that it is to interrupt is seen
        # only after the sleep.
        time.sleep(0.5)
        loop.hang_up()
        assert loop.process.wait(SECONDS) == 2
        assert "the experiment loop has gone" in loop.log()
    assert (bench.project / "log.txt").read_text().splitlines()[-1] == "session down"


def test_forks_and_a_pytest_inside_keep_quiet(workspace: Workspace) -> None:
    """Neither a forked child nor a pytest started by a test talks to the loop."""
    workspace.write(
        "test_it.py",
        """
        import os, subprocess, sys
        def test_inner(tmp_path):
            (tmp_path / "test_inner.py").write_text("def test(): pass")
            command = [sys.executable, "-m", "pytest", "-q", str(tmp_path)]
            assert subprocess.run(command).returncode == 0
        def test_fork():
            pid = os.fork()
            assert pid or 0, "the child leaves through pytest"
            os.waitpid(pid, 0)
        """,
    )
    with loop_of(workspace, "-q", "-p", "no:cacheprovider") as loop:
        events = loop.until("ready")
        assert [event["outcome"] for event in ran(events)] == ["passed", "passed"]
        assert len([event for event in events if event["event"] == "ready"]) == 1
        assert loop.finish() == 0


@pytest.mark.parametrize(
    "extra", [{"TILEPERF_OFF": "1"}, {"TILEPERF_CONTROL": "/nowhere/at/all"}, {}]
)
def test_without_a_loop_it_is_pytest(bench: Workspace, extra: dict[str, str]) -> None:
    """Switched off, or with nobody there, the plugin changes nothing."""
    env = bench.environment(bench.project)
    env |= {"PYTEST_PLUGINS": "tileperf_pytest", "TILEPERF_CONTROL": "", **extra}
    result = bench.run("-m", "pytest", "-q", env={k: v for k, v in env.items() if v})
    assert result.returncode == 0, result.stdout
    assert "4 passed, 1 skipped, 1 xfailed" in result.stdout


@has("xdist")
def test_xdist_is_declined(bench: Workspace) -> None:
    """Items that run in other processes cannot be repeated; pytest goes on as ever."""
    with loop_of(bench, "-q", "-n1", "-p", "xdist", "-k", "capsys") as loop:
        events = loop.until("unsupported")
        assert [event["event"] for event in events] == ["hello", "unsupported"]
        assert loop.process.wait(SECONDS) == 0
        assert "1 passed" in loop.log()


@has("xdist")
def test_xdist_that_distributes_nothing_is_no_matter(bench: Workspace) -> None:
    """Installed but not in use, it changes nothing."""
    with loop_of(bench, "-q", "-n0", "-p", "xdist", "-k", "capsys") as loop:
        [item] = items_of(loop.until("ready"))
        assert loop.repeat(item)[0]["outcome"] == "passed"
        assert loop.finish() == 0


@has("pytest_rerunfailures")
def test_reruns_are_one_run(workspace: Workspace) -> None:
    """The last attempt is the outcome; a repeat is one attempt."""
    workspace.write(
        "test_it.py",
        """
        runs = []
        def test_it(record_property):
            runs.append(1)
            record_property("n", len(runs))
            assert len(runs) in (2, 4)
        """,
    )
    with loop_of(workspace, "-q", "--reruns", "3") as loop:
        events = loop.until("ready")
        [item] = items_of(events)
        [first] = ran(events)
        assert (first["outcome"], first["run"], first["properties"]["n"]) == ("passed", 1, 2)
        assert [event["outcome"] for event in loop.repeat(item, item)] == ["failed", "passed"]
        assert loop.finish() == 0


@has("pytest_timeout")
def test_time_limits_hold_in_repeats(workspace: Workspace) -> None:
    """The user's own time limit of an item is in force when it is repeated."""
    workspace.write(
        "test_it.py",
        """
        import time
        runs = []
        def test_it():
            runs.append(1)
            time.sleep(30 if len(runs) == 2 else 0)
        """,
    )
    with loop_of(workspace, "-q", "--timeout=1", "--timeout-method=signal") as loop:
        [item] = items_of(loop.until("ready"))
        slow, fine = loop.repeat(item, item)
        assert (slow["outcome"], fine["outcome"]) == ("failed", "passed")
        assert "Timeout" in slow["message"]
        assert loop.finish() == 0


def test_what_the_plugin_costs(
    bench: Workspace, record_property: Callable[[str, object], None]
) -> None:
    """A repeat of an item that does nothing: the whole way there and back."""
    bench.write("test_a.py", "def test_nothing(): pass\n")
    with loop_of(bench, "-q", "test_a.py") as loop:
        [item] = items_of(loop.until("ready"))
        loop.repeat(item)
        began = time.perf_counter()
        loop.repeat(*[item] * 100)
        each = (time.perf_counter() - began) / 100
        assert loop.finish() == 0
    record_property("ms_per_repeat", each * 1e3)
    assert each < 0.1

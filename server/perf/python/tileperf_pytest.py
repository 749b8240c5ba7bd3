"""A pytest plugin that repeats items on request, in the process that has already run them.

A start-up with torch and a first compile costs tens of seconds, a sample of a benchmark item
often less than one. So the loop starts pytest once for each version of a kernel, lets every item
run, and then asks for further runs of the benchmark items, alternating between its processes.

Loaded by ``PYTEST_PLUGINS=tileperf_pytest``, active where ``TILEPERF_CONTROL`` names the listening
socket of the loop. Every line is a JSON object.

Plugin to loop::

    {"event": "hello", "protocol": 1, "pid", "pytest", "python", "rootdir"}
    {"event": "unsupported", "why"}            the plugin takes no further part; pytest goes on
    {"event": "collected", "items": [{"item", "id"}], "errors": [{"item", "message"}]}
    {"event": "ran", "item", "id", "run", "outcome", "seconds", "properties", "output", ...}
    {"event": "ready"}                         all items ran once, commands are obeyed now
    {"event": "done", "cmd_id"}
    {"event": "refused", "cmd_id", "why"}
    {"event": "stopped", "why"}                there will be no "ready"
    {"event": "fault", "where", "message"}     the plugin itself failed
    {"event": "finished", "status"}            pytest's exit status

Loop to plugin: ``{"cmd": "run", "cmd_id", "items": [...]}``, ``{"cmd": "exit"}``.

See `tileperf_reports` for the fields of "ran". PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Generator
from typing import Any

import pytest

from tileperf_channel import Channel
from tileperf_reports import Observed, message_of

PROTOCOL = 1


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Connect to the loop, if there is one that this process should talk to."""
    # Taken out of the environment: a pytest that a test starts is not the loop's business.
    path = os.environ.pop("TILEPERF_CONTROL", None)
    if not path or os.environ.get("TILEPERF_OFF") == "1" or hasattr(config, "workerinput"):
        return
    try:
        channel = Channel(path)
    except OSError:
        return  # nobody listens: an ordinary run
    conversation = Conversation(config, channel)
    config.pluginmanager.register(conversation, "tileperf-conversation")
    config.pluginmanager.register(Repeater(conversation), "tileperf-repeater")
    channel.say(
        {
            "event": "hello",
            "protocol": PROTOCOL,
            "pid": os.getpid(),
            "pytest": pytest.__version__,
            "python": platform.python_version(),
            "rootdir": str(config.rootpath),
        }
    )


class _NextItem(pytest.Item):
    """Stands for the item that may come next, so that what surrounds the last one stays set up.

    pytest tears down what an item does not share with its successor. With this sibling for a
    successor an item loses its own fixtures, and its module, class and session keep theirs.
    """

    fixturenames = ()

    def runtest(self) -> None:
        """Do nothing: it never runs."""


class Conversation:
    """What the plugin tells the loop and does for it during one run of pytest."""

    def __init__(self, config: pytest.Config, channel: Channel) -> None:
        self.config = config
        self.channel = channel
        self.repeating = False
        self._talking = True
        self._errors: list[dict[str, str]] = []
        self._observed: Observed | None = None
        self._runs: dict[str, int] = {}
        self._properties: dict[str, list[tuple[str, Any]]] = {}

    # The first run of every item, as pytest does it.

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Decline where items do not run one after the other in this process."""
        if why := _unsupported(self.config):
            self.channel.say({"event": "unsupported", "why": why})
            self._talking = False
            self.channel.close()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember what could not be collected."""
        if report.failed:
            self._errors.append({"item": report.nodeid, "message": message_of(report)})

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Tell which items will run."""
        if not self._talking:
            return
        items = [{"item": item.nodeid, "id": _id(item)} for item in session.items]
        for item in session.items:
            self._properties[item.nodeid] = list(item.user_properties)
        self.channel.say({"event": "collected", "items": items, "errors": self._errors})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> object:
        """Run every item as pytest's own loop does, then repeat items until told to leave."""
        if not self._talking:
            return None
        option = session.config.option
        errors = bool(session.testsfailed) and not option.continue_on_collection_errors
        if errors or option.collectonly or not session.items:
            why = "collection failed" if errors else "nothing to run"
            self.channel.say({"event": "stopped", "why": why})
            return None  # pytest's own loop says so in its own way
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            nextitem = following or _next_to(item)
            with self.channel.interrupting():
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
            if session.shouldfail or session.shouldstop:
                why = str(session.shouldfail or session.shouldstop)
                self.channel.say({"event": "stopped", "why": why})
                raise session.Failed(why) if session.shouldfail else session.Interrupted(why)
        self._guarded("scan", _scan_modules)
        self.channel.say({"event": "ready"})
        self._obey(session)
        self._tear_down(session)
        return True

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, None]:
        """Report a run of an item, the first as well as every other."""
        self._observed = observed = Observed(item)
        yield
        self._observed = None
        if self._talking:
            self._guarded("report", lambda: self._report(item, observed))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[Any]) -> Generator[None, Any, None]:
        """Take note of one phase of an item, as every other plugin left its report."""
        outcome = yield
        if self._observed is not None and outcome.excinfo is None:
            observed, report = self._observed, outcome.get_result()
            self._guarded("observe", lambda: observed.add(call, report))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Tell how pytest ends."""
        if self._talking:
            self.channel.say({"event": "finished", "status": int(exitstatus)})

    def pytest_unconfigure(self) -> None:
        """Hang up."""
        self.channel.close()

    # Further runs, on request.

    def _obey(self, session: pytest.Session) -> None:
        items: dict[str, pytest.Item] = {}
        for item in session.items:
            items.setdefault(item.nodeid, item)
        books = _Books(self.config)
        while (command := self.channel.hear()) is not None:
            cmd, cmd_id = command.get("cmd"), command.get("cmd_id")
            if cmd == "exit":
                break
            wanted = command.get("items")
            if cmd != "run" or not isinstance(wanted, list):
                why = "no such command: {'cmd': 'run', 'items': [...]} or {'cmd': 'exit'}"
                self.channel.say({"event": "refused", "cmd_id": cmd_id, "why": why})
                continue
            for position, name in enumerate(wanted):
                known = items.get(name) if isinstance(name, str) else None
                if known is None:
                    self._report_failure(str(name), "", "no such item")
                    continue
                later = [items[n] for n in wanted[position + 1 :] if n in items]
                self._repeat(session, known, later[0] if later else None)
                books.restore()
            self.channel.say({"event": "done", "cmd_id": cmd_id})

    def _repeat(
        self, session: pytest.Session, item: pytest.Item, following: pytest.Item | None
    ) -> None:
        """Run an item again, from the setup of its own fixtures to their teardown."""
        # An item cannot follow itself: pytest would keep its fixtures.
        nextitem = following if following not in (None, item) else _next_to(item)
        state = session._setupstate
        self.repeating = True
        try:
            # What the item run before does not share with this one goes first.
            state.teardown_exact(item)
            item.user_properties[:] = self._properties.get(item.nodeid, [])
            item._report_sections.clear()
            with self.channel.interrupting():
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=nextitem)
        except Exception as error:  # pytest.exit() is one too
            self._observed = None
            message = f"{type(error).__name__}: {error}"
            self._report_failure(item.nodeid, _id(item), message)
            self._guarded("teardown", lambda: state.teardown_exact(_next_to(item)))
        finally:
            self.repeating = False

    def _tear_down(self, session: pytest.Session) -> None:
        """Tear down what the last item would have, and report a failure of it like pytest."""
        item = session.items[-1]
        call = pytest.CallInfo.from_call(
            lambda: session._setupstate.teardown_exact(None), "teardown"
        )
        if call.excinfo is not None:
            report = item.ihook.pytest_runtest_makereport(item=item, call=call)
            item.ihook.pytest_runtest_logreport(report=report)

    # What is said.

    def _report(self, item: pytest.Item, observed: Observed) -> None:
        run = self._runs[item.nodeid] = self._runs.get(item.nodeid, 0) + 1
        head = {"event": "ran", "item": item.nodeid, "id": _id(item), "run": run}
        self.channel.say({**head, **observed.fields()})

    def _report_failure(self, item: str, identity: str, message: str) -> None:
        run = self._runs[item] = self._runs.get(item, 0) + 1
        event = {"event": "ran", "item": item, "id": identity, "run": run, "outcome": "error"}
        nothing = {"seconds": 0.0, "properties": {}, "output": ""}
        self.channel.say({**event, **nothing, "message": message})

    def _guarded(self, where: str, act: Callable[[], None]) -> None:
        """Do something of ours inside pytest's own work, which must not fail because of it."""
        try:
            act()
        except Exception as error:
            message = f"{type(error).__name__}: {error}"[:2000]
            self.channel.say({"event": "fault", "where": where, "message": message})


class Repeater:
    """Runs the phases of a repeated item without telling the reporters.

    As a hook it takes the place of pytest's own protocol and of plugins that rerun failed items,
    while every wrapper around the protocol (assertions, warnings, timeouts) stays in force. The
    terminal, JUnit XML, the cache and the exit status know of the first runs alone.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> object:
        """Run a repeated item; leave every other one to pytest."""
        if not self._conversation.repeating:
            return None
        from _pytest.runner import runtestprotocol

        runtestprotocol(item, log=False, nextitem=nextitem)
        return True


class _Books:
    """What reporters would keep of repeated items nevertheless, put back after each."""

    def __init__(self, config: pytest.Config) -> None:
        self._lists: list[tuple[list[Any], int]] = []
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        self._stats: dict[str, list[Any]] = getattr(reporter, "stats", {})
        self._warnings = len(self._stats.get("warnings", ()))
        # Fixtures such as `record_xml_attribute` write past the hooks.
        self._nodes: tuple[dict[Any, Any], dict[Any, Any]] | None = None
        xml = _junit(config)
        for name in ("node_reporters_ordered", "global_properties"):
            if isinstance(entries := getattr(xml, name, None), list):
                self._lists.append((entries, len(entries)))
        if isinstance(nodes := getattr(xml, "node_reporters", None), dict):
            self._nodes = (nodes, dict(nodes))

    def restore(self) -> None:
        """Drop what came since."""
        for entries, length in self._lists:
            del entries[length:]
        if "warnings" in self._stats:
            del self._stats["warnings"][self._warnings :]
            if not self._warnings:
                del self._stats["warnings"]  # an empty list turns the summary yellow
        if self._nodes is not None:
            nodes, before = self._nodes
            nodes.clear()
            nodes.update(before)


def _junit(config: pytest.Config) -> object:
    try:
        from _pytest.junitxml import xml_key

        return config.stash.get(xml_key, None)
    except (ImportError, AttributeError):
        return None


def _next_to(item: pytest.Item) -> pytest.Item:
    parent: Any = item.parent  # every item was collected by something
    sibling: pytest.Item = _NextItem.from_parent(parent, name="<repeat>")
    return sibling


def _id(item: pytest.Item) -> str:
    return str(getattr(getattr(item, "callspec", None), "id", ""))


def _scan_modules() -> None:
    """Have the record say now what it knows of the files under test, not only at exit."""
    module = sys.modules.get("tileperf_recorder")
    recorder = module.active() if module is not None else None
    if recorder is not None:
        recorder.scan()


def _unsupported(config: pytest.Config) -> str | None:
    """Say why items cannot be repeated in this process, if they cannot."""
    if not hasattr(pytest, "version_tuple") or sys.platform == "win32":
        return "pytest 7 or newer is needed"
    if getattr(config.option, "forked", False):
        return "pytest-forked runs each item in a process of its own"
    for hook in config.hook.pytest_runtestloop.get_hookimpls():
        wrapper = hook.hookwrapper or getattr(hook, "wrapper", False)
        if not wrapper and hook.plugin_name not in ("main", "tileperf-conversation"):
            return f"another plugin runs the items: {hook.plugin_name}"
    if getattr(config.option, "dist", "no") != "no":
        return "pytest-xdist distributes the items"
    return None

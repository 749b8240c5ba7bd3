"""The connection between a pytest process and the experiment loop: JSON Lines on a socket.

The loop listens on a unix domain socket; the process connects. Only the attempt to connect has a
time limit. Afterwards the end of the connection is what ends waiting: the loop holds the other end
for as long as it lives, however it dies. While an item runs nobody reads, so the kernel is asked
to send a signal (``SIGIO``) when the connection changes; a thread that reads would make the user's
process multi-threaded, and Python warns about every ``fork`` in such a one.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
from collections.abc import Iterator
from typing import Any

CONNECT_SECONDS = 5.0


class Channel:
    """The process's end of the connection."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(CONNECT_SECONDS)
            self._socket.connect(path)
            self._socket.settimeout(None)
        except BaseException:
            self._socket.close()
            raise
        self._owner = os.getpid()
        self._received = b""
        self._broken = False
        # The end of a forked child would keep the connection open after this process died.
        os.register_at_fork(after_in_child=self._leave)

    def say(self, event: dict[str, Any]) -> None:
        """Send one event. A connection that is gone is noticed by `gone`."""
        if self._broken or os.getpid() != self._owner:
            return
        line = json.dumps(event, allow_nan=False, separators=(",", ":")) + "\n"
        try:
            self._socket.sendall(line.encode())
        except OSError:
            self._broken = True

    def hear(self) -> dict[str, Any] | None:
        """Wait for the next command, however long; None when there will be none any more."""
        while b"\n" not in self._received:
            if self._broken:
                return None
            try:
                data = self._socket.recv(65536)
            except OSError:
                data = b""
            if not data:
                self._broken = True
                return None
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        try:
            command = json.loads(line)
        except ValueError:
            command = None
        return command if isinstance(command, dict) else {"cmd": None}

    def gone(self) -> bool:
        """Tell, without waiting, whether the loop has closed its end."""
        if not self._broken:
            try:
                flags = socket.MSG_PEEK | socket.MSG_DONTWAIT
                self._broken = self._socket.recv(1, flags) == b""
            except BlockingIOError:
                return False
            except OSError:
                self._broken = True
        return self._broken

    @contextlib.contextmanager
    def interrupting(self) -> Iterator[None]:
        """Raise ``KeyboardInterrupt`` in what runs inside if the loop goes away meanwhile."""
        try:
            free = signal.getsignal(signal.SIGIO) == signal.SIG_DFL
            if free:
                signal.signal(signal.SIGIO, self._on_signal)
        except ValueError:
            free = False  # not in the main thread, where signals arrive
        if not free:
            yield
            return
        try:
            self._signal_on_change(True)
            if self.gone():
                raise KeyboardInterrupt("the experiment loop has gone")
            yield
        finally:
            self._signal_on_change(False)
            if signal.getsignal(signal.SIGIO) == self._on_signal:
                signal.signal(signal.SIGIO, signal.SIG_DFL)

    def _on_signal(self, _number: int, _frame: object) -> None:
        if self.gone():
            raise KeyboardInterrupt("the experiment loop has gone")

    def _signal_on_change(self, on: bool) -> None:
        with contextlib.suppress(OSError, ValueError):
            descriptor = self._socket.fileno()
            flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
            if on:
                fcntl.fcntl(descriptor, fcntl.F_SETOWN, os.getpid())
                fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_ASYNC)
            else:
                fcntl.fcntl(descriptor, fcntl.F_SETFL, flags & ~os.O_ASYNC)

    def close(self) -> None:
        """End the connection."""
        self._broken = True
        self._socket.close()

    def _leave(self) -> None:
        if os.getpid() != self._owner:
            self.close()

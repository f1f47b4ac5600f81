"""Puts what a run prints into its log."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from .worker import MAX_TEXT

Log = Callable[[str], None]


class _Printed:
    """A standard stream. What a run writes goes to its log, too, line by line."""

    def __init__(self, stream: Any, index: int) -> None:
        self._stream = stream
        self._index = index

    def write(self, text: str) -> int:
        written: int = self._stream.write(text)
        printing = _printing.get()
        if printing is not None:
            printing.lines[self._index].add(text)
        return written

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Lines:
    """The lines of a run. Of a line that a program writes over by carriage returns, only the last text counts."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._rest = ""
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def add(self, text: str) -> None:
        if os.getpid() != self._pid:
            return  # a forked process does not speak for the run
        with self._lock:
            *lines, rest = (self._rest + text).split("\n")
            self._rest = rest[-MAX_TEXT:]
        for line in lines:
            self._show(line)

    def flush(self) -> None:
        with self._lock:
            rest, self._rest = self._rest, ""
        self._show(rest)

    def _show(self, line: str) -> None:
        shown = [text for text in line.split("\r") if text.strip()]
        if not shown:
            return
        token = _printing.set(None)  # a log may be printed itself, by --try
        try:
            self._log(shown[-1])
        finally:
            _printing.reset(token)


class Printing:
    """What one run prints."""

    def __init__(self, log: Log) -> None:
        # Of standard output, and of standard error.
        self.lines = _Lines(log), _Lines(log)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """What is printed within it, by the same thread or task, is the run's."""
        token = _printing.set(self)
        try:
            yield
        finally:
            _printing.reset(token)

    def flush(self) -> None:
        for lines in self.lines:
            lines.flush()


_printing: ContextVar[Printing | None] = ContextVar("printing", default=None)


def watch_streams() -> None:
    """Replaces the standard streams. It is called before the predictor is imported, which may keep them."""
    sys.stdout, sys.stderr = _Printed(sys.stdout, 0), _Printed(sys.stderr, 1)  # type: ignore[assignment]

"""What workers share that run files written for another service: their command line, and how a run is carried out."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import inspect
import sys
from collections.abc import AsyncIterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .worker import Run

STAND_INS = Path(__file__).with_name("stand_ins")


def parser_of(name: str, file: str, about: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python3 -m nowserving.{name}", description=about, allow_abbrev=False)
    parser.add_argument("file", metavar=file)
    parser.add_argument("--model", required=True, help="the model whose requests it runs, such as me/image/upscale")
    parser.add_argument("--concurrency", type=int, help="runs at a time")
    parser.add_argument("--grace", type=float, default=25.0, help="seconds until a stop hands back what still runs (25)")
    parser.add_argument("--name", help="the worker's name for operators")
    parser.add_argument("--try", dest="tried", metavar="JSON", help="runs this input once, without a service")
    parser.epilog = "NOWSERVING_URL says where the service is, NOWSERVING_KEY holds a key with the scope work."
    return parser


def set_arguments(file: str, rest: Sequence[str], tried: str | None) -> None:
    """Sets the arguments of the program as if the file itself had been started. `serve` reads `--try` from there."""
    sys.argv = [file, *rest, *([] if tried is None else ["--try", tried])]


class Execution:
    """One run, carried out by a function of another service: any function, generator, or asynchronous one of both."""

    # True if `output_of` gets all parts, which are kept until then. Otherwise it gets the first one at most.
    keeps_parts = False

    def __init__(self, run: Run) -> None:
        self.run = run

    def begin(self, input: Any, stack: contextlib.ExitStack) -> Any:
        """Calls the function. What is on the stack is closed at the end of the run."""
        raise NotImplementedError

    def whole(self, value: Any) -> Any:
        """Returns the output of a function that returned the value. It may block."""
        return value

    def part(self, value: Any) -> Any:
        """Returns the delta for a value that the function yielded. It may block."""
        return value

    def output_of(self, parts: list[Any]) -> Any:
        """Returns the output of a function that yielded. None: its deltas are the output."""
        return parts if self.keeps_parts else None

    def entered(self) -> contextlib.AbstractContextManager[Any]:
        """Surrounds what the function does, each time that it goes on."""
        return contextlib.nullcontext()

    def carry_out(self, input: Any) -> Any:
        with contextlib.ExitStack() as stack:
            with self.entered():
                result = self.begin(input, stack)
            if inspect.isawaitable(result) or isinstance(result, AsyncIterable):
                return self._asynchronous(result, stack.pop_all())
            # An open file is an iterator, too.
            if isinstance(result, Iterator) and not hasattr(result, "read"):
                return self._streamed(result, stack.pop_all())
            return self.whole(result)

    def _keep(self, part: Any, parts: list[Any]) -> None:
        if self.keeps_parts or not parts:
            parts.append(part)

    def _streamed(self, values: Any, stack: contextlib.ExitStack) -> Any:
        parts: list[Any] = []
        with stack:
            try:
                while True:
                    with self.entered():
                        try:
                            value = next(values)
                        except StopIteration:
                            return self.output_of(parts)
                    part = self.part(value)
                    self._keep(part, parts)
                    yield part
            finally:
                close = getattr(values, "close", None)
                if close is not None:
                    with self.entered():
                        close()

    async def _asynchronous(self, result: Any, stack: contextlib.ExitStack) -> Any:
        parts: list[Any] = []

        def send(value: Any) -> None:
            part = self.part(value)
            self._keep(part, parts)
            self.run.delta(part)

        with stack:
            if inspect.isawaitable(result):
                with self.entered():
                    result = await result
            if not isinstance(result, AsyncIterable):
                return await asyncio.to_thread(self.whole, result)
            values = result.__aiter__()
            try:
                while True:
                    with self.entered():
                        try:
                            value = await values.__anext__()
                        except StopAsyncIteration:
                            return self.output_of(parts)
                    # In a thread, because it waits while the service takes no more.
                    await asyncio.to_thread(send, value)
            finally:
                close = getattr(values, "aclose", None)
                if close is not None:
                    with self.entered():
                        await close()

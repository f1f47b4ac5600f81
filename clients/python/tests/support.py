from __future__ import annotations

import io
import json
import os
import time
from dataclasses import dataclass
from typing import Any
from collections.abc import Callable, Iterable

import httpx

from nowserving._settings import Settings
from nowserving._steps import Answer, Emit, Flow, Open, Read, Send, Sleep, Step

SQUARE = "test/math/square"
HELD = "test/math/held"


@dataclass(frozen=True)
class Service:
    url: str
    key: str
    limited_key: str
    model_url: str
    webhook_secret: str

    def runs_of(self, name: str) -> int:
        """Returns how often the model was called for the inputs with that name."""
        counts: dict[str, int] = httpx.get(self.model_url).json()
        return counts.get(name, 0)


class Clock:
    """A clock that advances only by sleeping."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def settings(**given: Any) -> Settings:
    defaults: dict[str, Any] = {"key": "k", "retries": 8, "timeout_s": 30, "hold_s": 20}
    return Settings("http://queue", **{**defaults, "random": lambda: 0.5, **given})


def answer(status: int, body: Any = None, **headers: str) -> Answer:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, fields, b"" if body is None else json.dumps(body).encode())


def problem(status: int, code: str, **headers: str) -> Answer:
    return answer(status, {"code": code, "detail": f"It is {code}."}, **headers)


class Played:
    """A flow that was played against given outcomes: its steps, its emitted values and its result."""

    def __init__(self, flow: Flow[Any], outcomes: Iterable[Any], clock: Clock | None = None) -> None:
        self.steps: list[Step] = []
        self.emitted: list[Any] = []
        self.returned: Any = None
        self.raised: BaseException | None = None
        pending = iter(outcomes)
        try:
            step = next(flow)
            while True:
                self.steps.append(step)
                outcome = next(pending) if isinstance(step, (Send, Open, Read)) else None
                if isinstance(step, Emit):
                    self.emitted.append(step.value)
                if isinstance(step, Sleep) and clock is not None:
                    clock.now += step.seconds
                if isinstance(outcome, BaseException):
                    step = flow.throw(outcome)
                else:
                    step = flow.send(outcome)
        except StopIteration as end:
            self.returned = end.value
        except BaseException as error:
            self.raised = error
        assert not [*pending], "More outcomes were given than were asked for."

    @property
    def calls(self) -> list[Send | Open]:
        return [step for step in self.steps if isinstance(step, (Send, Open))]

    @property
    def sent(self) -> list[str]:
        calls = [step.call for step in self.calls]
        return [f"{call.method} {call.url.removeprefix('http://queue')}" for call in calls]

    @property
    def slept(self) -> list[float]:
        return [step.seconds for step in self.steps if isinstance(step, Sleep)]

    def header(self, index: int, name: str) -> str | None:
        return self.calls[index].call.headers.get(name)


def until(check: Callable[[], Any], seconds: float = 20) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("It did not come to pass.")


class Changing(io.BytesIO):
    """A file that another program still writes to, or truncates."""

    def __init__(self, changes_to: int) -> None:
        super().__init__(bytes(600_000))
        self._changes_to = changes_to
        self._reads = 0

    def read(self, size: int | None = -1) -> bytes:
        self._reads += 1
        if self._reads == 2:
            at = self.tell()
            if self._changes_to > 600_000:
                self.seek(0, os.SEEK_END)
                self.write(bytes(self._changes_to - 600_000))
                self.seek(at)
            else:
                self.truncate(self._changes_to)
        return super().read(size)

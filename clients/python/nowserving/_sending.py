"""Sends calls, and retries them."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any
from collections.abc import Mapping

from . import _calls as calls
from ._retry import problem_of, retry_delay
from ._settings import Settings
from ._steps import Answer, Call, Emit, Flow, Send, Sleep
from .errors import NowServingError

log = logging.getLogger("nowserving")


class Deadline:
    def __init__(self, settings: Settings, seconds: float | None) -> None:
        self._clock = settings.clock
        self._seconds = seconds
        self._at = None if seconds is None else settings.clock() + seconds

    def bound(self, seconds: float) -> float:
        """Returns the seconds, but no more than are left."""
        return seconds if self._at is None else max(0.001, min(seconds, self._at - self._clock()))

    def check(self, request_id: str | None, *, ahead_s: float = 0) -> None:
        if self._at is not None and self._clock() + ahead_s >= self._at:
            said = f"The request has not completed within {self._seconds} s."
            raise NowServingError("deadline_exceeded", said, request_id=request_id)


def send(
    settings: Settings,
    call: Call,
    *,
    request_id: str | None = None,
    deadline: Deadline | None = None,
    hold_s: int = 0,
) -> Flow[Answer]:
    """
    The answer, if need be after some tries: a call is repeatable, or has an Idempotency-Key. The service may hold it
    until the request has completed, for up to `hold_s`.
    """
    deadline = deadline or Deadline(settings, None)
    failures = 0
    while True:
        deadline.check(request_id)
        # A proxy may break off long calls, so each try waits for half as long.
        held_s = int(deadline.bound(hold_s / 2**failures))
        patience_s = deadline.bound(settings.timeout_s + held_s)
        outcome = yield Send(with_headers(call, calls.prefer(held_s)), patience_s)
        error = problem_of(outcome, request_id)
        if error is None:
            return outcome  # type: ignore[no-any-return]
        failures += 1
        yield from wait_to_retry(settings, error, failures, deadline)


def wait_to_retry(
    settings: Settings, error: NowServingError, failures: int, deadline: Deadline
) -> Flow[None]:
    seconds = retry_delay(error, failures, settings)
    if seconds is None:
        raise error
    try:
        deadline.check(error.request_id, ahead_s=seconds)
    except NowServingError as over:
        raise over from error
    # Tells the user why a caller seems to hang.
    level = logging.INFO if failures < 3 else logging.WARNING
    log.log(level, "Try %d failed (%s); the next one is in %.1f s.", failures, error, seconds)
    yield Sleep(seconds)


def result(settings: Settings, call: Call, *, request_id: str | None = None) -> Flow[Any]:
    answer = yield from send(settings, call, request_id=request_id)
    return answer.json


def pages(settings: Settings, query: Mapping[str, Any]) -> Flow[None]:
    while True:
        page = yield from result(settings, calls.call(settings, "GET", calls.REQUESTS, query=query))
        yield Emit(page)
        if page.get("next_cursor") is None:
            return
        # A cursor contains its filters.
        query = {"cursor": page["next_cursor"], **{k: v for k, v in query.items() if k == "limit"}}


def delete(settings: Settings, request_id: str) -> Flow[None]:
    try:
        yield from result(settings, calls.call(settings, "DELETE", calls.request_path(request_id)))
    except NowServingError as error:
        # An earlier try of this call, whose answer was lost, may have deleted it.
        if error.code != "gone":
            raise


def with_headers(call: Call, headers: Mapping[str, str]) -> Call:
    return replace(call, headers={**call.headers, **headers})

"""How calls are tried again, waited for and followed: the rules that both clients share."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, replace
from typing import Any, Mapping, TypeVar

from . import _calls as calls
from ._retry import problem_of, retry_after_of, retry_delay, was_refused
from ._settings import Settings
from ._sse import EventParser
from ._steps import Answer, Call, Close, Emit, Flow, Lost, Open, Read, Send, Sleep
from .errors import NowServingError
from .types import Result

T = TypeVar("T")
log = logging.getLogger("nowserving")

# The service sends a comment every 15 s: a stream that is silent for three times that is dead.
STREAM_SILENCE_S = 45.0
# For the calls that cancel what nobody waits for any more: they hold up the caller's exit.
EXIT_S = 5.0
FIRST_POLL_S = 0.1
LAST_POLL_S = 2.0
# A request that is scheduled for next week may be cancelled today.
MAX_POLL_S = 30.0


class Deadline:
    def __init__(self, settings: Settings, seconds: float | None) -> None:
        self._clock = settings.clock
        self._seconds = seconds
        self._at = None if seconds is None else settings.clock() + seconds

    def bound(self, seconds: float) -> float:
        """No more than is left."""
        return seconds if self._at is None else max(0.001, min(seconds, self._at - self._clock()))

    def check(self, request_id: str | None, *, ahead_s: float = 0) -> None:
        if self._at is not None and self._clock() + ahead_s >= self._at:
            said = f"The request has not completed within {self._seconds} s."
            raise NowServingError("deadline_exceeded", said, request_id=request_id)


@dataclass
class Submitted:
    """A submission that may have been sent, and what is known of its request."""

    call: Call
    request_id: str | None = None


def send(
    settings: Settings,
    call: Call,
    *,
    request_id: str | None = None,
    deadline: Deadline | None = None,
    hold_s: int = 0,
) -> Flow[Answer]:
    """
    The answer, if need be after some tries: what is sent is repeatable, or has an Idempotency-Key, or is sent again
    only where it was refused before it did anything. The service may hold it until the request has completed, for up to `hold_s`.
    """
    deadline = deadline or Deadline(settings, None)
    failures = 0
    while True:
        deadline.check(request_id)
        # Something on the way may break off calls that take so long: less with each try.
        held_s = int(deadline.bound(hold_s / 2**failures))
        patience_s = deadline.bound(settings.timeout_s + held_s)
        outcome = yield Send(with_headers(call, calls.prefer(held_s)), patience_s)
        error = problem_of(outcome, request_id)
        if error is None:
            return outcome  # type: ignore[no-any-return]
        if not call.is_repeatable and not was_refused(error):
            raise error
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
    # A caller that seems to hang should learn why.
    level = logging.INFO if failures < 3 else logging.WARNING
    log.log(level, "Try %d failed (%s), the next is in %.1f s.", failures, error, seconds)
    yield Sleep(seconds)


def call(settings: Settings, call: Call, *, request_id: str | None = None) -> Flow[Any]:
    answer = yield from send(settings, call, request_id=request_id)
    return answer.json


def run(settings: Settings, submission: Call, seconds: float | None, cancel: bool) -> Flow[Result]:
    deadline = Deadline(settings, seconds)
    submitted = Submitted(submission)

    def flow() -> Flow[Result]:
        answer = yield from send(settings, submission, deadline=deadline, hold_s=settings.hold_s)
        first = answer.json
        submitted.request_id = first["request_id"]
        if first.get("success") is True and "response" in first:
            output = first.pop("response")
            return Result(first["request_id"], output, first)
        return (yield from wait(settings, first["request_id"], deadline))

    return (yield from cancelling(settings, submitted, flow()) if cancel else flow())


def wait(settings: Settings, request_id: str, deadline: Deadline) -> Flow[Result]:
    poll_s = FIRST_POLL_S
    asks = calls.call(settings, "GET", calls.request_path(request_id, "/status"))
    while True:
        answer = yield from send(
            settings, asks, request_id=request_id, deadline=deadline, hold_s=settings.hold_s
        )
        status = answer.json
        if status["status"] == "COMPLETED":
            break
        if "preference-applied" not in answer.headers:
            pause_s = min(retry_after_of(answer) or poll_s, MAX_POLL_S)
            deadline.check(request_id, ahead_s=pause_s)
            yield Sleep(pause_s)
            poll_s = min(LAST_POLL_S, poll_s * 1.5)
    # Of a request that failed this is the error.
    response = calls.call(settings, "GET", calls.request_path(request_id))
    answer = yield from send(settings, response, request_id=request_id, deadline=deadline)
    return Result(request_id, answer.json, status)


def subscribe(
    settings: Settings, submission: Call, logs: bool, seconds: float | None, cancel: bool
) -> Flow[None]:
    deadline = Deadline(settings, seconds)
    submitted = Submitted(submission)

    def flow() -> Flow[None]:
        answer = yield from send(settings, submission, deadline=deadline)
        submitted.request_id = answer.json["request_id"]
        yield from follow(settings, submitted.request_id, logs, deadline)

    yield from cancelling(settings, submitted, flow()) if cancel else flow()


def follow(settings: Settings, request_id: str, logs: bool, deadline: Deadline) -> Flow[None]:
    """Emits statuses until the last one. A stream that breaks goes on from the event that came last."""
    last_id: str | None = None
    failures = 0
    while True:
        deadline.check(request_id)
        headers = {"accept": "text/event-stream"}
        if last_id is not None:
            headers["last-event-id"] = last_id
        path = calls.request_path(request_id, "/status/stream")
        stream = calls.call(settings, "GET", path, query=logs_query(logs), headers=headers)
        outcome = yield Open(stream, deadline.bound(STREAM_SILENCE_S))
        error = problem_of(outcome, request_id)
        if error is None and isinstance(outcome, Answer) and outcome.status == 204:
            return
        parser = EventParser()
        while error is None:
            chunk = yield Read()
            if chunk is None or isinstance(chunk, Lost):
                why = chunk.why if isinstance(chunk, Lost) else "The stream ended early."
                error = NowServingError("connection_failed", why, request_id=request_id)
                break
            for event in parser.feed(chunk):
                last_id, failures = event.id or last_id, 0
                status = json.loads(event.data)
                if status["status"] == "COMPLETED":
                    yield Close()
                    yield Emit(status)
                    return
                yield Emit(status)
            deadline.check(request_id)
        yield Close()
        failures += 1
        yield from wait_to_retry(settings, error, failures, deadline)


def cancelling(settings: Settings, submitted: Submitted, flow: Flow[T]) -> Flow[T]:
    """If `flow` is left before its request has ended, the request is cancelled on the service."""
    try:
        return (yield from flow)
    except BaseException as left:
        if not isinstance(left, NowServingError) or left.code == "deadline_exceeded":
            yield Close()
            yield from _cancel_once(settings, submitted)
            if isinstance(left, NowServingError):
                left.request_id = submitted.request_id
        raise


def _cancel_once(settings: Settings, submitted: Submitted) -> Flow[None]:
    if submitted.request_id is None:
        # Its answer was still to come. The same submission again says which request it made.
        outcome = yield Send(submitted.call, EXIT_S)
        if problem_of(outcome, None) is not None:
            return
        submitted.request_id = outcome.json["request_id"]
    assert submitted.request_id is not None
    path = calls.request_path(submitted.request_id, "/cancel")
    yield Send(calls.call(settings, "PUT", path), EXIT_S)


def pages(settings: Settings, query: Mapping[str, Any]) -> Flow[None]:
    while True:
        page = yield from call(settings, calls.call(settings, "GET", calls.REQUESTS, query=query))
        yield Emit(page)
        if page.get("next_cursor") is None:
            return
        # A cursor holds its filters.
        query = {"cursor": page["next_cursor"], **{k: v for k, v in query.items() if k == "limit"}}


def delete(settings: Settings, request_id: str) -> Flow[None]:
    try:
        yield from call(settings, calls.call(settings, "DELETE", calls.request_path(request_id)))
    except NowServingError as error:
        # Perhaps by an earlier try of this very call, whose answer was lost.
        if error.code != "gone":
            raise


def with_headers(call: Call, headers: Mapping[str, str]) -> Call:
    return replace(call, headers={**call.headers, **headers})


def logs_query(logs: bool) -> dict[str, str]:
    return {"logs": "1"} if logs else {}

"""Waits for requests, follows them, and cancels those that no caller waits for any more."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from collections.abc import Callable, Mapping

from . import _calls as calls
from ._retry import problem_of, retry_after_of, stream_problem_of
from ._sending import Deadline, send, wait_to_retry
from ._settings import Settings
from ._sse import Event, EventParser
from ._steps import Answer, Call, Close, Emit, Flow, Left, Lost, Open, Read, Send, Sleep
from .errors import NowServingError
from .types import Result

T = TypeVar("T")

# The service sends a comment every 15 s. A stream that is silent for three times as long is dead.
STREAM_SILENCE_S = 45.0
STREAM_TYPE = "text/event-stream"
# The time for calls that cancel abandoned requests, because they delay the caller's exit.
EXIT_S = 5.0
FIRST_POLL_S = 0.1
LAST_POLL_S = 2.0
# A request that is scheduled for next week may be cancelled today.
MAX_POLL_S = 30.0


@dataclass
class Submitted:
    """A submission that may have been sent, and the known facts of its request."""

    call: Call
    request_id: str | None = None


def run(settings: Settings, submission: Call, deadline: Deadline, cancel: bool) -> Flow[Result]:
    deadline.check(None)
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
    # If the request failed, the answer is its error.
    response = calls.call(settings, "GET", calls.request_path(request_id), is_value=True)
    answer = yield from send(settings, response, request_id=request_id, deadline=deadline)
    return Result(request_id, answer.json, status)


def subscribe(
    settings: Settings, submission: Call, logs: bool, deadline: Deadline, cancel: bool
) -> Flow[None]:
    deadline.check(None)
    submitted = Submitted(submission)

    def flow() -> Flow[None]:
        answer = yield from send(settings, submission, deadline=deadline)
        request_id: str = answer.json["request_id"]
        submitted.request_id = request_id
        yield from follow(settings, request_id, logs, deadline)

    yield from cancelling(settings, submitted, flow()) if cancel else flow()


def follow(settings: Settings, request_id: str, logs: bool, deadline: Deadline) -> Flow[None]:
    """Emits statuses until the last one."""

    def take(event: Event) -> Flow[bool]:
        status = _json_of(event, request_id)
        if status["status"] != "COMPLETED":
            yield Emit(status)
            return False
        yield Close()
        # A caller that leaves the loop here does not abandon the request.
        with suppress(Left):
            yield Emit(status)
        return True

    query = calls.logs_query(logs)
    yield from _read_stream(settings, request_id, "/status/stream", query, deadline, take)


def output(
    settings: Settings, request_id: str, on_reset: Callable[[int], object] | None, deadline: Deadline
) -> Flow[None]:
    """Emits the parts of an output until the last one."""
    success = True

    def take(event: Event) -> Flow[bool]:
        nonlocal success
        said = _json_of(event, request_id)
        if event.name == "output":
            yield Emit(said["delta"])
        elif event.name == "reset" and on_reset is not None:
            on_reset(said["attempt"])
        elif event.name == "done":
            yield Close()
            success = said["success"]
            return True
        return False

    yield from _read_stream(settings, request_id, "/output/stream", {}, deadline, take)
    if not success:
        # If the request failed, the answer is its error.
        response = calls.call(settings, "GET", calls.request_path(request_id), is_value=True)
        yield from send(settings, response, request_id=request_id, deadline=deadline)


def _json_of(event: Event, request_id: str) -> Any:
    """An event is never truncated, so what is no JSON is not from the service."""
    try:
        return json.loads(event.data)
    except ValueError:
        said = "An event of the stream is not JSON."
        raise NowServingError("invalid_response", said, request_id=request_id) from None


def _read_stream(
    settings: Settings,
    request_id: str,
    route: str,
    query: Mapping[str, str],
    deadline: Deadline,
    take: Callable[[Event], Flow[bool]],
) -> Flow[None]:
    """
    Reads until `take` returns true for an event. A stream that breaks resumes after the last event. Once anything has
    arrived, an outage may last as long as it likes; until then `retries` limits the tries.
    """
    limit: float = settings.retries
    last_id: str | None = None
    failures = 0
    while True:
        deadline.check(request_id)
        headers = {"accept": STREAM_TYPE}
        if last_id is not None:
            headers["last-event-id"] = last_id
        path = calls.request_path(request_id, route)
        stream = calls.call(settings, "GET", path, query=query, headers=headers)
        outcome = yield Open(stream, deadline.bound(STREAM_SILENCE_S), ends_s=deadline.bound(math.inf))
        if isinstance(outcome, Answer) and outcome.status == 204:
            return
        error = stream_problem_of(outcome, STREAM_TYPE, request_id)
        parser = EventParser()
        while error is None:
            chunk = yield Read()
            if chunk is None or isinstance(chunk, Lost):
                why = chunk.why if isinstance(chunk, Lost) else "The stream ended early."
                error = NowServingError("connection_failed", why, request_id=request_id)
                break
            limit = math.inf
            # A stream that resumes without news brings only a comment.
            if chunk.strip():
                failures = 0
            for event in parser.feed(chunk):
                last_id = event.id or last_id
                if (yield from take(event)):
                    return
            deadline.check(request_id)
        yield Close()
        failures = yield from wait_to_retry(settings, error, failures, deadline, limit)


def cancelling(settings: Settings, submitted: Submitted, flow: Flow[T]) -> Flow[T]:
    """Cancels the request on the service if `flow` is left before the request has ended."""
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
        # The answer was still to come. A repeated submission returns the id of the same request.
        outcome = yield Send(submitted.call, EXIT_S)
        if problem_of(outcome, None) is not None:
            return
        submitted.request_id = outcome.json["request_id"]
    assert submitted.request_id is not None
    path = calls.request_path(submitted.request_id, "/cancel")
    yield Send(calls.call(settings, "PUT", path), EXIT_S)

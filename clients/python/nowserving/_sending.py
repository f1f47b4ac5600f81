"""Sends calls, and retries them."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any
from collections.abc import Mapping

from . import _calls as calls
from ._retry import is_passing, is_turned_away, problem_of, retry_after_of, retry_delay
from ._settings import Settings
from ._steps import Answer, Call, Emit, Flow, Send, Sleep
from .errors import NowServingError

log = logging.getLogger("nowserving")
# Codes of a DELETE whose target does not exist, or not any more.
MISSING = ("gone", "unknown_id", "batch_not_found")


class Deadline:
    def __init__(self, settings: Settings, seconds: float | None, noun: str = "request") -> None:
        self._clock = settings.clock
        self._noun = noun
        self._seconds = seconds
        self._at = None if seconds is None else settings.clock() + seconds

    def bound(self, seconds: float) -> float:
        """Returns the seconds, but no more than are left."""
        return seconds if self._at is None else max(0.001, min(seconds, self._at - self._clock()))

    def check(self, request_id: str | None, *, ahead_s: float = 0) -> None:
        if self._at is not None and self._clock() + ahead_s >= self._at:
            said = f"The {self._noun} has not completed within {self._seconds} s."
            raise NowServingError("deadline_exceeded", said, request_id=request_id)


def send(
    settings: Settings,
    call: Call,
    *,
    request_id: str | None = None,
    deadline: Deadline | None = None,
    hold_s: int = 0,
    limit: float | None = None,
) -> Flow[Answer]:
    """
    The answer, if need be after some tries: a call is repeatable, or has an Idempotency-Key. The service may hold it
    until the request has completed, for up to `hold_s`. `limit` is how many tries may fail.
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
        if error is None and not (call.is_value or isinstance(outcome.json, dict) or outcome.status == 204):
            said = "The answer is not a JSON object."
            error = NowServingError("invalid_response", said, status=outcome.status, request_id=request_id)
        if error is None:
            return outcome  # type: ignore[no-any-return]
        if call.method == "DELETE" and failures > 0 and error.code in MISSING:
            return Answer(204, {}, b"")  # an earlier try, whose answer was lost, has deleted it
        failures = yield from wait_to_retry(settings, error, failures, deadline, limit)


def wait_to_retry(
    settings: Settings,
    error: NowServingError,
    failures: int,
    deadline: Deadline,
    limit: float | None = None,
) -> Flow[int]:
    """
    Pauses before the next try and returns how many tries have failed. Raises the error if there is no next try.
    `limit` is how many tries may fail.
    """
    limit = settings.retries if limit is None else limit
    if not is_turned_away(error) or limit == 0:
        failures += 1
    seconds = retry_delay(error, failures, settings, limit)
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
    return failures


def result(settings: Settings, call: Call, *, request_id: str | None = None) -> Flow[Any]:
    answer = yield from send(settings, call, request_id=request_id)
    return answer.json


def submit_many(settings: Settings, entries: list[dict[str, Any]]) -> Flow[list[Any]]:
    """
    Submits the entries, and sends those again that were refused but may be accepted later. After the first answer no
    NowServingError is raised, because the caller needs the ids.
    """
    results: dict[int, Any] = {}
    pending = [*range(len(entries))]
    failures = 0
    while True:
        body = {"requests": [entries[index] for index in pending]}
        try:
            answer = yield from send(settings, calls.call(settings, "POST", calls.REQUESTS, body=body))
        except NowServingError as error:
            if not results:
                raise
            results.update(dict.fromkeys(pending, _unanswered(error)))
            break
        results.update(zip(pending, answer.json["results"]))
        errors = {index: _refusal(results[index], retry_after_of(answer)) for index in pending}
        refusals = {index: error for index, error in errors.items() if error and is_passing(error)}
        if not refusals:
            break
        pending = [*refusals]
        refusal = next(filter(is_turned_away, refusals.values()), refusals[pending[0]])
        try:
            failures = yield from wait_to_retry(settings, refusal, failures, Deadline(settings, None))
        except NowServingError:
            break
    return [results[index] for index in range(len(entries))]


def _refusal(result: Any, retry_after: float | None) -> NowServingError | None:
    if result["status"] == 202:
        return None
    return NowServingError(result["code"], result["detail"], status=result["status"], retry_after=retry_after)


def _unanswered(error: NowServingError) -> dict[str, Any]:
    """Returns the result of an entry that was sent again and may have been accepted. Without an answer its status is 0."""
    return {"status": error.status or 0, "code": error.code, "detail": error.detail}


def listed(settings: Settings, path: str, query: Mapping[str, Any]) -> Flow[None]:
    """Emits the entries of a list, page after page."""
    while True:
        page = yield from result(settings, calls.call(settings, "GET", path, query=query))
        for entry in page["data"]:
            yield Emit(entry)
        if page.get("next_cursor") is None:
            return
        # A cursor contains its filters.
        query = {"cursor": page["next_cursor"], **{k: v for k, v in query.items() if k == "limit"}}


def delete(settings: Settings, request_id: str) -> Flow[None]:
    try:
        yield from result(settings, calls.call(settings, "DELETE", calls.request_path(request_id)))
    except NowServingError as error:
        # It was deleted before.
        if error.code != "gone":
            raise


def with_headers(call: Call, headers: Mapping[str, str]) -> Call:
    return replace(call, headers={**call.headers, **headers})

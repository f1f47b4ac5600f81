"""Which calls are retried, and when."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import pytest

from nowserving import NowServingError
from nowserving._api import Api
from nowserving._retry import retry_after_of
from nowserving._steps import Answer, Lost
from support import Played, answer, problem, settings

GOOD = answer(200, {"status": "IN_QUEUE"})


def status(*outcomes: Any, **given: Any) -> Played:
    return Played(Api(settings(**given)).status("r", False), outcomes)


@pytest.mark.parametrize(
    "passing",
    [
        Lost("ConnectError"),
        answer(408),
        answer(502),
        problem(429, "queue_full"),
        problem(403, "rate_limited"),
        problem(500, "internal_error"),
        problem(503, "unavailable"),
        Answer(200, {}, b'{"status": "IN_'),
    ],
)
def test_what_may_do_better_later_is_tried_again(passing: Any) -> None:
    played = status(passing, passing, GOOD)
    assert played.returned == {"status": "IN_QUEUE"}
    assert played.slept == [0.1875, 0.375]


@pytest.mark.parametrize(
    "final",
    [
        problem(400, "invalid_query"),
        problem(403, "forbidden"),
        problem(404, "unknown_request"),
        problem(502, "model_error"),
        problem(429, "model_error"),
        problem(504, "timed_out"),
        answer(302),
    ],
)
def test_what_would_stay_as_it_is_is_not(final: Answer) -> None:
    played = status(final)
    assert isinstance(played.raised, NowServingError)
    assert played.raised.status == final.status


def test_no_try_comes_earlier_than_the_service_asks() -> None:
    assert status(problem(403, "rate_limited", retry_after="7"), GOOD).slept == [7.25]


def test_a_wait_of_an_hour_is_left_to_the_caller() -> None:
    error = status(problem(429, "queue_full", retry_after="3600")).raised
    assert isinstance(error, NowServingError) and error.retry_after == 3600


def test_the_tries_end_with_the_last_error() -> None:
    played = status(*[Lost("ReadTimeout")] * 3, retries=2)
    assert str(played.raised) == "connection_failed: ReadTimeout (request r)"


def test_retry_after_may_be_a_date() -> None:
    at = datetime.now(timezone.utc) + timedelta(seconds=30)
    seconds = retry_after_of(answer(503, retry_after=format_datetime(at, usegmt=True)))
    assert seconds is not None and 20 < seconds <= 30
    assert retry_after_of(answer(503, retry_after="soon")) is None


def test_an_error_says_all_that_the_service_said() -> None:
    body = {
        "code": "invalid_input",
        "detail": "It does not fit.",
        "errors": [{"path": "/width", "message": "must be integer"}],
    }
    error = status(answer(422, body, x_request_id="c")).raised
    assert isinstance(error, NowServingError)
    assert (error.code, error.status, error.call_id) == ("invalid_input", 422, "c")
    assert (error.detail, [*error.errors]) == (body["detail"], body["errors"])


def test_each_try_of_a_submission_is_the_same() -> None:
    queued = answer(202, {"request_id": "r"})
    played = Played(Api(settings()).submit("m", {"a": 1}, None, {}), [Lost("x"), queued])
    first, second = played.calls
    assert first == second
    assert played.header(0, "idempotency-key") is not None


def test_an_erasure_whose_answer_was_lost_has_succeeded() -> None:
    played = Played(Api(settings()).delete("r"), [Lost("x"), problem(410, "gone")])
    assert played.raised is None


def test_the_key_is_in_no_text() -> None:
    played = Played(Api(settings(key="s3cret")).status("r", False), [problem(401, "invalid_key")])
    shown = f"{played.steps!r} {played.raised!r} {played.raised} {settings(key='s3cret')!r}"
    assert "s3cret" not in shown


def test_each_try_of_a_retry_of_a_request_is_the_same() -> None:
    outcomes = [Lost("x"), problem(503, "unavailable"), answer(202, {"request_id": "s"})]
    played = Played(Api(settings()).retry("r", None), outcomes)
    assert played.returned == {"request_id": "s"}
    assert played.calls[0] == played.calls[1] == played.calls[2]
    assert played.header(0, "idempotency-key") is not None
    own = Played(Api(settings()).retry("r", "mine"), [answer(202, {"request_id": "s"})])
    assert own.header(0, "idempotency-key") == '"mine"'

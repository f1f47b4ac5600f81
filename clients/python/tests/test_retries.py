"""Which calls are retried, and when."""

from __future__ import annotations

import json
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


def test_pauses_grow_although_the_service_asks_for_none() -> None:
    slept = status(*[problem(503, "unavailable", retry_after="0")] * 5, GOOD).slept
    assert slept == sorted(slept) and len(set(slept)) == 5


def test_a_wait_of_an_hour_is_left_to_the_caller() -> None:
    error = status(problem(429, "queue_full", retry_after="3600")).raised
    assert isinstance(error, NowServingError) and error.retry_after == 3600
    assert status(problem(429, "queue_full", retry_after="120"), GOOD).slept == [120.25]


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


LIMITED = problem(403, "rate_limited", retry_after="1")


def test_a_call_waits_for_its_turn_under_a_limit_however_often_it_is_refused() -> None:
    played = status(*[LIMITED] * 50, GOOD)
    assert played.returned == {"status": "IN_QUEUE"}
    assert played.slept == [1.25] * 50


def test_without_retries_a_limit_is_an_error_at_once() -> None:
    error = status(LIMITED, retries=0).raised
    assert isinstance(error, NowServingError) and error.code == "rate_limited"


def accepted(request_id: str) -> dict[str, Any]:
    return {"status": 202, "request_id": request_id}


def refused(status: int, code: str) -> dict[str, Any]:
    return {"status": status, "code": code, "detail": f"It is {code}."}


def submit_many(count: int, *outcomes: Any, **given: Any) -> tuple[Played, list[list[str]]]:
    """Returns also the keys that each call sent."""
    items: Any = [{"model": "m", "input": {}, "idempotency_key": f"key {n}"} for n in range(count)]
    played = Played(Api(settings(**given)).submit_many(items), outcomes)
    bodies = [json.loads(step.call.body) for step in played.calls]  # type: ignore[arg-type]
    return played, [[entry["idempotency_key"] for entry in body["requests"]] for body in bodies]


def test_the_refused_of_many_are_sent_again_when_their_turn_comes() -> None:
    limited, wrong = refused(403, "rate_limited"), refused(422, "invalid_input")
    turn: Any = {"retry_after": "1"}
    played, keys = submit_many(
        4,
        answer(200, {"results": [accepted("r0"), limited, wrong, limited]}, **turn),
        *[answer(200, {"results": [limited, limited]}, **turn)] * 9,
        answer(200, {"results": [limited, accepted("r3")]}, **turn),
        Lost("x"),
        answer(200, {"results": [accepted("r1")]}),
    )
    assert played.returned == [accepted("r0"), accepted("r1"), wrong, accepted("r3")]
    assert keys == [[f"key {n}" for n in range(4)]] + [["key 1", "key 3"]] * 10 + [["key 1"]] * 2
    assert played.slept == [1.25] * 11 + [0.1875]


def test_the_ids_of_many_are_returned_though_some_stay_refused_or_get_no_answer() -> None:
    full = refused(429, "queue_full")
    first, again = answer(200, {"results": [accepted("r0"), full]}), answer(200, {"results": [full]})
    played, keys = submit_many(2, first, again, again, retries=2)
    assert played.returned == [accepted("r0"), full]
    assert keys == [["key 0", "key 1"], ["key 1"], ["key 1"]]
    cut, _ = submit_many(2, first, Lost("x"), Lost("x"), retries=1)
    assert cut.returned == [accepted("r0"), {"status": 0, "code": "connection_failed", "detail": "x"}]


@pytest.mark.parametrize("text", ["²", "9" * 400])
def test_an_odd_retry_after_is_no_other_error(text: str) -> None:
    assert retry_after_of(answer(503, retry_after=text)) in (None, float("inf"))


def test_the_line_end_of_a_key_is_not_sent_and_a_key_that_cannot_be_sent_is_not_told() -> None:
    assert settings(key="ns_k\r\n").key == "ns_k"
    for key in ("ns_secret\nns_k", "ns_sécret"):
        with pytest.raises(ValueError, match="^The key has characters that no key has.$"):
            settings(key=key)


@pytest.mark.parametrize("body", [b"null", b'"text"', b"7", b"[]"])
def test_an_answer_that_is_no_object_is_none_of_the_service(body: bytes) -> None:
    api = Api(settings(retries=0))
    for flow in (api.status("r", False), api.run("m", {}, None, {}, None, False), api.models()):
        played = Played(flow, [Answer(200, {}, body)])
        assert isinstance(played.raised, NowServingError)
        assert played.raised.code == "invalid_response"
    assert Played(api.response("r", False), [Answer(200, {}, body)]).returned == json.loads(body)

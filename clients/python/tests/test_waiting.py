"""How `run` and `subscribe` wait, and what they leave behind."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from typing import Any

import httpx
import pytest

from nowserving import AsyncClient, Client, NowServingError, Result
from nowserving._api import Api
from nowserving._steps import Answer, Call, Flow, Left, Lost, Open, Read
from support import Clock, Played, answer, problem, settings, until

QUEUED = answer(202, {"request_id": "r"})
RUNNING = {"status": "IN_PROGRESS", "request_id": "r"}
DONE: Any = {"status": "COMPLETED", "request_id": "r", "success": True}
CANCELLED = answer(200, {"status": "CANCELLED"})
HELD = {"preference_applied": "wait=20"}
STREAM = answer(200)


def run(*outcomes: Any, deadline: float | None = None, cancel: bool = False) -> Played:
    clock = Clock()
    flow = Api(settings(clock=clock)).run("m", {}, None, {}, deadline, cancel)
    return Played(flow, outcomes, clock)


def subscribe(*outcomes: Any, cancel: bool = False) -> Played:
    return Played(Api(settings()).subscribe("m", {}, None, {}, True, None, cancel), outcomes)


def event(id: int, status: dict[str, Any]) -> bytes:
    return f"id: {id}\ndata: {json.dumps(status)}\n\n".encode()


def test_a_run_that_ends_in_time_is_one_call() -> None:
    played = run(answer(200, {**DONE, "response": [1]}, **HELD))
    assert played.returned == Result("r", [1], DONE)
    assert played.header(0, "prefer") == "wait=20"


def test_a_longer_run_holds_the_status_without_a_pause() -> None:
    held = [answer(200, RUNNING, **HELD), answer(200, DONE, **HELD)]
    played = run(QUEUED, *held, answer(200, {"square": 4}))
    assert played.returned == Result("r", {"square": 4}, DONE)
    status, response = "GET /v1/queue/requests/r/status", "GET /v1/queue/requests/r"
    assert played.sent == ["POST /v1/queue/m", status, status, response]
    assert played.slept == []


def test_calls_that_break_are_held_for_less_time() -> None:
    played = run(Lost("ReadTimeout"), Lost("ReadTimeout"), answer(200, {**DONE, "response": 1}))
    assert [played.header(n, "prefer") for n in range(3)] == ["wait=20", "wait=10", "wait=5"]


def test_a_service_that_holds_no_calls_is_polled() -> None:
    asks = answer(200, RUNNING, retry_after="3")
    far = answer(200, RUNNING, retry_after="86400")
    now = answer(200, RUNNING)
    played = run(QUEUED, now, now, asks, far, answer(200, DONE), answer(200, 1))
    assert played.slept == pytest.approx([0.1, 0.15, 3, 30])


def test_a_failed_run_is_the_error_of_its_response() -> None:
    failed = answer(200, {**DONE, "success": False}, **HELD)
    error = run(failed, failed, problem(502, "model_error")).raised
    assert isinstance(error, NowServingError)
    assert (error.code, error.request_id) == ("model_error", "r")


def test_a_deadline_bounds_each_call_and_each_pause() -> None:
    played = run(QUEUED, *[answer(200, RUNNING, retry_after="4")] * 3, deadline=10)
    assert isinstance(played.raised, NowServingError)
    assert (played.raised.code, played.raised.request_id) == ("deadline_exceeded", "r")
    assert [step.timeout_s for step in played.calls] == [10, 10, 6, 2]
    assert [played.header(index, "prefer") for index in range(4)] == [
        "wait=10",
        "wait=10",
        "wait=6",
        "wait=2",
    ]


def test_a_deadline_bounds_the_upload_of_an_input_too() -> None:
    clock = Clock()
    flow = Api(settings(clock=clock)).run("m", {"image": b"cat"}, None, {}, 10, True)
    away = [problem(503, "unavailable", retry_after=seconds) for seconds in ("3", "3", "30")]
    played = Played(flow, away, clock)
    assert isinstance(played.raised, NowServingError) and played.raised.code == "deadline_exceeded"
    assert played.sent == ["POST /v1/storage/upload/initiate"] * 3
    assert [step.timeout_s for step in played.calls] == [10, 6.75, 3.5]


def test_a_deadline_bounds_a_stream_as_a_whole() -> None:
    clock = Clock()
    flow = Api(settings(clock=clock)).follow("r", False, 10)
    played = Played(flow, [STREAM, event(1, RUNNING), None, STREAM, event(2, DONE)], clock)
    assert [step.ends_s for step in played.calls if isinstance(step, Open)] == [10, 10 - played.slept[0]]


@pytest.mark.parametrize("is_async", [False, True])
def test_a_stream_that_falls_silent_is_left_when_its_time_is_over(is_async: bool) -> None:
    read: list[Any] = []
    over = threading.Event()

    def flow() -> Flow[None]:
        yield Open(Call("GET", url), 3600, ends_s=0.2)
        read.append((yield Read()))
        read.append((yield Read()))

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n:\r\n")
            over.wait()

    def follow() -> None:
        if is_async:
            asyncio.run(AsyncClient(url)._driver.run(flow()))
        else:
            Client(url)._driver.run(flow())

    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        for target in (serve, follow):
            threading.Thread(target=target, daemon=True).start()
        try:
            until(lambda: len(read) == 2)
        finally:
            over.set()
    assert read[0] == b":" and isinstance(read[1], Lost)


def test_a_deadline_cancels_if_asked_to() -> None:
    polled = [answer(200, RUNNING, retry_after="9")] * 2
    played = run(QUEUED, *polled, CANCELLED, deadline=10, cancel=True)
    assert played.sent[-1] == "PUT /v1/queue/requests/r/cancel"
    assert isinstance(played.raised, NowServingError) and played.raised.request_id == "r"


def test_a_run_that_is_left_before_its_id_is_known_is_found_by_its_idempotency_key() -> None:
    played = run(KeyboardInterrupt(), QUEUED, CANCELLED, cancel=True)
    assert isinstance(played.raised, KeyboardInterrupt)
    submission = "POST /v1/queue/m"
    assert played.sent == [submission, submission, "PUT /v1/queue/requests/r/cancel"]
    keys = {played.header(index, "idempotency-key") for index in (0, 1)}
    assert len(keys) == 1 and None not in keys
    assert played.header(1, "prefer") is None


def test_nothing_is_cancelled_unasked_or_after_an_error_of_the_service() -> None:
    assert len(run(QUEUED, KeyboardInterrupt()).sent) == 2
    assert len(run(QUEUED, problem(404, "unknown_request"), cancel=True).sent) == 2


def test_a_stream_that_breaks_goes_on_from_its_last_event() -> None:
    first, half = event(1, RUNNING), event(2, DONE)[:-9]
    played = subscribe(QUEUED, STREAM, first + half, Lost("x"), STREAM, event(2, DONE))
    assert played.emitted == [RUNNING, DONE]
    assert played.header(2, "last-event-id") == "1"
    assert played.header(1, "last-event-id") is None


def test_a_stream_may_break_as_often_as_it_goes_on() -> None:
    pieces: list[Any] = []
    for id in range(20):
        pieces += [STREAM, event(id, RUNNING), None]
    assert len(subscribe(QUEUED, *pieces, STREAM, event(20, DONE)).emitted) == 21


def test_a_stream_may_break_as_often_as_it_opens_without_news() -> None:
    quiet = [STREAM, b": nothing new\n\n", None]
    played = subscribe(QUEUED, STREAM, event(1, RUNNING), None, *quiet * 20, STREAM, event(2, DONE))
    assert played.emitted == [RUNNING, DONE]
    assert played.header(21, "last-event-id") == "1"


def test_a_stream_that_brings_nothing_is_given_up() -> None:
    played = subscribe(QUEUED, *[STREAM, None] * 9)
    assert isinstance(played.raised, NowServingError) and played.raised.code == "connection_failed"


def test_a_loop_that_is_left_cancels_if_asked_to() -> None:
    played = subscribe(QUEUED, STREAM, Left(), CANCELLED, cancel=True)
    assert played.sent[-1] == "PUT /v1/queue/requests/r/cancel"
    assert isinstance(played.raised, Left)


def test_a_loop_that_is_left_at_its_end_cancels_nothing() -> None:
    sent: list[str] = []

    def serve(request: httpx.Request) -> httpx.Response:
        sent.append(request.method)
        if request.method == "POST":
            return httpx.Response(202, json={"request_id": "r"})
        return httpx.Response(200, content=event(1, DONE))

    with httpx.Client(transport=httpx.MockTransport(serve)) as http:
        for _ in Client("http://queue", http=http).subscribe("m", {}, cancel_on_exit=True):
            break
    assert sent == ["POST", "GET"]


def test_events_may_be_cut_anywhere() -> None:
    text = b': a comment\r\n\r\nid: 1\r\ndata: {"status":\r\ndata: "COMPLETED", "a": "\xc3\xbc"}\r\n\r\n'
    chunks = [text[index : index + 1] for index in range(len(text))]
    assert subscribe(QUEUED, STREAM, *chunks).emitted == [{"status": "COMPLETED", "a": "ü"}]


def test_an_answer_that_is_no_stream_is_an_error() -> None:
    played = subscribe(QUEUED, problem(404, "unknown_request"))
    assert isinstance(played.raised, NowServingError) and played.raised.code == "unknown_request"
    assert subscribe(QUEUED, Answer(204, {}, b"")).emitted == []


def output(*outcomes: Any) -> tuple[Played, list[int]]:
    resets: list[int] = []
    return Played(Api(settings()).output("r", resets.append, None), outcomes), resets


def part(name: str, id: str, data: Any) -> bytes:
    return f"event: {name}\nid: {id}\ndata: {json.dumps(data)}\n\n".encode()


def test_an_output_grows_over_broken_connections_and_begins_anew_with_another_attempt() -> None:
    played, resets = output(
        STREAM,
        part("output", "1.1", {"index": 0, "delta": "wrong"}),
        Lost("ReadError"),
        STREAM,
        part("reset", "2.0", {"attempt": 2}) + part("output", "2.1", {"index": 0, "delta": "right"}),
        part("done", "2.done", {"success": True}),
    )
    assert (played.emitted, resets) == (["wrong", "right"], [2])
    assert played.sent == ["GET /v1/queue/requests/r/output/stream"] * 2
    assert [played.header(n, "last-event-id") for n in range(2)] == [None, "1.1"]


def test_an_output_that_fails_raises_why() -> None:
    done = part("done", "1.done", {"success": False})
    played, _ = output(STREAM, done, problem(502, "model_error"))
    assert isinstance(played.raised, NowServingError)
    assert played.raised.code == "model_error"


def test_a_stream_goes_on_after_an_outage_of_any_length() -> None:
    away = [answer(502), Lost("ConnectError"), problem(503, "unavailable")] * 400
    status = subscribe(QUEUED, STREAM, event(1, RUNNING), None, *away, STREAM, event(2, DONE))
    assert status.emitted == [RUNNING, DONE]
    assert status.header(-1, "last-event-id") == "1"
    assert max(status.slept) <= 8
    # A comment proves that streams get through.
    done = part("output", "1.1", {"index": 0, "delta": "a"}) + part("done", "1.done", {"success": True})
    played, _ = output(STREAM, b": the model has not said anything yet\n\n", None, *away, STREAM, done)
    assert played.emitted == ["a"]


def test_an_outage_ends_with_the_deadline() -> None:
    clock = Clock()
    flow = Api(settings(clock=clock)).follow("r", False, 60)
    played = Played(flow, [STREAM, event(1, RUNNING), None, *[Lost("x")] * 14], clock)
    assert isinstance(played.raised, NowServingError)
    assert (played.raised.code, played.raised.request_id) == ("deadline_exceeded", "r")


def test_a_page_in_place_of_a_stream_is_an_error_in_the_end() -> None:
    html = answer(200, content_type="text/html")
    played = Played(Api(settings(retries=2)).follow("r", False, None), [html] * 3)
    assert isinstance(played.raised, NowServingError)
    assert (played.raised.code, played.raised.status) == ("invalid_response", 200)


def test_after_news_a_page_in_place_of_a_stream_is_an_outage() -> None:
    html = answer(200, content_type="text/html; charset=utf-8")
    stream = answer(200, content_type="text/event-stream; charset=utf-8")
    outcomes = [stream, event(1, RUNNING), None, *[html] * 20, stream, event(2, DONE)]
    played = Played(Api(settings(retries=2)).follow("r", False, None), outcomes)
    assert played.emitted == [RUNNING, DONE]


def test_an_event_that_is_no_json_is_none_of_the_service() -> None:
    for flow in (Api(settings()).follow("r", False, None), Api(settings()).output("r", None, None)):
        played = Played(flow, [STREAM, b'data: {"status"\n\n'])
        assert isinstance(played.raised, NowServingError)
        assert played.raised.code == "invalid_response"

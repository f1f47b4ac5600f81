"""Batches: how their input is sent, and how their files are read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from nowserving import AsyncClient, Client, NowServingError
from nowserving._api import Api
from nowserving._steps import Lost, Open, Send
from support import Played, answer, problem, settings

api = Api(settings())
BATCH: Any = {"batch_id": "b", "status": "in_progress", "ended_at": None, "counts": {"total": None}}
OPEN = answer(200)


def line(id: str, **more: Any) -> bytes:
    return json.dumps({"custom_id": id, **more}).encode() + b"\n"


def read(*outcomes: Any, **given: Any) -> Played:
    return Played(Api(settings(**given)).batch_lines("b", "output"), outcomes)


def test_a_batch_is_made_of_an_uploaded_file_in_one_call_whatever_gets_lost() -> None:
    options = {"model": "a/b", "tag": "job:1", "priority": "normal", "completion_window_s": 3600}
    flow = api.create_batch("http://queue/v1/files/1/a", "key", options)
    played = Played(flow, [Lost("x"), answer(202, BATCH)])
    assert played.returned == BATCH
    first, second = played.calls
    assert first == second
    assert played.sent == ["POST /v1/batches"] * 2 and played.header(0, "idempotency-key") == '"key"'
    assert isinstance(first, Send) and json.loads(first.call.body or b"") == {  # type: ignore[arg-type]
        "input_file": "http://queue/v1/files/1/a",
        "model_id": "a/b",
        "tag": "job:1",
        "priority": "normal",
        "completion_window": "3600000ms",
    }


def test_an_option_or_a_member_that_is_not_known_is_refused() -> None:
    with pytest.raises(TypeError, match="There is no option 'tags'"):
        api.create_batch("u", None, {"tags": ["a:b"]})
    with pytest.raises(TypeError, match="There is no member of a line 'model_id'"):
        next(api.batch_line({"custom_id": "1", "model_id": "m", "input": {}}))


class Stored:
    """A service that stores files and answers with a batch."""

    def __init__(self) -> None:
        self.puts: list[bytes] = []
        self.bodies: list[Any] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        body = request.read()
        if request.url.path == "/v1/storage/upload/initiate":
            urls = {"file_url": "http://queue/f", "upload_url": "http://queue/up"}
            return httpx.Response(200, json=urls)
        if request.method == "PUT":
            self.puts.append(body)
            # The first answer gets lost.
            return httpx.Response(502) if len(self.puts) == 1 else httpx.Response(200, json={})
        self.bodies.append(json.loads(body))
        return httpx.Response(202, json=BATCH)


LINES: Any = [{"custom_id": str(n), "input": {"n": n}} for n in range(3)]
SENT = b"".join(
    json.dumps({"custom_id": str(n), "input": {"n": n}}).encode() + b"\n" for n in range(3)
)


def test_lines_of_a_generator_are_sent_whole_again(tmp_path: Path) -> None:
    def generated() -> Iterator[Any]:
        yield from LINES

    path = tmp_path / "lines.jsonl"
    path.write_bytes(SENT)
    for lines in (LINES, generated(), path, SENT):
        stored = Stored()
        with httpx.Client(transport=httpx.MockTransport(stored)) as http:
            assert Client("http://queue", http=http).batches.create(lines, model="a/b") == BATCH
        assert stored.puts == [SENT, SENT]
        assert stored.bodies == [{"input_file": "http://queue/f", "model_id": "a/b"}]


def test_lines_of_an_asynchronous_generator_are_sent() -> None:
    async def generated() -> AsyncIterator[Any]:
        for one in LINES:
            yield one

    class Asynchronous(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            await request.aread()
            return stored(request)

    async def run() -> None:
        async with httpx.AsyncClient(transport=Asynchronous()) as http:
            assert await AsyncClient("http://queue", http=http).batches.create(generated()) == BATCH

    stored = Stored()
    asyncio.run(run())
    assert stored.puts == [SENT, SENT]


def test_a_wait_tells_of_counts_and_outlasts_an_outage() -> None:
    counts = [{"total": None}, {"total": 2, "completed": 0}, {"total": 2, "completed": 2}]
    ended = {**BATCH, "status": "completed", "ended_at": "now", "counts": counts[2]}
    seen: list[Any] = []
    outcomes = [
        answer(200, BATCH),
        answer(200, {**BATCH, "counts": counts[1]}),
        answer(200, {**BATCH, "counts": counts[1]}),
        *[Lost("x"), answer(502)] * 50,
        answer(200, ended),
    ]
    played = Played(api.wait_for_batch("b", seen.append, None), outcomes)
    assert played.returned == ended
    assert seen == counts


def test_a_wait_for_a_batch_that_is_not_there_is_an_error() -> None:
    played = Played(api.wait_for_batch("b", None, None), [problem(404, "unknown_batch")])
    assert isinstance(played.raised, NowServingError) and played.raised.status == 404


def test_lines_are_read_once_each_over_broken_connections() -> None:
    one, two, three = (line(id, output=id) for id in ("1", "2", "3"))
    # Lines that were not in a segment yet may be at another place when the file is read again.
    played = read(OPEN, one + two[:9], Lost("x"), OPEN, two + one, b"", three, None)
    assert [one["custom_id"] for one in played.emitted] == ["1", "2", "3"]
    assert played.sent == ["GET /v1/batches/b/output"] * 2
    assert all(step.shows_end for step in played.steps if isinstance(step, Open))


def test_lines_without_an_id_are_emitted_once_each() -> None:
    unread = line("", error={"code": "input_file_not_found"})
    played = read(OPEN, line("1") + unread * 2, Lost("x"), OPEN, unread * 3, line("1"), None)
    assert [one["custom_id"] for one in played.emitted] == ["1", "", "", ""]


def test_a_file_that_ends_within_a_line_is_read_again() -> None:
    played = read(OPEN, line("1")[:-1], None, OPEN, line("1"), None)
    assert [one["custom_id"] for one in played.emitted] == ["1"]


def test_lines_go_on_after_an_outage_of_any_length_but_not_before_the_first() -> None:
    away = [answer(502), Lost("ConnectError")] * 100
    assert len(read(OPEN, line("1"), Lost("x"), *away, OPEN, line("1") + line("2"), None).emitted) == 2
    played = read(*[Lost("x")] * 3, retries=2)
    assert isinstance(played.raised, NowServingError) and played.raised.code == "connection_failed"


def test_a_list_of_batches_goes_on_by_its_cursor() -> None:
    pages = [{"data": [1], "next_cursor": "c"}, {"data": [2], "next_cursor": None}]
    played = Played(api.batches(50, {"status": "completed", "tag": "a:b"}), [answer(200, page) for page in pages])
    assert played.emitted == [1, 2]
    assert [step.call.query for step in played.calls] == [
        (("status", "completed"), ("tag", "a:b"), ("limit", "50")),
        (("cursor", "c"), ("limit", "50")),
    ]


@pytest.mark.parametrize(
    "delete, code", [(api.delete_batch, "batch_not_found"), (api.delete_endpoint, "unknown_id")]
)
def test_a_deletion_whose_answer_was_lost_has_succeeded(delete: Any, code: str) -> None:
    assert Played(delete("x"), [Lost("x"), problem(404, code)]).raised is None
    unknown = Played(delete("x"), [problem(404, code)]).raised
    assert isinstance(unknown, NowServingError) and unknown.code == code
    elsewhere = Played(delete("x"), [Lost("x"), answer(404)]).raised
    assert isinstance(elsewhere, NowServingError) and elsewhere.code == "invalid_response"


@pytest.mark.parametrize(
    "flow, sent, body",
    [
        (api.batch("b"), "GET /v1/batches/b", None),
        (api.cancel_batch("b"), "PUT /v1/batches/b/cancel", None),
        (api.delete_batch("b"), "DELETE /v1/batches/b", None),
        (api.input("r"), "GET /v1/queue/requests/r/input", None),
        (api.endpoints(), "GET /v1/webhook-endpoints", None),
        (api.endpoint("e"), "GET /v1/webhook-endpoints/e", None),
        (api.update_endpoint("e", {"url": None, "disabled": True}), "PATCH /v1/webhook-endpoints/e", {"disabled": True}),
        (api.delete_endpoint("e"), "DELETE /v1/webhook-endpoints/e", None),
        (
            api.create_endpoint("https://example.org", ["batch.completed"]),
            "POST /v1/webhook-endpoints",
            {"url": "https://example.org", "events": ["batch.completed"]},
        ),
    ],
)
def test_each_call_is_that_of_the_contract(flow: Any, sent: str, body: Any) -> None:
    played = Played(flow, [answer(200, {"data": []})])
    assert played.sent == [sent]
    step = played.calls[0]
    assert (None if step.call.body is None else json.loads(step.call.body)) == body  # type: ignore[arg-type]
    assert step.call.headers["authorization"] == "Key k"


def test_a_page_in_place_of_the_lines_is_an_error() -> None:
    flow = Api(settings(retries=1)).batch_lines("b", "output")
    played = Played(flow, [answer(200, content_type="text/html")] * 2)
    assert isinstance(played.raised, NowServingError)
    assert played.raised.code == "invalid_response"

"""What goes over the wire."""

from __future__ import annotations

import inspect
import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from nowserving import AsyncClient, Client
from nowserving._api import Api
from nowserving._calls import idempotency
from nowserving._resources import AsyncBatches, AsyncWebhookEndpoints, Batches, WebhookEndpoints
from nowserving._steps import Send
from support import Played, answer, settings

api = Api(settings())


def sent(flow: Any, body: Any = None) -> Any:
    step = Played(flow, [answer(200, body)]).steps[0]
    assert isinstance(step, Send)
    return step.call


def test_options_become_parameters() -> None:
    noon = datetime(2030, 1, 31, 12, tzinfo=timezone.utc)
    given = {
        "webhook": "https://example.org/hook",
        "priority": "high",
        "not_before": noon,
        "delay_s": 90,
        "expires_s": timedelta(hours=1),
        "timeout_s": 0.5,
        "tags": {"team": "a", "job": "17"},
    }
    assert sent(api.submit("a/b", {}, "key", given)).query == (
        ("webhook", "https://example.org/hook"),
        ("priority", "high"),
        ("not_before", "2030-01-31T12:00:00.000+00:00"),
        ("delay", "90000ms"),
        ("expires", "3600000ms"),
        ("timeout", "500ms"),
        ("tag", "team:a"),
        ("tag", "job:17"),
    )
    assert sent(api.submit("a/b", {}, None, {"tags": ["x:1"], "delay_s": None})).query == (("tag", "x:1"),)


def test_what_cannot_be_right_is_said_before_anything_is_sent() -> None:
    with pytest.raises(TypeError, match="There is no option 'prioritt'"):
        api.submit("m", {}, None, {"prioritt": "high"})
    with pytest.raises(ValueError, match="time zone"):
        api.submit("m", {}, None, {"not_before": datetime(2030, 1, 1)})
    with pytest.raises(ValueError, match="JSON"):
        api.submit("m", {"n": float("nan")}, None, {})
    with pytest.raises(ValueError, match="http://"):
        Client("127.0.0.1:3000", "k")
    with pytest.raises(TypeError, match="either request ids or filters"):
        api.cancel_many(None, {})


def test_ids_stay_within_their_segment() -> None:
    assert sent(api.status("../x", False)).url == "http://queue/v1/queue/requests/..%2Fx/status"
    assert sent(api.submit("a/b c", {}, None, {})).url == "http://queue/v1/queue/a/b%20c"


def test_an_idempotency_key_may_have_any_character() -> None:
    call = sent(api.submit("m", {}, 'a "b" \\', {}))
    assert call.headers["idempotency-key"] == '"a \\"b\\" \\\\"'


@pytest.mark.parametrize("id", ["", ".", ".."])
def test_what_is_no_id_is_refused(id: str) -> None:
    for flow in (lambda: api.cancel(id), lambda: api.model(f"a/{id}")):
        with pytest.raises(ValueError, match="is not an id"):
            flow()


@pytest.mark.parametrize("key", ["a\nb", "é"])
def test_an_idempotency_key_that_cannot_be_sent_is_a_mistake_of_the_caller(key: str) -> None:
    with pytest.raises(ValueError, match="printable ASCII"):
        idempotency(key)


def test_each_of_many_submissions_has_an_idempotency_key() -> None:
    items: Any = [
        {"model": "m", "input": {"n": 1}, "tags": {"a": "b"}, "expires_s": 60},
        {"model": "m", "input": {}, "idempotency_key": "mine"},
    ]
    call = sent(api.submit_many(items), {"results": []})
    first, second = json.loads(call.body)["requests"]
    assert len(first.pop("idempotency_key")) == 36
    assert first == {"model_id": "m", "input": {"n": 1}, "tag": ["a:b"], "expires": "60000ms"}
    assert second == {"model_id": "m", "input": {}, "idempotency_key": "mine"}
    assert "idempotency_key" not in items[0]


def test_a_list_goes_on_by_its_cursor() -> None:
    pages = [{"data": [1], "next_cursor": "c"}, {"data": [], "next_cursor": None}]
    flow = api.list(50, {"tags": ["a:b", "c:d"], "status": "IN_QUEUE"})
    played = Played(flow, [answer(200, page) for page in pages])
    assert played.emitted == [1]
    queries = [step.call.query for step in played.steps if isinstance(step, Send)]
    assert queries == [
        (("tag", "a:b"), ("tag", "c:d"), ("status", "IN_QUEUE"), ("limit", "50")),
        (("cursor", "c"), ("limit", "50")),
    ]


@pytest.mark.parametrize(
    "flow, line, body",
    [
        (api.cancel("r"), "PUT /v1/queue/requests/r/cancel", None),
        (api.retry("r", None), "POST /v1/queue/requests/r/retry", None),
        (api.delete("r"), "DELETE /v1/queue/requests/r", None),
        (api.statuses(["r"]), "POST /v1/queue/requests/status", {"request_ids": ["r"]}),
        (
            api.cancel_many(("r",), {}),
            "POST /v1/queue/requests/cancel",
            {"request_ids": ["r"]},
        ),
        (
            api.cancel_many(None, {"tags": {"a": "b"}}),
            "POST /v1/queue/requests/cancel",
            {"filter": {"tag": ["a:b"]}},
        ),
        (api.deliveries("r"), "GET /v1/queue/requests/r/deliveries", None),
        (api.redeliver("r", "d"), "POST /v1/queue/requests/r/deliveries/d/redeliver", None),
        (api.models(), "GET /v1/models", None),
        (api.model("a/b"), "GET /v1/models/a/b", None),
        (api.key(), "GET /v1/key", None),
    ],
)
def test_each_call_is_that_of_the_contract(flow: Any, line: str, body: Any) -> None:
    played = Played(flow, [answer(200, {"data": [], "results": []})])
    assert played.sent == [line]
    step = played.steps[0]
    assert isinstance(step, Send)
    assert (None if step.call.body is None else json.loads(step.call.body)) == body
    assert step.call.headers["authorization"] == "Key k"


def test_both_clients_offer_the_same() -> None:
    def offered(client: type) -> dict[str, list[tuple[str, Any, Any]]]:
        return {
            name: [(p.name, p.kind, p.default) for p in inspect.signature(value).parameters.values()]
            for name, value in vars(client).items()
            if callable(value) and not name.startswith("__")
        }

    assert offered(Client) == offered(AsyncClient)
    for one, other in ((Batches, AsyncBatches), (WebhookEndpoints, AsyncWebhookEndpoints)):
        assert offered(one) == offered(other)
        for name in offered(one):
            assert getattr(one, name).__doc__ == getattr(other, name).__doc__
    for name in offered(Client):
        if name != "run":
            assert getattr(Client, name).__doc__ == getattr(AsyncClient, name).__doc__

"""Many requests at once, against the real service."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from nowserving import AsyncClient, Client, NowServingError
from support import HELD, SQUARE, Service, until


@pytest.fixture
def tag() -> dict[str, str]:
    return {"test": uuid4().hex}


def test_many_are_submitted_and_waited_for(client: Client, tag: dict[str, str]) -> None:
    items: Any = [{"model": SQUARE, "input": {"name": "many", "n": n}, "tags": tag} for n in range(5)]
    items[3]["input"]["n"] = "many"
    results = client.submit_many(items)
    assert [result["status"] for result in results] == [202, 202, 202, 422, 202]
    assert results[3]["code"] == "invalid_input" and results[3]["errors"][0]["path"] == "/n"
    ids = [result["request_id"] for result in results if result["status"] == 202]
    assert [client.result(id).output["square"] for id in ids] == [0, 1, 4, 16]

    unknown = ids[0][:-1] + ("0" if ids[0][-1] != "0" else "1")
    statuses = client.statuses([unknown, *ids])
    assert statuses[0] is None
    assert [status and status["request_id"] for status in statuses[1:]] == ids


def test_a_list_has_all_of_a_tag_newest_first(client: Client, tag: dict[str, str]) -> None:
    ids = [client.run(SQUARE, {"name": "list", "n": n}, tags=tag).request_id for n in range(7)]
    found = client.list(tags=tag, outcome="succeeded", limit=3)
    assert [status["request_id"] for status in found] == ids[::-1]
    page = client.page(model=SQUARE, tags=tag, limit=3)
    assert [status["request_id"] for status in page["data"]] == ids[:-4:-1]
    assert client.page(limit=3, cursor=page["next_cursor"])["data"][0]["request_id"] == ids[3]


def test_a_list_with_asyncio(service: Service, tag: dict[str, str]) -> None:
    async def list_all() -> list[str]:
        async with AsyncClient(service.url, service.key) as client:
            await client.run(SQUARE, {"name": "list", "n": 1}, tags=tag)
            return [one["status"] async for one in client.list(tags=tag)]

    assert asyncio.run(list_all()) == ["COMPLETED"]


def test_many_are_cancelled_by_a_filter_or_by_their_ids(client: Client, tag: dict[str, str]) -> None:
    later = [client.submit(HELD, {}, tags=tag, delay_s=3600)["request_id"] for _ in range(3)]
    done = client.run(SQUARE, {"name": "done", "n": 1}, tags=tag).request_id
    by_ids = client.cancel_many([later[0], done, "unknown"])
    assert (by_ids["cancelled"], by_ids["already_completed"], by_ids["unknown"]) == (1, 1, 1)
    by_filter = client.cancel_many(tags=tag)
    assert (by_filter["cancelled"], by_filter["more"]) == (2, False)
    cancelled = client.list(tags=tag, outcome="cancelled")
    assert sorted(status["request_id"] for status in cancelled) == sorted(later)


def test_a_request_is_retried_and_erased(client: Client) -> None:
    first = client.run(SQUARE, {"name": "again", "n": 7}).request_id
    key = uuid4().hex
    again = client.retry(first, idempotency_key=key)["request_id"]
    assert client.retry(first, idempotency_key=key)["request_id"] == again
    assert client.result(again).output == {"square": 49}
    assert client.status(first).get("retried_as") == again
    assert client.status(again).get("retry_of") == first

    client.delete(first)
    client.delete(first)
    with pytest.raises(NowServingError, match="gone"):
        client.response(first)


def test_what_has_not_completed_is_neither_retried_nor_erased(client: Client) -> None:
    waiting = client.submit(HELD, {}, delay_s=3600)["request_id"]
    for call in (client.retry, client.delete):
        with pytest.raises(NowServingError, match="not_completed"):
            call(waiting)
    client.cancel(waiting)
    until(lambda: client.status(waiting)["status"] == "COMPLETED")

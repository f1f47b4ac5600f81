"""Only a whole answer counts: a call whose answer broke off is repeated."""

from __future__ import annotations

import asyncio

import pytest

from nowserving import AsyncClient, Client, NowServingError
from scripted import Scripted, answer, chunked, unframed

BROKEN = {
    "shorter than its length": answer(b'{"square": 9', length=40),
    "shorter than its length, and JSON all the same": answer(b"123", length=6),
    "cut between chunks": chunked(b"123", is_whole=False),
    "a number without a length": unframed(b"123"),
    "nothing": answer(b""),
    "nothing, and no length": unframed(b""),
    "half of an object without a length": unframed(b'{"square": 9'),
}


@pytest.fixture(params=["blocking", "asyncio"])
def response(request: pytest.FixtureRequest) -> object:
    async def asynchronously(url: str, retries: int) -> object:
        async with AsyncClient(url, retries=retries) as client:
            return await client.response("1")

    def blocking(url: str, retries: int) -> object:
        with Client(url, retries=retries) as client:
            return client.response("1")

    return blocking if request.param == "blocking" else lambda *args: asyncio.run(asynchronously(*args))


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_an_answer_that_is_not_whole_is_asked_for_again(response: object, broken: bytes) -> None:
    with Scripted(broken, answer(b"123456")) as server:
        assert response(server.url, 1) == 123456  # type: ignore[operator]
        assert len(server.heads) == 2


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_one_that_never_is_ends_in_an_error(response: object, broken: bytes) -> None:
    with Scripted(broken) as server, pytest.raises(NowServingError) as raised:
        response(server.url, 0)  # type: ignore[operator]
    assert raised.value.code in ("connection_failed", "invalid_response")


def test_an_object_without_a_length_is_whole_when_it_is_json(response: object) -> None:
    with Scripted(unframed(b'{"square": 9}')) as server:
        assert response(server.url, 0) == {"square": 9}  # type: ignore[operator]

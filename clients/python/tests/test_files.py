"""Uploads, against the real service."""

from __future__ import annotations

import asyncio
import io
import os
from pathlib import Path
from typing import Any
from collections.abc import Callable

import httpx
import pytest

from nowserving import AsyncClient, Client, NowServingError
from nowserving._files import upload
from nowserving._steps import Lost, Send
from support import Changing, Played, Service, answer, settings

ECHO = "demo/text/echo"


@pytest.fixture
def cat(tmp_path: Path) -> Path:
    path = tmp_path / "a cat.png"
    path.write_bytes(b"meow")
    return path


def read(url: str) -> tuple[str, bytes]:
    response = httpx.get(url)
    response.raise_for_status()
    return response.headers["content-type"], response.content


def expect_uploaded(output: Any) -> None:
    assert read(output["path"]) == ("image/png", b"meow")
    assert output["path"].endswith("/a%20cat.png")
    assert output["path"] == output["again"][0]
    assert read(output["bytes"]) == ("application/octet-stream", b"raw")
    assert read(output["open"]) == ("image/png", b"ow")
    assert output["text"] == "a cat.png"


def input_of(cat: Path, opened: Any) -> dict[str, Any]:
    opened.seek(2)
    return {"path": cat, "again": (cat,), "bytes": b"raw", "open": opened, "text": "a cat.png"}


def test_what_of_an_input_is_a_file_is_uploaded(client: Client, cat: Path) -> None:
    with cat.open("rb") as opened:
        expect_uploaded(client.run(ECHO, input_of(cat, opened)).output)
        assert not opened.closed
        *_, last = client.subscribe(ECHO, input_of(cat, opened))
        expect_uploaded(client.response(last["request_id"]))


def test_the_same_with_asyncio(service: Service, cat: Path) -> None:
    async def run() -> None:
        async with AsyncClient(service.url, service.key) as client:
            with cat.open("rb") as opened:
                expect_uploaded((await client.run(ECHO, input_of(cat, opened))).output)
            url = await client.upload(str(cat), name="b.webp")
            assert read(url) == ("image/webp", b"meow")

    asyncio.run(run())


def test_an_upload_alone_takes_paths_bytes_and_streams_of_any_length(client: Client, cat: Path) -> None:
    assert read(client.upload(str(cat), content_type="image/x-cat")) == ("image/x-cat", b"meow")
    large = os.urandom(3_000_000)
    assert read(client.upload(large))[1] == large
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(b"from a pipe")
    with os.fdopen(reading, "rb") as pipe:
        assert read(client.upload(pipe, name="pipe.txt")) == ("text/plain", b"from a pipe")


def test_what_is_in_many_items_is_uploaded(client: Client, cat: Path) -> None:
    items: Any = [{"model": ECHO, "input": {"image": cat}}, {"model": ECHO, "input": {"n": 1}}]
    results = client.submit_many(items)
    assert [result["status"] for result in results] == [202, 202]
    assert read(client.result(results[0]["request_id"]).output["image"])[1] == b"meow"


def test_a_path_that_is_not_there_is_said_before_anything_is_sent(client: Client, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        client.submit(ECHO, {"image": tmp_path / "none.png"})


URLS = answer(200, {"file_url": "http://queue/v1/files/1/a", "upload_url": "http://queue/up"})


def test_an_upload_whose_answer_was_lost_is_sent_again_and_is_one() -> None:
    taken = answer(409, {"code": "conflict", "detail": "It was uploaded already."})
    played = Played(upload(settings(), io.BytesIO(b"x"), None, None), [URLS, Lost("cut"), taken])
    assert played.returned == "http://queue/v1/files/1/a"
    puts = [step for step in played.steps if isinstance(step, Send)][1:]
    assert [put.call.method for put in puts] == ["PUT", "PUT"]
    assert all("authorization" not in put.call.headers for put in puts)


def test_what_can_be_read_once_is_sent_once() -> None:
    class Once:
        read: Callable[[int], bytes] = io.BytesIO(b"x").read

    once: Any = Once()
    raised = Played(upload(settings(), once, None, None), [URLS, Lost("cut")]).raised
    assert isinstance(raised, NowServingError) and raised.code == "connection_failed"


@pytest.mark.parametrize("changes_to", [599_999, 600_001])
def test_a_file_that_changes_while_it_is_uploaded_is_not_stored(service: Service, client: Client, changes_to: int) -> None:
    async def run() -> None:
        async with AsyncClient(service.url, service.key) as asynchronous:
            await asynchronous.upload(Changing(changes_to))

    for upload_it in (lambda: client.upload(Changing(changes_to)), lambda: asyncio.run(run())):
        with pytest.raises(NowServingError, match="changed while it was uploaded: it had 600000 bytes") as raised:
            upload_it()
        assert raised.value.code == "unreadable_file"


def test_a_file_that_was_kept_otherwise_than_it_was_sent_is_an_error() -> None:
    stored = answer(200, {"size": 1, "sha256": "0" * 64})
    raised = Played(upload(settings(), io.BytesIO(b"x"), None, None), [URLS, stored]).raised
    assert isinstance(raised, NowServingError) and "as it was sent" in raised.detail

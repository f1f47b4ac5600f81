"""Proxies that the environment names: none of our calls goes through one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from nowserving import AsyncClient, Client
from scripted import Scripted, answer
from support import until
from worker_protocol import RUN, Protocol


@pytest.fixture
def proxy() -> Iterator[Scripted]:
    """Records what it is sent, and answers as the service might."""
    with Scripted(answer(b'{"status": "FROM_THE_PROXY"}')) as proxy:
        yield proxy


def variables(proxy: Scripted) -> dict[str, str]:
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    return {written: proxy.url for name in names for written in (name, name.lower())} | {"NO_PROXY": "", "no_proxy": ""}


@pytest.fixture
def environment(proxy: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in variables(proxy).items():
        monkeypatch.setenv(name, value)
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))


def test_a_client_calls_the_service_itself_with_its_own_key(environment: None, proxy: Scripted) -> None:
    with Scripted(answer(b'{"status": "IN_QUEUE"}')) as service:
        with Client(service.url, "ns_k") as client:
            assert client.status("r")["status"] == "IN_QUEUE"

        async def ask() -> Any:
            async with AsyncClient(service.url, "ns_k") as client:
                return await client.status("r")

        assert asyncio.run(ask())["status"] == "IN_QUEUE"
        assert ["authorization: key ns_k" in head for head in service.heads] == [True, True]
    assert proxy.heads == []


def test_an_upload_goes_to_its_url_itself(environment: None, proxy: Scripted) -> None:
    urls: dict[str, str] = {}
    with Scripted(lambda head: answer(json.dumps(urls if head.startswith("post") else {}).encode())) as service:
        urls |= {"file_url": f"{service.url}/v1/files/a", "upload_url": f"{service.url}/upload"}
        with Client(service.url, "ns_k") as client:
            assert client.upload(b"123") == urls["file_url"]
        assert "authorization" not in service.heads[1]
    assert proxy.heads == []


def test_a_client_of_httpx_follows_its_own_rule(environment: None, proxy: Scripted) -> None:
    with Client("http://127.0.0.1:1", http=lambda: httpx.Client()) as client:
        assert client.status("r")["status"] == "FROM_THE_PROXY"


def test_claims_downloads_and_uploads_of_a_worker_go_one_way(protocol: Protocol, start: Any, proxy: Scripted) -> None:
    protocol.run = RUN
    protocol.echo_names = True
    start(
        """
def handle(input, run):
    run.log("begun")
    return [run.download("/v1/files/1/a.bin").decode(), run.upload("b.bin", b"123")]

serve({"me/x": handle}, ready="URL/ready")
""".replace("URL", protocol.url),
        **variables(proxy),
    )
    [output] = until(lambda: protocol.of("output"))
    assert json.loads(output) == ["{}", "/v1/files/b.bin"]
    assert {"ready", "claims", "beats", "events", "a.bin", "files", "here", "output"} <= {name for name, _, _ in protocol.calls}
    assert proxy.heads == []


def test_nor_does_a_download_under_try(protocol: Protocol, start: Any, proxy: Scripted) -> None:
    body = 'serve({"me/x": lambda input, run: run.download(input["url"]).decode()})'
    tried = json.dumps({"url": f"{protocol.url}/a.bin"})
    printed, said = start(body, "--try", tried, **variables(proxy)).communicate(timeout=20)
    assert json.loads(printed) == {"type": "output", "output": "{}"}, said
    assert proxy.heads == []

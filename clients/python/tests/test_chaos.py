"""Through a proxy that drops, delays and cuts connections: every result is right, none is computed twice."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from collections.abc import Iterable

import pytest

from chaos_proxy import ChaosProxy
from nowserving import AsyncClient, Client
from support import SQUARE, Service

RUNS = 500
STREAMS = 40
# The proxy swallows some calls whole, which only a timeout detects.
PATIENCE: Any = {"retries": 20, "timeout_s": 1, "hold_s": 1}


@pytest.fixture
def proxy(service: Service) -> Iterable[ChaosProxy]:
    with ChaosProxy(service.url, seed=19) as proxy:
        yield proxy
    assert sum(proxy.faults.values()) > 100, f"Hardly anything went wrong: {proxy.faults}"


PARTS = [{"part": number} for number in range(12)]


def expect_each_once(service: Service, name: str, squares: list[int]) -> None:
    assert squares == [n * n for n in range(len(squares))]
    assert service.runs_of(name) == len(squares)


def test_500_blocking_runs(service: Service, proxy: ChaosProxy) -> None:
    with Client(proxy.url, service.key, **PATIENCE) as client, ThreadPoolExecutor(32) as pool:

        def run(n: int) -> int:
            square: int = client.run(SQUARE, {"name": "sync", "n": n}).output["square"]
            return square

        expect_each_once(service, "sync", [*pool.map(run, range(RUNS))])


def test_500_runs_with_asyncio(service: Service, proxy: ChaosProxy) -> None:
    async def run_all() -> list[int]:
        async with AsyncClient(proxy.url, service.key, **PATIENCE) as client:
            at_once = asyncio.Semaphore(32)

            async def run(n: int) -> int:
                async with at_once:
                    result = await client.run(SQUARE, {"name": "async", "n": n})
                    square: int = result.output["square"]
                    return square

            return await asyncio.gather(*map(run, range(RUNS)))

    expect_each_once(service, "async", asyncio.run(run_all()))


def test_streams_go_on_where_they_broke_off(
    service: Service, proxy: ChaosProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nowserving._waiting.STREAM_SILENCE_S", 1)
    lines = [f"line {number}" for number in range(10)]

    def follow(n: int) -> list[str]:
        with Client(proxy.url, service.key, **PATIENCE) as client:
            seen = [*client.subscribe(SQUARE, {"name": "stream", "n": n, "logs": lines}, logs=True)]
        assert seen[-1]["status"] == "COMPLETED" and seen[-1]["success"]
        entries = [entry for status in seen for entry in status.get("logs", ())]
        return [entry["message"] for entry in entries if entry["source"] == "runner"]

    async def follow_async(n: int) -> list[str]:
        async with AsyncClient(proxy.url, service.key, **PATIENCE) as client:
            seen = []
            input = {"name": "stream", "n": n, "logs": lines}
            async for status in client.subscribe(SQUARE, input, logs=True):
                seen += [e["message"] for e in status.get("logs", ()) if e["source"] == "runner"]
            return seen

    async def follow_all() -> list[list[str]]:
        return await asyncio.gather(*map(follow_async, range(STREAMS)))

    with ThreadPoolExecutor(20) as pool:
        blocking = [*pool.map(follow, range(STREAMS))]
    assert blocking + asyncio.run(follow_all()) == [lines] * STREAMS * 2
    assert service.runs_of("stream") == STREAMS * 2


def test_outputs_grow_without_gap_or_repetition(
    service: Service, proxy: ChaosProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nowserving._waiting.STREAM_SILENCE_S", 1)

    def read(n: int) -> list[Any]:
        with Client(proxy.url, service.key, **PATIENCE) as client:
            request = client.submit(SQUARE, {"name": "output", "n": n, "deltas": PARTS})
            return [*client.output(request["request_id"])]

    async def read_async(n: int) -> list[Any]:
        async with AsyncClient(proxy.url, service.key, **PATIENCE) as client:
            request = await client.submit(SQUARE, {"name": "output", "n": n, "deltas": PARTS})
            return [part async for part in client.output(request["request_id"])]

    async def read_all() -> list[list[Any]]:
        return await asyncio.gather(*map(read_async, range(STREAMS)))

    with ThreadPoolExecutor(20) as pool:
        blocking = [*pool.map(read, range(STREAMS))]
    assert blocking + asyncio.run(read_all()) == [PARTS] * STREAMS * 2
    assert service.runs_of("output") == STREAMS * 2

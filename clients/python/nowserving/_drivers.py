"""Carries out the steps of a flow with httpx: once blocking, once with asyncio."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any, Generic, TypeVar
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping

import httpx

from ._settings import Settings
from ._steps import Answer, Close, Content, Emit, Flow, Left, Lost, Open, Read, Send, Sleep, Step

T = TypeVar("T")
Http = TypeVar("Http", httpx.Client, httpx.AsyncClient)

# Some errors of the transports come through httpx as they are.
LOST = (httpx.RequestError, OSError)
# Each subscription holds a connection: none may keep the other calls waiting for a free one.
CHUNK_BYTES = 256 * 1024
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=20)


class Driver:
    def __init__(self, settings: Settings, http: httpx.Client | None) -> None:
        self._settings = settings
        self._is_own = http is None
        self._http = http or httpx.Client(limits=LIMITS)

    def close(self) -> None:
        if self._is_own:
            self._http.close()

    def run(self, flow: Flow[T]) -> T:
        returned: list[T] = []
        for _ in self.iterate(_keep(flow, returned)):
            pass
        return returned[0]

    def iterate(self, flow: Flow[None]) -> Generator[Any, None, None]:
        connection = _Connection(self._http, self._settings)
        try:
            step = next(flow)
            while True:
                try:
                    if isinstance(step, Emit):
                        yield step.value
                        outcome = None
                    else:
                        outcome = connection.perform(step)
                except GeneratorExit:
                    step = flow.throw(Left())
                except BaseException as error:
                    # The flow may have something to do before it passes this on.
                    step = flow.throw(error)
                else:
                    step = flow.send(outcome)
        except (StopIteration, Left):
            return
        finally:
            connection.close()


class AsyncDriver:
    def __init__(self, settings: Settings, http: httpx.AsyncClient | None) -> None:
        self._settings = settings
        self._is_own = http is None
        self._http = http or httpx.AsyncClient(limits=LIMITS)

    async def close(self) -> None:
        if self._is_own:
            await self._http.aclose()

    async def run(self, flow: Flow[T]) -> T:
        returned: list[T] = []
        async for _ in self.iterate(_keep(flow, returned)):
            pass
        return returned[0]

    async def iterate(self, flow: Flow[None]) -> AsyncGenerator[Any, None]:
        connection = _AsyncConnection(self._http, self._settings)
        try:
            step = next(flow)
            while True:
                try:
                    if isinstance(step, Emit):
                        yield step.value
                        outcome = None
                    else:
                        outcome = await connection.perform(step)
                except GeneratorExit:
                    step = flow.throw(Left())
                except BaseException as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(outcome)
        except (StopIteration, Left):
            return
        finally:
            await connection.close()


class _Base(Generic[Http]):
    def __init__(self, http: Http, settings: Settings) -> None:
        self._http = http
        self._settings = settings
        self._stream: httpx.Response | None = None

    def _content(self, body: bytes | Content | None) -> Any:
        raise NotImplementedError

    def _request(self, step: Send | Open) -> httpx.Request:
        call = step.call
        connect_s = min(step.timeout_s, self._settings.timeout_s)
        return self._http.build_request(
            call.method,
            call.url,
            params=call.query or None,
            headers=call.headers,
            content=self._content(call.body),
            timeout=httpx.Timeout(step.timeout_s, connect=connect_s, pool=None),
        )


class _Connection(_Base[httpx.Client]):
    _chunks: Iterator[bytes] = iter(())

    def _content(self, body: bytes | Content | None) -> Any:
        return _read(body) if isinstance(body, Content) else body

    def perform(self, step: Step) -> Answer | Lost | bytes | None:
        try:
            if isinstance(step, Send):
                return _answer(self._http.send(self._request(step)))
            if isinstance(step, Open):
                return self._open(step)
            if isinstance(step, Read):
                return next(self._chunks, None)
        except LOST as error:
            return _lost(error)
        if isinstance(step, Sleep):
            time.sleep(step.seconds)
        elif isinstance(step, Close):
            self.close()
        return None

    def close(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            with suppress(*LOST):
                stream.close()

    def _open(self, step: Open) -> Answer:
        response = self._http.send(self._request(step), stream=True)
        self._stream = response
        if response.status_code == 200:
            self._chunks = response.iter_bytes()
            return Answer(200, _fields(response), b"")
        response.read()
        return _answer(response)


class _AsyncConnection(_Base[httpx.AsyncClient]):
    _chunks: AsyncIterator[bytes] | None = None

    def _content(self, body: bytes | Content | None) -> Any:
        return _read_async(body) if isinstance(body, Content) else body

    async def perform(self, step: Step) -> Answer | Lost | bytes | None:
        try:
            if isinstance(step, Send):
                return _answer(await self._http.send(self._request(step)))
            if isinstance(step, Open):
                return await self._open(step)
            if isinstance(step, Read):
                assert self._chunks is not None
                return await self._chunks.__anext__()
        except StopAsyncIteration:
            return None
        except LOST as error:
            return _lost(error)
        if isinstance(step, Sleep):
            await asyncio.sleep(step.seconds)
        elif isinstance(step, Close):
            await self.close()
        return None

    async def close(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            with suppress(*LOST):
                await stream.aclose()

    async def _open(self, step: Open) -> Answer:
        response = await self._http.send(self._request(step), stream=True)
        self._stream = response
        if response.status_code == 200:
            self._chunks = response.aiter_bytes()
            return Answer(200, _fields(response), b"")
        await response.aread()
        return _answer(response)


def _read(content: Content) -> Iterator[bytes]:
    file = content.open()
    try:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
    finally:
        if content.is_own:
            file.close()


async def _read_async(content: Content) -> AsyncIterator[bytes]:
    file = await asyncio.to_thread(content.open)
    try:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield chunk
    finally:
        if content.is_own:
            file.close()


def _keep(flow: Flow[T], returned: list[T]) -> Flow[None]:
    returned.append((yield from flow))


def _fields(response: httpx.Response) -> Mapping[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


def _answer(response: httpx.Response) -> Answer:
    return Answer(response.status_code, _fields(response), response.content)


def _lost(error: Exception) -> Lost:
    return Lost(f"{type(error).__name__}: {error}")

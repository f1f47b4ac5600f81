"""Carries out the steps of a flow with httpx: once blocking, once with asyncio."""

from __future__ import annotations

import asyncio
import hashlib
import math
import socket
import threading
import time
from contextlib import suppress
from typing import Any, TypeVar
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping

import httpx

from ._pools import AsyncPools, Given, Place, Pools, leave, this_loop, this_process
from ._settings import Settings
from ._steps import Answer, Close, Content, Emit, Flow, Left, Lost, Open, Read, Send, Sleep, Step
from .errors import NowServingError

T = TypeVar("T")

# httpx passes on some errors of the transports unchanged.
LOST = (httpx.RequestError, OSError)
CHUNK_BYTES = 256 * 1024
NO_END = Lost("The answer does not show where it ends.")
LATE = Lost("The time for the answer is over.")
ELSEWHERE = Lost("The connection belongs to another process or event loop.")


class Driver:
    def __init__(self, settings: Settings, http: Given[httpx.Client]) -> None:
        self._settings = settings
        self._pools = Pools(http)

    def close(self) -> None:
        self._pools.close()

    def run(self, flow: Flow[T]) -> T:
        returned: list[T] = []
        for _ in self.iterate(_keep(flow, returned)):
            pass
        return returned[0]

    def iterate(self, flow: Flow[None]) -> Generator[Any, None, None]:
        connection = _Connection(self._pools, self._settings)
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
                    connection.end()
                    step = flow.throw(Left())
                except BaseException as error:
                    connection.end()
                    # The flow may have to clean up before it passes this on.
                    step = flow.throw(error)
                else:
                    step = flow.send(outcome)
        except (StopIteration, Left):
            return
        finally:
            connection.close()


class AsyncDriver:
    def __init__(self, settings: Settings, http: Given[httpx.AsyncClient]) -> None:
        self._settings = settings
        self._pools = AsyncPools(http)

    async def close(self) -> None:
        await self._pools.close()

    async def run(self, flow: Flow[T]) -> T:
        returned: list[T] = []
        async for _ in self.iterate(_keep(flow, returned)):
            pass
        return returned[0]

    async def iterate(self, flow: Flow[None]) -> AsyncGenerator[Any, None]:
        connection = _AsyncConnection(self._pools, self._settings)
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
                    connection.end()
                    step = flow.throw(Left())
                except BaseException as error:
                    connection.end()
                    step = flow.throw(error)
                else:
                    step = flow.send(outcome)
        except (StopIteration, Left):
            return
        finally:
            await connection.close()


class _Base:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._home = this_process()
        self._is_ending = False
        self._stream: httpx.Response | None = None
        self._chunks: Any = None
        # The place where the stream was opened: it is read and closed only there.
        self._place = self._home

    def end(self) -> None:
        """From here on the flow only cleans up. In a fork's child it does not even cancel a request."""
        self._is_ending = True

    @property
    def _is_over(self) -> bool:
        return self._is_ending and not self._home.is_in_this_process()

    def _begin(self, stream: httpx.Response, chunks: Any, place: Place) -> None:
        self._stream, self._chunks, self._place = stream, chunks, place

    def _let_go(self) -> None:
        leave(self._place, (self._stream, self._chunks))
        self._stream = self._chunks = None

    def _arguments(self, step: Send | Open) -> dict[str, Any]:
        call = step.call
        connect_s = min(step.timeout_s, self._settings.timeout_s)
        return {
            "method": call.method,
            "url": call.url,
            "params": call.query or None,
            "headers": call.headers,
            "timeout": httpx.Timeout(step.timeout_s, connect=connect_s, pool=None),
        }


class _Connection(_Base):
    def __init__(self, pools: Pools, settings: Settings) -> None:
        super().__init__(settings)
        self._pools = pools
        self._timer: threading.Timer | None = None

    def perform(self, step: Step) -> Answer | Lost | bytes | None:
        if self._stream is not None and self._place != this_process():
            self._let_go()
        try:
            if isinstance(step, (Send, Open)):
                return ELSEWHERE if self._is_over else self._send(step)
            if isinstance(step, Read):
                return ELSEWHERE if self._chunks is None else next(self._chunks, None)
        except LOST as error:
            return _lost(error)
        if isinstance(step, Sleep):
            time.sleep(step.seconds)
        elif isinstance(step, Close):
            self.close()
        return None

    def close(self) -> None:
        if self._place != this_process():
            self._let_go()
        elif self._timer is not None:
            self._timer.cancel()
        stream, self._stream, self._chunks = self._stream, None, None
        if stream is not None:
            with suppress(*LOST):
                stream.close()

    def _send(self, step: Send | Open) -> Answer | Lost:
        http = self._pools.get()
        body = step.call.body
        content: Any = _read(body) if isinstance(body, Content) else body
        request = http.build_request(content=content, **self._arguments(step))
        response = http.send(request, stream=isinstance(step, Open))
        if isinstance(step, Open):
            self._begin(response, None, this_process())
            if step.shows_end and _hides_end(response):
                self.close()
                return NO_END
            if response.status_code == 200:
                self._chunks = response.iter_bytes()
                self._timer = _shutting_down(response, step.ends_s)
                return Answer(200, _fields(response), b"")
            response.read()
        return _answer(response)


class _AsyncConnection(_Base):
    def __init__(self, pools: AsyncPools, settings: Settings) -> None:
        super().__init__(settings)
        self._pools = pools
        self._ends_at = math.inf

    async def perform(self, step: Step) -> Answer | Lost | bytes | None:
        if self._stream is not None and self._place != this_loop():
            self._let_go()
        try:
            if isinstance(step, (Send, Open)):
                return ELSEWHERE if self._is_over else await self._send(step)
            if isinstance(step, Read):
                return ELSEWHERE if self._chunks is None else await self._next_chunk()
        except StopAsyncIteration:
            return None
        except asyncio.TimeoutError:
            return LATE
        except LOST as error:
            return _lost(error)
        if isinstance(step, Sleep):
            await asyncio.sleep(step.seconds)
        elif isinstance(step, Close):
            await self.close()
        return None

    async def close(self) -> None:
        if self._stream is not None and self._place != this_loop():
            self._let_go()
        stream, self._stream, self._chunks = self._stream, None, None
        if stream is not None:
            with suppress(*LOST):
                await stream.aclose()

    async def _send(self, step: Send | Open) -> Answer | Lost:
        http = await self._pools.get()
        body = step.call.body
        content: Any = _read_async(body) if isinstance(body, Content) else body
        request = http.build_request(content=content, **self._arguments(step))
        response = await http.send(request, stream=isinstance(step, Open))
        if isinstance(step, Open):
            self._begin(response, None, this_loop())
            if step.shows_end and _hides_end(response):
                await self.close()
                return NO_END
            if response.status_code == 200:
                self._chunks = response.aiter_bytes()
                self._ends_at = time.monotonic() + step.ends_s
                return Answer(200, _fields(response), b"")
            await response.aread()
        return _answer(response)

    async def _next_chunk(self) -> bytes:
        chunk: Any = self._chunks.__anext__()
        if self._ends_at < math.inf:
            chunk = asyncio.wait_for(chunk, max(0.001, self._ends_at - time.monotonic()))
        return bytes(await chunk)


def _shutting_down(response: httpx.Response, seconds: float) -> threading.Timer | None:
    """Shuts the connection down after this time. The time limit of httpx starts again with each chunk."""
    network = response.extensions.get("network_stream")
    sock = None if network is None else network.get_extra_info("socket")
    if seconds == math.inf or not isinstance(sock, socket.socket) or not _is_http_1(response):
        return None

    def shut_down() -> None:
        with suppress(OSError):
            # Not the method of an SSLSocket, which is not for two threads at once.
            socket.socket.shutdown(sock, socket.SHUT_RDWR)

    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), shut_down)
    timer.daemon = True
    timer.start()
    return timer


def _read(content: Content) -> Iterator[bytes]:
    file = content.open()
    whole = _Whole(content)
    try:
        while not whole.is_read:
            block = whole.take(file.read(CHUNK_BYTES))
            if block:
                yield block
    finally:
        if content.is_own:
            file.close()


async def _read_async(content: Content) -> AsyncIterator[bytes]:
    file = await asyncio.to_thread(content.open)
    whole = _Whole(content)
    try:
        while not whole.is_read:
            block = whole.take(await asyncio.to_thread(file.read, CHUNK_BYTES))
            if block:
                yield block
    finally:
        if content.is_own:
            file.close()


class _Whole:
    """Holds the last block until the end is read, so that a file that changed is never sent whole."""

    def __init__(self, content: Content) -> None:
        self.is_read = False
        self._content = content
        self._count = 0
        self._sum = hashlib.sha256()
        self._held = b""

    def take(self, block: bytes) -> bytes:
        """Returns the block before this one."""
        self._count += len(block)
        self._sum.update(block)
        self.is_read = not block
        size = self._content.size
        if size is not None and (self._count > size or (self.is_read and self._count < size)):
            now = "more" if self._count > size else str(self._count)
            said = f"The file {self._content.name} changed while it was uploaded: it had {size} bytes at first, then {now}."
            raise NowServingError("unreadable_file", f"{said} Upload files only after they are written and closed.")
        if self.is_read:
            self._content.sum = self._sum.hexdigest()
        before, self._held = self._held, block
        return before


def _keep(flow: Flow[T], returned: list[T]) -> Flow[None]:
    returned.append((yield from flow))


def _fields(response: httpx.Response) -> Mapping[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


def _answer(response: httpx.Response) -> Answer | Lost:
    if _may_be_cut(response):
        return Lost("The answer was truncated, or did not give its length.")
    return Answer(response.status_code, _fields(response), response.content)


def _may_be_cut(response: httpx.Response) -> bool:
    """Without a length a body ends with its connection. A number may be cut unnoticed, other JSON may not."""
    return _hides_end(response) and response.content.lstrip()[:1] in [*map(bytes, zip(b"-0123456789"))]


def _hides_end(response: httpx.Response) -> bool:
    """Returns whether the end of the connection is the end of the body."""
    return _is_http_1(response) and "content-length" not in response.headers and "transfer-encoding" not in response.headers


def _is_http_1(response: httpx.Response) -> bool:
    return bool(response.extensions.get("http_version", b"").startswith(b"HTTP/1"))


def _lost(error: Exception) -> Lost:
    return Lost(f"{type(error).__name__}: {error}")

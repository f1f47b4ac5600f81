"""A TCP proxy that drops, delays and cuts connections by a seed. It runs in a thread of its own."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
import threading
from typing import Any
from urllib.parse import urlsplit


class ChaosProxy:
    def __init__(self, target: str, seed: int) -> None:
        to = urlsplit(target)
        self._target = (to.hostname, to.port)
        self._random = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._tasks: set[asyncio.Task[Any]] = set()
        self.faults: dict[str, int] = {}
        self.url = ""

    def __enter__(self) -> ChaosProxy:
        self._thread.start()
        start = asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(start, self._loop).result()
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _is(self, fault: str, chance: float) -> bool:
        happens = self._random.random() < chance
        if happens:
            self.faults[fault] = self.faults.get(fault, 0) + 1
        return happens

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        server: asyncio.StreamWriter | None = None
        try:
            if self._is("refused", 0.05):
                return
            answers, server = await asyncio.open_connection(*self._target)
            ways = [
                asyncio.create_task(self._pass(reader, server, "call")),
                asyncio.create_task(self._pass(answers, writer, "answer")),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            for end in (writer, server):
                if end is not None:
                    cut(end)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, what: str) -> None:
        """Returns when the connection is to be cut."""
        while chunk := await reader.read(65_536):
            if self._is(f"{what} swallowed", 0.01):
                await asyncio.Event().wait()
            if self._is(f"{what} delayed", 0.1):
                await asyncio.sleep(self._random.random() * 0.1)
            if self._is(f"{what} lost", 0.04):
                return
            if self._is(f"{what} cut short", 0.04):
                writer.write(chunk[: self._random.randrange(len(chunk))])
                await writer.drain()
                return
            writer.write(chunk)
            await writer.drain()
            if self._is(f"cut after the {what}", 0.04):
                return


def cut(writer: asyncio.StreamWriter) -> None:
    """Cuts the connection with a reset, as a crashed machine would."""
    connection = writer.get_extra_info("socket")
    if connection is not None and connection.fileno() != -1:
        no_linger = struct.pack("ii", 1, 0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_linger)
    writer.close()

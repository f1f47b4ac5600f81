"""
Which connections a call may use: those of its own process and, with asyncio, of its own event loop.

A fork copies the sockets of a pool, and both processes then read from the same connections: each takes answers that
the other one has asked for. Sockets of another event loop are not woken by this one.
"""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, Union
from collections.abc import AsyncGenerator, Callable

import httpx

from .errors import NowServingError

Http = TypeVar("Http", httpx.Client, httpx.AsyncClient)
Given = Union[Http, Callable[[], Http], None]

# Each subscription uses a connection, and must not make other calls wait for a free one.
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=20)

_forks = 0
# Objects that a fork copied are neither used nor closed here, because their connections are the parent's.
_inherited: list[Any] = []


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


@dataclass(frozen=True)
class Place:
    """A process, or an event loop in it, whose connections can be used there only."""

    # The pid alone may be a parent's in another namespace. The count alone misses forks by other languages.
    pid: int
    forks: int
    loop: asyncio.AbstractEventLoop | None = None

    def is_in_this_process(self) -> bool:
        return (self.pid, self.forks) == (os.getpid(), _forks)


def this_process() -> Place:
    return Place(os.getpid(), _forks)


def this_loop() -> Place:
    return Place(os.getpid(), _forks, asyncio.get_running_loop())


def leave(place: Place, things: Any) -> None:
    """Keeps things of another process unused and unclosed."""
    if not place.is_in_this_process():
        _inherited.append(things)


class _Pools(Generic[Http]):
    def __init__(self, given: Given[Http], kind: type[Http]) -> None:
        is_function = callable(given) and not hasattr(given, "send")
        self._given: Http | None = None if is_function else given  # type: ignore[assignment]
        self._function: Callable[[], Http] | None = given if is_function else None  # type: ignore[assignment]
        self._make: Callable[[], Http] = self._function or _maker(kind, given)
        self._is_closed = False

    def __reduce__(self) -> Any:
        if self._given is not None:
            said = "cannot be sent to another process: give a function that makes one, as http=, in its place."
            raise TypeError(f"A client with an {type(self._given).__name__} of yours {said}")
        return type(self), (self._function,)

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError("The client was closed. Make another one.")


def _maker(kind: type[Http], given: Given[Http]) -> Callable[[], Http]:
    """
    Returns what makes a pool, with a TLS context that is made now, once.

    A process that was forked must not make one: OpenSSL then takes locks that another thread of the parent may have
    held during the fork, and nobody releases them in the child.

    It reads no proxy variables and no .netrc, which would show the key to others or replace it.
    """
    if given is not None:
        return kind
    return functools.partial(kind, limits=LIMITS, verify=httpx.create_ssl_context(), trust_env=False)


class Pools(_Pools[httpx.Client]):
    """One pool per process."""

    def __init__(self, given: Given[httpx.Client]) -> None:
        super().__init__(given, httpx.Client)
        self._home = this_process()
        self._made: dict[Place, httpx.Client] = {}
        # Each process has its own lock, because a fork may copy a lock that another thread holds.
        self._locks: dict[Place, threading.Lock] = {}

    def get(self) -> httpx.Client:
        here = this_process()
        if self._given is not None:
            if here != self._home:
                raise _refusal("wrong_process", "httpx.Client", "process", "after a fork")
            return self._given
        kept = self._made.get(here)
        return self._new(here) if kept is None else kept

    def _new(self, here: Place) -> httpx.Client:
        with self._locks.setdefault(here, threading.Lock()):
            if here not in self._made:
                self._check_open()
                for place in [*self._made]:
                    leave(place, self._made.pop(place))
                self._made[here] = self._make()
            return self._made[here]

    def close(self) -> None:
        self._is_closed = True
        http = self._made.pop(this_process(), None)
        if http is not None:
            http.close()


class AsyncPools(_Pools[httpx.AsyncClient]):
    """One pool per process and event loop."""

    def __init__(self, given: Given[httpx.AsyncClient]) -> None:
        super().__init__(given, httpx.AsyncClient)
        self._process = this_process()
        # The place where a given client was first used.
        self._home: Place | None = None
        self._made: dict[Place, tuple[httpx.AsyncClient, AsyncGenerator[None, None]]] = {}

    async def get(self) -> httpx.AsyncClient:
        here = this_loop()
        if self._given is not None:
            self._home = self._home or here
            if not self._process.is_in_this_process():
                raise _refusal("wrong_process", "httpx.AsyncClient", "process", "after a fork")
            if here != self._home:
                raise _refusal("wrong_event_loop", "httpx.AsyncClient", "event loop", "in another event loop")
            return self._given
        kept = self._made.get(here)
        if kept is None:
            self._check_open()
            self._forget_others()
            http = self._make()
            keeper = self._keep(http, here)
            await keeper.__anext__()
            kept = self._made[here] = http, keeper
        return kept[0]

    async def close(self) -> None:
        self._is_closed = True
        _, keeper = self._made.pop(this_loop(), (None, None))
        if keeper is not None:
            await keeper.aclose()
        # The event loop of a dropped generator ends the generator, which closes its pool there.
        for place in [*self._made]:
            if place.is_in_this_process():
                del self._made[place]

    async def _keep(self, http: httpx.AsyncClient, here: Place) -> AsyncGenerator[None, None]:
        """Closes a pool with its event loop: asyncio.run ends a loop's generators before it closes the loop."""
        try:
            yield
        finally:
            self._made.pop(here, None)
            await http.aclose()

    def _forget_others(self) -> None:
        """Forgets event loops that are closed although their generators did not end, and the parent's."""
        for place in [*self._made]:
            leave(place, self._made[place])
            if not place.is_in_this_process() or (place.loop is not None and place.loop.is_closed()):
                self._made.pop(place, None)


def _refusal(code: Any, kind: str, what: str, when: str) -> NowServingError:
    said = f"The {kind} that was given as http= belongs to another {what}; its connections cannot be shared."
    return NowServingError(code, f"{said} Give http= a function that makes one, or make the client {when}.")

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence

import httpx

from . import types as t
from ._api import Api
from ._files import Uploadable
from ._drivers import AsyncDriver
from ._resources import AsyncBatches, AsyncWebhookEndpoints
from ._settings import Settings

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class AsyncClient:
    """
    Client for asyncio: the same calls, to be awaited or looped over by `async for`. It may be used in
    several event loops, one after another or at once.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        retries: int = 8,
        timeout_s: float = 30,
        hold_s: int = 20,
        http: httpx.AsyncClient | Callable[[], httpx.AsyncClient] | None = None,
    ) -> None:
        """
        `timeout_s` is for one call, `hold_s` for how long the service may hold one that waits for a result (55 at
        most). `http` is an httpx.AsyncClient of your own, for proxies and certificates; closing it stays with you. A
        function that makes one is called in each process and event loop that makes calls, and the client closes what it
        made. Without `http`, variables such as HTTPS_PROXY are ignored.
        """
        settings = Settings(url.rstrip("/"), key, retries, timeout_s, hold_s)
        self._api = Api(settings)
        self._driver = AsyncDriver(settings, http)
        self.batches = AsyncBatches(self._api, self._driver)
        """Batches of many lines, which the service reads from one file."""
        self.webhook_endpoints = AsyncWebhookEndpoints(self._api, self._driver)
        """URLs that are called about all requests of the key."""

    async def submit(
        self,
        model: str,
        input: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        **options: Unpack[t.Options],
    ) -> t.QueuedRequest:
        """Puts a request into the queue and does not wait for it."""
        return await self._driver.run(self._api.submit(model, input, idempotency_key, options))

    async def run(
        self,
        model: str,
        input: Mapping[str, Any],
        *,
        deadline_s: float | None = None,
        cancel_on_exit: bool = False,
        idempotency_key: str | None = None,
        **options: Unpack[t.Options],
    ) -> t.Result:
        """
        Submits and waits for the result. After `deadline_s` seconds that is NowServingError `deadline_exceeded`, which
        has the `request_id`, for `result`. With `cancel_on_exit` the request is cancelled if the wait ends before it
        does, by the deadline or because the task is cancelled.
        """
        flow = self._api.run(model, input, idempotency_key, options, deadline_s, cancel_on_exit)
        return await self._driver.run(flow)

    def subscribe(
        self,
        model: str,
        input: Mapping[str, Any],
        *,
        logs: bool = False,
        deadline_s: float | None = None,
        cancel_on_exit: bool = False,
        idempotency_key: str | None = None,
        **options: Unpack[t.Options],
    ) -> AsyncGenerator[t.Status, None]:
        """
        Submits and gives each status as it changes; the last is COMPLETED, with or without success. With `logs` each
        brings the lines that are new. `cancel_on_exit` is that of `run`, and for a loop that is left, too.
        """
        flow = self._api.subscribe(model, input, idempotency_key, options, logs, deadline_s, cancel_on_exit)
        return self._driver.iterate(flow)

    async def result(self, request_id: str, *, deadline_s: float | None = None) -> t.Result:
        """Waits for the result of a request that was submitted before."""
        return await self._driver.run(self._api.wait(request_id, deadline_s))

    def follow(
        self, request_id: str, *, logs: bool = False, deadline_s: float | None = None
    ) -> AsyncGenerator[t.Status, None]:
        """What `subscribe` gives, of a request that was submitted before."""
        return self._driver.iterate(self._api.follow(request_id, logs, deadline_s))

    def output(
        self,
        request_id: str,
        *,
        on_reset: Callable[[int], object] | None = None,
        deadline_s: float | None = None,
    ) -> AsyncGenerator[Any, None]:
        """
        The parts of an output as the model gives them; what it gives at once is one part. Raises NowServingError if
        the request ends without success. When another attempt begins, `on_reset` is called with its number, and the
        parts begin anew.
        """
        return self._driver.iterate(self._api.output(request_id, on_reset, deadline_s))

    async def status(self, request_id: str, *, logs: bool = False) -> t.Status:
        """How a request is now."""
        return await self._driver.run(self._api.status(request_id, logs))

    async def statuses(self, request_ids: Sequence[str]) -> t.Statuses:
        """How up to 1,000 requests are now, in their order; None for those that are unknown."""
        return await self._driver.run(self._api.statuses(request_ids))

    @overload
    async def response(self, request_id: str) -> Any: ...
    @overload
    async def response(self, request_id: str, *, logs: Literal[True]) -> t.ResponseWithLogs: ...
    async def response(self, request_id: str, *, logs: bool = False) -> Any:
        """The output of a request that has succeeded; with `logs` all that there is to say about it."""
        return await self._driver.run(self._api.response(request_id, logs))

    async def input(self, request_id: str) -> Any:
        """The input of a request, as it was submitted."""
        return await self._driver.run(self._api.input(request_id))

    async def cancel(self, request_id: str) -> t.CancelAnswer:
        """Cancels a request that waits, or asks its run to stop."""
        return await self._driver.run(self._api.cancel(request_id))

    async def cancel_many(
        self, request_ids: Sequence[str] | None = None, **filters: Unpack[t.Filters]
    ) -> t.CancelCounts:
        """Cancels up to 10,000 requests; `more` says whether there are others that fit the filters."""
        return await self._driver.run(self._api.cancel_many(request_ids, filters))

    async def submit_many(self, requests: Iterable[t.SubmitItem]) -> t.SubmitResults:
        """
        Submits up to 1,000 requests at once; each has a result of its own, in order. Those that a limit or an overload
        refuses are sent again, as `submit` would.
        """
        return await self._driver.run(self._api.submit_many(requests))

    async def retry(self, request_id: str, *, idempotency_key: str | None = None) -> t.QueuedRequest:
        """A new request with the input and the options of one that has completed."""
        return await self._driver.run(self._api.retry(request_id, idempotency_key))

    async def delete(self, request_id: str) -> None:
        """Erases the content of a request that has completed."""
        await self._driver.run(self._api.delete(request_id))

    async def upload(
        self, file: Uploadable, *, name: str | None = None, content_type: str | None = None
    ) -> str:
        """
        Uploads a path, bytes or an open binary file, and gives the URL for an input. In an input a pathlib.Path, bytes and
        open files are uploaded without this.
        """
        return await self._driver.run(self._api.upload(file, name, content_type))

    async def models(self) -> t.Models:
        """The models that the key may call."""
        return await self._driver.run(self._api.models())

    async def model(self, model: str) -> t.Model:
        return await self._driver.run(self._api.model(model))

    async def key(self) -> t.Key:
        """What the key may do, and what is left of its limits."""
        return await self._driver.run(self._api.key())

    async def deliveries(self, request_id: str) -> t.WebhookDeliveries:
        """The webhooks of a request, with each try."""
        return await self._driver.run(self._api.deliveries(request_id))

    async def redeliver(self, request_id: str, delivery_id: str) -> t.WebhookDelivery:
        """Sends a webhook once more."""
        return await self._driver.run(self._api.redeliver(request_id, delivery_id))

    def list(
        self, *, limit: int | None = None, **filters: Unpack[t.Filters]
    ) -> AsyncGenerator[t.Status, None]:
        """The requests of the key, newest first. The next page, of at most `limit`, is fetched when it is needed."""
        return self._driver.iterate(self._api.list(limit, filters))

    async def page(
        self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[t.Filters]
    ) -> t.RequestPage:
        """One page of `list`; `next_cursor` is the cursor of the next page."""
        return await self._driver.run(self._api.page(limit, cursor, filters))

    async def close(self) -> None:
        await self._driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

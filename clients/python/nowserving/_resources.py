"""What the clients offer under a name of its own: batches and webhook endpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union, cast
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Generator, Iterable, Sequence

from . import _batches as flows
from . import types as t
from ._api import Api
from ._drivers import AsyncDriver, Driver
from ._files import Uploadable, is_file

if TYPE_CHECKING:
    from typing_extensions import Unpack

Lines = Union[Iterable[t.BatchLine], Uploadable]
AsyncLines = Union[Lines, AsyncIterable[t.BatchLine]]


class Batches:
    def __init__(self, api: Api, driver: Driver) -> None:
        self._api = api
        self._driver = driver

    def create(
        self, lines: Lines, *, idempotency_key: str | None = None, **options: Unpack[t.BatchOptions]
    ) -> t.Batch:
        """
        Uploads the lines and creates a batch of them. `lines` is a list, a generator or another iterable of lines, or
        a file in the service's own form (NDJSON) as a pathlib.Path, bytes or an open binary file, or the URL of such a
        file that was uploaded before.
        """
        if isinstance(lines, str) or is_file(lines):
            return self._driver.run(self._api.create_batch(lines, idempotency_key, options))  # type: ignore[arg-type]
        with flows.spool() as file:
            created = self._api.create_batch(file, idempotency_key, options)
            for line in cast("Iterable[t.BatchLine]", lines):
                file.write(self._driver.run(self._api.batch_line(line)))
            file.seek(0)
            return self._driver.run(created)

    def get(self, batch_id: str) -> t.Batch:
        """How a batch is now."""
        return self._driver.run(self._api.batch(batch_id))

    def list(
        self, *, limit: int | None = None, **filters: Unpack[t.BatchFilters]
    ) -> Generator[t.Batch, None, None]:
        """The batches of the key, newest first. The next page, of at most `limit`, is fetched when it is needed."""
        return self._driver.iterate(self._api.batches(limit, filters))

    def cancel(self, batch_id: str) -> t.Batch:
        """Cancels a batch. Lines that run end first; then its status is `cancelled`."""
        return self._driver.run(self._api.cancel_batch(batch_id))

    def wait(
        self,
        batch_id: str,
        *,
        on_counts: Callable[[t.BatchCounts], object] | None = None,
        deadline_s: float | None = None,
    ) -> t.Batch:
        """
        Waits until a batch has ended, in whatever way. `on_counts` is called with the first counts, and whenever they
        have changed.
        """
        return self._driver.run(self._api.wait_for_batch(batch_id, on_counts, deadline_s))

    def output(self, batch_id: str) -> Generator[t.BatchOutput, None, None]:
        """The lines that have succeeded so far; all of them once the batch has ended."""
        return self._driver.iterate(self._api.batch_lines(batch_id, "output"))

    def errors(self, batch_id: str) -> Generator[t.BatchError, None, None]:
        """The lines that have not succeeded, each with its error."""
        return self._driver.iterate(self._api.batch_lines(batch_id, "errors"))

    def delete(self, batch_id: str) -> None:
        """Deletes a batch that has ended, with its files. Its requests are kept as others are."""
        self._driver.run(self._api.delete_batch(batch_id))


class AsyncBatches:
    def __init__(self, api: Api, driver: AsyncDriver) -> None:
        self._api = api
        self._driver = driver

    async def create(
        self, lines: AsyncLines, *, idempotency_key: str | None = None, **options: Unpack[t.BatchOptions]
    ) -> t.Batch:
        """
        Uploads the lines and creates a batch of them. `lines` is a list, a generator or another iterable of lines, or
        a file in the service's own form (NDJSON) as a pathlib.Path, bytes or an open binary file, or the URL of such a
        file that was uploaded before.
        """
        if isinstance(lines, str) or is_file(lines):
            return await self._driver.run(self._api.create_batch(lines, idempotency_key, options))  # type: ignore[arg-type]
        with flows.spool() as file:
            created = self._api.create_batch(file, idempotency_key, options)
            async for line in _asynchronous(lines):
                file.write(await self._driver.run(self._api.batch_line(line)))
            file.seek(0)
            return await self._driver.run(created)

    async def get(self, batch_id: str) -> t.Batch:
        """How a batch is now."""
        return await self._driver.run(self._api.batch(batch_id))

    def list(
        self, *, limit: int | None = None, **filters: Unpack[t.BatchFilters]
    ) -> AsyncGenerator[t.Batch, None]:
        """The batches of the key, newest first. The next page, of at most `limit`, is fetched when it is needed."""
        return self._driver.iterate(self._api.batches(limit, filters))

    async def cancel(self, batch_id: str) -> t.Batch:
        """Cancels a batch. Lines that run end first; then its status is `cancelled`."""
        return await self._driver.run(self._api.cancel_batch(batch_id))

    async def wait(
        self,
        batch_id: str,
        *,
        on_counts: Callable[[t.BatchCounts], object] | None = None,
        deadline_s: float | None = None,
    ) -> t.Batch:
        """
        Waits until a batch has ended, in whatever way. `on_counts` is called with the first counts, and whenever they
        have changed.
        """
        return await self._driver.run(self._api.wait_for_batch(batch_id, on_counts, deadline_s))

    def output(self, batch_id: str) -> AsyncGenerator[t.BatchOutput, None]:
        """The lines that have succeeded so far; all of them once the batch has ended."""
        return self._driver.iterate(self._api.batch_lines(batch_id, "output"))

    def errors(self, batch_id: str) -> AsyncGenerator[t.BatchError, None]:
        """The lines that have not succeeded, each with its error."""
        return self._driver.iterate(self._api.batch_lines(batch_id, "errors"))

    async def delete(self, batch_id: str) -> None:
        """Deletes a batch that has ended, with its files. Its requests are kept as others are."""
        await self._driver.run(self._api.delete_batch(batch_id))


async def _asynchronous(lines: Any) -> AsyncGenerator[Any, None]:
    if isinstance(lines, AsyncIterable):
        async for line in lines:
            yield line
    else:
        for line in lines:
            yield line


class WebhookEndpoints:
    def __init__(self, api: Api, driver: Driver) -> None:
        self._api = api
        self._driver = driver

    def create(self, url: str, *, events: Sequence[str] | None = None) -> t.MadeWebhookEndpoint:
        """Adds an endpoint, and returns it with the secret for `verify_webhook`. Idempotent by its URL."""
        return self._driver.run(self._api.create_endpoint(url, events))

    def get(self, endpoint_id: str) -> t.WebhookEndpoint:
        return self._driver.run(self._api.endpoint(endpoint_id))

    def list(self) -> Generator[t.WebhookEndpoint, None, None]:
        """The endpoints of the key, newest first. The next page is fetched when it is needed."""
        return self._driver.iterate(self._api.endpoints())

    def update(
        self,
        endpoint_id: str,
        *,
        url: str | None = None,
        events: Sequence[str] | None = None,
        disabled: bool | None = None,
    ) -> t.WebhookEndpoint:
        """Changes an endpoint. What is left out stays as it is."""
        changes = {"url": url, "events": events and [*events], "disabled": disabled}
        return self._driver.run(self._api.update_endpoint(endpoint_id, changes))

    def delete(self, endpoint_id: str) -> None:
        """Removes an endpoint. Deliveries that are pending go on."""
        self._driver.run(self._api.delete_endpoint(endpoint_id))


class AsyncWebhookEndpoints:
    def __init__(self, api: Api, driver: AsyncDriver) -> None:
        self._api = api
        self._driver = driver

    async def create(self, url: str, *, events: Sequence[str] | None = None) -> t.MadeWebhookEndpoint:
        """Adds an endpoint, and returns it with the secret for `verify_webhook`. Idempotent by its URL."""
        return await self._driver.run(self._api.create_endpoint(url, events))

    async def get(self, endpoint_id: str) -> t.WebhookEndpoint:
        return await self._driver.run(self._api.endpoint(endpoint_id))

    def list(self) -> AsyncGenerator[t.WebhookEndpoint, None]:
        """The endpoints of the key, newest first. The next page is fetched when it is needed."""
        return self._driver.iterate(self._api.endpoints())

    async def update(
        self,
        endpoint_id: str,
        *,
        url: str | None = None,
        events: Sequence[str] | None = None,
        disabled: bool | None = None,
    ) -> t.WebhookEndpoint:
        """Changes an endpoint. What is left out stays as it is."""
        changes = {"url": url, "events": events and [*events], "disabled": disabled}
        return await self._driver.run(self._api.update_endpoint(endpoint_id, changes))

    async def delete(self, endpoint_id: str) -> None:
        """Removes an endpoint. Deliveries that are pending go on."""
        await self._driver.run(self._api.delete_endpoint(endpoint_id))

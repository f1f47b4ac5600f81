"""The calls of the service as flows: what both clients offer, before it is known how it is carried out."""

from __future__ import annotations

from typing import Any, TypeVar
from collections.abc import Callable, Iterable, Mapping, Sequence

from . import _batches as batches
from . import _calls as calls
from . import _files as files
from . import _sending as sending
from . import _waiting as waiting
from . import types as t
from ._settings import Settings
from ._steps import Call, Flow


T = TypeVar("T")


class Api:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def submit(
        self, model: str, input: Mapping[str, Any], key: str | None, given: Mapping[str, Any]
    ) -> Flow[t.QueuedRequest]:
        return self._submitting(
            model, input, key, given, lambda call: sending.result(self._settings, call)
        )

    def run(
        self,
        model: str,
        input: Mapping[str, Any],
        key: str | None,
        given: Mapping[str, Any],
        deadline: float | None,
        cancel: bool,
    ) -> Flow[t.Result]:
        limit = sending.Deadline(self._settings, deadline)

        def ran(call: Call) -> Flow[t.Result]:
            return waiting.run(self._settings, call, limit, cancel)

        return self._submitting(model, input, key, given, ran, limit)

    def subscribe(
        self,
        model: str,
        input: Mapping[str, Any],
        key: str | None,
        given: Mapping[str, Any],
        logs: bool,
        deadline: float | None,
        cancel: bool,
    ) -> Flow[None]:
        limit = sending.Deadline(self._settings, deadline)

        def subscribed(call: Call) -> Flow[None]:
            return waiting.subscribe(self._settings, call, logs, limit, cancel)

        return self._submitting(model, input, key, given, subscribed, limit)

    def upload(self, file: files.Uploadable, name: str | None, content_type: str | None) -> Flow[str]:
        return files.upload(self._settings, file, name, content_type)

    def wait(self, request_id: str, deadline: float | None) -> Flow[t.Result]:
        return waiting.wait(self._settings, request_id, sending.Deadline(self._settings, deadline))

    def follow(self, request_id: str, logs: bool, deadline: float | None) -> Flow[None]:
        limit = sending.Deadline(self._settings, deadline)
        return waiting.follow(self._settings, request_id, logs, limit)

    def output(
        self, request_id: str, on_reset: Callable[[int], object] | None, deadline: float | None
    ) -> Flow[None]:
        limit = sending.Deadline(self._settings, deadline)
        return waiting.output(self._settings, request_id, on_reset, limit)

    def status(self, request_id: str, logs: bool) -> Flow[t.Status]:
        return self._of_request("GET", request_id, "/status", query=calls.logs_query(logs))

    def response(self, request_id: str, logs: bool) -> Flow[Any]:
        return self._of_request("GET", request_id, query=calls.logs_query(logs), is_value=True)

    def cancel(self, request_id: str) -> Flow[t.CancelAnswer]:
        return self._of_request("PUT", request_id, "/cancel")

    def retry(self, request_id: str, key: str | None) -> Flow[t.QueuedRequest]:
        return self._of_request("POST", request_id, "/retry", headers=calls.idempotency(key))

    def delete(self, request_id: str) -> Flow[None]:
        return sending.delete(self._settings, request_id)

    def deliveries(self, request_id: str) -> Flow[t.WebhookDeliveries]:
        return _member("data", self._of_request("GET", request_id, "/deliveries"))

    def redeliver(self, request_id: str, delivery_id: str) -> Flow[t.WebhookDelivery]:
        path = f"/deliveries/{calls.segment(delivery_id)}/redeliver"
        return self._of_request("POST", request_id, path)

    def input(self, request_id: str) -> Flow[Any]:
        return self._of_request("GET", request_id, "/input", is_value=True)

    def list(self, limit: int | None, given: Mapping[str, Any]) -> Flow[None]:
        query = {**calls.filters(given), **({} if limit is None else {"limit": limit})}
        return sending.listed(self._settings, calls.REQUESTS, query)

    def page(self, limit: int | None, cursor: str | None, given: Mapping[str, Any]) -> Flow[t.RequestPage]:
        # A cursor contains its filters.
        part = {"limit": limit, "cursor": cursor}
        query = {**({} if cursor else calls.filters(given)), **{k: v for k, v in part.items() if v is not None}}
        return sending.result(self._settings, calls.call(self._settings, "GET", calls.REQUESTS, query=query))

    def submit_many(self, items: Iterable[t.SubmitItem]) -> Flow[t.SubmitResults]:
        requests = []
        for item in items:
            fields: dict[str, Any] = dict(item)
            own = {"model_id": fields.pop("model", None), "input": fields.pop("input", None)}
            own["idempotency_key"] = fields.pop("idempotency_key", None) or calls.new_key()
            requests.append({**own, **calls.options(fields)})
        if not files.has_files(requests):
            return sending.submit_many(self._settings, requests)

        def flow() -> Flow[t.SubmitResults]:
            sent = yield from files.uploaded(self._settings, requests)
            return (yield from sending.submit_many(self._settings, sent))

        return flow()

    def statuses(self, request_ids: Sequence[str]) -> Flow[t.Statuses]:
        return _member("results", self._of_all("/status", {"request_ids": [*request_ids]}))

    def cancel_many(
        self, request_ids: Sequence[str] | None, given: Mapping[str, Any]
    ) -> Flow[t.CancelCounts]:
        if (request_ids is None) == (not given):
            raise TypeError("Give either request ids or filters, not both.")
        if request_ids is None:
            return self._of_all("/cancel", {"filter": calls.filters(given)})
        return self._of_all("/cancel", {"request_ids": [*request_ids]})

    def batch_line(self, line: Mapping[str, Any]) -> Flow[bytes]:
        return batches.line(self._settings, line)

    def create_batch(
        self, source: batches.Source, key: str | None, given: Mapping[str, Any]
    ) -> Flow[t.Batch]:
        return batches.create(self._settings, source, key, calls.batch_options(given))

    def batch(self, batch_id: str) -> Flow[t.Batch]:
        return self._get(calls.batch_path(batch_id))

    def batches(self, limit: int | None, given: Mapping[str, Any]) -> Flow[None]:
        query = {**calls.batch_filters(given), **({} if limit is None else {"limit": limit})}
        return sending.listed(self._settings, calls.BATCHES, query)

    def cancel_batch(self, batch_id: str) -> Flow[t.Batch]:
        sent = calls.call(self._settings, "PUT", calls.batch_path(batch_id, "/cancel"))
        return sending.result(self._settings, sent)

    def wait_for_batch(
        self, batch_id: str, on_counts: Callable[[t.BatchCounts], object] | None, deadline: float | None
    ) -> Flow[t.Batch]:
        limit = sending.Deadline(self._settings, deadline, "batch")
        return batches.wait(self._settings, batch_id, on_counts, limit)

    def batch_lines(self, batch_id: str, file: str) -> Flow[None]:
        return batches.lines(self._settings, calls.batch_path(batch_id, f"/{file}"))

    def delete_batch(self, batch_id: str) -> Flow[None]:
        return sending.result(self._settings, calls.call(self._settings, "DELETE", calls.batch_path(batch_id)))

    def create_endpoint(self, url: str, events: Sequence[str] | None) -> Flow[t.MadeWebhookEndpoint]:
        body = {"url": url, **({} if events is None else {"events": [*events]})}
        return sending.result(self._settings, calls.call(self._settings, "POST", calls.ENDPOINTS, body=body))

    def endpoint(self, endpoint_id: str) -> Flow[t.WebhookEndpoint]:
        return self._get(calls.endpoint_path(endpoint_id))

    def endpoints(self) -> Flow[None]:
        return sending.listed(self._settings, calls.ENDPOINTS, {})

    def update_endpoint(self, endpoint_id: str, changes: Mapping[str, Any]) -> Flow[t.WebhookEndpoint]:
        body = {name: value for name, value in changes.items() if value is not None}
        path = calls.endpoint_path(endpoint_id)
        return sending.result(self._settings, calls.call(self._settings, "PATCH", path, body=body))

    def delete_endpoint(self, endpoint_id: str) -> Flow[None]:
        path = calls.endpoint_path(endpoint_id)
        return sending.result(self._settings, calls.call(self._settings, "DELETE", path))

    def models(self) -> Flow[t.Models]:
        return _member("data", self._get("/v1/models"))

    def model(self, model: str) -> Flow[t.Model]:
        return self._get(f"/v1/models/{calls.model_path(model)}")

    def key(self) -> Flow[t.Key]:
        return self._get("/v1/key")

    def _submitting(
        self,
        model: str,
        input: Mapping[str, Any],
        key: str | None,
        given: Mapping[str, Any],
        then: Callable[[Call], Flow[T]],
        deadline: sending.Deadline | None = None,
    ) -> Flow[T]:
        if not files.has_files(input):
            return then(self._submission(model, input, key, given))
        self._submission(model, {}, key, given)  # a mistake is reported before anything is sent

        def flow() -> Flow[T]:
            sent = yield from files.uploaded(self._settings, input, deadline)
            return (yield from then(self._submission(model, sent, key, given)))

        return flow()

    def _submission(
        self, model: str, input: Mapping[str, Any], key: str | None, given: Mapping[str, Any]
    ) -> Call:
        return calls.call(
            self._settings,
            "POST",
            f"/v1/queue/{calls.model_path(model)}",
            query=calls.options(given),
            headers=calls.idempotency(key),
            body=input,
        )

    def _get(self, path: str) -> Flow[Any]:
        return sending.result(self._settings, calls.call(self._settings, "GET", path))

    def _of_request(self, method: str, request_id: str, rest: str = "", **more: Any) -> Flow[Any]:
        sent = calls.call(self._settings, method, calls.request_path(request_id, rest), **more)
        return sending.result(self._settings, sent, request_id=request_id)

    def _of_all(self, rest: str, body: Any) -> Flow[Any]:
        sent = calls.call(self._settings, "POST", calls.REQUESTS + rest, body=body)
        return sending.result(self._settings, sent)


def _member(name: str, flow: Flow[Any]) -> Flow[Any]:
    return (yield from flow)[name]

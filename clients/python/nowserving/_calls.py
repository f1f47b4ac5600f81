"""Requests, as they are sent."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any, get_type_hints
from collections.abc import Iterable, Mapping
from urllib.parse import quote
from uuid import uuid4

from ._settings import Settings, __version__
from ._steps import Call
from .types import BatchFilters, BatchLine, BatchOptions, Duration, Filters, Instant, Options, Tags

REQUESTS = "/v1/queue/requests"
BATCHES = "/v1/batches"
ENDPOINTS = "/v1/webhook-endpoints"


def call(
    settings: Settings,
    method: str,
    path: str,
    *,
    query: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
    is_value: bool = False,
) -> Call:
    sent = {
        "accept": "application/json, application/problem+json",
        "user-agent": f"nowserving-python/{__version__}",
        **(headers or {}),
    }
    if settings.key is not None:
        sent["authorization"] = f"Key {settings.key}"
    content = None
    if body is not None:
        sent["content-type"] = "application/json"
        content = json.dumps(body, allow_nan=False).encode()
    return Call(method, settings.url + path, tuple(_pairs(query or {})), sent, content, is_value)


def segment(text: str) -> str:
    if text in ("", ".", ".."):
        raise ValueError(f"{text!r} is not an id.")
    return quote(text, safe="")


def request_path(request_id: str, rest: str = "") -> str:
    return f"{REQUESTS}/{segment(request_id)}{rest}"


def batch_path(batch_id: str, rest: str = "") -> str:
    return f"{BATCHES}/{segment(batch_id)}{rest}"


def endpoint_path(endpoint_id: str) -> str:
    return f"{ENDPOINTS}/{segment(endpoint_id)}"


def model_path(model: str) -> str:
    return "/".join(segment(part) for part in model.split("/"))


def new_key() -> str:
    return str(uuid4())


def idempotency(key: str | None) -> dict[str, str]:
    """Returns the header: a quoted string, as in the IETF's draft."""
    if key is not None and not (key.isascii() and key.isprintable()):
        raise ValueError("An Idempotency-Key has printable ASCII characters only.")
    escaped = (key or new_key()).replace("\\", "\\\\").replace('"', '\\"')
    return {"idempotency-key": f'"{escaped}"'}


def prefer(hold_s: int) -> dict[str, str]:
    """Asks the service to hold the answer until the request has completed, if the service supports that."""
    return {"prefer": f"wait={hold_s}"} if hold_s > 0 else {}


def logs_query(logs: bool) -> dict[str, str]:
    return {"logs": "1"} if logs else {}


def options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of a submission as the API writes them."""
    return _written(given, _OPTIONS, "option")


def batch_options(given: Mapping[str, Any]) -> dict[str, Any]:
    return _written(given, _BATCH_OPTIONS, "option")


def filters(given: Mapping[str, Any]) -> dict[str, Any]:
    return _written(given, _FILTERS, "filter")


def batch_filters(given: Mapping[str, Any]) -> dict[str, Any]:
    return _written(given, _BATCH_FILTERS, "filter")


def batch_line(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a line of a batch as the API writes it."""
    return _written(given, _BATCH_LINE, "member of a line")


def _written(given: Mapping[str, Any], known: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Returns the given members by their names in the API, without those that are None."""
    for name in given:
        if name not in known:
            raise TypeError(f"There is no {kind} {name!r}. The known ones are {', '.join(known)}.")
    return {_wire_name(name): known[name](value) for name, value in given.items() if value is not None}


def _duration(value: Duration) -> str:
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    return f"{round(seconds * 1000)}ms"


def _instant(value: Instant) -> str:
    if isinstance(value, str):
        return value
    if value.tzinfo is None:
        raise ValueError(f"{value!r} has no time zone. Give it one, such as datetime.timezone.utc.")
    return value.isoformat(timespec="milliseconds")


def _tags(value: Tags) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [f"{key}:{text}" for key, text in value.items()]
    return list(value)


def _as_given(value: Any) -> Any:
    return value


_BY_TYPE = {Duration: _duration, Instant: _instant, Tags: _tags, Mapping[str, Any]: _as_given}


def _writers(members: type) -> dict[str, Any]:
    """Returns for each member of a TypedDict the function that writes a value of its type."""
    return {name: _BY_TYPE.get(kind, str) for name, kind in get_type_hints(members).items()}


_OPTIONS = _writers(Options)
_FILTERS = _writers(Filters)
_BATCH_OPTIONS = _writers(BatchOptions)
_BATCH_FILTERS = _writers(BatchFilters)
_BATCH_LINE = _writers(BatchLine)


def _wire_name(name: str) -> str:
    """Durations have no unit in their names there, because a duration is written with its unit."""
    return {"tags": "tag", "model": "model_id"}.get(name, name.removesuffix("_s"))


def _pairs(query: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for name, value in query.items():
        for one in value if isinstance(value, list) else [value]:
            yield name, str(one)

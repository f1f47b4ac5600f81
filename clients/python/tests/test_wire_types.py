"""Compares the types with the service's own description of itself."""

from __future__ import annotations

from typing import Any, get_args

import httpx
import pytest

from nowserving import types
from nowserving.errors import ProblemCode
from support import Service

TYPES: dict[str, Any] = {
    name: getattr(types, name)
    for name in (
        "Allowance",
        "BatchCompletedEvent",
        "BatchFault",
        "CancelAnswer",
        "CancelCounts",
        "CompletedEvent",
        "CompletedStatus",
        "FieldError",
        "FinalMetrics",
        "InProgressStatus",
        "InQueueStatus",
        "Key",
        "KeyAllowances",
        "KeyLimit",
        "KeyLimits",
        "LogEntry",
        "Model",
        "NoMetrics",
        "Progress",
        "ProgressEvent",
        "QueuedRequest",
        "QueueMetrics",
        "RequestError",
        "RequestPage",
        "ResponseWithLogs",
        "StartedEvent",
        "StoredAllowance",
        "TimeSpan",
        "TypicalTime",
        "WebhookDelivery",
        "WebhookEndpoint",
        "WebhookTry",
    )
}
TYPES["BatchLineCounts"] = types.BatchCounts
TYPES["BatchResult"] = types.SubmitResult
TYPES["BatchStatus"] = types.Batch


@pytest.fixture(scope="session")
def schemas(service: Service) -> dict[str, Any]:
    document = httpx.get(f"{service.url}/openapi.json").json()
    found: dict[str, Any] = document["components"]["schemas"]
    return found


@pytest.mark.parametrize("name", TYPES)
def test_a_type_has_the_fields_of_its_schema(schemas: dict[str, Any], name: str) -> None:
    schema, type = schemas[name], TYPES[name]
    assert set(type.__annotations__) == set(schema["properties"])
    assert type.__required_keys__ == set(schema.get("required", ()))


def test_every_code_of_the_service_is_known(schemas: dict[str, Any]) -> None:
    assert set(get_args(ProblemCode)) == set(schemas["Problem"]["properties"]["code"]["enum"])

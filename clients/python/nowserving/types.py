"""What goes over the wire. A test compares it with openapi.json."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypedDict, Union
from collections.abc import Mapping, Sequence

Duration = Union[int, float, timedelta]
"""Seconds, or a timedelta."""
Instant = Union[str, datetime]
"""RFC 3339, or a datetime that knows its zone."""
Tags = Union[Mapping[str, str], Sequence[str]]
"""`{"team": "a"}` or `["team:a"]`; as a filter, all of them must fit."""
Priority = Literal["high", "normal", "low"]
Outcome = Literal["succeeded", "failed", "cancelled", "expired"]
State = Literal["IN_QUEUE", "IN_PROGRESS", "COMPLETED"]


class Options(TypedDict, total=False):
    """The options of a submission."""

    webhook: str
    """Called when the request completes."""
    priority: Priority
    not_before: Instant
    """Started no earlier; at most 30 days from now."""
    delay_s: Duration
    """Seconds from now before which the request does not start."""
    expires_s: Duration
    """Seconds from the submission, or from the scheduled time, after which the request does not start any more."""
    timeout_s: Duration
    """Seconds that one run may take; at most what the model allows."""
    tags: Tags


class _SubmitItem(TypedDict):
    model: str
    input: Mapping[str, Any]


class SubmitItem(_SubmitItem, Options, total=False):
    """One of many submissions."""

    idempotency_key: str


class Filters(TypedDict, total=False):
    """Which requests of the key a list or a bulk cancellation is about."""

    model: str
    status: State
    outcome: Outcome
    tags: Tags
    created_after: Instant
    created_before: Instant


class FieldError(TypedDict):
    path: str
    message: str


class LogEntry(TypedDict):
    message: str
    level: Literal["DEBUG", "INFO", "WARN", "ERROR"]
    source: Literal["queue", "runner", "stdout", "stderr"]
    timestamp: str


class QueuedRequest(TypedDict):
    request_id: str
    response_url: str
    status_url: str
    cancel_url: str


class NoMetrics(TypedDict):
    pass


class QueueMetrics(TypedDict):
    queue_time: float


class _FinalMetrics(TypedDict):
    queue_time: float
    inference_time: float | None


class FinalMetrics(_FinalMetrics, total=False):
    usage: dict[str, int]


class _RequestError(TypedDict):
    code: str
    message: str
    timestamp: str


class RequestError(_RequestError, total=False):
    details: Any


class _Details(QueuedRequest):
    model_id: str
    created_at: str
    started_at: str | None
    completed_at: str | None
    attempt: int
    tags: list[str]


class _Sometimes(TypedDict, total=False):
    logs: list[LogEntry]
    scheduled_at: str
    retry_of: str
    retried_as: str
    erased_at: str


TimeSpan = TypedDict("TimeSpan", {"from": str, "to": str})


class _Ends(TypedDict, total=False):
    estimated_end: TimeSpan


class _Starts(_Ends, total=False):
    estimated_start: TimeSpan


class InQueueStatus(_Details, _Sometimes, _Starts):
    status: Literal["IN_QUEUE"]
    queue_position: int
    reason: Literal["busy", "unavailable", "paused", "scheduled", "retrying"]
    metrics: NoMetrics


class Progress(TypedDict):
    value: float
    """From 0 to 1."""
    message: str | None


class _Progresses(_Ends, total=False):
    progress: Progress


class InProgressStatus(_Details, _Sometimes, _Progresses):
    status: Literal["IN_PROGRESS"]
    metrics: QueueMetrics


class CompletedStatus(_Details, _Sometimes):
    status: Literal["COMPLETED"]
    metrics: FinalMetrics
    success: bool
    error: RequestError | None


Status = Union[InQueueStatus, InProgressStatus, CompletedStatus]


class ResponseWithLogs(TypedDict):
    request_id: str
    status: Literal["COMPLETED"]
    response: Any
    logs: list[LogEntry]
    metrics: FinalMetrics


class CancelAnswer(TypedDict):
    status: Literal["CANCELLED", "CANCELLATION_REQUESTED"]


class CancelCounts(TypedDict):
    cancelled: int
    cancellation_requested: int
    already_completed: int
    unknown: int
    more: bool


Statuses = list[Status | None]


class RequestPage(TypedDict):
    data: list[Status]
    next_cursor: str | None


class _SubmitResult(TypedDict):
    status: int


class SubmitResult(_SubmitResult, total=False):
    """
    `status` 202 and the four fields of a request, or what was wrong with it. `status` 0: the entry was sent again and
    got no answer, so it may have been accepted.
    """

    request_id: str
    response_url: str
    status_url: str
    cancel_url: str
    code: str
    detail: str
    errors: list[FieldError]


SubmitResults = list[SubmitResult]


class TypicalTime(TypedDict):
    """Seconds."""

    p50: float
    p95: float


class ModelGroup(TypedDict):
    id: str
    concurrency: int
    stay_s: float


class ModelReserve(TypedDict):
    high: int
    normal: int


class Model(TypedDict):
    id: str
    description: str
    input_schema: dict[str, Any] | None
    concurrency: int | None
    """None: as many as workers take."""
    group: ModelGroup | None
    """None: its slots are its own."""
    reserve: ModelReserve
    workers: int | None
    """None: no model of workers."""
    waiting: int
    running: int
    load: int
    oldest_wait_s: float | None
    run_time: TypicalTime | None
    queue_time: TypicalTime | None
    availability: Literal["available", "unavailable", "paused"]
    next_probe_at: str | None
    """None: the model is available, or the time is unknown."""


Models = list[Model]


class KeyLimit(TypedDict):
    limit: int
    window_s: int
    remaining: int
    reset_s: int


class KeyLimits(TypedDict):
    submit: list[KeyLimit]
    other: list[KeyLimit]
    batch: list[KeyLimit]


class Allowance(TypedDict):
    used: int
    max: int


class StoredAllowance(TypedDict):
    bytes: int
    files: int
    max_bytes: int
    max_files: int


class KeyAllowances(TypedDict):
    bytes: Allowance
    streams: Allowance
    stored: StoredAllowance


class _Key(TypedDict):
    id: str
    name: str
    scopes: list[str]
    models: list[str] | None
    limits: KeyLimits
    allowances: KeyAllowances
    max_priority: Priority
    max_waiting: int | None
    max_running: int | None
    weight: float
    expires_at: str | None


class Key(_Key, total=False):
    webhook_secret: str
    """With the scope `submit`: for `verify_webhook`."""


class WebhookTry(TypedDict):
    at: str
    status: int | None
    duration_ms: int
    body: str | None
    error: str | None


class WebhookDelivery(TypedDict):
    id: str
    event: str
    url: str
    state: Literal["pending", "delivered", "failed", "ended"]
    next_try_at: str | None
    tries: list[WebhookTry]


WebhookDeliveries = list[WebhookDelivery]


class _RequestEvent(TypedDict):
    timestamp: str
    request_id: str
    model_id: str
    tags: list[str]
    attempt: int


class _CompletedEvent(_RequestEvent):
    type: Literal["request.completed"]
    status: Literal["OK", "ERROR"]
    payload: Any
    error: RequestError | None
    metrics: FinalMetrics
    response_url: str


class CompletedEvent(_CompletedEvent, total=False):
    """The body of `request.completed`."""

    payload_error: Literal["too_large", "gone"]
    """Why `payload` is None though there is an output: it is at `response_url`, unless it is gone."""


class StartedEvent(_RequestEvent):
    """The body of `request.started`."""

    type: Literal["request.started"]
    metrics: QueueMetrics
    status_url: str


class ProgressEvent(_RequestEvent):
    """The body of `request.progress`."""

    type: Literal["request.progress"]
    progress: Progress | None
    """None: the request was erased meanwhile."""
    status_url: str


BatchStatus = Literal[
    "validating", "in_progress", "finalizing", "completed", "failed", "expired", "cancelling", "cancelled"
]


class _BatchLine(TypedDict):
    custom_id: str
    """Names the line in the output and the errors. It is unique in the batch."""
    input: Mapping[str, Any]


class BatchLine(_BatchLine, total=False):
    """A line of the input of a batch."""

    model: str
    """By default the model of the batch."""


class BatchOptions(TypedDict, total=False):
    model: str
    """The model of all lines that name none."""
    tag: str
    """Of the form `key:value`, for lists."""
    webhook: str
    """Called when the batch has ended."""
    priority: Priority
    """By default `low`."""
    completion_window_s: Duration
    """Seconds after which the lines that have not started expire."""


class BatchFilters(TypedDict, total=False):
    """Which batches of the key a list is about."""

    status: BatchStatus
    tag: str


class BatchCounts(TypedDict):
    """Lines by what became of them."""

    total: int | None
    """None: the service has not read the input to its end yet."""
    waiting: int
    running: int
    completed: int
    failed: int
    cancelled: int
    expired: int


class BatchFault(TypedDict):
    """A line that keeps its batch from starting."""

    line: int | None
    """From 1 on. None: the whole file is at fault."""
    code: str
    message: str


class Batch(TypedDict):
    batch_id: str
    status: BatchStatus
    model_id: str | None
    tag: str | None
    priority: Priority
    created_at: str
    started_at: str | None
    ended_at: str | None
    expires_at: str
    counts: BatchCounts
    errors: list[BatchFault]
    webhook: str | None
    batch_url: str
    cancel_url: str
    output_url: str
    errors_url: str


class BatchCompletedEvent(Batch):
    """The body of `batch.completed`: the batch that has ended."""

    type: Literal["batch.completed"]
    timestamp: str


WebhookEvent = Union[CompletedEvent, StartedEvent, ProgressEvent, BatchCompletedEvent]
"""The body of a webhook. Its `type` tells which event it is."""


class BatchOutput(TypedDict):
    """A line that succeeded."""

    custom_id: str
    request_id: str
    output: Any


class _BatchLineError(TypedDict):
    code: str
    message: str


class BatchLineError(_BatchLineError, total=False):
    model_status: int
    model_body: Any


class BatchError(TypedDict):
    """A line that did not succeed."""

    custom_id: str
    request_id: str | None
    """None: the line was never submitted."""
    error: BatchLineError


class WebhookEndpoint(TypedDict):
    """A URL that is called about all requests of the key."""

    id: str
    url: str
    events: list[str]
    created_at: str
    disabled_at: str | None
    """None: it is called."""


class MadeWebhookEndpoint(WebhookEndpoint):
    """An added endpoint."""

    secret: str
    """For `verify_webhook`."""


@dataclass(frozen=True)
class Result:
    """What `run` and `result` give."""

    request_id: str
    output: Any
    """What the model answered."""
    status: CompletedStatus

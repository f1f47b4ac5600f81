from __future__ import annotations

from typing import Any, Literal, Union
from collections.abc import Sequence

from .types import FieldError

ProblemCode = Literal[
    "already_completed",
    "bad_request",
    "batch_ended",
    "batch_not_found",
    "body_too_large",
    "caller_busy",
    "cancelled",
    "changed_meanwhile",
    "claim_conflict",
    "conflict",
    "expired",
    "forbidden",
    "gone",
    "idempotency_key_reused",
    "input_file_not_found",
    "internal_error",
    "invalid_idempotency_key",
    "invalid_input",
    "invalid_json",
    "invalid_key",
    "invalid_models_file",
    "invalid_query",
    "lease_lost",
    "invalid_upload",
    "invalid_upload_url",
    "method_not_allowed",
    "missing_key",
    "model_error",
    "model_paused",
    "model_unavailable",
    "node_lost",
    "not_completed",
    "not_found",
    "overloaded",
    "queue_full",
    "range_not_satisfiable",
    "rate_limited",
    "sign_in_refused",
    "storage_full",
    "timed_out",
    "too_large",
    "too_slow",
    "unavailable",
    "unknown_file",
    "unknown_id",
    "unknown_model",
    "unknown_operation",
    "unknown_request",
    "unsupported_encoding",
    "worker_lost",
    "worker_resting",
    "worker_stopped",
]
"""What the service answers; /docs/errors of the service says what to do about each."""

ClientCode = Literal[
    "connection_failed",
    "deadline_exceeded",
    "invalid_response",
    "invalid_signature",
    "unreadable_file",
    "wrong_event_loop",
    "wrong_process",
]
"""What only this package says."""

ErrorCode = Union[ProblemCode, ClientCode]


class NowServingError(Exception):
    """Whatever goes wrong; `code` says what."""

    code: ErrorCode
    detail: str
    status: int | None
    """The HTTP status, if there was an answer."""
    errors: Sequence[FieldError]
    """Of `invalid_input`: each place of the input that does not fit."""
    details: Any
    """Of `model_error`: what the model said."""
    request_id: str | None
    """The request that it is about, if that is known."""
    call_id: str | None
    """`X-Request-Id` of the answer, for the operator of the service."""
    retry_after: float | None
    """Seconds to wait before trying again, if the service said so."""

    def __init__(
        self,
        code: ErrorCode,
        detail: str,
        *,
        status: int | None = None,
        errors: Sequence[FieldError] = (),
        details: Any = None,
        request_id: str | None = None,
        call_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail
        self.status = status
        self.errors = errors
        self.details = details
        self.request_id = request_id
        self.call_id = call_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        about = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.code}: {self.detail}{about}"

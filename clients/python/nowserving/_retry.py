from __future__ import annotations

from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from ._settings import Settings
from ._steps import Answer, Lost
from .errors import NowServingError

BASE_S = 0.25
CAP_S = 8.0
# For longer waits an error is more useful than a caller that seems to hang. Limits have windows of a minute.
MAX_RETRY_AFTER_S = 120.0
# Codes with which a request has ended: another try changes nothing, whatever the status is.
ENDINGS = {"cancelled", "expired", "model_error", "model_unavailable", "node_lost", "timed_out", "worker_lost"}


def problem_of(outcome: Answer | Lost, request_id: str | None) -> NowServingError | None:
    """Returns the error of an outcome, or None if it is a success."""
    if isinstance(outcome, Lost):
        return NowServingError("connection_failed", outcome.why, request_id=request_id)
    readable = True
    try:
        body = outcome.json
    except ValueError:
        readable, body = False, None
    if 200 <= outcome.status < 300 and readable:
        return None
    problem = body if isinstance(body, dict) and "code" in body else {}
    said = f"The answer to the call was {outcome.status}, and did not come from the service."
    return NowServingError(
        problem.get("code", "invalid_response"),
        problem.get("detail", said),
        status=outcome.status,
        errors=problem.get("errors", ()),
        details=problem.get("details"),
        request_id=request_id,
        call_id=outcome.headers.get("x-request-id"),
        retry_after=retry_after_of(outcome),
    )


def stream_problem_of(outcome: Answer | Lost, type: str, request_id: str | None) -> NowServingError | None:
    """Returns the error of an opened answer, or None if it is a stream of the type."""
    if not isinstance(outcome, Answer) or outcome.status != 200:
        return problem_of(outcome, request_id)
    if outcome.headers.get("content-type", type).lower().startswith(type):
        return None
    said = f"The answer does not have the type {type}."
    return NowServingError("invalid_response", said, status=200, request_id=request_id)


def retry_delay(error: NowServingError, failures: int, settings: Settings, limit: float) -> float | None:
    """Returns the seconds until the next try after this many failures, or None if there is none."""
    if failures > limit or not is_passing(error):
        return None
    own = pause(failures, settings)
    if error.retry_after is None:
        return own
    if error.retry_after > MAX_RETRY_AFTER_S:
        return None
    return max(own, error.retry_after + settings.random() * 0.5)


def pause(failures: int, settings: Settings) -> float:
    """Exponential backoff with jitter in its upper half."""
    longest: float = min(CAP_S, BASE_S * 2 ** (min(failures, 10) - 1))
    return longest * (0.5 + settings.random() / 2)


def is_passing(error: NowServingError) -> bool:
    """Whether the same call may succeed later."""
    if error.code in ENDINGS:
        return False
    if error.code in ("connection_failed", "rate_limited"):
        return True
    # A 2xx that cannot be read was cut during the transfer.
    status = error.status
    return status is not None and (status in (408, 429) or status >= 500 or status < 300)


def is_turned_away(error: NowServingError) -> bool:
    """
    Whether a rate limit refused the call and said when its turn comes. Such a refusal is no failure: the call waits,
    and `retries` does not count it.
    """
    return error.code == "rate_limited" and (error.retry_after or 0) > 0


def retry_after_of(answer: Answer) -> float | None:
    """Returns the seconds of the field, which has seconds or a date (RFC 9110)."""
    text = answer.headers.get("retry-after", "").strip()
    try:
        if text.isdigit():
            return float(text)
        at = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=timezone.utc)
    return max(0.0, (at - datetime.now(timezone.utc)).total_seconds())

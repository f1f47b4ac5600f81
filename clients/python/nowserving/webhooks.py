from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence

from .errors import NowServingError
from .types import WebhookEvent

TOLERANCE_S = 300


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    now: float | None = None,
) -> WebhookEvent:
    """
    The content of a webhook whose signature (Standard Webhooks) is right; NowServingError `invalid_signature` if it
    is not, or more than five minutes old. `body` is the body as it came, `secret` the key's `whsec_…`, or several.
    """
    fields = {name.lower(): value for name, value in headers.items()}
    try:
        id, timestamp, signatures = (fields[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
    except KeyError as missing:
        raise _invalid(f"The header {missing.args[0]} is missing.") from None
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 20):
        raise _invalid("The header webhook-timestamp is not a number of seconds.")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_S:
        raise _invalid("It is more than five minutes old, or the clocks differ by more than that.")

    raw = body.encode() if isinstance(body, str) else bytes(body)
    signed = f"{id}.{timestamp}.".encode() + raw
    given = [part[3:].encode() for part in signatures.split() if part.startswith("v1,")]
    for one in [secret] if isinstance(secret, str) else secret:
        expected = base64.b64encode(hmac.digest(_key(one), signed, hashlib.sha256))
        # `any` gets a list, so that the time does not reveal how many signatures were compared.
        if any([hmac.compare_digest(expected, signature) for signature in given]):
            content: WebhookEvent = json.loads(raw)
            return content
    raise _invalid("No signature matches: the secret is another one, or the body was changed.")


def _key(secret: str) -> bytes:
    text = secret.strip().removeprefix("whsec_")
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        key = b""
    if key == b"":  # anybody can sign with an empty key
        raise ValueError("The secret of a webhook must be whsec_ followed by base64.")
    return key


def _invalid(detail: str) -> NowServingError:
    return NowServingError("invalid_signature", f"The webhook cannot be trusted. {detail}")

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest

from nowserving import NowServingError, verify_webhook

# The example of the Standard Webhooks specification.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(b"another secret of 25 bytes").decode()
BODY = '{"test": 2432232314}'
AT = 1614265330
HEADERS = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": str(AT),
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}


def verify(body: Any = BODY, secret: Any = SECRET, now: float = AT, **headers: str) -> Any:
    changed = {name.replace("_", "-"): value for name, value in headers.items()}
    return verify_webhook(body, {**HEADERS, **changed}, secret, now=now)


def test_a_signed_webhook_is_its_content() -> None:
    assert verify() == json.loads(BODY)
    assert verify(body=BODY.encode(), now=AT + 299) == json.loads(BODY)


def test_the_names_of_headers_have_no_case() -> None:
    headers = {name.title(): value for name, value in HEADERS.items()}
    assert verify_webhook(BODY, headers, SECRET, now=AT) == json.loads(BODY)


def test_one_of_several_signatures_and_secrets_is_enough() -> None:
    key = base64.b64decode(OTHER.removeprefix("whsec_"))
    signed = f"{HEADERS['webhook-id']}.{AT}.{BODY}".encode()
    other = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    both = f"v1a,x v1,{other} {HEADERS['webhook-signature']}"
    assert verify(webhook_signature=both) == json.loads(BODY)
    assert verify(secret=[OTHER, SECRET]) == json.loads(BODY)
    assert OTHER.endswith("=") and verify(webhook_signature=both, secret=OTHER.rstrip("="))


@pytest.mark.parametrize(
    "changes",
    [
        {"body": BODY + " "},
        {"secret": OTHER},
        {"secret": []},
        {"now": AT + 301},
        {"now": AT - 301},
        {"webhook_id": "msg_another"},
        {"webhook_timestamp": str(AT + 1)},
        {"webhook_timestamp": "now"},
        {"webhook_timestamp": "9" * 5_000},
        {"webhook_timestamp": "１６"},
        {"webhook_signature": ""},
        {"webhook_signature": "v1,"},
        {"webhook_signature": "v1,ü"},
        {"webhook_signature": HEADERS["webhook-signature"].replace("v1,", "v2,")},
    ],
)
def test_anything_else_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(NowServingError) as caught:
        verify(**changes)
    assert caught.value.code == "invalid_signature"


def test_a_missing_header_is_named() -> None:
    with pytest.raises(NowServingError, match="webhook-signature"):
        verify_webhook(BODY, {k: v for k, v in HEADERS.items() if "sig" not in k}, SECRET)


def test_a_secret_that_is_none_is_a_mistake_of_the_caller() -> None:
    for none in ("whsec_?", "whsec_", ""):
        empty = base64.b64encode(hmac.digest(b"", f"{HEADERS['webhook-id']}.{AT}.{BODY}".encode(), hashlib.sha256))
        with pytest.raises(ValueError, match="whsec_"):
            verify(secret=none, webhook_signature=f"v1,{empty.decode()}")


def test_the_line_end_of_a_secret_is_no_part_of_it() -> None:
    assert verify(secret=f"{SECRET}\n") == json.loads(BODY)

"""Batches: their input is written to a file and uploaded, and their files are read line by line."""

from __future__ import annotations

import json
import math
import tempfile
from typing import Any, BinaryIO, Union, cast
from collections.abc import Callable, Mapping

from . import _calls as calls
from . import _files as files
from ._lines import Lines
from ._retry import stream_problem_of
from ._sending import Deadline, result, send, wait_to_retry
from ._settings import Settings
from ._steps import Close, Emit, Flow, Lost, Open, Read, Sleep
from .errors import NowServingError
from .types import Batch, BatchCounts

Source = Union[str, files.Uploadable]
"""The URL of an uploaded file, or what is uploaded."""

NAME = "batch.jsonl"
TYPE = "application/x-ndjson"
FIRST_POLL_S = 0.5
LAST_POLL_S = 10.0
# A file is read while it grows no further, so it is never silent for long.
SILENCE_S = 45.0


def spool() -> BinaryIO:
    """Returns a file for lines, which is deleted once it is closed. So lines that can be read once are sent again, too."""
    return cast(BinaryIO, tempfile.TemporaryFile())


def line(settings: Settings, given: Mapping[str, Any]) -> Flow[bytes]:
    """Returns the text of a line, with URLs in place of files."""
    written = calls.batch_line(given)
    if files.has_files(written):
        written = yield from files.uploaded(settings, written)
    return json.dumps(written, allow_nan=False).encode() + b"\n"


def create(settings: Settings, source: Source, key: str | None, options: Mapping[str, Any]) -> Flow[Batch]:
    headers = calls.idempotency(key)
    url = source if isinstance(source, str) else (yield from files.upload(settings, source, NAME, TYPE))
    body = {"input_file": url, **options}
    sent = calls.call(settings, "POST", calls.BATCHES, headers=headers, body=body)
    return cast(Batch, (yield from result(settings, sent)))


def wait(
    settings: Settings,
    batch_id: str,
    on_counts: Callable[[BatchCounts], object] | None,
    deadline: Deadline,
) -> Flow[Batch]:
    """Once there was an answer, an outage may last as long as it likes."""
    asks = calls.call(settings, "GET", calls.batch_path(batch_id))
    limit: float | None = None
    seen: BatchCounts | None = None
    poll_s = FIRST_POLL_S
    while True:
        answer = yield from send(settings, asks, deadline=deadline, limit=limit)
        limit = math.inf
        batch: Batch = answer.json
        if batch["counts"] != seen and on_counts is not None:
            on_counts(batch["counts"])
        seen = batch["counts"]
        if batch["ended_at"] is not None:
            return batch
        pause_s = poll_s * (1 + settings.random() / 4)
        deadline.check(None, ahead_s=pause_s)
        yield Sleep(pause_s)
        poll_s = min(LAST_POLL_S, poll_s * 1.5)


def lines(settings: Settings, path: str) -> Flow[None]:
    """Emits the lines of a file, each once. After a broken connection the file is read again from its beginning."""
    # While the batch runs, lines may move within the file. So what was emitted is known by its id, not by its place.
    # Lines that the service could not read have no id. They are counted.
    emitted: set[str | int] = set()
    limit: float = settings.retries
    failures = 0
    asks = calls.call(settings, "GET", path, headers={"accept": f"{TYPE}, application/problem+json"})
    while True:
        outcome = yield Open(asks, SILENCE_S, shows_end=True)
        error = stream_problem_of(outcome, TYPE, None)
        split = Lines()
        unread = 0
        while error is None:
            chunk = yield Read()
            if chunk is None and split.rest == b"":
                yield Close()
                return
            if chunk is None or isinstance(chunk, Lost):
                why = chunk.why if isinstance(chunk, Lost) else "The last line is truncated."
                error = NowServingError("connection_failed", why)
                break
            for text in split.feed(chunk):
                limit = math.inf
                parsed = json.loads(text)
                unread += parsed["custom_id"] == ""
                known_by = parsed["custom_id"] or unread
                if known_by not in emitted:
                    emitted.add(known_by)
                    failures = 0
                    yield Emit(parsed)
        yield Close()
        failures = yield from wait_to_retry(settings, error, failures, Deadline(settings, None), limit)

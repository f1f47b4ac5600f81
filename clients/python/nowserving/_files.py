"""Uploads: files in an input are sent before the request, and replaced by their URLs."""

from __future__ import annotations

import mimetypes
import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Union
from collections.abc import Mapping

from . import _calls as calls
from . import _sending as sending
from ._retry import problem_of
from ._settings import Settings, __version__
from ._steps import Call, Content, Flow, Send
from .errors import NowServingError

Uploadable = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, BinaryIO]


@dataclass(frozen=True)
class _Local:
    content: Content
    is_repeatable: bool


def upload(
    settings: Settings,
    given: Uploadable,
    name: str | None,
    content_type: str | None,
    deadline: sending.Deadline | None = None,
) -> Flow[str]:
    deadline = deadline or sending.Deadline(settings, None)
    local = _local(given)
    content = local.content
    name = name or content.name
    content_type = content_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
    body = {"content_type": content_type, "file_name": name}
    initiate = calls.call(settings, "POST", "/v1/storage/upload/initiate", body=body)
    urls = (yield from sending.send(settings, initiate, deadline=deadline)).json
    headers = {"content-type": content_type, "user-agent": f"nowserving-python/{__version__}"}
    if content.size is not None:
        headers["content-length"] = str(content.size)
    put = Call("PUT", urls["upload_url"], headers=headers, body=content)
    failures = 0
    while True:
        deadline.check(None)
        outcome = yield Send(put, deadline.bound(settings.timeout_s))
        error = problem_of(outcome, None)
        if error is None:
            if outcome.json.get("sha256", content.sum) != content.sum:
                raise NowServingError("invalid_response", "The service did not store the file as it was sent.")
            return str(urls["file_url"])
        if failures > 0 and error.status == 409:  # the try before had arrived, but its answer was lost
            return str(urls["file_url"])
        if not local.is_repeatable:
            raise error
        failures = yield from sending.wait_to_retry(settings, error, failures, deadline)


def has_files(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(has_files(part) for part in value.values())
    if isinstance(value, (list, tuple)):
        return any(has_files(part) for part in value)
    return is_file(value)


def uploaded(
    settings: Settings,
    value: Any,
    deadline: sending.Deadline | None = None,
    urls: dict[int, str] | None = None,
) -> Flow[Any]:
    """Returns the value with URLs in place of files. A file that occurs twice is uploaded once."""
    urls = {} if urls is None else urls
    if isinstance(value, Mapping):
        parts = {}
        for name, part in value.items():
            parts[name] = yield from uploaded(settings, part, deadline, urls)
        return parts
    if isinstance(value, (list, tuple)):
        items = []
        for part in value:
            items.append((yield from uploaded(settings, part, deadline, urls)))
        return items
    if not is_file(value):
        return value
    if id(value) not in urls:
        urls[id(value)] = yield from upload(settings, value, None, None, deadline)
    return urls[id(value)]


def is_file(value: Any) -> bool:
    """A str is text, even if it is a path."""
    return isinstance(value, (os.PathLike, bytes, bytearray, memoryview)) or callable(
        getattr(value, "read", None)
    )


def _local(given: Any) -> _Local:
    if isinstance(given, (bytes, bytearray, memoryview)):
        whole = bytes(given)
        return _Local(Content(lambda: BytesIO(whole), True, "file", len(whole)), True)
    if isinstance(given, (str, os.PathLike)):
        path = Path(given)
        return _Local(Content(lambda: path.open("rb"), True, path.name, path.stat().st_size), True)
    name = getattr(given, "name", None)
    name = os.path.basename(name) if isinstance(name, str) else "file"
    try:
        start = given.tell()
        size = given.seek(0, os.SEEK_END) - start
        given.seek(start)
    except (AttributeError, OSError, ValueError):
        return _Local(Content(lambda: given, False, name, None), False)

    def again() -> BinaryIO:
        given.seek(start)
        file: BinaryIO = given
        return file

    return _Local(Content(again, False, name, size), True)

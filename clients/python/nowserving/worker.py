"""Runs the requests of a model of Now Serving: a worker. Python 3.9 or newer, and nothing else.

This file may be copied: it needs neither the rest of this package nor any other one.

    from nowserving.worker import serve          # or, beside a copy: from worker import serve

    @serve("me/text/story", concurrency=4)
    def story(input, run):
        for word in input["prompt"].split():
            yield word + " "                     # streamed, and joined as the output

NOWSERVING_URL says where the service is, NOWSERVING_KEY holds a key with the scope `work`.
"""

from __future__ import annotations

import asyncio
import email.utils
import errno
import functools
import hashlib
import http.client
import inspect
import io
import json
import math
import mimetypes
import os
import queue
import random
import re
import selectors
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request
import uuid
from collections.abc import AsyncIterable, Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import IO, Any, NamedTuple, Optional, Union
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

__all__ = ["Away", "Fail", "Retry", "Run", "Stopped", "TransferError", "serve"]

CLAIM_WAIT_S = 20
# Runs per claim.
MAX_RUNS = 100
# A beat renews at most this many leases.
MAX_CONCURRENCY = 1_000
# A handler may block the interpreter for 20 s, so the last beat must be recent.
BEAT_WAIT_S = 5
# This long after a claim a waiting beat is cut and sent again, with the new leases.
NEW_LEASE_S = 0.25
BATCH_S = 0.1
BATCH_BYTES = 16 * 1024
MAX_PENDING_BYTES = 1024 * 1024
# Types of which only the last event counts.
REPLACEABLE = ("progress", "usage")
MAX_TEXT = 8_192
MAX_FAILURE = 500
# A call under a lease must be made before the lease ends.
LEASED_PAUSE_S = 8.0
PATIENCE_S = 30.0
# The call that begins an upload. A cancel does not end it, so it must end before its handler counts as stuck.
UPLOAD_PATIENCE_S = 10.0
# Time for runs to end by themselves after they were asked to stop.
ABORT_S = 2.0
# Time for the last call of a worker, which returns its requests to the queue. A further signal ends it.
LEAVE_S = 5.0
# The exit code of a worker that ends because a handler does not return.
STUCK_EXIT = 70
# How often the worker looks whether it may claim again.
LOOK_S = 1.0
READY_TIMEOUT_S = 5.0
BYTES_PER_S = 64 * 1024
# A longer pause is more than a lock can wait for.
MAX_PAUSE_S = 1e6
# Statuses below 500 after which another try may succeed.
PASSING = (408, 409, 425, 429)
# A file that is not there, or not any more.
MISSING = (404, 410)
# The service, or a proxy before it, is away or has no room. Calls are retried while the lease lasts.
AWAY = (408, 425, 429, 502, 503, 504, 507)
# Failures in a row of a transfer that makes no progress for another reason.
MAX_TRIES = 6
BLOCK_BYTES = 256 * 1024
# A segment of dots in a path, which something between worker and service may resolve even if it is encoded.
DOTS = re.compile(r"(/|%2f|%5c)(\.|%2e){1,2}(/|%2f|%5c|$)", re.IGNORECASE)
# The path of a URL for an upload, below any root.
UPLOAD = re.compile(r"/v1/storage/uploads/[^/]+$")
# A model's code may seed the module's own generator, and all its workers would then retry at the same moments.
JITTER = random.SystemRandom().random

Handler = Callable[[Any, "Run"], Any]
Content = Union[bytes, str, "os.PathLike[str]", IO[bytes]]


class Retry(Exception):
    """Raised by a handler: this attempt failed, another one may not. `after` is in seconds."""

    # Also for a subclass that does not call this __init__.
    after: float | None = None

    def __init__(self, message: str = "The worker asked for another attempt.", *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Away(Exception):
    """Raised or returned by a handler: it can run nothing yet, for example because its backend loads.

    The run goes back to the queue at no cost to its attempts. It starts again after `after` seconds or later. Until
    then this worker sends no claim for the model.
    """

    after: float = 5.0

    def __init__(self, message: str = "The worker's backend is away.", *, after: float = 5.0) -> None:
        super().__init__(message)
        if not 0 <= after < math.inf:
            raise ValueError(f"The seconds of Away must be a number of at least 0, not {after}.")
        self.after = float(after)


class Fail(Exception):
    """Raised by a handler: no other attempt would do better. All of it is shown to the caller."""

    status: int | None = None
    details: Any = None

    def __init__(self, message: str, *, status: int | None = None, details: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.details = details


class Stopped(Exception):
    """The run must stop; `reason` is cancelled, timed_out, lost or shutdown."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The run must stop: {reason}.")
        self.reason = reason


class TransferError(OSError):
    """Raised by `run.download` and `run.upload`: a file did not come, or go, as a whole. `status`: what was answered."""

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class Cancelled(threading.Event):
    """Whether a run must stop. It may be asked, called, or waited for."""

    reason: str = ""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._calls: list[Callable[[], Any]] = []

    def set(self) -> None:
        with self._lock:
            super().set()
            calls, self._calls = self._calls, []
        for call in calls:
            call()

    def then(self, call: Callable[[], Any]) -> None:
        """Calls once the run must stop, from any thread; at once if it must already."""
        with self._lock:
            if not self.is_set():
                self._calls.append(call)
                return
        call()

    def forget(self, call: Callable[[], Any]) -> None:
        with self._lock:
            if call in self._calls:
                self._calls.remove(call)

    def __bool__(self) -> bool:
        return self.is_set()

    __call__ = __bool__


def _pieces(delta: Any) -> list[Any]:
    """Returns a delta in pieces that are small enough for the service."""
    if not isinstance(delta, str):
        return [delta]
    return [delta[start : start + MAX_TEXT] for start in range(0, max(len(delta), 1), MAX_TEXT)]


def _deadline(remaining_ms: float | None) -> str | None:
    """When a run ends in any case, by the clock of this machine, as RFC 3339 has it."""
    if remaining_ms is None:
        return None
    at = datetime.now(timezone.utc) + timedelta(milliseconds=remaining_ms)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Run:
    """One attempt of one request, in the hands of its handler."""

    def __init__(
        self,
        claimed: Mapping[str, Any],
        add: Callable[[dict[str, Any]], None],
        files: _Files | _LocalFiles,
        has_room: Callable[[], bool] = lambda: True,
    ) -> None:
        self.request_id: str = claimed["request_id"]
        self.model: str = claimed["model_id"]
        self.attempt: int = claimed["attempt"]
        # The name of the key that submitted the request; None: it was submitted without one.
        self.key_name: str | None = claimed.get("key_name")
        # As `key:value`.
        self.tags: list[str] = list(claimed.get("tags") or ())
        self.priority: str = claimed.get("priority", "normal")
        self.deadline: str | None = _deadline(claimed.get("remaining_ms"))
        self.traceparent: str | None = claimed.get("traceparent")
        self.cancelled = Cancelled()
        self._pid = os.getpid()
        # Lets the worker end when its runs have ended.
        self._retire: Callable[[], None] = lambda: None
        self._add_event = add
        self._files = files
        # Returns whether another delta would not have to wait.
        self._has_room = has_room

    def _add(self, event: dict[str, Any]) -> None:
        if os.getpid() != self._pid:  # the thread that sends events is the parent's
            said = "run.log, run.progress, run.usage, run.delta and yield are for the worker's own process, not for one forked by the handler."
            raise RuntimeError(f"{said} Pass it to that one, by a pipe or a multiprocessing.Queue, say.")
        self._add_event(event)

    def log(self, message: str, level: str = "INFO") -> None:
        """Shows in the status and its stream."""
        self._add({"type": "log", "level": level, "message": str(message)[:MAX_TEXT]})

    def progress(self, value: float, message: str | None = None) -> None:
        """From 0 to 1; the last one shows."""
        if not 0 <= value <= 1:
            raise ValueError(f"Progress must be from 0 to 1, not {value}.")
        said = {} if message is None else {"message": message}
        self._add({"type": "progress", "value": value, **said})

    def usage(self, used: Mapping[str, Any]) -> None:
        """What the run has used so far, such as {"tokens": 48}; the last one becomes `metrics.usage`."""
        self._add({"type": "usage", "usage": dict(used)})

    def delta(self, value: Any) -> None:
        """A piece of the output, shown at once. Texts in a row are joined, others listed, unless the handler gives an output.

        Waits while more than 1 MiB is still to be sent. In an `async def` use `yield`, which lets other handlers run.
        """
        for piece in _pieces(value):
            self._add({"type": "delta", "delta": piece})

    def download(self, url: str, to: str | os.PathLike[str] | None = None) -> Any:
        """The bytes of a file of the service, or of an origin that `downloads` allows; `to`: into that file.

        Only a whole file is handed over: one that breaks off goes on where it was, or begins again. TransferError:
        it could not be had whole, and there is no file `to`.
        """
        return self._files.download(url, None if to is None else Path(to), self.cancelled)

    def upload(self, name: str, content: Content, content_type: str | None = None) -> str:
        """Keeps a file (bytes, a path or an open file): the URL for the output. TransferError: it could not be sent whole."""
        guessed = content_type or mimetypes.guess_type(name)[0] or "application/octet-stream"
        return self._files.upload(os.path.basename(name), content, guessed)


def serve(
    models: str | Mapping[str, Handler],
    *,
    concurrency: int | Callable[[], int] = 1,
    url: str | None = None,
    key: str | None = None,
    name: str | None = None,
    version: str | None = None,
    labels: Mapping[str, str] | None = None,
    grace: float = 25.0,
    stuck: float = 30.0,
    ready: str | Callable[[], Any] | None = None,
    downloads: Sequence[str] = (),
) -> Any:
    """Runs the requests of a model until SIGTERM or SIGINT, then ends what runs, for `grace` seconds at most.

    `grace` and `stuck` are in seconds. In TypeScript they are in milliseconds.

    A handler may be an `async def`, also one that yields. All of them share one event loop, and a run that must stop is
    cancelled as a task.

    `concurrency` may be a function, which is called before each claim: the number may change while the worker runs.
    `ready` is a URL or a function, also an `async def`: nothing is claimed until the URL is answered 2xx, or the
    function returns something true. `stuck`: a handler that has not returned this many seconds after its run was over
    ends the process with exit code 70. First the worker hands back its other runs.

    `@serve("me/x")` serves where it stands, in the program that is started, so it comes last; a module that is
    imported serves nothing. `serve({"me/x": handler, …})` serves several, from anywhere but a child of multiprocessing
    that imports the program again. In a program that was
    started with `--try '{…}'` it runs that input once, without a service.
    """

    def start(handlers: Mapping[str, Handler]) -> None:
        if _is_imported_by_multiprocessing():
            return
        tried = _tried_input(sys.argv[1:])
        if tried is not None:
            _try_once(handlers, tried)
            return
        address = url or os.environ.get("NOWSERVING_URL")
        if not address:
            raise ValueError('The address of the service is missing. Set NOWSERVING_URL, or the option "url".')
        if not _is_http(address):
            raise ValueError(f"The address of the service must begin with http:// or https://, unlike {address}.")
        if not callable(concurrency) and concurrency < 1:
            raise ValueError(f"The concurrency must be a whole number of at least 1, not {concurrency}.")
        if not callable(concurrency):
            _assert_not_above(concurrency)
        if isinstance(ready, str) and not _is_http(ready):
            raise ValueError('The URL of the option "ready" must begin with http:// or https://.')
        if not handlers:
            raise ValueError("There is no model to serve.")
        about = {"name": name or socket.gethostname(), "version": version, "labels": dict(labels or {})}
        if not _is_json(about):
            raise ValueError("The name, the version and the labels of the worker must be JSON values.")
        secret = key or os.environ.get("NOWSERVING_KEY")
        options = _Options(concurrency, grace, stuck, ready, tuple(downloads))
        _Worker(dict(handlers), _Service(address, secret), about, options).work()

    def decorate(handler: Handler) -> Handler:
        if getattr(handler, "__module__", None) == "__main__":
            start({str(models): handler})
        return handler

    if isinstance(models, str):
        return decorate
    return start(models)


def _assert_not_above(concurrency: int) -> None:
    if concurrency > MAX_CONCURRENCY:
        raise ValueError(f"The concurrency must be {MAX_CONCURRENCY} at most, not {concurrency}.")


def _is_http(url: str) -> bool:
    return re.match(r"https?://[^/]", url) is not None


class _Options(NamedTuple):
    concurrency: int | Callable[[], int]
    grace: float
    stuck: float
    ready: str | Callable[[], Any] | None
    downloads: Sequence[str]


def say(line: str) -> None:
    try:
        print(f"nowserving: {line}", file=sys.stderr, flush=True)
    except (OSError, ValueError):
        pass  # nobody reads standard error any more


class Backoff:
    """Pauses with full jitter over a window that doubles with each failure in a row, from 1 s."""

    def __init__(self, max_s: float = 64.0, chance: Callable[[], float] = JITTER) -> None:
        self._max_s = max_s
        self._chance = chance
        self._window_s = 1.0

    @property
    def has_failed(self) -> bool:
        """Whether there was a failure since the last success."""
        return self._window_s > 1.0

    def next(self, retry_after: float | None = None) -> float:
        pause = self._chance() * self._window_s
        self._window_s = min(self._window_s * 2, self._max_s)
        return pause if retry_after is None else retry_after + self._chance()

    def reset(self) -> None:
        self._window_s = 1.0


class Hold:
    """How long calls may wait. A proxy may cut connections that are silent for long."""

    def __init__(self, max_s: int) -> None:
        self._max_s = max_s
        self.seconds = max_s

    def answered(self) -> None:
        self.seconds = min(self.seconds + 1, self._max_s)

    def broken(self, after_s: float) -> None:
        if after_s >= 1:  # a call that breaks sooner was not waiting
            self.seconds = max(1, self.seconds // 2)


class Answer:
    def __init__(self, status: int, fields: Mapping[str, str], data: bytes) -> None:
        self.status = status
        self.is_success = 200 <= status <= 299
        body: Any = None
        try:
            body = {} if status == 204 else _parsed(data)
        except ValueError:
            if self.is_success:
                raise
        if self.is_success and not isinstance(body, dict):
            raise ValueError("The answer is not a JSON object.")
        self.body: dict[str, Any] = body if isinstance(body, dict) else {}
        self.code = self.body.get("code")
        self.detail = str(self.body.get("detail", f"The service answered {status}."))
        self.retry_after = _seconds(fields.get("retry-after"))

    @property
    def is_passing(self) -> bool:
        """Overload, or an answer from something other than the service: another try may succeed."""
        if self.is_success:
            return False
        return self.code in (None, "rate_limited") or self.status in (408, 425, 429) or self.status >= 500

    @property
    def is_decided(self) -> bool:
        """Whether the answer is final. A refused key may become valid again while the lease lasts.

        A body that is too large stays so, also if a proxy says it.
        """
        return self.status == 413 or (not self.is_passing and self.status not in (401, 403))


def _parsed(data: str | bytes) -> Any:
    """Reads JSON, also whole numbers of more than 4,300 digits, which Python refuses."""
    try:
        return json.loads(data)
    except ValueError:
        return json.loads(data, parse_int=_number)


def _number(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:
        return float(digits)


def _read(response: http.client.HTTPResponse) -> Answer:
    data = response.read()
    return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, data)


def _seconds(field: str | None) -> float | None:
    if field is None:
        return None
    try:
        if field.isdigit():
            return min(float(field), MAX_PAUSE_S)
        seconds = email.utils.parsedate_to_datetime(field).timestamp() - time.time()
        return min(max(0.0, seconds), MAX_PAUSE_S)
    except (OverflowError, TypeError, ValueError):
        return None


class _Line:
    """A kept connection. One thread calls at a time; another may cut it."""

    def __init__(self, base: str) -> None:
        self._base = urlsplit(base)
        self._connection: Optional[http.client.HTTPConnection] = None
        self._cuts = 0

    def call(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], timeout: float) -> Answer:
        cuts, was_open = self._cuts, self._connection is not None
        try:
            return self._once(method, path, body, headers, timeout)
        except (http.client.HTTPException, OSError) as error:
            # An idle connection may have been closed. All calls may be repeated.
            if not was_open or self._cuts != cuts or isinstance(error, socket.timeout):
                raise
        return self._once(method, path, body, headers, timeout)

    def cut(self) -> None:
        self._cuts += 1
        sock = getattr(self._connection, "sock", None)
        if sock is not None:
            try:
                # Not the method of an SSLSocket, which is not for two threads at once.
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
            except (OSError, ValueError):
                pass

    def _once(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], timeout: float) -> Answer:
        if self._connection is None:
            kind = http.client.HTTPSConnection if self._base.scheme == "https" else http.client.HTTPConnection
            self._connection = kind(self._base.netloc, timeout=timeout)
        connection = self._connection
        try:
            is_new = connection.sock is None
            if is_new:
                connection.connect()
            sock: socket.socket = connection.sock
            if is_new:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.settimeout(timeout)
            is_cut = False
            try:
                connection.request(method, self._base.path + path, body, dict(headers))
            except ConnectionError:
                is_cut = True  # the service may have answered with a reason before it had the whole body
            response = connection.getresponse()
            answer = _read(response)
            if is_cut or response.will_close:
                self._close()
            return answer
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _Service:
    """The calls of the worker's protocol. All of them may be repeated."""

    def __init__(self, url: str, key: str | None) -> None:
        self.base = url.rstrip("/")
        secret = "" if key is None else key.strip()  # such as the line end of a file
        # The error of a header would show the key.
        if not (secret.isascii() and secret.isprintable()):
            raise ValueError("The key has characters that no key has.")
        self.authorization = {"Authorization": f"Key {secret}"} if secret else {}
        self._pid = os.getpid()
        self._idle: list[_Line] = []

    @property
    def is_inherited(self) -> bool:
        """Whether a handler forked this process: the connections and the lease are those of its parent."""
        return os.getpid() != self._pid

    def line(self) -> _Line:
        return _Line(self.base)

    def once(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        token: str | None = None,
        content_type: str = "application/json",
        wait: int | None = None,
        line: _Line | None = None,
        patience_s: float = PATIENCE_S,
    ) -> Answer:
        """Makes one try. Raises if no readable answer came."""
        headers = dict(self.authorization)
        if body is not None:
            headers["Content-Type"] = content_type
        if token is not None:
            headers["Lease-Token"] = token
        timeout = patience_s
        if wait is not None:
            headers["Prefer"] = f"wait={wait}"
            timeout = wait + 10.0
        timeout += len(body or b"") / BYTES_PER_S
        if line is not None:
            return line.call(method, "/v1/worker" + path, body, headers, timeout)
        if self.is_inherited:
            return self.line().call(method, "/v1/worker" + path, body, {**headers, "Connection": "close"}, timeout)
        try:
            kept = self._idle.pop()
        except IndexError:
            kept = self.line()
        answer = kept.call(method, "/v1/worker" + path, body, headers, timeout)
        self._idle.append(kept)
        return answer

    def until_decided(self, gone: threading.Event, method: str, path: str, body: bytes | None, **how: Any) -> Answer | None:
        """Retries until the service has decided in any way; None once `gone` is set."""
        backoff = Backoff(LEASED_PAUSE_S)
        while not gone.is_set():
            retry_after = None
            try:
                answer = self.once(method, path, body, **how)
                if answer.is_decided:
                    return answer
                retry_after = answer.retry_after
            except Exception:
                pass
            gone.wait(backoff.next(retry_after))
        return None


class Events:
    """The events of one run: sent in batches, the first at once, in their order, again until each has arrived.

    `send(lines, from)` gives the number of the next, a text that says why the lines were refused, or None at the end.
    """

    def __init__(self, send: Callable[[bytes, int], Union[int, str, None]]) -> None:
        self.refusal: str | None = None
        self.has_deltas = False
        self._send = send
        self._changed = threading.Condition()
        self._pending: list[tuple[str, bytes]] = []
        self._in_flight = 0
        self._bytes = 0
        self._first = 0
        self._dropped = 0
        self._is_over = False
        self._is_stopping = False
        self._is_hurried = False
        self._thread: threading.Thread | None = None

    def add(self, event: dict[str, Any]) -> None:
        kind, line = event["type"], _json(event) + b"\n"
        with self._changed:
            if kind == "log" and self._bytes > MAX_PENDING_BYTES:
                self._dropped += 1
                return
            while kind == "delta" and self._bytes > MAX_PENDING_BYTES and not self._is_over:
                if self._is_stopping:
                    return  # the deltas of a run that must stop are not its output
                self._changed.wait()
            if self._is_over:
                return
            if self._thread is None:
                # No event may wait for a thread that cannot start.
                thread = threading.Thread(target=self._send_all, name="nowserving-events", daemon=True)
                thread.start()
                self._thread = thread
            self.has_deltas = self.has_deltas or kind == "delta"
            if kind in REPLACEABLE and len(self._pending) > self._in_flight and self._pending[-1][0] == kind:
                self._bytes -= len(self._pending.pop()[1])
            self._pending.append((kind, line))
            self._bytes += len(line)
            self._changed.notify_all()

    def has_room(self) -> bool:
        """Whether a delta can be added without a wait."""
        return self._bytes <= MAX_PENDING_BYTES or self._is_over

    def flush(self) -> None:
        """Returns when all events have arrived, or none can arrive any more."""
        with self._changed:
            self._is_hurried = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._is_over or not self._pending)
            self._is_hurried = False

    def stop_waiting(self) -> None:
        """The run must stop, so its handler waits for no room any more."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def _send_all(self) -> None:
        last, most = -math.inf, sys.maxsize
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_over or len(self._pending) > 0)
                due = last + BATCH_S - time.monotonic()
                if due > 0:
                    self._changed.wait_for(self._is_due, timeout=due)
                if self._is_over:
                    return
                count = self._batch(most)
                lines = b"".join(line for _, line in self._pending[:count])
                self._in_flight = count
            last = time.monotonic()
            sent = self._send(lines, self._first)
            with self._changed:
                self._in_flight = 0
                if sent is None:
                    self._is_over = True
                elif isinstance(sent, int):
                    most = sys.maxsize
                    self._remove(max(0, sent - self._first))
                    if sent <= self._first:
                        self._changed.wait(BATCH_S)
                    self._first = sent
                elif count > 1:
                    most = 1
                else:  # the line after it takes its number
                    if self._pending[0][0] == "delta":
                        self.refusal = self.refusal or sent
                    self._remove(1)
                dropped, self._dropped = (self._dropped, 0) if self._bytes < BATCH_BYTES else (0, self._dropped)
                if dropped:
                    told = f"{dropped} log lines were dropped, because they could not be sent fast enough."
                    self.add({"type": "log", "level": "WARN", "message": told})
                self._changed.notify_all()

    def _is_due(self) -> bool:
        return self._is_over or self._is_hurried or self._bytes >= BATCH_BYTES

    def _batch(self, most: int) -> int:
        size = 0
        for index, (_, line) in enumerate(self._pending):
            size += len(line)
            if index > 0 and (size > BATCH_BYTES or index >= most):
                return index
        return len(self._pending)

    def _remove(self, count: int) -> None:
        self._bytes -= sum(len(line) for _, line in self._pending[:count])
        del self._pending[:count]


class _Leased:
    """A run under its lease: from the claim until its end is recorded or the lease is lost."""

    def __init__(
        self,
        claimed: Mapping[str, Any],
        handler: Handler,
        service: _Service,
        downloads: Sequence[str],
        deadline_s: float,
        pause: Callable[[str, float], None] = lambda *_: None,
    ) -> None:
        self.request_id: str = claimed["request_id"]
        self.token: str = claimed["lease_token"]
        self.deadline_s = deadline_s
        self.gone = threading.Event()
        # Set once no end of the run counts, or once its handler has outlived it for too long to wait for an upload.
        self._useless = Cancelled()
        self._is_ending = False
        self._is_lost = False
        self._over_at: float | None = None
        # Called with a model and the seconds for which no run of it can be carried out here.
        self._pause = pause
        self._claimed = claimed
        self._handler = handler
        self._service = service
        self._events = Events(self._send)
        files = _Files(service, f"/runs/{self.request_id}/files", self.token, downloads, self._useless)
        self.run = Run(claimed, self._events.add, files, self._events.has_room)

    def carry_out(self) -> None:
        end = self._end()
        self._is_ending = True
        self._events.flush()
        if self._events.refusal is not None:
            end = "failure", {"message": self._events.refusal, "retryable": False}
        self._tell(*end)
        self._close()

    def stop(self, reason: str) -> None:
        if not self.run.cancelled.is_set():
            if reason != "shutdown":
                self._over_at = time.monotonic()
            self.run.cancelled.reason = reason
            self.run.cancelled.set()
            self._events.stop_waiting()
            if reason == "timed_out":
                self._useless.set()

    def end_uploads(self) -> None:
        self._useless.set()

    @property
    def outlived_s(self) -> float:
        """The seconds for which the handler has gone on since its run was over."""
        return 0.0 if self._over_at is None or self._is_ending else time.monotonic() - self._over_at

    def lose(self) -> None:
        if self.gone.is_set():
            return
        if self._is_ending:
            # The end has been taken, or never will be. A call under way still gets its answer.
            self._is_lost = True
            self.gone.set()
            return
        say(f"{self.request_id}: the lease is lost; later results of the run are ignored")
        self._close()
        self.stop("lost")

    def abandon(self) -> None:
        """Ends the work on the run, whatever its handler still does. The worker leaves next, which returns the request."""
        self._close()
        self.stop("shutdown")

    def release(self) -> None:
        """Hands the request back at no cost to it."""
        self.abandon()
        try:
            self._service.once("POST", self._path("release"), b"", token=self.token)
        except Exception:
            pass  # the worker gives up all its leases when it leaves

    def _close(self) -> None:
        self.gone.set()
        self._useless.set()
        self._events.close()

    def _path(self, call: str) -> str:
        return f"/runs/{self.request_id}/{call}"

    def _end(self) -> tuple[str, Any]:
        try:
            output = _execute(self._handler, self._input(), self.run)
            _end_forked(self.run, None)
            if output is None and self._events.has_deltas:
                return "output", b""  # the deltas are the output
            return "output", _output_json(output)
        except BaseException as error:
            _end_forked(self.run, error)
            reason = self.run.cancelled.reason
            if reason == "shutdown":
                return "release", None
            # After a timeout the service ends the run by itself, and decides whether there is another attempt.
            if reason in ("timed_out", "lost"):
                return "silence", None
            if reason:
                return "failure", failure_of(Stopped(reason))
            if isinstance(error, Away):
                model = self.run.model
                say(f"{self.request_id}: the run is handed back, and no run of {model} is claimed for {error.after:g} s: {_text(error)}")
                self._pause(model, error.after)
                return "release", _told(retry_after_s=error.after)
            failure = failure_of(error)
            is_meant = isinstance(error, (Fail, Retry))
            say(f"{self.request_id}: {failure['message'] if is_meant else traceback.format_exc().rstrip()}")
            return "failure", failure

    def _input(self) -> Any:
        if self._claimed.get("input_url") is None:
            return self._claimed.get("input")
        return _parsed(self.run.download(self._claimed["input_url"]))

    def _tell(self, kind: str, what: Any) -> None:
        """Sends the end of the run until it is taken or the lease is lost."""
        if kind == "silence":
            return
        body = what if kind == "output" else _body_of(what)
        method = "POST" if kind == "release" else "PUT"
        answer = self._service.until_decided(self.gone, method, self._path(kind), body, token=self.token)
        if answer is None:
            if self._is_lost:
                say(f"{self.request_id}: the lease is lost, and the service has not confirmed the end of the run")
            return
        if answer.is_success:
            return
        is_refused = answer.status not in (404, 409, 410)  # for example too large, or an invalid status
        if is_refused and kind == "output":
            self._tell("failure", {"message": answer.detail, "retryable": False})
        elif is_refused and kind == "failure" and len(what) > 2:
            self._tell("failure", {name: what[name] for name in ("message", "retryable")})
        elif is_refused and kind == "release" and what is not None:
            self._tell("release", None)
        else:
            say(f"{self.request_id}: the service refused its end: {answer.detail}")

    def _send(self, lines: bytes, first: int) -> Union[int, str, None]:
        path = f"{self._path('events')}?from={first}"
        how = {"token": self.token, "content_type": "application/x-ndjson"}
        answer = self._service.until_decided(self.gone, "POST", path, lines, **how)
        if answer is None:
            return None
        if answer.body.get("cancel") is True:
            self.stop("cancelled")
        following = answer.body.get("next")
        if isinstance(following, int) and (answer.is_success or answer.status == 409):
            return following
        if answer.status in (404, 410):
            self.lose()
            return None
        return answer.detail


class _Signals:
    """The signals that end a process. A handler's forked process handles them as if there were no worker."""

    def __init__(self) -> None:
        self._before: dict[signal.Signals, Any] = {}
        self._of_thread = threading.local()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._hold, after_in_parent=self._release, after_in_child=self._restore_in_child)

    def handle_by(self, handler: Callable[..., None]) -> None:
        for kind in (signal.SIGTERM, signal.SIGINT):
            self._before[kind] = signal.signal(kind, handler)

    def restore(self) -> None:
        for kind, handler in self._before.items():
            # Python has no name for a handler that another language installed.
            signal.signal(kind, signal.SIG_DFL if handler is None else handler)
        self._before = {}

    def _hold(self) -> None:
        """Blocks signals during a fork: Python discards those that reach the child before it is set up."""
        self._of_thread.blocked = signal.pthread_sigmask(signal.SIG_BLOCK, self._before)

    def _release(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._of_thread.blocked)

    def _restore_in_child(self) -> None:
        self.restore()
        self._release()


_signals = _Signals()


class _Worker:
    """Claims runs for its free slots, renews their leases, and leaves when it is asked to."""

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        service: _Service,
        about: Mapping[str, Any],
        options: _Options,
    ) -> None:
        self._handlers = handlers
        self._service = service
        self._about = {"id": str(uuid.uuid4()), **{name: value for name, value in about.items() if value is not None}}
        self._options = options
        self._concurrency = 1 if callable(options.concurrency) else options.concurrency
        self._concurrency_fault = ""
        self._changed = threading.Condition()
        # The time from which a model may be claimed again, by time.monotonic().
        self._claimed_from: dict[str, float] = {}
        # Models that the service did not know when they were last claimed.
        self._unknown: dict[str, Backoff] = {}
        self._ready_until = -math.inf
        self._is_unready = False
        # Threads that run handlers.
        self._slots = 0
        self._was_stuck = False
        self._has_said_stuck = False
        self._stuck_run: _Leased | None = None
        self._runs: dict[str, _Leased] = {}
        self._started: queue.SimpleQueue[_Leased] = queue.SimpleQueue()
        self._claim_line = service.line()
        self._beat_line = service.line()
        self._beaten: set[str] = set()
        self._is_waking = False
        self._is_draining = False
        self._is_stopping = False
        self._is_over = False
        self._signals = 0
        self._fault: BaseException | None = None

    def work(self) -> None:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main:
            _signals.handle_by(self._on_signal)
        say(f"Serving {', '.join(self._handlers)} from {self._service.base}, {self._most()} at once.")
        try:
            for target in (self._beat_all, self._claim_all):
                name = f"nowserving{target.__name__}"
                threading.Thread(target=self._carry_on, args=(target,), name=name, daemon=True).start()
            self._watch(lambda: self._is_draining, math.inf)
            self._watch(lambda: self._is_stopping or not self._runs, time.monotonic() + self._options.grace)
            self._release_rest()
            self._is_over = True
            self._leave()
        finally:
            if is_main:
                _signals.restore()
        if self._stuck_run is not None:
            # The handler's thread may keep the interpreter from ending.
            sys.stdout.flush()
            os._exit(STUCK_EXIT)
        if self._fault is not None:
            raise self._fault

    def _on_signal(self, *_: Any) -> None:
        self._signals += 1  # no more: the lock that it needs may be the one that it interrupts

    def _watch(self, is_done: Callable[[], bool], until: float) -> None:
        """Runs in the main thread, where signals arrive. It checks the deadlines of runs too."""
        while not is_done() and time.monotonic() < until:
            if self._signals > 0:
                self._drain("The worker finishes its runs and claims no more.")
            if self._signals > 1:
                self._is_stopping = True
            now = time.monotonic()
            for run in self._now():
                if now > run.deadline_s:
                    run.stop("timed_out")
                if run.outlived_s > self._options.stuck / 2:
                    run.end_uploads()
                if run.outlived_s > self._options.stuck:
                    self._give_up(run)
            was_stuck, self._was_stuck = self._was_stuck, self._is_stuck
            if self._was_stuck and not was_stuck:
                self._beat_line.cut()  # the next beat says it
            with self._changed:
                self._changed.wait(0.2)

    def _give_up(self, run: _Leased) -> None:
        if self._stuck_run is not None:
            return
        self._stuck_run = run
        said = f"the handler has not returned {self._options.stuck:g} s after its run was over ({run.run.cancelled.reason})."
        say(f"{run.request_id}: {said} The worker hands back its other runs and ends with exit code {STUCK_EXIT}.")
        self._drain()
        self._is_stopping = True

    @property
    def _is_stuck(self) -> bool:
        """Whether a handler goes on although its run is over. Until it returns, the worker claims nothing."""
        after_s = min(ABORT_S, self._options.stuck / 2)
        return any(run.outlived_s > after_s for run in self._now())

    def _now(self) -> list[_Leased]:
        with self._changed:
            return list(self._runs.values())

    def _drain(self, why: str = "") -> None:
        with self._changed:
            if self._is_draining:
                return
            self._is_draining = True
            self._changed.notify_all()
        if why:
            say(why)
        self._claim_line.cut()
        self._beat_line.cut()

    def _carry_on(self, target: Callable[[], None]) -> None:
        """Ends the worker if the target raises, because it would do nothing from then on, and look healthy."""
        try:
            target()
        except BaseException as error:
            self._fault = error
            self._drain(f"The worker finishes its runs and stops, because of an error: {_described(error)}")

    def _slot(self) -> None:
        while True:
            run = self._started.get()
            try:
                run.carry_out()
            except Exception:
                say(f"{run.request_id}: the run is handed back, because its end cannot be sent: {traceback.format_exc().rstrip()}")
                run.release()
            with self._changed:
                self._runs.pop(run.token, None)
                self._changed.notify_all()

    def _claim_all(self) -> None:
        backoff, hold, body, is_unreached = Backoff(), Hold(CLAIM_WAIT_S), None, False
        models: list[str] = []
        while not self._is_draining:
            # A claim whose answer was lost is repeated unchanged, because the lost answer may have contained runs.
            if body is None:
                free, models = self._room()
                if free < 1 or not models or not self._is_ready():
                    continue
                if self._has_said_stuck:
                    self._ask()
                body = self._claim_for(models, free)
            began, answer, retry_after, fault = time.monotonic(), None, None, ""
            try:
                answer = self._service.once("POST", "/claims", body, wait=hold.seconds, line=self._claim_line)
                retry_after = answer.retry_after
                if answer.status == 200 and not isinstance(answer.body.get("runs"), list):
                    answer, fault = None, "something else answered 200"
                elif answer.is_passing and answer.code is None:
                    fault = f"something else answered {answer.status}"
            except Exception as error:
                fault = repr(error)
            if fault and backoff.has_failed and not is_unreached and not self._is_draining:
                is_unreached = True
                say(f"The service does not answer; the worker keeps trying: {fault}")
            if answer is None or answer.is_passing:
                hold.broken(time.monotonic() - began)
                self._pause(backoff.next(retry_after))
                continue
            if is_unreached:
                say("The service answers again.")
            backoff.reset()
            hold.answered()
            body, is_unreached = None, False
            self._take(answer, models)
            if answer.status != 200 and time.monotonic() - began < 1:
                if answer.status == 204:
                    self._ask()
                self._pause(JITTER())

    def _ask(self) -> None:
        """Sends a beat without leases: it says that the worker goes on, and learns whether an operator drains it."""
        try:
            self._heed(self._beat([], 0, None), [])
        except Exception:
            pass

    def _pause(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_draining, timeout=seconds)

    def _room(self) -> tuple[int, list[str]]:
        """Returns how many runs may be claimed, and of which models. Waits a moment if there is nothing to claim."""
        most = self._most()
        with self._changed:
            now = time.monotonic()
            models = [model for model in self._handlers if self._claimed_from.get(model, now) <= now]
            free = 0 if self._is_stuck or self._is_draining else min(most - len(self._runs), MAX_RUNS)
            if free < 1 or not models:
                self._changed.wait(LOOK_S)
            return free, models

    def _most(self) -> int:
        """Returns how many runs the worker may have. What the option's function cannot say stays as it was."""
        if not callable(self._options.concurrency):
            return self._concurrency
        try:
            given = self._options.concurrency()
            if not isinstance(given, int) or given < 0:
                raise ValueError(f"The concurrency must be a whole number of at least 0, not {given}.")
            _assert_not_above(given)
            self._concurrency = given
            self._concurrency_fault = ""
        except Exception as error:
            said = f"The concurrency stays {self._concurrency}: {_described(error)}"
            if said != self._concurrency_fault:
                say(said)
            self._concurrency_fault = said
        return self._concurrency

    def _is_ready(self) -> bool:
        """Asks whether the handlers could run anything. Waits a moment if not."""
        if self._options.ready is None or time.monotonic() < self._ready_until:
            return True
        is_ready, why = _asked(self._options.ready)
        if is_ready:
            self._ready_until = time.monotonic() + LOOK_S
        if self._is_unready is is_ready:
            self._is_unready = not is_ready
            say("The backend is ready." if is_ready else f"The backend is not ready ({why}). The worker claims nothing until it is.")
        if not is_ready:
            self._pause(LOOK_S)
        return is_ready

    def _pause_model(self, model: str, seconds: float) -> None:
        with self._changed:
            self._claimed_from[model] = time.monotonic() + seconds

    def _claim_for(self, models: Sequence[str], most: int) -> bytes:
        named = [{"model_id": model, "max": most} for model in models]
        return _json({"claim_id": str(uuid.uuid4()), "worker": self._about, "models": named, "max": most})

    def _take(self, answer: Answer, models: Sequence[str]) -> None:
        if answer.status in (200, 204):
            for model in [model for model in models if self._unknown.pop(model, None)]:
                say(f"The service knows {model} now.")
        if answer.status == 410:
            self._drain(f"{answer.detail} The worker stops.")
        elif answer.status == 200:
            self._start(answer)
        elif answer.code == "unknown_model":
            # The models file of a node may be older or newer than that of others.
            unknown = answer.body.get("model_id")
            for model in models:
                if unknown not in (None, model):
                    continue
                if model not in self._unknown:
                    say(f"{answer.detail} The worker asks for its runs again later.")
                self._pause_model(model, self._unknown.setdefault(model, Backoff()).next())
        elif answer.status not in (204, 409):
            self._fault = RuntimeError(f"{answer.code}: {answer.detail}")
            self._drain(answer.detail)

    def _start(self, answer: Answer) -> None:
        runs = []
        for claimed in answer.body["runs"]:
            # Not deadline_at, because the clock of a machine may be wrong.
            left = math.inf if claimed.get("remaining_ms") is None else claimed["remaining_ms"] / 1000
            handler = self._handlers[claimed["model_id"]]
            deadline_s = time.monotonic() + left
            run = _Leased(claimed, handler, self._service, self._options.downloads, deadline_s, self._pause_model)
            run.run._retire = lambda: self._drain("A handler asked for a fresh worker. This one finishes its runs and stops.")
            for other in self._now():
                if other.request_id == run.request_id and other.token != run.token:
                    other.lose()
            if self._is_draining:
                run.release()
                continue
            with self._changed:
                if run.token in self._runs:
                    continue
                self._runs[run.token] = run
                self._changed.notify_all()
            runs.append(run)
        # Before any handler, which may block the other threads for a while.
        try:
            leases = self._leases()
            self._heed(self._beat(leases, 0, None), leases)
        except Exception:
            pass
        for run in runs:
            self._started.put(run)
        while self._slots < len(self._now()):
            threading.Thread(target=self._slot, name="nowserving_slot", daemon=True).start()
            self._slots += 1
        if not self._is_waking:
            self._is_waking = True
            timer = threading.Timer(NEW_LEASE_S, self._beat_anew)
            timer.daemon = True
            timer.start()

    def _beat_all(self) -> None:
        backoff, hold = Backoff(LEASED_PAUSE_S / 2), Hold(BEAT_WAIT_S)
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_over or bool(self._runs))
            if self._is_over:
                return
            began, is_news, answer = time.monotonic(), False, None
            leases = self._leases()
            self._beaten = set(leases)
            try:
                answer = self._beat(leases, hold.seconds, self._beat_line)
            except Exception:
                if set(self._leases()) - self._beaten:
                    continue  # it was cut so that the next beat has these
            if answer is None or answer.is_passing:
                hold.broken(time.monotonic() - began)
                # Even a longer Retry-After must not let the leases end.
                time.sleep(min(backoff.next(None if answer is None else answer.retry_after), LEASED_PAUSE_S / 2))
                continue
            backoff.reset()
            hold.answered()
            is_news = self._heed(answer, leases)
            # A known order, such as a cancel of a run that takes its time, is answered at once again.
            if not is_news and time.monotonic() - began < 1:
                time.sleep(1)

    def _beat_anew(self) -> None:
        self._is_waking = False
        if set(self._leases()) - self._beaten:
            self._beat_line.cut()

    def _leases(self) -> list[str]:
        return [run.token for run in self._now() if not run.gone.is_set()]

    def _beat(self, leases: list[str], wait: int, line: _Line | None) -> Answer:
        state = "stuck" if self._is_stuck else "drain" if self._is_draining else "run"
        self._has_said_stuck = state == "stuck"
        body = _json({"worker_id": self._about["id"], "state": state, "leases": leases})
        return self._service.once("POST", "/beats", body, wait=wait, line=line)

    def _heed(self, answer: Answer, leases: Sequence[str]) -> bool:
        """Whether the answer has news. Only runs that the beat named can be lost, not a later run of the request."""
        said = answer.body if answer.is_success else {}
        if answer.status == 410 or said.get("worker") == "stop":
            self._drain("The service told the worker to stop.")
            self._is_stopping = True
        elif said.get("worker") == "drain":
            self._drain("The service asked the worker to finish its runs and stop.")
        is_news = False
        for run in self._now():
            if run.request_id in said.get("cancel", ()) and not run.run.cancelled.is_set():
                is_news = True
                run.stop("cancelled")
            if run.request_id in said.get("lost", ()) and run.token in leases:
                run.lose()
        return is_news

    def _release_rest(self) -> None:
        rest = [run for run in self._now() if not run.gone.is_set()]
        if not rest:
            return
        say(f"{len(rest)} runs are handed back.")
        if not self._is_stopping:
            for run in rest:
                run.stop("shutdown")
            self._watch(lambda: self._is_stopping or not self._runs, time.monotonic() + ABORT_S)
        for run in self._now():
            run.abandon()

    def _leave(self) -> None:
        """Returns all requests of this worker to the queue, even those of a claim whose answer it did not read.

        The call has a thread of its own, because a signal does not end a call of the main thread.
        """
        signals, until = self._signals, time.monotonic() + LEAVE_S
        late = threading.Event()
        call = late, "DELETE", f"/workers/{self._about['id']}", None
        leaving = threading.Thread(target=self._service.until_decided, args=call, name="nowserving_leave", daemon=True)
        leaving.start()
        while leaving.is_alive() and self._signals == signals and time.monotonic() < until:
            leaving.join(0.1)
        late.set()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class _Socket:
    """The socket of a transfer. It is shut down once the run must stop, so that nothing waits for its peer."""

    def __init__(self, over: Cancelled) -> None:
        self._over = over
        self._lock = threading.Lock()
        self._held: socket.socket | None = None

    def __enter__(self) -> _Socket:
        self._over.then(self._shut)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.forget(self._shut)
        self._release()

    def hold(self, sock: socket.socket) -> None:
        """Holds a duplicate, because TLS replaces the socket of a connection. Raises if the run must stop."""
        self._release()
        with self._lock:
            self._held = sock.dup()
        if self._over.is_set():
            raise ConnectionAbortedError("the run must stop")

    def _shut(self) -> None:
        with self._lock:
            try:
                if self._held is not None:
                    self._held.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _release(self) -> None:
        with self._lock:
            if self._held is not None:
                self._held.close()
                self._held = None


class _Connection(http.client.HTTPConnection):
    """A connection whose socket is held while it connects, too."""

    held: _Socket

    def connect(self) -> None:
        fault = OSError("the host has no address")
        for family, kind, protocol, _, address in socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM):
            sock: socket.socket | None = None
            try:
                sock = socket.socket(family, kind, protocol)
                self._reach(sock, address)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.sock = sock
                return
            except OSError as error:
                fault = error
                if sock is not None:
                    sock.close()
        raise fault

    def _reach(self, sock: socket.socket, address: Any) -> None:
        """Connects. Only a socket that has begun to connect can be shut down."""
        sock.setblocking(False)
        fault = sock.connect_ex(address)
        self.held.hold(sock)
        if fault in (errno.EINPROGRESS, errno.EWOULDBLOCK):
            with selectors.DefaultSelector() as connected:
                connected.register(sock, selectors.EVENT_WRITE)
                if not connected.select(self.timeout):
                    raise TimeoutError("timed out")
            fault = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if fault != 0:
            raise OSError(fault, os.strerror(fault))
        sock.settimeout(self.timeout)


class _SecureConnection(http.client.HTTPSConnection, _Connection):
    """Its `connect` calls that of _Connection before the handshake."""


class _Request(urllib.request.Request):
    held: _Socket


def _connection(held: _Socket, scheme: str, host: str, **how: Any) -> _Connection:
    made = (_SecureConnection if scheme == "https" else _Connection)(host, **how)
    made.held = held
    return made


class _HeldHandler(urllib.request.HTTPHandler):
    def http_open(self, req: Any) -> Any:
        return self.do_open(functools.partial(_connection, req.held, "http"), req)


class _HeldSecureHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: Any) -> Any:
        return self.do_open(functools.partial(_connection, req.held, "https"), req)


# No call of a worker goes through a proxy of the environment, which would see the key and the lease.
_NO_PROXY = urllib.request.ProxyHandler({})
_OPENER = urllib.request.build_opener(_NO_PROXY, _NoRedirect)
_HELD_OPENER = urllib.request.build_opener(_NO_PROXY, _NoRedirect, _HeldHandler, _HeldSecureHandler)
_FOLLOWING_OPENER = urllib.request.build_opener(_NO_PROXY)


def _asked(ready: str | Callable[[], Any]) -> tuple[bool, str]:
    """Returns whether the backend is ready, and why not. The URL of a backend may hold a secret, so it is not named."""
    try:
        if isinstance(ready, str):
            with _OPENER.open(ready, timeout=READY_TIMEOUT_S) as answer:
                return 200 <= answer.status <= 299, f"it answered {answer.status}"
        said = ready()
        if inspect.isawaitable(said):
            said = _loop.value_of(asyncio.wait_for(said, READY_TIMEOUT_S))
        return bool(said), "the function did not return something true"
    except urllib.error.HTTPError as error:
        error.close()
        return False, f"it answered {error.code}"
    except asyncio.TimeoutError:
        return False, f"it did not answer within {READY_TIMEOUT_S:g} s"
    except Exception as error:
        return False, _said(error) if isinstance(ready, str) else _described(error)


class _Files:
    """The files of one run."""

    def __init__(
        self, service: _Service, path: str, token: str, downloads: Sequence[str], useless: Cancelled
    ) -> None:
        self._service = service
        self._path = path
        self._token = token
        self._downloads = downloads
        # Ends uploads. A cancel does not, because the run may still have an output.
        self._useless = useless

    def download(self, url: str, to: Path | None, cancelled: Cancelled) -> Any:
        is_ours = source_of(url, self._service.base, self._downloads)[1]

        def fetch() -> None:
            with _Socket(cancelled) as held:
                arrival.take(functools.partial(self._followed, held), url, cancelled)

        with _Arrival(to) as arrival:
            try:
                self._persist(fetch, cancelled, is_ours, arrival.size)
            except TransferError:
                if cancelled.is_set():
                    raise Stopped(cancelled.reason) from None
                raise
            return arrival.whole()

    def _followed(self, held: _Socket, url: str, fields: Mapping[str, str]) -> tuple[Any, bool]:
        """Follows redirects only to places that may be called themselves."""
        for _ in range(6):
            source, is_ours = source_of(url, self._service.base, self._downloads)
            headers = {**self._service.authorization, "Lease-Token": self._token} if is_ours else {}
            try:
                request = _Request(source, headers={**headers, **fields})
                request.held = held
                return _HELD_OPENER.open(request, timeout=60), is_ours
            except urllib.error.HTTPError as error:
                location = error.headers.get("location")
                if not 300 <= error.code <= 399 or location is None:
                    raise
                error.close()
                url = urljoin(source, location)
        raise Fail("The download was redirected too often.")

    def upload(self, name: str, content: Content, content_type: str) -> str:
        body = _json({"content_type": content_type, "file_name": name})

        def send() -> str:
            try:
                answer = self._service.once("POST", self._path, body, token=self._token, patience_s=UPLOAD_PATIENCE_S)
            except (OSError, ValueError, http.client.HTTPException) as error:
                raise _Broken(f"The service does not answer: {_said(error)}") from error
            if not answer.is_success:
                raise _refusal(answer, name)
            is_path = isinstance(content, (str, os.PathLike))
            file: Any = open(content, "rb") if is_path else content  # type: ignore[arg-type]
            try:
                with _Socket(self._useless) as held:
                    _put(target_of(answer.body["upload_url"], self._service.base), file, content_type, name, held)
            finally:
                if is_path:
                    file.close()
            return str(answer.body["file_url"])

        return str(self._persist(send, self._useless, True))

    def _persist(
        self, attempt: Callable[[], Any], over: threading.Event, is_ours: bool, size: Callable[[], int] = lambda: 0
    ) -> Any:
        """Retries if that may help. It retries a service that is away while the lease lasts."""
        backoff, tries, furthest = Backoff(LEASED_PAUSE_S), 0, 0
        while True:
            try:
                return attempt()
            except _Broken as broken:
                if size() > furthest:
                    furthest, tries = size(), 0
                    backoff.reset()
                if not is_ours or not broken.is_away or self._service.is_inherited:
                    tries += 1
                if tries >= MAX_TRIES or over.wait(backoff.next(broken.retry_after)):
                    raise TransferError(str(broken), status=broken.status) from broken


class _Broken(Exception):
    """A try failed; another one may succeed."""

    def __init__(
        self, message: str, *, status: int | None = None, is_away: bool = True, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.is_away = is_away
        self.retry_after = retry_after


class _Arrival:
    """The arrived part of a file: in memory, or in a file beside the target, which is renamed when it is whole."""

    def __init__(self, to: Path | None) -> None:
        self._to = to
        self._part: Path | None = None
        self._file: Any = io.BytesIO()
        self._count = 0
        self._sum = hashlib.sha256()
        self._etag: str | None = None
        # The size of the whole file, if an answer had it.
        self._size: int | None = None

    def __enter__(self) -> _Arrival:
        if self._to is not None:
            target = self._to.resolve()
            if target.exists() and not target.is_file():
                raise IsADirectoryError(f"{self._to} is not a regular file.")
            self._part = target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex[:12]}.part")
            self._file = open(self._part, "xb")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if self._part is not None:
            self._part.unlink(missing_ok=True)

    def size(self) -> int:
        return self._count

    def whole(self) -> Any:
        if self._part is None or self._to is None:
            return self._file.getvalue()
        self._file.close()
        os.replace(self._part, self._to.resolve())
        return self._to

    def take(
        self, ask: Callable[[str, Mapping[str, str]], tuple[Any, bool]], url: str, cancelled: threading.Event
    ) -> None:
        """Makes one try. Returns when the file is complete."""
        fields = {}
        if self._count > 0 and self._etag is not None:
            fields = {"Range": f"bytes={self._count}-", "If-Range": self._etag}
        try:
            answer, is_ours = ask(url, fields)
        except urllib.error.HTTPError as error:
            raise self._refusal(error, url) from None
        except http.client.InvalidURL:
            raise Fail("A URL that is to be downloaded is not valid.") from None
        except (OSError, http.client.HTTPException) as error:
            raise _Broken(f"The download got no answer: {_said(error)}") from error
        with answer:
            self._begin(answer)
            # A server may leave the connection open after the last byte.
            while self._size is None or self._count < self._size:
                if cancelled.is_set():
                    raise TransferError("The run must stop.")
                try:
                    # Not read, which waits for the whole block.
                    block = answer.read1(BLOCK_BYTES if self._size is None else min(BLOCK_BYTES, self._size - self._count))
                except (OSError, http.client.HTTPException) as error:
                    raise self._cut(_said(error)) from error
                if not block:
                    break
                self._file.write(block)
                self._sum.update(block)
                self._count += len(block)
            self._check(answer, is_ours)

    def _begin(self, answer: Any) -> None:
        length = answer.headers.get("content-length")
        if answer.status == 206:
            place = re.match(r"bytes (\d+)-\d+/(\d+)", answer.headers.get("content-range", ""))
            if place is None or (int(place[1]), int(place[2])) != (self._count, self._size or int(place[2])):
                self._restart()
                raise _Broken("The download returned another part than the requested one.", is_away=False)
            self._size = int(place[2])
            return
        self._restart()
        self._size = int(length) if length is not None and length.isdigit() else None
        etag = answer.headers.get("etag", "")
        self._etag = etag if etag.startswith('"') else None

    def _check(self, answer: Any, is_ours: bool) -> None:
        if self._size is not None and self._count != self._size:
            raise self._cut("the connection ended")
        # The service's ETag of a file is its SHA-256.
        known = re.fullmatch(r'"([0-9a-f]{64})"', self._etag or "") if is_ours else None
        if known is not None and known[1] != self._sum.hexdigest():
            self._restart()
            raise _Broken("The downloaded file is not the one that the service stores: its SHA-256 differs.", is_away=False)
        if self._size is None and known is None and not getattr(answer, "chunked", False):
            self._restart()
            raise _Broken("The download does not say where it ends, so it may be incomplete.", is_away=False)

    def _restart(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._count, self._sum, self._etag, self._size = 0, hashlib.sha256(), None, None

    def _cut(self, why: str) -> _Broken:
        of = "" if self._size is None else f" of {self._size}"
        return _Broken(f"The download broke off after {self._count}{of} bytes: {why}.")

    def _refusal(self, error: urllib.error.HTTPError, url: str) -> Exception:
        with error:
            said = f"The download was answered {error.code}."
            if error.code in MISSING:
                return TransferError(f"{said} {_file_of(url)} does not exist.", status=error.code)
            if error.code == 416 and self._count > 0:
                self._restart()
            elif error.code < 500 and error.code not in PASSING:
                return TransferError(said, status=error.code)
            after = _seconds(error.headers.get("retry-after"))
            return _Broken(said, status=error.code, is_away=error.code in AWAY, retry_after=after)


def _file_of(url: str) -> str:
    """Names a file by what is no secret: its URL may be the right to read it."""
    parts = urlsplit(url)
    own = re.fullmatch(r"/v1/files/[^/]+/([^/]+)", parts.path)
    if own is not None:
        return f'The file "{unquote(own[1])[:200]}"'
    return f"A file of {parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _said(error: BaseException) -> str:
    """Leaves out the URL, which may be the right to read the file."""
    reason = getattr(error, "reason", error)
    return f"{type(reason).__name__}: {reason}" if str(reason) else type(reason).__name__


class _LocalFiles:
    """The files of a run under `--try`: the user may read any file and any address."""

    def download(self, url: str, to: Path | None, cancelled: Cancelled) -> Any:
        def ask(url: str, fields: Mapping[str, str]) -> tuple[Any, bool]:
            return _FOLLOWING_OPENER.open(urllib.request.Request(url, headers=dict(fields)), timeout=60), False

        with _Arrival(to) as arrival:
            try:
                arrival.take(ask, url, cancelled)
            except _Broken as broken:
                raise TransferError(str(broken), status=broken.status) from broken
            return arrival.whole()

    def upload(self, name: str, content: Content, _: str) -> str:
        if isinstance(content, (str, os.PathLike)):
            content = Path(content).read_bytes()
        file = Path(tempfile.mkdtemp(prefix="nowserving-try-")) / name
        file.write_bytes(content if isinstance(content, bytes) else content.read())
        return file.as_uri()


def source_of(url: str, base: str, downloads: Sequence[str]) -> tuple[str, bool]:
    """Returns the address of a file, and whether the key is sent.

    It is sent to no other paths of the service than those of files and inputs. Anything else must be allowed.
    """
    try:
        to = quote(urljoin(base, url), safe="!#$%&'()*+,/:;=?@[]~")
        parts = urlsplit(to)
        _ = parts.port
    except ValueError:
        raise Fail("A URL that is to be downloaded is not valid.") from None
    if "@" in parts.netloc:
        raise Fail("Nothing is downloaded from a URL that holds a name or a password.")
    if parts.scheme in ("http", "https") and parts.hostname:
        is_there = _origin(to) == _origin(base)
        root = urlsplit(base).path.rstrip("/")
        path = parts.path[len(root) :] if is_there and parts.path.startswith(f"{root}/") else parts.path
        is_ours = path.startswith(("/v1/files/", "/v1/worker/")) and DOTS.search(path) is None
        ours = _at_base(base, parts, path)
        if is_ours and is_there:
            return ours, True
        if "*" in downloads or _origin(to) in [_origin(one) for one in downloads]:
            return to, False
        if is_ours:
            return ours, True
        if is_there:
            raise Fail("Nothing is downloaded from the service except files.")
    origin = f"{parts.scheme}://{parts.netloc}"
    raise Fail(f'Nothing is downloaded from {origin}. The worker\'s option "downloads" allows other origins.')


def target_of(url: str, base: str) -> str:
    """Returns the address that a file is sent to."""
    to = urljoin(base, url)
    path = UPLOAD.search(urlsplit(to).path)
    return to if path is None else _at_base(base, urlsplit(to), path.group())


def _at_base(base: str, parts: SplitResult, path: str) -> str:
    """Returns a URL of the service at the worker's own address. Others may know the service by another one."""
    service = urlsplit(base)
    root = service.path.rstrip("/")
    return parts._replace(scheme=service.scheme, netloc=service.netloc, path=root + path, fragment="").geturl()


def _origin(url: str) -> tuple[str, Optional[str], Optional[int]]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


class _Sending:
    """A file while it is sent: exactly as long as announced, or not to its end."""

    def __init__(self, file: Any, name: str) -> None:
        self._file = io.BytesIO(file) if isinstance(file, (bytes, bytearray, memoryview)) else file
        self._name = name
        self.size = int(self._file.seek(0, os.SEEK_END))
        self._file.seek(0)
        self._count = 0
        self.sum = hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        """The last block is sent only when it is known to be the last: until then the service keeps nothing."""
        block = self._read()
        while block:
            following = self._read()
            if not following and self._count != self.size:
                raise self._changed()
            yield block
            block = following
        if self._count != self.size:
            raise self._changed()

    def _read(self) -> bytes:
        try:
            block = bytes(self._file.read(BLOCK_BYTES))
        except OSError as error:
            raise TransferError(f"The file {self._name} cannot be read: {error}") from error
        self.sum.update(block)
        self._count += len(block)
        if self._count > self.size:
            raise self._changed()
        return block

    def _changed(self) -> TransferError:
        said = f"it had {self.size} bytes at first, and then {'more' if self._count > self.size else self._count}"
        return TransferError(f"The file {self._name} changed while it was uploaded: {said}. Upload files only after they are written and closed.")


def _put(url: str, file: Any, content_type: str, name: str, held: _Socket) -> None:
    parts = urlsplit(url)
    connection = _connection(held, parts.scheme, parts.netloc, timeout=60)
    target = parts._replace(scheme="", netloc="", fragment="").geturl()
    sending = _Sending(file, name)
    headers = {"Content-Type": content_type, "Content-Length": str(sending.size)}
    try:
        connection.connect()
        try:
            connection.request("PUT", target, sending, headers)
        except ConnectionError:
            pass  # the service may have answered with a reason before it had the whole body
        done = _read(connection.getresponse())
    except TransferError:
        raise
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise _Broken(f"The upload of {name} broke off: {_said(error)}") from error
    finally:
        connection.close()
    if not done.is_success:
        raise _refusal(done, name)
    kept = done.body.get("size", sending.size), done.body.get("sha256", sending.sum.hexdigest())
    if kept != (sending.size, sending.sum.hexdigest()):
        raise _Broken(f"The service did not store {name} as it was sent: its size or SHA-256 differs.", is_away=False)


def _refusal(answer: Answer, name: str) -> Exception:
    """The error of a refused upload. Fail: the file is at fault. TransferError: a key or URL may be valid again."""
    said = f"The upload of {name} was refused: {answer.detail}"
    if answer.status < 500 and answer.status not in PASSING:
        return TransferError(said, status=answer.status) if answer.status in (401, 403) else Fail(said)
    is_away = answer.status in AWAY
    return _Broken(said, status=answer.status, is_away=is_away, retry_after=answer.retry_after)


def _is_imported_by_multiprocessing() -> bool:
    """Whether this is a child process that imports the program again, as "spawn" and "forkserver" do."""
    process = sys.modules.get("multiprocessing.process")
    return process is not None and getattr(process.current_process(), "_inheriting", False)


def _execute(handler: Handler, input: Any, run: Run) -> Any:
    """Runs a handler to its end. The values that it yields are deltas. None: the deltas are the output."""
    output = _output_of(handler(input, run), run)
    if isinstance(output, Away):
        raise output
    # The deltas until the run had to stop are not the whole output.
    if output is None and run.cancelled:
        raise Stopped(run.cancelled.reason)
    return output


def _end_forked(run: Run, error: BaseException | None) -> None:
    """Ends a forked process that returns from the handler, because only the parent may end the run."""
    if os.getpid() == run._pid:
        return
    code = error.code if isinstance(error, SystemExit) else 1
    if not isinstance(error, SystemExit):
        why = "" if error is None else f" It raised:\n{''.join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip()}"
        said = "a process that the handler forked returned from it and was ended. End such a process with os._exit."
        say(f"{run.request_id}: {said}{why}")
    sys.stdout.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _run_for_good(loop: asyncio.AbstractEventLoop) -> None:
    """A task that exits ends `run_forever`. The task has the error by then, and the other tasks must go on."""
    while True:
        try:
            return loop.run_forever()
        except (KeyboardInterrupt, SystemExit):
            pass


class _Loop:
    """The event loop of all asynchronous handlers, in a thread of its own, so that they can share what belongs to a loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, result: Any, run: Run) -> Any:
        """Awaits the result of a handler to its end. It is cancelled as a task when the run must stop."""
        output, error = asyncio.run_coroutine_threadsafe(self._ended(result, run), self._started()).result()
        if error is not None:
            raise error
        return output

    def value_of(self, awaitable: Any) -> Any:
        async def value() -> Any:
            return await awaitable

        return asyncio.run_coroutine_threadsafe(value(), self._started()).result()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                loop = asyncio.new_event_loop()
                threading.Thread(target=_run_for_good, args=(loop,), name="nowserving-loop", daemon=True).start()
                self._loop = loop
            return self._loop

    async def _ended(self, result: Any, run: Run) -> tuple[Any, BaseException | None]:
        """Returns the error, because SystemExit would end the loop of the other handlers."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        run.cancelled.then(lambda: loop.call_soon_threadsafe(task.cancel))
        output: Any = None
        error: BaseException | None = None
        try:
            output = await _awaited(result, run)
        except BaseException as raised:
            error = raised
        _end_forked(run, error)
        return output, error


_loop = _Loop()


async def _awaited(result: Any, run: Run) -> Any:
    if inspect.isawaitable(result):
        result = await result
    if not isinstance(result, AsyncIterable):
        return result
    try:
        async for value in result:
            if run.cancelled:
                await asyncio.sleep(BATCH_S)  # the task is cancelled here, not while the generator closes
                raise Stopped(run.cancelled.reason)
            for piece in _pieces(value):
                while not run._has_room():
                    await asyncio.sleep(BATCH_S)
                run.delta(piece)
    finally:
        close = getattr(result, "aclose", None)
        if close is not None:
            await close()


def _output_of(result: Any, run: Run) -> Any:
    if inspect.isawaitable(result) or isinstance(result, AsyncIterable):
        result = _loop.run(result, run)
    if not isinstance(result, Iterator):
        return result
    try:
        while True:
            try:
                value = next(result)
            except StopIteration as end:
                return end.value
            if run.cancelled:
                raise Stopped(run.cancelled.reason)
            run.delta(value)
    finally:
        close = getattr(result, "close", None)
        if close is not None:
            close()


def failure_of(error: BaseException) -> dict[str, Any]:
    """Returns the failure as the service takes it. Callers see it, so it has no stack and is short."""
    if isinstance(error, Fail):
        return {"message": _text(error), "retryable": False, **_told(status=error.status, details=error.details)}
    if isinstance(error, (Retry, Away)):
        return {"message": _text(error), "retryable": True, **_told(retry_after_s=error.after)}
    if isinstance(error, Stopped):
        return {"message": str(error), "retryable": error.reason != "cancelled"}
    if isinstance(error, TransferError) and error.status in MISSING:
        return {"message": str(error), "retryable": False, "status": 422}
    return {"message": _described(error), "retryable": True}


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {_text(error)}".split("\n", 1)[0][:MAX_FAILURE]


def _text(error: BaseException) -> str:
    """The service keeps no more of it."""
    try:
        return str(error)[:MAX_TEXT]
    except Exception:
        return "The error has no text."


def _told(**fields: Any) -> dict[str, Any]:
    """Returns the members that are JSON. A failure whose details are no JSON is still a failure."""
    return {name: value for name, value in fields.items() if value is not None and _is_json(value)}


def _is_json(value: Any) -> bool:
    try:
        return bool(_json(value))
    except (TypeError, ValueError, RecursionError):
        return False


def _output_json(output: Any) -> bytes:
    try:
        return _json(output)
    except (TypeError, ValueError, RecursionError) as error:
        raise Fail(f"The output is not a JSON value: {error}") from None


def _body_of(value: Any) -> bytes:
    return b"" if value is None else _json(value)


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half a character
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


def _tried_input(args: Sequence[str]) -> str | None:
    for index, arg in enumerate(args):
        if arg == "--try":
            return args[index + 1] if index + 1 < len(args) else ""
        if arg.startswith("--try="):
            return arg[len("--try=") :]
    return None


def _try_once(handlers: Mapping[str, Handler], text: str) -> None:
    """Runs one input without a service. Prints the run's events and its output or error as lines of JSON."""
    model, handler = next(iter(handlers.items()))
    deltas: list[Any] = []

    def show(event: dict[str, Any]) -> None:
        if event["type"] == "delta":
            deltas.append(event["delta"])
        print(_json(event).decode(), flush=True)

    claimed = {"request_id": "00000000-0000-7000-8000-000000000000", "model_id": model, "attempt": 1}
    try:
        try:
            given = _parsed(text)
        except ValueError:
            raise Fail("""The value of --try must be JSON, such as --try '{"prompt":"hello"}'.""") from None
        output = _execute(handler, given, Run(claimed, show, _LocalFiles()))
        _output_json(output)  # raises if it is none
        show({"type": "output", "output": _joined(deltas) if output is None and deltas else output})
    except Exception as error:
        if not isinstance(error, (Away, Fail, Retry)):
            traceback.print_exc()
        show({"type": "error", **failure_of(error)})
        sys.exit(1)


def _joined(deltas: Sequence[Any]) -> Any:
    """Joins deltas as the service does: consecutive texts are joined, everything else is listed."""
    parts: list[Any] = []
    for delta in deltas:
        if parts and isinstance(delta, str) and isinstance(parts[-1], str):
            parts[-1] += delta
        else:
            parts.append(delta)
    return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts

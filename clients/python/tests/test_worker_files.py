"""A worker downloads and uploads a whole file, or raises an error and leaves nothing."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from collections.abc import Callable, Iterator

import pytest

from nowserving import worker
from nowserving.worker import Cancelled, Stopped, TransferError
from scripted import Scripted, answer, chunked, unframed
from support import Changing, until
from worker_protocol import RUN, Protocol

WHOLE = os.urandom(1_000_000)
SHA = hashlib.sha256(WHOLE).hexdigest()
ETAG = f'"{SHA}"'
OTHER = f'"{"0" * 64}"'


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker.Backoff, "next", lambda *_: 0.0)


def files_of(url: str, downloads: tuple[str, ...] = ()) -> Any:
    return worker._Files(worker._Service(url, "ns_k"), "/runs/r1/files", "t1", downloads, Cancelled())


def download(server: Scripted, to: Path | None = None, cancelled: Cancelled | None = None) -> Any:
    """Downloads from an origin that is not the service, with a limited number of tries."""
    files = files_of("http://127.0.0.1:1", (server.url,))
    return files.download(f"{server.url}/a.bin", to, cancelled or Cancelled())


def part(etag: str = ETAG) -> Callable[[str], bytes]:
    """Returns the requested rest if the file is still the same."""

    def rest(head: str) -> bytes:
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
        if fields.get("if-range") != etag or "range" not in fields:
            return answer(WHOLE, ETag=etag)
        start = int(fields["range"].removeprefix("bytes=").removesuffix("-"))
        place = f"bytes {start}-{len(WHOLE) - 1}/{len(WHOLE)}"
        return answer(WHOLE[start:], "206 Partial Content", ETag=etag, Content_Range=place)

    return rest


HALF = answer(WHOLE[:600_000], length=len(WHOLE), ETag=ETAG)


@pytest.mark.parametrize("into_a_file", [True, False])
def test_a_download_that_breaks_off_goes_on_where_it_was(tmp_path: Path, into_a_file: bool) -> None:
    to = tmp_path / "a.bin" if into_a_file else None
    with Scripted(HALF, part()) as server:
        had = download(server, to)
        assert (to.read_bytes() if to else had) == WHOLE
        assert [("range:" in head, f"if-range: {ETAG}" in head) for head in server.heads] == [(False, False), (True, True)]
    assert [path.name for path in tmp_path.iterdir()] == (["a.bin"] if to else [])


@pytest.mark.parametrize(
    "answers",
    [
        (answer(WHOLE[:9], length=len(WHOLE)), part()),  # no ETag, which a resumed download needs
        (answer(WHOLE[:9], length=len(WHOLE), ETag=f"W/{ETAG}"), part()),
        (answer(b"another file", length=100, ETag=OTHER), part()),
        (HALF, answer(WHOLE[5:], "206 Partial Content", Content_Range=f"bytes 5-999999/{len(WHOLE)}"), part()),
        (HALF, answer(WHOLE[600_000:], "206 Partial Content", Content_Range="bytes 600000-999999/2000000"), part()),
        (HALF, answer(b"", "416 Range Not Satisfiable"), part()),
        (HALF, answer(b"", "503 Service Unavailable"), part()),
        (chunked(WHOLE[:9], is_whole=False), chunked(WHOLE)),
        (b"", part()),
    ],
)
def test_or_begins_again(tmp_path: Path, answers: tuple[Any, ...]) -> None:
    with Scripted(*answers) as server:
        assert download(server, tmp_path / "a.bin").read_bytes() == WHOLE
        assert len(server.heads) == len(answers)


BROKEN = {
    "too short": answer(WHOLE[:9], length=10),
    "cut between chunks": chunked(WHOLE[:9], is_whole=False),
    "without a length": unframed(WHOLE),
    "without an answer": b"",
    "with an error that may pass": answer(b"", "500 Internal Server Error"),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_what_never_comes_whole_is_an_error_and_leaves_no_file(tmp_path: Path, broken: bytes) -> None:
    with Scripted(broken) as server:
        with pytest.raises(TransferError) as raised:
            download(server, tmp_path / "a.bin")
        assert "a.bin" not in str(raised.value)  # a URL may be the right to read the file
        assert len(server.heads) == worker.MAX_TRIES
        with pytest.raises(TransferError):
            download(server)
    assert [*tmp_path.iterdir()] == []


def test_nor_does_it_touch_the_file_that_was_there(tmp_path: Path) -> None:
    to = tmp_path / "a.bin"
    to.write_text("before")
    with Scripted(BROKEN["too short"]) as server, pytest.raises(TransferError):
        download(server, to)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


def test_a_refusal_is_not_tried_again(tmp_path: Path) -> None:
    with Scripted(answer(b"{}", "404 Not Found")) as server:
        with pytest.raises(TransferError, match="answered 404") as raised:
            download(server, tmp_path / "a.bin")
        assert (raised.value.status, len(server.heads)) == (404, 1)


def test_a_file_of_the_service_is_the_one_of_its_etag() -> None:
    def of_service(*answers: Any) -> Any:
        with Scripted(*answers) as server:
            return files_of(server.url).download("/v1/files/1/a.bin", None, Cancelled())

    assert of_service(unframed(WHOLE, ETag=ETAG)) == WHOLE
    assert of_service(answer(WHOLE[1:], ETag=ETAG), answer(WHOLE, ETag=ETAG)) == WHOLE
    with pytest.raises(TransferError, match="SHA-256 differs"):
        of_service(answer(WHOLE, ETag=OTHER))


def test_a_service_that_is_away_is_asked_for_as_long_as_the_lease_lives(tmp_path: Path) -> None:
    cancelled = Cancelled()
    cancelled.reason = "lost"
    with Scripted(HALF, answer(b"", "503 Service Unavailable"), b"") as server:
        files = files_of(server.url)

        def lose() -> None:
            until(lambda: len(server.heads) > 4 * worker.MAX_TRIES)
            cancelled.set()

        threading.Thread(target=lose).start()
        with pytest.raises(Stopped) as raised:
            files.download("/v1/files/1/a.bin", tmp_path / "a.bin", cancelled)
    assert raised.value.reason == "lost"
    assert [*tmp_path.iterdir()] == []


@contextmanager
def endless(start: bytes, rest: bytes) -> Iterator[str]:
    """A server that answers the start and then byte after byte of the rest, and never ends."""
    over = threading.Event()

    def answer() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(start)
            for byte in rest:
                if over.wait(0.05):
                    return
                try:
                    connection.sendall(bytes([byte]))
                except OSError:
                    return
            over.wait()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=answer, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            over.set()


@contextmanager
def unreachable() -> Iterator[str]:
    """A server whose full backlog lets connections wait."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(server.getsockname())
        yield f"127.0.0.1:{server.getsockname()[1]}"
        for one in waiting:
            one.close()


def ended(call: Callable[[], Any], end: Callable[[], Any]) -> BaseException:
    """Calls in a thread and, once that waits for its peer, ends it. Returns what it raised."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert thread.ident is not None
    until(lambda: sys._current_frames()[thread.ident].f_code.co_name in ("select", "readinto", "do_handshake"))
    end()
    [error] = until(lambda: raised)
    return error


HEAD = answer(b"", length=len(WHOLE))


@pytest.mark.parametrize(
    ("scheme", "peer"),
    [
        ("http", unreachable()),
        ("https", endless(b"", b"")),
        ("http", endless(b"", b"")),
        ("http", endless(b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n" * 1_000)),
        ("http", endless(HEAD, b"")),
        ("http", endless(HEAD, WHOLE)),
        ("http", endless(chunked(WHOLE[:9], is_whole=False), b"")),
    ],
    ids=["no connection", "no handshake", "no answer", "a slow head", "no body", "a slow body", "half of a body"],
)
def test_a_cancel_ends_a_download_whatever_it_waits_for(tmp_path: Path, scheme: str, peer: Any) -> None:
    cancelled = Cancelled()
    cancelled.reason = "cancelled"
    files = files_of("http://127.0.0.1:1", ("*",))
    with peer as place:
        url = f"{scheme}://{place}/a.bin"
        error = ended(lambda: files.download(url, tmp_path / "a.bin", cancelled), cancelled.set)
    assert isinstance(error, Stopped)
    assert [*tmp_path.iterdir()] == []


def test_a_worker_whose_download_waits_claims_again_after_a_cancel(protocol: Protocol, start: Any) -> None:
    handler = "def fetch(input, run):\n    run.log('begun')\n    return run.download(input)"
    with endless(b"", b"") as place:
        protocol.run = {**RUN, "input": f"http://{place}/a.bin"}
        start(f'{handler}\nserve({{"me/x": fetch}}, downloads=["*"])')
        until(protocol.events)
        protocol.beat = {"cancel": ["r1"]}
        [failure] = until(lambda: protocol.of("failure"))
        until(lambda: len(protocol.of("claims")) == 2)
    assert json.loads(failure) == {"message": "The run must stop: cancelled.", "retryable": False}


def test_a_worker_whose_upload_waits_claims_again_after_a_cancel(protocol: Protocol, start: Any) -> None:
    handler = "def keep(input, run):\n    run.log('begun')\n    return run.upload('a.bin', b'123')"
    with endless(b"", b"") as place:
        urls = {"file_url": "/v1/files/1/a", "upload_url": f"http://{place}/upload"}
        protocol.next["files"] = [(200, urls)]
        protocol.run = RUN
        start(f'{handler}\nserve({{"me/x": keep}}, stuck=4)')
        until(protocol.events)
        protocol.beat = {"cancel": ["r1"]}
        until(lambda: protocol.of("failure"))
        until(lambda: len(protocol.of("claims")) == 2)


def test_an_upload_ends_once_no_end_of_its_run_counts() -> None:
    with endless(b"", b"") as place:
        urls = answer(json.dumps({"file_url": "/v1/files/1/a", "upload_url": f"http://{place}/upload"}).encode())
        with Scripted(urls) as server:
            files = files_of(server.url)

            def lose() -> None:
                until(lambda: server.heads)
                files._useless.set()

            error = ended(lambda: files.upload("a.bin", b"123", "image/png"), lose)
    assert isinstance(error, TransferError)


def test_a_server_may_leave_the_connection_of_a_whole_file_open() -> None:
    with endless(answer(WHOLE, ETag=ETAG), b"") as place:
        assert files_of("http://127.0.0.1:1", ("*",)).download(f"http://{place}/a.bin", None, Cancelled()) == WHOLE


def test_a_target_that_cannot_be_a_file_is_said_at_once(tmp_path: Path) -> None:
    with Scripted(answer(WHOLE)) as server:
        with pytest.raises(FileNotFoundError):
            download(server, tmp_path / "none" / "a.bin")
        for to in (tmp_path, Path(os.devnull)):
            with pytest.raises(IsADirectoryError):
                download(server, to)
        assert server.heads == []
    assert not Path(os.devnull).is_file()


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a.bin")
    with Scripted(answer(WHOLE)) as server:
        download(server, tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "a.bin").read_bytes() == WHOLE


def test_an_input_that_breaks_off_is_fetched_again(protocol: Protocol, start: Any) -> None:
    with Scripted(unframed(b"123"), answer(b"123", length=6), answer(b"123456")) as server:
        protocol.run = {**RUN, "input": None, "input_url": f"{server.url}/input"}
        start(f'serve({{"me/x": lambda input, run: input}}, downloads=["{server.url}"])')
        [output] = until(lambda: protocol.of("output"))
    assert json.loads(output) == 123456


def test_what_is_tried_is_whole_too(start: Any, tmp_path: Path) -> None:
    program = 'serve({"me/x": lambda input, run: run.download(input["url"], "a.bin")})'
    with Scripted(answer(WHOLE[:9], length=10)) as server:
        printed, _ = start(program, "--try", json.dumps({"url": server.url})).communicate(timeout=20)
    assert json.loads(printed)["message"].startswith("TransferError: The download broke off after 9 of 10 bytes")
    assert not (tmp_path / "a.bin").exists()


@pytest.mark.parametrize("changes_to", [599_999, 600_001])
def test_a_file_that_changes_while_it_is_uploaded_is_never_sent_to_its_end(changes_to: int) -> None:
    urls = answer(json.dumps({"file_url": "/v1/files/1/a", "upload_url": "/upload"}).encode())
    with Scripted(urls, answer(b"{}")) as server:
        with pytest.raises(TransferError, match="a.bin changed while it was uploaded: it had 600000 bytes"):
            files_of(server.url).upload("a.bin", Changing(changes_to), "image/png")
        until(lambda: len(server.bodies) == 2)
        assert len(server.bodies[1]) < 600_000


def test_an_outage_uses_up_no_try_of_an_upload() -> None:
    urls = answer(json.dumps({"file_url": "/v1/files/1/a", "upload_url": "/upload"}).encode())
    away = [answer(b"", "503 Service Unavailable")] * 7
    with Scripted(*away, urls, answer(b"", "500 Internal Server Error"), urls, answer(b"{}")) as server:
        assert files_of(server.url).upload("a.bin", WHOLE, "image/png") == "/v1/files/1/a"


def test_an_upload_outlasts_a_service_that_is_away_and_checks_what_was_kept() -> None:
    urls = answer(json.dumps({"file_url": "/v1/files/1/a", "upload_url": "/upload"}).encode())
    away = [answer(b"", "503 Service Unavailable")] * 9
    kept = answer(json.dumps({"size": len(WHOLE), "sha256": SHA}).encode())
    with Scripted(*away, urls, b"", urls, kept) as server:
        assert files_of(server.url).upload("a.bin", WHOLE, "image/png") == "/v1/files/1/a"
    half = answer(json.dumps({"size": 5, "sha256": SHA}).encode())
    with Scripted(*[urls, half] * worker.MAX_TRIES, answer(b"", "404 Not Found")) as server:
        with pytest.raises(TransferError, match="did not store a.bin as it was sent"):
            files_of(server.url).upload("a.bin", WHOLE, "image/png")


@pytest.mark.parametrize("body", [b"", b"[]", b"\"ok\"", b'{"runs": ['])
def test_a_claim_that_is_answered_by_half_is_repeated(body: bytes) -> None:
    with pytest.raises(ValueError):
        worker.Answer(200, {}, body)

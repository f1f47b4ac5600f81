"""How a run ends whose worker was asked to stop, or whose output cannot be used."""

from __future__ import annotations

import io
import json
import signal
import socket
import threading
from typing import Any

import pytest

from nowserving.worker import Cancelled, Fail, _put, _Socket, failure_of
from scripted import Scripted, answer
from support import until
from worker_protocol import RUN, Protocol

UNTIL_STOPPED = """
def until_stopped(input, run):
    yield "a"
    run.cancelled.wait()
"""
RETURNING = """
def returning(input, run):
    yield from until_stopped(input, run)
    return {"text": "a"}
"""


def ends_at_sigterm(protocol: Protocol, start: Any, program: str) -> list[str]:
    protocol.run = RUN
    running = start(program)
    until(lambda: protocol.of("events"))
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=20)
    return [name for name, _, _ in protocol.calls if name in ("output", "failure", "release")]


def test_what_a_run_had_said_when_the_worker_had_to_stop_is_not_its_output(protocol: Protocol, start: Any) -> None:
    assert ends_at_sigterm(protocol, start, UNTIL_STOPPED + 'serve({"me/x": until_stopped}, grace=0)') == ["release"]


def test_an_output_that_is_returned_counts_also_then(protocol: Protocol, start: Any) -> None:
    program = UNTIL_STOPPED + RETURNING + 'serve({"me/x": returning}, grace=0)'
    assert ends_at_sigterm(protocol, start, program) == ["output"]
    assert json.loads(protocol.of("output")[0]) == {"text": "a"}


def test_nor_is_what_it_had_said_when_the_request_was_cancelled(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    start(UNTIL_STOPPED + 'serve({"me/x": until_stopped})')
    until(lambda: protocol.of("events"))
    protocol.beat = {"cancel": ["r1"]}
    [failure] = until(lambda: protocol.of("failure"))
    assert json.loads(failure) == {"message": "The run must stop: cancelled.", "retryable": False}
    assert protocol.of("output") == []


@pytest.mark.parametrize(
    ("kind", "ended", "body"),
    [
        ("Fail", "failure", {"message": "no", "retryable": False}),
        ("Retry", "failure", {"message": "no", "retryable": True}),
        ("Away", "release", {"retry_after_s": 5.0}),
    ],
)
def test_an_error_need_not_call_the_init_of_its_parent(
    protocol: Protocol, start: Any, kind: str, ended: str, body: dict[str, Any]
) -> None:
    protocol.run = RUN
    start(
        "from worker import Away\n"
        f"class Own({kind}):\n"
        "    def __init__(self, why):\n"
        "        self.why = why\n"
        "def failing(input, run):\n"
        '    raise Own("no")\n'
        'serve({"me/x": failing})'
    )
    assert json.loads(until(lambda: protocol.of(ended))[0]) == body


def test_an_output_that_a_proxy_finds_too_large_fails_the_run(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    protocol.next["output"] = [(413, {})]
    start('serve({"me/x": lambda input, run: 1})')
    [failure] = until(lambda: protocol.of("failure"))
    assert json.loads(failure) == {"message": "The service answered 413.", "retryable": False}


def test_a_lost_run_whose_end_is_not_taken_frees_its_slot(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    protocol.next["output"] = [(502, {})] * 1_000
    started = start('serve({"me/x": lambda input, run: 1})')
    until(lambda: protocol.of("output"))
    protocol.beat = {"lost": ["r1"]}
    until(lambda: len(protocol.of("claims")) > 1)
    lines = [started.stderr.readline() for _ in range(2)]
    assert lines[1].endswith("r1: the lease is lost, and the service has not confirmed the end of the run\n")


@pytest.mark.parametrize(
    ("raised", "released"),
    [("Away(after=Decimal(5))", b'{"retry_after_s":5.0}'), ("Own()", b"")],
)
def test_a_run_is_handed_back_whatever_the_seconds_of_away_are(
    protocol: Protocol, start: Any, raised: str, released: bytes
) -> None:
    protocol.run = RUN
    start(
        "from decimal import Decimal\n"
        "from worker import Away\n"
        "class Own(Away):\n"
        '    after = "soon"\n'
        "    def __init__(self):\n"
        "        pass\n"
        "def away(input, run):\n"
        f"    raise {raised}\n"
        'serve({"me/x": away, "me/y": away})'
    )
    assert until(lambda: protocol.of("release")) == [released]
    until(lambda: len(protocol.of("claims")) > 1)


def test_a_task_that_exits_leaves_the_event_loop_to_the_others(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    start(
        "import asyncio, sys\n"
        "async def handle(input, run):\n"
        "    async def leave():\n"
        "        sys.exit(1)\n"
        "    task = asyncio.ensure_future(leave())\n"
        "    await asyncio.sleep(0.1)\n"
        "    return task.done()\n"
        'serve({"me/x": handle})'
    )
    assert until(lambda: protocol.of("output")) == [b"true"]


def test_a_run_has_the_time_that_is_left_whatever_the_clocks_show(protocol: Protocol, start: Any) -> None:
    protocol.run = {**RUN, "deadline_at": "2020-01-01T00:00:00.000Z", "remaining_ms": 60_000}
    start(
        "from datetime import datetime, timezone\n"
        "def timed(input, run):\n"
        '    at = datetime.fromisoformat(run.deadline.replace("Z", "+00:00"))\n'
        "    return [bool(run.cancelled), at > datetime.now(timezone.utc)]\n"
        'serve({"me/x": timed})'
    )
    assert json.loads(until(lambda: protocol.of("output"))[0]) == [False, True]


def test_it_is_stopped_when_that_time_is_over(protocol: Protocol, start: Any) -> None:
    protocol.run = {**RUN, "deadline_at": "2099-01-01T00:00:00.000Z", "remaining_ms": 50}
    start(
        "def timed(input, run):\n"
        "    run.cancelled.wait(20)\n"
        "    run.log(run.cancelled.reason)\n"
        'serve({"me/x": timed})'
    )
    assert b"timed_out" in until(lambda: protocol.of("events"))[0]


@pytest.mark.parametrize(
    ("refused_by", "status", "failure"),
    [
        ("here", 413, {"message": "The upload of a.png was refused: It is too large.", "retryable": False}),
        ("files", 400, {"message": "The upload of a.png was refused: It is too large.", "retryable": False}),
        ("here", 403, {"message": "TransferError: The upload of a.png was refused: It is too large.", "retryable": True}),
    ],
)
def test_an_upload_that_is_refused_fails_the_run_in_the_words_of_the_service(
    protocol: Protocol, start: Any, refused_by: str, status: int, failure: dict[str, Any]
) -> None:
    protocol.run = RUN
    urls = {"file_url": "https://queue/v1/files/1/a.png", "upload_url": "/upload/here?signature=s"}
    protocol.next["files"] = [(200, urls)]
    protocol.next[refused_by] = [(status, {"code": "some_problem", "detail": "It is too large."})]
    start('serve({"me/x": lambda input, run: run.upload("a.png", b"123")})')
    [said] = until(lambda: protocol.of("failure"))
    assert json.loads(said) == failure
    assert len(protocol.of("files")) == 1


def test_an_answer_before_the_end_of_an_upload_is_read() -> None:
    def refuse() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(65_536)
            body = json.dumps({"code": "body_too_large", "detail": "It is too large."})
            connection.sendall(f"HTTP/1.1 413 No\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode())

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=refuse, daemon=True).start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/upload"
        with pytest.raises(Fail, match="The upload of a.png was refused: It is too large."):
            with _Socket(Cancelled()) as held:
                _put(url, io.BytesIO(bytes(50_000_000)), "image/png", "a.png", held)


@pytest.mark.parametrize("details", ['{"score": float("nan")}', "{1, 2}"])
def test_details_that_are_no_json_are_left_out(protocol: Protocol, start: Any, details: str) -> None:
    protocol.run = RUN
    start(f'def fails(input, run): raise Fail("no", status=422, details={details})\nserve({{"me/x": fails}})')
    [said] = until(lambda: protocol.of("failure"))
    assert json.loads(said) == {"message": "no", "retryable": False, "status": 422}
    until(lambda: len(protocol.of("claims")) == 2)


@pytest.mark.parametrize("output", ['float("nan")', '{"scores": [1, float("-inf")]}', "{1, 2}"])
def test_an_output_that_is_no_json_fails_the_run(protocol: Protocol, start: Any, output: str) -> None:
    protocol.run = RUN
    program = f'serve({{"me/x": lambda input, run: {output}}})'
    start(program)
    [said] = until(lambda: protocol.of("failure"))
    failure = json.loads(said)
    assert failure["message"].startswith("The output is not a JSON value: ") and failure["retryable"] is False
    printed, _ = start(program, "--try", "{}").communicate(timeout=20)
    assert json.loads(printed) == {"type": "error", **failure}


def test_what_is_tried_with_bad_json_fails_for_good(start: Any) -> None:
    printed, said = start('serve({"me/x": lambda input, run: 1})', "--try", "{n:1}").communicate(timeout=20)
    assert json.loads(printed)["retryable"] is False and "Traceback" not in said


def test_what_is_tried_has_the_output_that_the_service_makes_of_its_deltas(start: Any) -> None:
    story = """
def story(input, run):
    yield "a"
    yield "b"
    yield {"n": 1}
    yield "c"
    yield "d"
serve({"me/x": story})
"""
    printed, _ = start(story, "--try", "{}").communicate(timeout=20)
    assert json.loads(printed.splitlines()[-1]) == {"type": "output", "output": ["ab", {"n": 1}, "cd"]}


TEXTLESS = """
class Textless(Exception):
    def __str__(self):
        raise RuntimeError
def handle(input, run):
    raise Textless
serve({"me/x": handle})
"""


def test_a_run_fails_with_what_its_handler_raises_also_when_that_has_no_text(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    start(TEXTLESS)
    [failure] = until(lambda: protocol.of("failure"))
    assert json.loads(failure) == {"message": "Textless: The error has no text.", "retryable": True}


def test_a_very_long_text_is_cut() -> None:
    assert failure_of(Fail("a" * 10_000_000))["message"] == "a" * 8_192


def test_a_worker_goes_on_when_nobody_reads_its_standard_error(protocol: Protocol, start: Any) -> None:
    protocol.next["claims"] = [(200, {"runs": [RUN]}), (200, {"runs": [{**RUN, "lease_token": "t2"}]})]
    started = start('import os\nos.close(2)\nserve({"me/x": lambda input, run: 1 / 0})')
    until(lambda: len(protocol.of("failure")) == 2)
    assert started.poll() is None


def without_thread(name: str) -> str:
    """A program's beginning after which no thread with this name can start."""
    return f"""
import threading
start = threading.Thread.start
def limited(thread):
    if thread.name == "{name}":
        raise RuntimeError("can't start new thread")
    start(thread)
threading.Thread.start = limited
"""


@pytest.mark.parametrize(
    ("beginning", "options", "why"),
    [
        (without_thread("nowserving_slot"), "grace=0", "RuntimeError: can't start new thread"),
        ("", "ready=lambda: sys.exit('The model is broken.')", "The model is broken."),
        ("async def broken(): sys.exit('The model is broken.')", "ready=broken", "The model is broken."),
    ],
)
def test_a_worker_whose_claims_end_by_an_error_ends_with_it(
    protocol: Protocol, start: Any, beginning: str, options: str, why: str
) -> None:
    protocol.run = RUN
    started = start(f'import sys\n{beginning}\nserve({{"me/x": lambda input, run: 1}}, {options})')
    _, said = started.communicate(timeout=20)
    assert (started.returncode, said.splitlines()[-1]) == (1, why)
    assert len(protocol.of("workers")) == 1


@pytest.mark.parametrize("option", ['labels={"gpus": {1}}', 'labels={"gpus": float("nan")}', "version=b'1'"])
def test_what_a_worker_says_about_itself_must_be_json(protocol: Protocol, start: Any, option: str) -> None:
    started = start(f'serve({{"me/x": lambda input, run: 1}}, {option})')
    _, said = started.communicate(timeout=20)
    assert said.splitlines()[-1] == "ValueError: The name, the version and the labels of the worker must be JSON values."
    assert (started.returncode, protocol.calls) == (1, [])


@pytest.mark.parametrize(
    ("thread", "handler"),
    [
        ("nowserving-events", "def handle(input, run):\n    run.log('a')"),
        ("nowserving-loop", "async def handle(input, run):\n    return 1"),
    ],
)
def test_a_run_whose_thread_cannot_start_fails_and_its_worker_claims_again(
    protocol: Protocol, start: Any, thread: str, handler: str
) -> None:
    protocol.next["claims"] = [(200, {"runs": [RUN]}), (200, {"runs": [{**RUN, "lease_token": "t2"}]})]
    start(f'{without_thread(thread)}\n{handler}\nserve({{"me/x": handle}})')
    failures = until(lambda: len(protocol.of("failure")) == 2 and protocol.of("failure"))
    assert [json.loads(failure)["message"] for failure in failures] == ["RuntimeError: can't start new thread"] * 2


def test_an_input_may_have_a_number_of_many_digits(protocol: Protocol, start: Any) -> None:
    # Python's own server writes no such number.
    digits = "1" * 5_000
    claim = answer(json.dumps({"runs": [{**RUN, "input": "?"}]}).replace('"?"', digits).encode())
    taken = answer(b"{}")
    with Scripted(lambda head: claim if "/claims" in head and not claimed_before(server) else taken) as server:
        start('serve({"me/x": lambda input, run: str(input)})', NOWSERVING_URL=server.url)
        until(lambda: b'"inf"' in server.bodies)


def claimed_before(server: Scripted) -> bool:
    return sum("/claims" in head for head in server.heads) > 1

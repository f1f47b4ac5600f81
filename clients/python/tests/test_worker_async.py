"""Handlers that are `async def`."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from support import until
from worker_protocol import RUN, Protocol

SECOND = {**RUN, "request_id": "r2", "lease_token": "t2"}
THIRD = {**RUN, "request_id": "r3", "lease_token": "t3"}


def program(body: str, **options: Any) -> str:
    given = "".join(f", {name}={value}" for name, value in options.items())
    return f'import asyncio, os, sys\n{body}\nserve({{"me/x": handle}}{given})'


STORY = """
async def handle(input, run):
    run.log("begun")
    for word in ("a", "b"):
        await asyncio.sleep(0)
        yield word
"""


def test_an_async_def_gives_an_output(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    start(program('async def handle(input, run):\n    await asyncio.sleep(0)\n    return input["n"] ** 2'))
    assert until(lambda: protocol.of("output")) == [b"49"]


def test_one_that_yields_gives_deltas(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    start(program(STORY))
    assert until(lambda: protocol.of("output")) == [b""]
    said = [json.loads(line) for line in b"".join(protocol.of("events")).splitlines()]
    assert [one.get("message", one.get("delta")) for one in said] == ["begun", "a", "b"]


def test_all_runs_share_one_event_loop_and_one_that_exits_does_not_end_it(protocol: Protocol, start: Any) -> None:
    protocol.next["claims"] = [(200, {"runs": [RUN]}), (200, {"runs": [SECOND, THIRD]})]
    start(
        program(
            """
arrived = []

async def handle(input, run):
    if run.request_id == "r1":
        sys.exit(3)
    arrived.append(run)
    while len(arrived) < 2:
        await asyncio.sleep(0.01)
    return id(asyncio.get_running_loop())
""",
            concurrency=2,
        )
    )
    until(lambda: len(protocol.of("output")) == 2)
    assert len(set(protocol.of("output"))) == 1
    assert json.loads(protocol.of("failure")[0])["message"] == "SystemExit: 3"


CLEANS_UP = """
async def handle(input, run):
    try:
        yield "a"
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.05)
        print("cleaned up", run.cancelled.reason, flush=True)
"""


def test_a_cancel_reaches_an_async_handler_wherever_it_waits(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    running = start(program(CLEANS_UP))
    until(lambda: protocol.of("events"))
    protocol.beat = {"cancel": ["r1"]}
    [failure] = until(lambda: protocol.of("failure"))
    assert json.loads(failure) == {"message": "The run must stop: cancelled.", "retryable": False}
    assert running.stdout.readline() == "cleaned up cancelled\n"


def test_a_cancel_reaches_a_generator_that_never_waits(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    start(program('async def handle(input, run):\n    while True:\n        yield "word " * 1_000'))
    until(lambda: protocol.of("events"))
    protocol.beat = {"cancel": ["r1"]}
    until(lambda: protocol.of("failure"))


def test_a_long_text_that_cannot_be_sent_holds_up_no_other_handler(protocol: Protocol, start: Any) -> None:
    protocol.next["claims"] = [(200, {"runs": [RUN, SECOND]})]
    protocol.next["events"] = [(503, {"code": "unavailable", "retry_after_s": 60})]
    body = """
yielded = []

async def handle(input, run):
    if run.request_id == "r1":
        yielded.append(run)
        yield "x" * 4_000_000
    while not yielded:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.01)
"""
    start(program(body, concurrency=2))
    until(lambda: protocol.of("output"))


def test_what_an_async_handler_returns_after_a_cancel_still_counts(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    body = """
async def handle(input, run):
    run.log("begun")
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        return run.cancelled.reason
"""
    start(program(body))
    until(lambda: protocol.of("events"))
    protocol.beat = {"cancel": ["r1"]}
    assert until(lambda: protocol.of("output")) == [b'"cancelled"']


def test_an_async_run_is_handed_back_when_the_grace_is_over(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    running = start(program(CLEANS_UP, grace=0))
    until(lambda: protocol.of("events"))
    running.send_signal(signal.SIGTERM)
    printed, _ = running.communicate(timeout=20)
    assert printed == "cleaned up shutdown\n"
    assert [name for name, _, _ in protocol.calls if name in ("output", "failure", "release")] == ["release"]


def test_a_process_that_an_async_handler_forked_does_not_end_the_run(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    body = """
async def handle(input, run):
    pid = os.fork()
    if pid == 0:
        return "from the child"
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""
    running = start(program(body))
    assert until(lambda: protocol.of("output")) == [b"1"]
    assert protocol.of("failure") == []
    running.send_signal(signal.SIGTERM)
    assert "a process that the handler forked returned from it" in running.communicate(timeout=20)[1]


@pytest.mark.parametrize(
    ("body", "output"),
    [(STORY, "ab"), ('async def handle(input, run):\n    return input["n"]', 7), ("handle = lambda input, run: [1]", [1])],
)
def test_async_handlers_are_tried_without_a_service(start: Any, body: str, output: Any) -> None:
    printed, said = start(program(body), "--try", '{"n": 7}').communicate(timeout=20)
    assert json.loads(printed.splitlines()[-1]) == {"type": "output", "output": output}, said

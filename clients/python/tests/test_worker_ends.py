"""How the run of a worker ends that was told to stop, or whose output is not to be had."""

from __future__ import annotations

import json
import signal
from typing import Any

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

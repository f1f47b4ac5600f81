"""Processes that a handler starts: run, lease and connections stay with the worker's own process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support import until
from worker_protocol import RUN, Protocol


def output_of(protocol: Protocol, start: Any, program: str) -> tuple[Any, Any]:
    """Returns the output of a run whose handler is `handle`, and its program."""
    protocol.run = RUN
    started = start(f'import os, sys, time\n{program}\nserve({{"me/x": handle}})')
    [output] = until(lambda: protocol.of("output"))
    return json.loads(output), started


FORKED = """
def forked(work):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return pid

def code_of(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""


def test_files_of_forked_processes_go_over_connections_of_their_own(protocol: Protocol, start: Any) -> None:
    """On a connection of the parent each process would read answers to calls of the other."""
    protocol.echo_names = True
    program = FORKED + """
def handle(input, run):
    def upload(name):
        for n in range(20):
            url = run.upload(f"{name}-{n}.bin", name.encode())
            assert url == f"/v1/files/{name}-{n}.bin", (name, n, url)

    upload("before")
    children = [forked(lambda: upload(f"child{number}")) for number in range(3)]
    upload("parent")
    return [code_of(pid) for pid in children]
"""
    assert output_of(protocol, start, program)[0] == [0, 0, 0]


def test_what_a_forked_process_says_is_refused_with_a_sentence(protocol: Protocol, start: Any) -> None:
    program = FORKED + """
def handle(input, run):
    def say(what):
        try:
            what()
        except RuntimeError as error:
            assert "not for one forked by the handler" in str(error)
        else:
            raise AssertionError

    run.log("of the worker")
    said = (lambda: run.log("a"), lambda: run.progress(0.5), lambda: run.delta("a"))
    return [code_of(forked(lambda: say(what))) for what in said]
"""
    assert output_of(protocol, start, program)[0] == [0, 0, 0]
    assert b"".join(protocol.of("events")).count(b"\n") == 1


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [
        ("return 'of the child'", 1, "a process that the handler forked returned from it"),
        ("raise ValueError('of the child')", 1, "ValueError: of the child"),
        ("sys.exit(3)", 3, ""),
        ("sys.exit()", 0, ""),
    ],
)
def test_a_forked_process_that_leaves_the_handler_ends_and_ends_no_run(
    protocol: Protocol, start: Any, end: str, code: int, said: str
) -> None:
    program = f"""
def handle(input, run):
    pid = os.fork()
    if pid == 0:
        {end}
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""
    output, started = output_of(protocol, start, program)
    assert output == code
    assert [len(protocol.of(route)) for route in ("output", "failure", "release")] == [1, 0, 0]
    started.terminate()
    printed = started.communicate(timeout=20)[1]
    assert said in printed and ("Traceback" in printed) == ("ValueError" in said)


def test_a_forked_process_can_be_ended_by_a_signal(protocol: Protocol, start: Any) -> None:
    """A signal ends it from its first moment, even while Python sets the process up."""
    program = """
import multiprocessing

def handle(input, run):
    codes = []
    for end in ("terminate", "kill") * 100:
        child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
        child.start()
        getattr(child, end)()
        child.join(5)
        codes.append(child.exitcode)
        if child.exitcode is None:
            break
    return codes
"""
    assert output_of(protocol, start, program)[0] == [-15, -9] * 100


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_a_handler_may_use_multiprocessing(protocol: Protocol, start: Any, method: str) -> None:
    """A process that imports the program again, which ends in `serve`, is no second worker."""
    program = f"""
import multiprocessing

def square(n):
    return n * n

def handle(input, run):
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        return pool.map(square, range(4))
"""
    assert output_of(protocol, start, program)[0] == [0, 1, 4, 9]
    assert len({json.loads(body)["worker"]["id"] for body in protocol.of("claims")}) == 1

"""Handler files of RunPod, as they are, against the worker's protocol without a queue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support import until
from worker_protocol import RUN, Protocol

SECOND = {**RUN, "request_id": "r2", "lease_token": "t2"}


def handler(body: str, config: str = "") -> str:
    return f'import asyncio, os, sys, time\nimport runpod\n{body}\nrunpod.serverless.start({{"handler": handler{config}}})\n'


def output_of(protocol: Protocol) -> Any:
    [output] = until(lambda: protocol.of("output"))
    return json.loads(output) if output else None


def failure_of(protocol: Protocol) -> dict[str, Any]:
    [failure] = until(lambda: protocol.of("failure"))
    return dict(json.loads(failure))


def deltas_of(protocol: Protocol) -> list[Any]:
    return [event["delta"] for event in protocol.events() if event["type"] == "delta"]


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_handler_gets_the_job_and_gives_the_output(protocol: Protocol, start_file: Any, kind: str) -> None:
    protocol.run = RUN
    start_file("runpod", "handler.py", handler=handler(f'{kind} handler(job):\n    return {{"id": job["id"], **job["input"]}}'))
    assert output_of(protocol) == {"id": "r1", "n": 7}


YIELDS = """
{kind} handler(job):
    yield "a"
    yield "b"
    yield {{"c": 1}}
"""


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize(
    ("config", "output"), [("", None), (', "return_aggregate_stream": True', ["a", "b", {"c": 1}])]
)
def test_what_a_handler_yields_is_streamed(
    protocol: Protocol, start_file: Any, kind: str, config: str, output: Any
) -> None:
    protocol.run = RUN
    start_file("runpod", "handler.py", handler=handler(YIELDS.format(kind=kind), config))
    assert output_of(protocol) == output
    assert deltas_of(protocol) == ["a", "b", {"c": 1}]


def test_progress_and_log(protocol: Protocol, start_file: Any) -> None:
    protocol.run = RUN
    body = """
def handler(job):
    for progress in ("step 1 of 3", 50, {"frame": 3}, {"progress": 0.75, "message": "almost"}):
        runpod.serverless.progress_update(job, progress)
"""
    start_file("runpod", "handler.py", handler=handler(body))
    assert output_of(protocol) is None
    said = [{name: value for name, value in event.items() if name != "level"} for event in protocol.events()]
    assert said == [
        {"type": "log", "message": "step 1 of 3"},
        {"type": "progress", "value": 0.5},
        {"type": "log", "message": '{"frame": 3}'},
        {"type": "progress", "value": 0.75, "message": "almost"},
    ]


@pytest.mark.parametrize("step", ["return", "yield"])
def test_an_error_fails_the_request_for_good(protocol: Protocol, start_file: Any, step: str) -> None:
    protocol.run = RUN
    start_file("runpod", "handler.py", handler=handler(f'def handler(job):\n    {step} {{"error": "CUDA out of memory"}}'))
    assert failure_of(protocol) == {"message": "CUDA out of memory", "retryable": False}
    assert protocol.of("output") == []


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_handler_that_raises_after_it_has_yielded_fails_the_attempt(
    protocol: Protocol, start_file: Any, kind: str
) -> None:
    protocol.run = RUN
    start_file("runpod", "handler.py", handler=handler(f'{kind} handler(job):\n    yield "a"\n    raise ValueError("no")'))
    assert failure_of(protocol) == {"message": "ValueError: no", "retryable": True}
    assert protocol.of("output") == []


def test_an_empty_error_is_none(protocol: Protocol, start_file: Any) -> None:
    protocol.run = RUN
    start_file("runpod", "handler.py", handler=handler('def handler(job):\n    return {"error": None, "n": 1}'))
    assert output_of(protocol) == {"n": 1}


@pytest.mark.parametrize(
    ("body", "config", "output"),
    [
        ('def handler(job):\n    return {"refresh_worker": True, "n": 1}', "", {"n": 1}),
        ("def handler(job):\n    return 5", ', "refresh_worker": True', 5),
        ('async def handler(job):\n    yield "a"', ', "refresh_worker": True, "return_aggregate_stream": True', ["a"]),
    ],
)
def test_refresh_worker_ends_the_process_after_the_run(
    protocol: Protocol, start_file: Any, body: str, config: str, output: Any
) -> None:
    protocol.run = RUN
    worker = start_file("runpod", "handler.py", handler=handler(body, config))
    worker.communicate(timeout=20)
    assert worker.returncode == 0
    assert output_of(protocol) == output
    names = [name for name, _, _ in protocol.calls]
    assert names.index("output") < names.index("workers")
    assert protocol.of("release") == []


def test_refresh_worker_waits_for_the_other_runs(protocol: Protocol, start_file: Any) -> None:
    protocol.next["claims"] = [(200, {"runs": [RUN, SECOND]})]
    body = """
arrived = []

async def handler(job):
    arrived.append(job)
    while len(arrived) < 2:
        await asyncio.sleep(0.01)
    if job["id"] == "r2":
        await asyncio.sleep(0.5)
    return {"refresh_worker": True, "id": job["id"]}
"""
    worker = start_file("runpod", "handler.py", "--concurrency", "2", handler=handler(body))
    worker.communicate(timeout=20)
    assert worker.returncode == 0
    assert sorted(json.loads(output)["id"] for output in protocol.of("output")) == ["r1", "r2"]
    assert protocol.of("release") == []


def test_the_concurrency_is_that_of_the_modifier(protocol: Protocol, start_file: Any) -> None:
    body = "def handler(job):\n    return 1"
    start_file("runpod", "handler.py", handler=handler(body, ', "concurrency_modifier": lambda current: min(current + 3, 7)'))
    [claim, *_] = until(lambda: protocol.of("claims"))
    assert json.loads(claim)["max"] == 7


def test_a_file_runs_as_if_it_was_started_itself(protocol: Protocol, start_file: Any) -> None:
    protocol.run = RUN
    body = """
import multiprocessing
from runpod.serverless.modules.rp_logger import RunPodLogger
import beside

def square(n):
    return n * n

def handler(job):
    RunPodLogger().info("begun", job["id"])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return [sys.argv, __name__, beside.N, pool.map(square, [job["input"]["n"]])]
"""
    running = start_file("runpod", "handler.py", "--fast", handler=handler(body), beside="N = 3")
    assert output_of(protocol) == [["handler.py", "--fast"], "__main__", 3, [49]]
    running.terminate()
    assert "INFO | r1 | begun" in running.communicate(timeout=20)[1]


def test_an_installed_runpod_is_used_but_for_what_serves(protocol: Protocol, start_file: Any, tmp_path: Path) -> None:
    protocol.run = RUN
    package = tmp_path / "installed" / "runpod" / "serverless"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("from . import serverless\nVERSION = 'the real one'\n")
    (package / "__init__.py").write_text("def start(config):\n    raise SystemExit('it calls RunPod')\n")
    body = "def handler(job):\n    return runpod.VERSION"
    start_file("runpod", "handler.py", path=str(tmp_path / "installed"), handler=handler(body))
    assert output_of(protocol) == "the real one"


def test_a_handler_is_tried_without_a_service(start_file: Any) -> None:
    body = 'def handler(job):\n    yield job["input"]["n"]'
    config = ', "return_aggregate_stream": True, "refresh_worker": True'
    printed, said = start_file("runpod", "handler.py", "--try", '{"n": 7}', handler=handler(body, config)).communicate(timeout=20)
    assert json.loads(printed.splitlines()[-1]) == {"type": "output", "output": [7]}, said


def test_a_file_that_starts_nothing_is_an_error(start_file: Any) -> None:
    worker = start_file("runpod", "handler.py", handler="print('hello')")
    assert "without a call of runpod.serverless.start" in worker.communicate(timeout=20)[1]
    assert worker.returncode == 1

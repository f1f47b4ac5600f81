"""When a worker claims runs, and when it holds back: Away, ready, unknown models, stuck handlers."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from nowserving import worker
from nowserving.worker import Away, Retry, TransferError, failure_of
from scripted import Scripted, answer
from support import until
from worker_protocol import RUN, Protocol

SECOND = {**RUN, "request_id": "r2", "lease_token": "t2", "model_id": "me/y"}
BOTH = 'serve({"me/x": handle, "me/y": lambda input, run: "y"}'


def claimed(protocol: Protocol) -> list[list[str]]:
    """Returns the models of each claim."""
    return [[model["model_id"] for model in json.loads(body)["models"]] for body in protocol.of("claims")]


def said(started: Any) -> str:
    """Ends a worker, and returns what it has printed."""
    started.terminate()
    return str(started.communicate(timeout=20)[1])


def unknown(model: str | None) -> tuple[int, dict[str, Any]]:
    return 404, {"code": "unknown_model", "detail": "There is no such model here.", "model_id": model}


def test_a_model_that_is_not_known_is_claimed_again_later_and_the_others_are_served(
    protocol: Protocol, start: Any
) -> None:
    protocol.next["claims"] = [unknown("me/x"), (200, {"runs": [SECOND]})]
    started = start(f"handle = None\n{BOTH})")
    assert until(lambda: protocol.of("output")) == [b'"y"']
    until(lambda: len(protocol.of("claims")) > 2)
    assert claimed(protocol)[0] == ["me/x", "me/y"]
    printed = said(started)
    assert printed.count("There is no such model here. The worker asks for its runs again later.") == 1


def test_so_is_the_only_one_by_a_service_that_does_not_say_which(protocol: Protocol, start: Any) -> None:
    protocol.next["claims"] = [unknown(None), (200, {"runs": [RUN]})]
    started = start('serve({"me/x": lambda input, run: "x"})')
    assert until(lambda: protocol.of("output")) == [b'"x"']
    assert "The service knows me/x now." in said(started)


@pytest.mark.parametrize(
    "handler",
    [
        'def handle(input, run):\n    raise Away("It loads.", after=60)',
        'def handle(input, run):\n    return Away("It loads.", after=60)',
        'def handle(input, run):\n    yield "a"\n    return Away("It loads.", after=60)',
        'async def handle(input, run):\n    return Away("It loads.", after=60)',
    ],
)
def test_away_hands_the_run_back_with_a_delay_and_the_model_is_not_claimed(
    protocol: Protocol, start: Any, handler: str
) -> None:
    protocol.run = RUN
    started = start(f"from worker import Away\n{handler}\n{BOTH})")
    [release] = until(lambda: protocol.of("release"))
    assert json.loads(release) == {"retry_after_s": 60}
    until(lambda: len(protocol.of("claims")) == 2)
    assert claimed(protocol)[1] == ["me/y"]
    assert protocol.of("failure") == []
    assert "r1: the run is handed back, and no run of me/x is claimed for 60 s: It loads." in said(started)


def test_a_delay_that_the_service_refuses_is_left_out(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    protocol.next["release"] = [(400, {"code": "bad_request", "detail": "It is too long."})]
    start('from worker import Away\nserve({"me/x": lambda input, run: Away(after=10_000)})')
    assert until(lambda: len(protocol.of("release")) == 2 and protocol.of("release"))[1] == b""


READY = """
answers = [lambda: False, lambda: 1 / 0, lambda: True]
def ready():
    return answers.pop(0)() if answers else True
"""
ASYNC_READY = READY.replace("def ready", "async def ready")


@pytest.mark.parametrize("program", [READY, ASYNC_READY])
def test_nothing_is_claimed_until_a_function_says_that_the_backend_is_ready(
    protocol: Protocol, start: Any, program: str
) -> None:
    protocol.run = RUN
    started = start(f'{program}\nserve({{"me/x": lambda input, run: len(answers)}}, ready=ready)')
    assert until(lambda: protocol.of("output")) == [b"0"]
    printed = said(started)
    why = "the function did not return something true"
    assert f"The backend is not ready ({why}). The worker claims nothing until it is." in printed
    assert "The backend is ready." in printed


def test_a_function_that_hangs_is_not_ready_after_5_s(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    hangs = "import asyncio\nseconds = [3600, 0]\nasync def ready():\n    return not await asyncio.sleep(seconds.pop(0))"
    started = start(f'{hangs}\nserve({{"me/x": lambda input, run: 1}}, ready=ready)')
    until(lambda: protocol.of("output"))
    assert "The backend is not ready (it did not answer within 5 s)." in said(started)


def test_nor_until_its_url_is_answered_2xx(protocol: Protocol, start: Any) -> None:
    claims: list[int] = []

    def status(code: str) -> Any:
        def answered(_: str) -> bytes:
            claims.append(len(protocol.of("claims")))
            return answer(b"", code)

        return answered

    with Scripted(status("503 Service Unavailable"), status("302 Found"), status("204 No Content")) as backend:
        started = start(f'serve({{"me/x": lambda input, run: 1}}, ready="{backend.url}/health?token=secret")')
        until(lambda: protocol.of("claims"))
    assert claims[:3] == [0, 0, 0]
    printed = said(started)
    assert "The backend is not ready (it answered 503)." in printed and "secret" not in printed


def test_a_ready_url_must_be_one(start: Any) -> None:
    program = start('serve({"me/x": lambda input, run: 1}, ready="localhost/health")')
    assert 'The URL of the option "ready" must begin with http:// or https://.' in program.communicate(timeout=20)[1]


GROWING = """
import threading
most = [1]
def handle(input, run):
    most[0] = 3
    started.append(run)
    while len(started) < 3:
        run.cancelled.wait(0.01)
    return len(started)
started = []
serve({"me/x": handle}, concurrency=lambda: most[0])
"""


def test_the_concurrency_may_change_while_a_worker_runs(protocol: Protocol, start: Any) -> None:
    more = [{**RUN, "request_id": f"r{n}", "lease_token": f"t{n}"} for n in (2, 3)]
    protocol.next["claims"] = [(200, {"runs": [RUN]}), (200, {"runs": more})]
    start(GROWING)
    assert until(lambda: len(protocol.of("output")) == 3 and protocol.of("output")) == [b"3"] * 3
    assert [json.loads(body)["max"] for body in protocol.of("claims")][:2] == [1, 2]


def test_a_number_that_a_function_cannot_say_stays_as_it_was(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    numbers = "numbers = [2, -1]\n"
    started = start(f'{numbers}serve({{"me/x": lambda input, run: 1}}, concurrency=lambda: numbers.pop(0))')
    until(lambda: protocol.of("output"))
    assert json.loads(protocol.of("claims")[0])["max"] == 2
    wrong = "The concurrency must be a whole number of at least 0, not -1."
    assert f"The concurrency stays 2: ValueError: {wrong}" in said(started)


HANGS = """
import time
def hangs(input, run):
    while True:
        time.sleep(0.05)

async def hangs_too(input, run):
    while True:
        time.sleep(0.05)

def waits(input, run):
    run.cancelled.wait(60)
"""


@pytest.mark.parametrize(
    ("reason", "beat"),
    [("lost", {"lost": ["r1"]}), ("cancelled", {"cancel": ["r1"]})],
)
@pytest.mark.parametrize("handler", ["hangs", "hangs_too"])
def test_a_handler_that_outlives_its_run_ends_the_process_after_the_rest_is_handed_back(
    protocol: Protocol, start: Any, reason: str, beat: dict[str, Any], handler: str
) -> None:
    protocol.next["claims"] = [(200, {"runs": [RUN, SECOND]})]
    started = start(f'{HANGS}\nserve({{"me/x": {handler}, "me/y": waits}}, concurrency=2, stuck=0.5, grace=60)')
    until(lambda: protocol.of("beats"))
    protocol.beat = beat
    _, printed = started.communicate(timeout=20)
    assert started.returncode == 70
    over = f"r1: the handler has not returned 0.5 s after its run was over ({reason})."
    assert f"{over} The worker hands back its other runs and ends with exit code 70." in printed
    # Without a body, the call releases all leases of the worker.
    assert protocol.of("workers") == [b""]


def test_so_does_one_whose_time_is_over(protocol: Protocol, start: Any) -> None:
    protocol.run = {**RUN, "remaining_ms": 50}
    started = start(f'{HANGS}\nserve({{"me/x": hangs}}, stuck=0.5)')
    assert "(timed_out)" in started.communicate(timeout=20)[1]
    assert started.returncode == 70


def test_meanwhile_its_beats_say_so_and_it_goes_on_once_the_handler_returns(
    protocol: Protocol, start: Any, tmp_path: Path
) -> None:
    protocol.next["claims"] = [(200, {"runs": [RUN]})]
    start(
        """
import os, time
def handle(input, run):
    while not os.path.exists("end"):
        time.sleep(0.01)
serve({"me/x": handle}, stuck=3600)
"""
    )
    until(lambda: protocol.of("beats"))
    protocol.beat = {"lost": ["r1"]}

    def states() -> list[str]:
        return [json.loads(body)["state"] for body in protocol.of("beats") if body]

    until(lambda: "stuck" in states())
    assert len(protocol.of("claims")) == 1
    protocol.beat = {}
    (tmp_path / "end").touch()
    until(lambda: len(protocol.of("claims")) == 2)
    assert states()[-1] == "run"


def test_a_run_knows_whose_request_it_is(protocol: Protocol, start: Any) -> None:
    protocol.run = {**RUN, "key_name": "web shop", "tags": ["team:search"], "priority": "low"}
    start('serve({"me/x": lambda input, run: [run.key_name, run.tags, run.priority]})')
    [output] = until(lambda: protocol.of("output"))
    assert json.loads(output) == ["web shop", ["team:search"], "low"]


def test_an_older_service_does_not_say_it(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    start('serve({"me/x": lambda input, run: [run.key_name, run.tags, run.priority]})')
    [output] = until(lambda: protocol.of("output"))
    assert json.loads(output) == [None, [], "normal"]


@pytest.mark.parametrize("to", ["", ', "a.png"'])
@pytest.mark.parametrize("status", [404, 410])
def test_a_file_that_is_not_there_fails_for_good_and_only_its_name_is_told(
    protocol: Protocol, start: Any, to: str, status: int
) -> None:
    protocol.run = {**RUN, "input": "/v1/files/secret/a%20b.png"}
    protocol.next["a%20b.png"] = [(status, {"code": "unknown_file", "detail": "There is no such file."})]
    start(f'serve({{"me/x": lambda input, run: run.download(input{to})}})')
    [failure] = until(lambda: protocol.of("failure"))
    message = f'The download was answered {status}. The file "a b.png" does not exist.'
    assert json.loads(failure) == {"message": message, "retryable": False, "status": 422}


def test_of_a_file_elsewhere_the_origin_is_told(protocol: Protocol, start: Any) -> None:
    with Scripted(answer(b"", "404 Not Found")) as server:
        protocol.run = {**RUN, "input": f"{server.url}/secret?signature=secret"}
        start('serve({"me/x": lambda input, run: run.download(input)}, downloads=["*"])')
        [failure] = until(lambda: protocol.of("failure"))
    told = json.loads(failure)
    assert told["message"] == f"The download was answered 404. A file of {server.url} does not exist."


@pytest.mark.parametrize("url", ["http://name:password@127.0.0.2/a.png", "http://password@127.0.0.2/a.png"])
@pytest.mark.parametrize("options", ["", ', downloads=["*"]'])
def test_the_password_of_a_url_is_never_told(protocol: Protocol, start: Any, url: str, options: str) -> None:
    protocol.run = {**RUN, "input": url}
    start(f'serve({{"me/x": lambda input, run: run.download(input)}}{options})')
    [failure] = until(lambda: protocol.of("failure"))
    message = "Nothing is downloaded from a URL that holds a name or a password."
    assert json.loads(failure) == {"message": message, "retryable": False}


def test_what_is_no_url_is_not_told_either(protocol: Protocol, start: Any) -> None:
    protocol.run = {**RUN, "input": "http://secret:port/"}
    start('serve({"me/x": lambda input, run: run.download(input)})')
    [failure] = until(lambda: protocol.of("failure"))
    assert json.loads(failure) == {"message": "A URL that is to be downloaded is not valid.", "retryable": False}


def test_a_url_is_fetched_though_its_characters_are_not_encoded(protocol: Protocol, start: Any) -> None:
    protocol.run = {**RUN, "input": "/v1/files/1/ä b%20c.png"}
    start('serve({"me/x": lambda input, run: run.download(input).decode()})')
    assert until(lambda: protocol.of("output")) == [b'"{}"']
    assert protocol.of("%C3%A4%20b%20c.png") == [b""]


def test_failures_of_the_kinds() -> None:
    assert failure_of(Retry("The GPU is busy.", after=5)) == {"message": "The GPU is busy.", "retryable": True, "retry_after_s": 5}
    assert failure_of(Away(after=7))["retry_after_s"] == 7
    assert failure_of(TransferError("broken", status=503)) == {"message": "TransferError: broken", "retryable": True}


def test_the_line_end_of_a_key_is_not_sent(protocol: Protocol, start: Any) -> None:
    start('serve({"me/x": lambda input, run: 1})', NOWSERVING_KEY="ns_k\n")
    until(lambda: protocol.of("claims"))
    assert protocol.calls[0][1]["authorization"] == "Key ns_k"


def test_a_key_that_cannot_be_sent_is_not_told(start: Any) -> None:
    started = start('serve({"me/x": lambda input, run: 1})', NOWSERVING_KEY="ns_secret\nns_k")
    printed = started.communicate(timeout=20)[1]
    assert "The key has characters that no key has." in printed
    assert "ns_secret" not in printed


@pytest.mark.parametrize("status", [200, 404])
def test_a_worker_says_that_something_else_answers_its_claims(protocol: Protocol, start: Any, status: int) -> None:
    protocol.next["claims"] = [(status, {"error": "?"})] * 3
    started = start('serve({"me/x": lambda input, run: 1})')
    until(lambda: len(protocol.of("claims")) > 3)
    assert f"keeps trying: something else answered {status}" in said(started)


def test_a_beat_comes_before_the_leases_end_whatever_a_retry_after_says(protocol: Protocol, start: Any) -> None:
    protocol.next["beats"] = [(503, {"code": "overloaded", "retry_after_s": 1000})] * 2
    protocol.run = RUN
    start('serve({"me/x": lambda input, run: run.cancelled.wait()})')
    until(lambda: len(protocol.of("beats")) > 2)


def test_beats_that_fail_are_paused_while_the_handler_of_a_lost_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    service = worker._Service("http://127.0.0.1:1", None)
    working = worker._Worker({}, service, {}, worker._Options(1, 0, 30, None, ()))
    lost = worker._Leased(RUN, lambda input, run: None, service, (), math.inf)
    working._runs[lost.token] = lost
    lost.lose()
    seen: list[str] = []

    def beat(*_: Any) -> Any:
        seen.append("beat")
        working._is_over = len(seen) > 5
        raise ConnectionRefusedError

    def pause(_: float) -> None:
        seen.append("pause")
        working._is_over = True

    monkeypatch.setattr(working, "_beat", beat)
    monkeypatch.setattr(worker.time, "sleep", pause)
    working._beat_all()
    assert seen == ["beat", "pause"]


def test_the_longest_retry_after_does_not_end_a_worker(protocol: Protocol, start: Any) -> None:
    protocol.next["claims"] = [(503, {"code": "overloaded", "retry_after_s": "9" * 400})]
    started = start('serve({"me/x": lambda input, run: 1})')
    until(lambda: protocol.of("claims"))
    assert "Error" not in said(started)


@pytest.mark.parametrize("after", ["None", "float('nan')", "float('inf')", "-1"])
def test_away_has_a_number_of_seconds(protocol: Protocol, start: Any, after: str) -> None:
    protocol.run = RUN
    start(f"from worker import Away\ndef handle(input, run):\n    raise Away(after={after})\nserve({{'me/x': handle}})")
    assert until(lambda: protocol.of("failure"))


@pytest.mark.parametrize("concurrency", ["1_001", "lambda: 1_001"])
def test_a_worker_has_no_more_runs_than_a_beat_may_name(protocol: Protocol, start: Any, concurrency: str) -> None:
    started = start(f'serve({{"me/x": lambda input, run: 1}}, concurrency={concurrency})')
    until(lambda: started.poll() is not None or protocol.of("claims"))
    assert "ValueError: The concurrency must be 1000 at most, not 1001." in said(started)

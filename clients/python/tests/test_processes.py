"""One client in several processes, threads and event loops: each call gets its own answer."""

from __future__ import annotations

import asyncio
import faulthandler
import json
import multiprocessing
import os
import pickle
import random
import signal
import ssl
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from collections.abc import Callable, Iterator

import httpx
import pytest

from nowserving import AsyncClient, Client, NowServingError
from nowserving._calls import new_key
from nowserving._settings import Settings
from nowserving._steps import Answer
from support import HELD, SQUARE, Service

# multiprocessing would close and flush what it inherits. These processes fork like gunicorn and uWSGI.
Child = tuple[int, int]


def forked(work: Callable[[], Any]) -> Child:
    """Returns what `work` returns in a child process, as JSON through a pipe."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid != 0:
        os.close(writing)
        return pid, reading
    code = 1
    try:
        end_after(120)
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            json.dump(work(), pipe)
        code = 0
    finally:
        os._exit(code)


def end_after(seconds: int) -> None:
    """Lets a child that hangs show where, and end. faulthandler's own timer would wait for the parent's thread."""
    faulthandler.register(signal.SIGALRM, file=sys.__stderr__, chain=True)
    signal.alarm(seconds)


def result_of(child: Child) -> Any:
    pid, reading = child
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, said
    return json.loads(said)


@pytest.fixture(scope="module")
def squares(service: Service) -> dict[str, int]:
    """Returns completed requests, and the output of each."""
    with Client(service.url, service.key) as client:
        numbers = range(16)
        results = client.submit_many([{"model": SQUARE, "input": {"n": n}} for n in numbers])
        ids = [result["request_id"] for result in results]
        return {request_id: client.result(request_id).output["square"] for request_id in ids}


def wrong(client: Client, squares: dict[str, int], times: int = 2) -> list[Any]:
    """Reads each output, in four threads. Returns the answers that belong to another request."""

    def ask(request_id: str) -> list[Any]:
        output = client.response(request_id)
        status = client.status(request_id)
        is_right = output == {"square": squares[request_id]} and status["request_id"] == request_id
        return [] if is_right else [request_id, output, status["request_id"]]

    with ThreadPoolExecutor(4) as pool:
        return [fault for fault in pool.map(ask, [*squares] * times) if fault]


def test_a_client_that_was_used_before_the_fork_serves_parent_and_children_at_once(
    service: Service, squares: dict[str, int]
) -> None:
    with Client(service.url, service.key) as client:
        assert wrong(client, squares, 1) == []  # its pool is full of open connections
        children = [forked(lambda: wrong(client, squares)) for _ in range(4)]
        here = wrong(client, squares)
        assert [here, *map(result_of, children)] == [[]] * 5
        # The children did not take the connections of the parent either.
        assert wrong(client, squares) == []


def test_a_child_makes_no_tls_context(client: Client, squares: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("OpenSSL may wait for ever in a process that was forked")

    def faults() -> Any:
        monkeypatch.setattr(ssl.SSLContext, "__new__", refuse)
        return wrong(client, squares, 1)

    assert wrong(client, squares, 1) == []
    assert result_of(forked(faults)) == []


def test_a_client_that_was_closed_by_a_child_is_open_in_its_parent(client: Client, squares: dict[str, int]) -> None:
    assert wrong(client, squares, 1) == []

    def close() -> list[Any]:
        faults = wrong(client, squares, 1)
        client.close()
        return faults

    assert result_of(forked(close)) == []
    assert wrong(client, squares, 1) == []


def test_a_fork_in_the_middle_of_calls_of_other_threads_leaves_the_child_a_client(
    client: Client, squares: dict[str, int]
) -> None:
    over = threading.Event()
    faults: list[Any] = []

    def call_on() -> None:
        while not over.is_set():
            faults.extend(wrong(client, squares, 1))

    threads = [threading.Thread(target=call_on) for _ in range(2)]
    for thread in threads:
        thread.start()
    children = [forked(lambda: wrong(client, squares, 1)) for _ in range(6)]
    assert [*map(result_of, children)] == [[]] * 6
    over.set()
    for thread in threads:
        thread.join()
    assert faults == []


def test_a_fork_while_another_thread_reads_an_answer_does_not_hold_up_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, go_on = threading.Event(), threading.Event()
    parse = json.loads

    def slowly(text: bytes) -> Any:
        reading.set()
        go_on.wait()
        return parse(text)

    def read_in_child() -> Any:
        end_after(20)
        monkeypatch.setattr(json, "loads", parse)
        return Answer(200, {}, b"[2]").json

    monkeypatch.setattr(json, "loads", slowly)
    thread = threading.Thread(target=lambda: Answer(200, {}, b"[1]").json)
    thread.start()
    assert reading.wait(20)
    child = forked(read_in_child)
    go_on.set()
    thread.join()
    assert result_of(child) == [2]


def test_a_loop_over_statuses_goes_on_in_parent_and_child(service: Service, client: Client) -> None:
    logs = [f"line {number}" for number in range(30)]
    statuses = client.subscribe(SQUARE, {"n": 3, "logs": logs}, logs=True)
    first = next(statuses)

    def rest() -> list[str]:
        seen = [first, *statuses]
        assert seen[-1]["status"] == "COMPLETED"
        return [entry["message"] for status in seen for entry in status.get("logs", ()) if entry["source"] == "runner"]

    child = forked(rest)
    assert [rest(), result_of(child)] == [logs, logs]


def test_a_child_that_leaves_the_loop_of_its_parent_does_not_cancel_the_request(service: Service, client: Client) -> None:
    statuses = client.subscribe(HELD, {"name": "left by a child"}, cancel_on_exit=True)
    request_id = next(status["request_id"] for status in statuses if status["status"] == "IN_PROGRESS")

    def leave() -> None:
        statuses.close()

    result_of(forked(leave))
    assert client.status(request_id)["status"] == "IN_PROGRESS"
    statuses.close()
    assert next(s for s in client.follow(request_id) if s["status"] == "COMPLETED")["success"] is False


def test_no_two_children_have_an_idempotency_key_or_a_pause_in_common() -> None:
    random.seed(7)
    draw = Settings("http://queue", None, 0, 1, 0).random

    def drawn() -> list[Any]:
        random.seed(7)  # as the code of a model does
        return [[new_key() for _ in range(20)], [draw() for _ in range(20)]]

    results = [drawn(), *map(result_of, [forked(drawn) for _ in range(3)])]
    for kind in (0, 1):
        assert len({value for result in results for value in result[kind]}) == 80


def test_submissions_of_children_are_requests_of_their_own(client: Client) -> None:
    client.models()

    def submit() -> list[str]:
        return [client.submit(SQUARE, {"n": n})["request_id"] for n in range(5)]

    results = [submit(), *map(result_of, [forked(submit) for _ in range(3)])]
    assert len({request_id for result in results for request_id in result}) == 20


def run_in_child(client: Client, n: int) -> int:
    square: int = client.run(SQUARE, {"n": n}).output["square"]
    return square


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_a_client_goes_along_to_the_processes_of_multiprocessing(client: Client, method: str) -> None:
    client.models()
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.starmap(run_in_child, [(client, n) for n in range(8)]) == [n * n for n in range(8)]


PRELOADED = """
import os, sys
from nowserving import Client

client = Client(sys.argv[1], sys.argv[2])  # as a module does that is imported before the fork
client.models()

def serve(worker):
    for n in range(worker * 100, worker * 100 + 10):
        assert client.run("test/math/square", {"n": n}).output == {"square": n * n}

workers = []
for worker in range(3):
    pid = os.fork()
    if pid == 0:
        serve(worker)
        sys.exit()
    workers.append(pid)
serve(3)
print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in workers])
"""


def test_a_program_that_makes_its_client_before_it_forks(service: Service, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    command = [sys.executable, "-c", PRELOADED, service.url, service.key]
    run = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (run.stdout.strip(), run.stderr) == ("[0, 0, 0]", "")


def test_an_httpx_client_of_the_callers_own_is_refused_in_a_child(service: Service, squares: dict[str, int]) -> None:
    with httpx.Client() as http:
        client = Client(service.url, service.key, http=http)
        assert wrong(client, squares, 1) == []

        def refused() -> list[str]:
            with pytest.raises(NowServingError, match="Give http= a function that makes one") as raised:
                client.models()
            return [raised.value.code]

        assert result_of(forked(refused)) == ["wrong_process"]
        with pytest.raises(TypeError, match="give a function that makes one"):
            pickle.dumps(client)
        assert wrong(client, squares, 1) == []


def test_a_function_makes_one_for_each_process(service: Service, squares: dict[str, int]) -> None:
    made: list[httpx.Client] = []
    tls = httpx.create_ssl_context()  # before the fork, because OpenSSL's locks are not safe after it

    def make() -> httpx.Client:
        made.append(httpx.Client(headers={"x-made-by": "us"}, verify=tls))
        return made[-1]

    with Client(service.url, service.key, http=make) as client:
        assert wrong(client, squares, 1) == []

        def faults() -> list[Any]:
            return [wrong(client, squares), len({id(http) for http in made})]

        assert [*map(result_of, [forked(faults) for _ in range(2)])] == [[[], 2]] * 2
        assert len(made) == 1
    assert made[0].is_closed


def test_a_closed_client_says_so(service: Service) -> None:
    client = Client(service.url, service.key)
    client.close()
    with pytest.raises(RuntimeError, match="The client was closed"):
        client.models()


async def ask_all(client: AsyncClient, squares: dict[str, int]) -> list[Any]:
    async def ask(request_id: str) -> bool:
        return bool((await client.response(request_id)) == {"square": squares[request_id]})

    rights = await asyncio.gather(*map(ask, squares))
    return [request_id for request_id, is_right in zip(squares, rights) if not is_right]


def test_one_asynchronous_client_in_event_loops_one_after_another(service: Service, squares: dict[str, int]) -> None:
    client = AsyncClient(service.url, service.key)
    pools = client._driver._pools._made
    for _ in range(5):
        assert asyncio.run(ask_all(client, squares)) == []
        assert pools == {}  # it was closed with its event loop


def test_and_in_several_threads_at_once(service: Service, squares: dict[str, int]) -> None:
    client = AsyncClient(service.url, service.key)
    ready = threading.Barrier(4)

    def run(_: int) -> list[Any]:
        async def all_at_once() -> list[Any]:
            ready.wait()
            return [await ask_all(client, squares) for _ in range(3)]

        return asyncio.run(all_at_once())

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(run, range(4))] == [[[], [], []]] * 4


def test_closing_it_closes_the_pools_of_all_its_event_loops(service: Service, squares: dict[str, int]) -> None:
    client = AsyncClient(service.url, service.key)
    used, closed = threading.Event(), threading.Event()
    made: list[httpx.AsyncClient] = []

    def elsewhere() -> None:
        async def use() -> None:
            await ask_all(client, squares)
            made.extend(http for http, _ in client._driver._pools._made.values())
            used.set()
            await asyncio.to_thread(closed.wait)
            while not made[0].is_closed:
                await asyncio.sleep(0.01)

        asyncio.run(use())

    other = threading.Thread(target=elsewhere)
    other.start()
    used.wait()

    async def close() -> None:
        async with client:
            await ask_all(client, squares)

    asyncio.run(close())
    closed.set()
    other.join(20)
    assert not other.is_alive() and made[0].is_closed


def test_an_asynchronous_client_in_parent_and_children(service: Service, squares: dict[str, int]) -> None:
    client = AsyncClient(service.url, service.key)

    async def parent() -> list[Any]:
        before = await ask_all(client, squares)
        # In the middle of an event loop, with a pool of open connections.
        children = [forked(lambda: asyncio.run(ask_all(client, squares))) for _ in range(3)]
        during = await ask_all(client, squares)
        ends = await asyncio.to_thread(lambda: [*map(result_of, children)])
        return [before, during, *ends, await ask_all(client, squares)]

    assert asyncio.run(parent()) == [[]] * 6


def test_an_asynchronous_httpx_client_of_the_callers_own_is_refused_in_another_event_loop(
    service: Service, squares: dict[str, int]
) -> None:
    async def run() -> AsyncClient:
        async with httpx.AsyncClient() as http:
            client = AsyncClient(service.url, service.key, http=http)
            assert await ask_all(client, squares) == []
            return client

    client = asyncio.run(run())
    with pytest.raises(NowServingError, match="another event loop") as raised:
        asyncio.run(client.models())  # type: ignore[arg-type]
    assert raised.value.code == "wrong_event_loop"


def test_an_asynchronous_loop_over_statuses_goes_on_in_another_event_loop(service: Service) -> None:
    client = AsyncClient(service.url, service.key)
    logs = [f"line {number}" for number in range(30)]

    async def begin() -> Any:
        statuses = client.subscribe(SQUARE, {"n": 3, "logs": logs}, logs=True)
        return statuses, await statuses.__anext__()

    async def go_on(statuses: Any) -> list[Any]:
        return [status async for status in statuses]

    loops = [asyncio.new_event_loop() for _ in range(2)]
    try:
        statuses, first = loops[0].run_until_complete(begin())
        seen = [first, *loops[1].run_until_complete(go_on(statuses))]
    finally:
        for loop in loops:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()
    assert seen[-1]["status"] == "COMPLETED"
    entries = [entry for status in seen for entry in status.get("logs", ())]
    assert [entry["message"] for entry in entries if entry["source"] == "runner"] == logs

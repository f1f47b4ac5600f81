"""Against the real service."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx
import pytest

from nowserving import AsyncClient, Client, NowServingError, verify_webhook
from support import HELD, SQUARE, Service, until


def ask_async(service: Service, what: Any) -> Any:
    async def ask() -> Any:
        async with AsyncClient(service.url, service.key) as client:
            return await what(client)

    return asyncio.run(ask())


def test_a_request_through_its_life(client: Client) -> None:
    queued = client.submit(SQUARE, {"name": "life", "n": 3}, tags={"job": "17"}, priority="high")
    result = client.result(queued["request_id"])
    assert result.output == {"square": 9}
    assert result.status["tags"] == ["job:17"]
    status = client.status(queued["request_id"], logs=True)
    assert status["status"] == "COMPLETED" and status["success"] and "logs" in status
    assert client.response(queued["request_id"]) == {"square": 9}
    assert client.response(queued["request_id"], logs=True)["response"] == {"square": 9}
    with pytest.raises(NowServingError, match="already_completed"):
        client.cancel(queued["request_id"])


def test_the_same_with_asyncio(service: Service) -> None:
    async def life(client: AsyncClient) -> Any:
        queued = await client.submit(SQUARE, {"name": "life", "n": 4})
        seen = [status["status"] async for status in client.follow(queued["request_id"])]
        assert seen[-1] == "COMPLETED"
        return await client.response(queued["request_id"])

    assert ask_async(service, life) == {"square": 16}


def test_the_same_idempotency_key_is_the_same_request(client: Client) -> None:
    first, second = (client.submit(SQUARE, {"name": "key", "n": 1}, idempotency_key="one") for _ in range(2))
    assert first == second
    with pytest.raises(NowServingError, match="idempotency_key_reused"):
        client.submit(SQUARE, {"name": "key", "n": 2}, idempotency_key="one")


def test_an_error_of_the_model_is_final(client: Client, service: Service) -> None:
    with pytest.raises(NowServingError) as caught:
        client.run(SQUARE, {"name": "bad", "fail": 422})
    assert (caught.value.code, caught.value.status) == ("model_error", 422)
    assert caught.value.details == {"why": "because"}
    assert caught.value.request_id is not None
    assert service.runs_of("bad") == 1


def test_the_places_of_an_input_that_do_not_fit_are_named(client: Client) -> None:
    with pytest.raises(NowServingError) as caught:
        client.submit(SQUARE, {"n": "many"})
    assert caught.value.code == "invalid_input"
    assert "/n" in [error["path"] for error in caught.value.errors]


def test_an_option_that_the_service_refuses_is_an_error(client: Client) -> None:
    with pytest.raises(NowServingError, match="invalid_query"):
        client.submit(SQUARE, {"name": "x", "n": 1}, tags=["no tag"])


def ended(client: Client, request_id: str) -> Any:
    def completed() -> Any:
        status = client.status(request_id)
        return status if status["status"] == "COMPLETED" else None

    return until(completed)


def test_a_deadline_leaves_the_request_or_cancels_it(client: Client) -> None:
    with pytest.raises(NowServingError) as caught:
        client.run(HELD, {"name": "left"}, deadline_s=0.5)
    left = caught.value.request_id
    assert caught.value.code == "deadline_exceeded" and left is not None
    assert client.status(left)["status"] != "COMPLETED"
    client.cancel(left)
    assert ended(client, left)["error"]["code"] == "cancelled"

    with pytest.raises(NowServingError) as caught:
        client.run(HELD, {"name": "stopped"}, deadline_s=0.5, cancel_on_exit=True)
    stopped = caught.value.request_id
    assert stopped is not None
    assert ended(client, stopped)["error"]["code"] == "cancelled"


def test_a_loop_that_is_left_cancels_its_request(client: Client, service: Service) -> None:
    with contextlib.closing(client.subscribe(HELD, {"name": "loop"}, cancel_on_exit=True)) as seen:
        request_id = next(seen)["request_id"]
    assert ended(client, request_id)["error"]["code"] == "cancelled"

    async def leave(client: AsyncClient) -> str:
        statuses = client.subscribe(HELD, {"name": "loop"}, cancel_on_exit=True)
        async with contextlib.aclosing(statuses):
            return (await statuses.__anext__())["request_id"]

    assert ended(client, ask_async(service, leave))["error"]["code"] == "cancelled"


def test_a_cancelled_task_cancels_its_request(client: Client, service: Service) -> None:
    async def cancel(client: AsyncClient) -> None:
        task = asyncio.create_task(client.run(HELD, {"name": "task"}, cancel_on_exit=True))
        while service.runs_of("task") == 0:
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    ask_async(service, cancel)
    until(lambda: service.runs_of("task, stopped") == 1)


def test_a_client_is_shared_by_threads(client: Client) -> None:
    seen: dict[int, Any] = {}

    def run(n: int) -> None:
        seen[n] = client.run(SQUARE, {"name": "threads", "n": n}).output["square"]

    threads = [threading.Thread(target=run, args=[n]) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {n: n * n for n in range(20)}


def test_an_httpx_client_of_ones_own_stays_open(service: Service) -> None:
    with httpx.Client() as http:
        with Client(service.url, service.key, http=http) as client:
            assert client.run(SQUARE, {"name": "own", "n": 5}).output == {"square": 25}
        assert not http.is_closed


def test_the_models_and_the_key_tell_what_may_be_called(client: Client, service: Service) -> None:
    assert SQUARE in [model["id"] for model in client.models()]
    model = client.model(SQUARE)
    assert model["concurrency"] == 16 and model["availability"] == "available"
    key = client.key()
    assert key["scopes"] == ["submit", "read", "cancel", "work", "observe", "payloads", "admin"]
    assert key["webhook_secret"] == service.webhook_secret


def test_a_run_that_is_held_is_one_call(service: Service) -> None:
    calls: list[str] = []
    hooks: Any = {"request": [lambda request: calls.append(request.method)]}
    with httpx.Client(event_hooks=hooks) as http:
        client = Client(service.url, service.key, http=http)
        assert client.run(SQUARE, {"name": "held", "n": 2}).output == {"square": 4}
    assert calls == ["POST"]


class Receiver(BaseHTTPRequestHandler):
    came: list[tuple[bytes, dict[str, str]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.came.append((body, dict(self.headers.items())))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_a_webhook_comes_signed_and_comes_again(client: Client, service: Service) -> None:
    with HTTPServer(("127.0.0.1", 0), Receiver) as receiver:
        threading.Thread(target=receiver.serve_forever).start()
        try:
            webhook = f"http://127.0.0.1:{receiver.server_port}/"
            request_id = client.run(SQUARE, {"name": "hook", "n": 6}, webhook=webhook).request_id
            body, headers = until(lambda: Receiver.came)[0]
            event = verify_webhook(body, headers, service.webhook_secret)
            assert (event["request_id"], event["payload"]) == (request_id, {"square": 36})
            [delivery] = client.deliveries(request_id)
            client.redeliver(request_id, delivery["id"])
            until(lambda: len(Receiver.came) == 2)
        finally:
            receiver.shutdown()
    [delivery] = client.deliveries(request_id)
    assert delivery["url"] == webhook


def test_an_interrupt_cancels_what_it_leaves(service: Service) -> None:
    code = f"""
from nowserving import Client
Client({service.url!r}, {service.key!r}).run({HELD!r}, {{"name": "interrupted"}}, cancel_on_exit=True)
"""
    program = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    until(lambda: service.runs_of("interrupted") == 1)
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=20)
    assert said.rstrip().endswith("KeyboardInterrupt")
    until(lambda: service.runs_of("interrupted, stopped") == 1)


def test_a_rate_limit_is_waited_for(service: Service) -> None:
    with Client(service.url, service.limited_key) as client:
        squares = [client.run(SQUARE, {"name": "limited", "n": n}).output for n in range(4)]
    assert squares == [{"square": n * n} for n in range(4)]

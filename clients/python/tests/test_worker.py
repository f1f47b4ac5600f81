"""The worker's rules, and a worker against its protocol without a queue."""

from __future__ import annotations

import ast
import json
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from nowserving import worker
from nowserving.worker import Backoff, Events, Fail, Hold, Retry, Stopped, failure_of, source_of, target_of
from support import until
from worker_protocol import RUN, Protocol

SOURCE = Path(worker.__file__)


def test_the_file_needs_python_3_9_and_nothing_else() -> None:
    tree = ast.parse(SOURCE.read_text(), feature_version=(3, 9))
    names = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or "."]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert names <= set(sys.stdlib_module_names)


def test_pauses_are_anywhere_within_a_window_that_doubles_from_1_s_to_64_s() -> None:
    latest = Backoff(chance=lambda: 1.0)
    assert [latest.next() for _ in range(8)] == [1, 2, 4, 8, 16, 32, 64, 64]
    earliest = Backoff(chance=lambda: 0.0)
    assert [earliest.next() for _ in range(8)] == [0] * 8
    assert earliest.next(retry_after=7) == 7
    latest.reset()
    assert latest.next() == 1


def test_calls_that_break_while_they_are_held_are_held_for_less() -> None:
    hold = Hold(20)
    hold.broken(0.01)
    assert hold.seconds == 20
    for expected in (10, 5, 2, 1, 1):
        hold.broken(4)
        assert hold.seconds == expected
    for _ in range(30):
        hold.answered()
    assert hold.seconds == 20


class Sent:
    """Records the events that were sent. `answers` are returned first, then everything is accepted."""

    def __init__(self, *answers: Any) -> None:
        self.batches: list[tuple[int, list[Any]]] = []
        self._answers = list(answers)
        self.events = Events(self._send)

    def _send(self, lines: bytes, first: int) -> Any:
        said = [json.loads(line) for line in lines.splitlines()]
        self.batches.append((first, [one.get("message", one.get("delta", one.get("value"))) for one in said]))
        answer = self._answers.pop(0) if self._answers else None
        if callable(answer):
            answer = answer()
        return first + len(said) if answer is None else answer

    def log(self, message: str) -> None:
        self.events.add({"type": "log", "level": "INFO", "message": message})

    def delta(self, value: Any) -> None:
        self.events.add({"type": "delta", "delta": value})


def test_the_first_event_goes_at_once_and_those_that_follow_in_one_batch() -> None:
    sent = Sent()
    sent.log("a")
    until(lambda: len(sent.batches) == 1)
    for message in "bcd":
        sent.log(message)
    sent.events.flush()
    assert sent.batches == [(0, ["a"]), (1, ["b", "c", "d"])]


def test_what_was_not_taken_is_sent_again_from_where_the_service_says() -> None:
    ready = threading.Event()
    sent = Sent(lambda: [ready.wait(), 1][1], 2, 2)
    for message in "abcd":
        sent.log(message)
    ready.set()
    sent.events.flush()
    assert [message for _, batch in sent.batches for message in batch][-2:] == ["c", "d"]
    assert [first for first, _ in sent.batches[1:]] == [1, 2, 2]


def test_a_delta_that_is_refused_leaves_no_gap_in_the_numbers() -> None:
    sent = Sent(None, "too large", 2, "too large")
    sent.delta("a")
    until(lambda: len(sent.batches) == 1)
    sent.delta("b")
    sent.delta("c")
    sent.events.flush()
    assert sent.batches == [(0, ["a"]), (1, ["b", "c"]), (1, ["b"]), (2, ["c"])]
    assert sent.events.refusal == "too large"


def test_only_the_last_progress_of_those_that_wait_is_sent() -> None:
    ready = threading.Event()
    sent = Sent(lambda: [ready.wait(), 1][1])
    for value in (0, 0.1, 0.2, 0.3):
        sent.events.add({"type": "progress", "value": value})
        if value == 0:
            until(lambda: len(sent.batches) == 1)
    ready.set()
    sent.events.flush()
    assert sent.batches == [(0, [0]), (1, [0.3])]


def test_a_handler_reports_what_it_has_used(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    start('def uses(input, run): run.usage({"tokens": 48})\nserve({"me/x": uses})')
    until(lambda: protocol.of("output"))
    assert protocol.events() == [{"type": "usage", "usage": {"tokens": 48}}]


def test_log_lines_that_nobody_takes_do_not_heap_up() -> None:
    ready = threading.Event()
    sent = Sent(lambda: [ready.wait(), None][1])
    for _ in range(2_000):
        sent.log("x" * 1_000)
    ready.set()
    sent.events.flush()
    until(lambda: "log lines were dropped" in str(sent.batches[-1][1][-1]))
    assert sum(len(batch) for _, batch in sent.batches) < 1_200


@pytest.mark.parametrize("end", [Events.close, Events.stop_waiting], ids=["the lease is gone", "the run must stop"])
def test_a_generator_waits_while_too_much_is_pending_until(end: Any) -> None:
    never = threading.Event()
    sent = Sent(lambda: [never.wait(), None][1])
    adding = threading.Thread(target=lambda: [sent.delta("x" * 8_000) for _ in range(200)], daemon=True)
    adding.start()
    until(lambda: sent.batches)
    assert adding.is_alive()
    end(sent.events)
    adding.join(10)
    assert not adding.is_alive()
    never.set()


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (Fail("no", status=422, details={"a": 1}), {"message": "no", "retryable": False, "status": 422, "details": {"a": 1}}),
        (Retry("busy", after=5), {"message": "busy", "retryable": True, "retry_after_s": 5}),
        (ValueError("bad\n  File x"), {"message": "ValueError: bad", "retryable": True}),
        (Stopped("cancelled"), {"message": "The run must stop: cancelled.", "retryable": False}),
    ],
)
def test_what_is_raised_becomes_a_failure(error: Exception, failure: dict[str, Any]) -> None:
    assert failure_of(error) == failure


BASE = "http://queue:3000"


@pytest.mark.parametrize(
    ("url", "downloads", "source"),
    [
        ("/v1/files/a/b.png", (), (f"{BASE}/v1/files/a/b.png", True)),
        ("https://queue.example.com/v1/files/a/b.png?x=1", (), (f"{BASE}/v1/files/a/b.png?x=1", True)),
        ("/v1/worker/runs/r1/input", (), (f"{BASE}/v1/worker/runs/r1/input", True)),
        ("/v1/files/a/b", ("*",), (f"{BASE}/v1/files/a/b", True)),
        ("/v1/key", ("*",), (f"{BASE}/v1/key", False)),
        ("/v1/files/a/%2e%2e%2fb", ("*",), (f"{BASE}/v1/files/a/%2e%2e%2fb", False)),
        ("https://images.test/a", ("https://images.test",), ("https://images.test/a", False)),
        ("http://elsewhere/a", ("*",), ("http://elsewhere/a", False)),
    ],
)
def test_what_may_be_downloaded(url: str, downloads: tuple[str, ...], source: tuple[str, bool]) -> None:
    assert source_of(url, BASE, downloads) == source


DEEP = "https://example.com/queue"


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("/v1/files/a/b", (f"{DEEP}/v1/files/a/b", True)),
        (f"{DEEP}/v1/files/a/b?x=1", (f"{DEEP}/v1/files/a/b?x=1", True)),
        ("https://example.com/v1/worker/runs/r1/input", (f"{DEEP}/v1/worker/runs/r1/input", True)),
        ("http://queue:3000/v1/files/a/b", (f"{DEEP}/v1/files/a/b", True)),
        (f"{DEEP}/v1/key", (f"{DEEP}/v1/key", False)),
        ("https://example.com/other/v1/files/a/b", ("https://example.com/other/v1/files/a/b", False)),
    ],
)
def test_the_address_of_the_service_may_have_a_path(url: str, source: tuple[str, bool]) -> None:
    assert source_of(url, DEEP, ("https://example.com",)) == source


@pytest.mark.parametrize(
    ("url", "base", "target"),
    [
        ("https://example.com/v1/storage/uploads/x?s=1", BASE, f"{BASE}/v1/storage/uploads/x?s=1"),
        ("https://example.com/queue/v1/storage/uploads/x", BASE, f"{BASE}/v1/storage/uploads/x"),
        ("https://example.com/v1/storage/uploads/x", DEEP, f"{DEEP}/v1/storage/uploads/x"),
        (f"{DEEP}/v1/storage/uploads/x?s=1", DEEP, f"{DEEP}/v1/storage/uploads/x?s=1"),
        ("https://bucket.example.com/v1/uploads/x?s=1", BASE, "https://bucket.example.com/v1/uploads/x?s=1"),
    ],
)
def test_where_a_file_is_sent_to(url: str, base: str, target: str) -> None:
    assert target_of(url, base) == target


@pytest.mark.parametrize(
    "url",
    [
        "/v1/key",
        f"{BASE}/v1/admin/keys",
        "/v1/files",
        "/v1/files/../key",
        f"{BASE}/v1/files/../key",
        "/v1/files/%2e%2E/a/key",
        "/v1/files/..%2fkey",
        "/v1/files/a/..%5C..%5c..%5Ckey",
        "/v1/files/..\\key",
        "https://queue.example.com/v1/files/../key",
        "https://queue.example.com/v1/worker/%2e%2e/key",
        "http://169.254.169.254/",
        "http://queue:3001/v1/key",
        "file:///etc/passwd",
        "https://images.test.evil/",
    ],
)
def test_what_may_not_be_downloaded(url: str) -> None:
    with pytest.raises(Fail, match="Nothing is downloaded from"):
        source_of(url, BASE, ("https://images.test",))


STORY = """
@serve("me/x")
def story(input, run):
    run.log("begun")
    yield "a"
    yield "b"
"""


def test_a_run_from_its_claim_to_its_output(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    protocol.next["claims"] = [(502, {}), (503, {"code": "unavailable"})]
    program = start(STORY)
    until(lambda: len(protocol.of("claims")) == 4)
    program.send_signal(signal.SIGTERM)
    _, said = program.communicate(timeout=20)
    assert (program.returncode, "Traceback" in said) == (0, False), said
    claims = [json.loads(body) for body in protocol.of("claims")]
    assert len({claim["claim_id"] for claim in claims[:3]}) == 1 and claims[3]["claim_id"] != claims[0]["claim_id"]
    assert claims[0]["models"] == [{"model_id": "me/x", "max": 1}]
    names = [name for name, _, _ in protocol.calls if name not in ("claims", "beats")]
    assert names[-2:] == ["output", "workers"] and names[0] == "events"
    lines = b"".join(protocol.of("events")).splitlines()
    assert [json.loads(line) for line in lines] == [
        {"type": "log", "level": "INFO", "message": "begun"},
        {"type": "delta", "delta": "a"},
        {"type": "delta", "delta": "b"},
    ]
    assert protocol.of("output") == [b""]  # the deltas are the output
    # Before the handler, which may block the interpreter.
    order = [name for name, _, _ in protocol.calls]
    assert order.index("beats") < order.index("events")
    headers = next(headers for name, headers, _ in protocol.calls if name == "output")
    assert (headers["authorization"], headers["lease-token"]) == ("Key ns_k", "t1")


def test_a_worker_that_has_nothing_to_do_and_is_told_to_drain_leaves(protocol: Protocol, start: Any) -> None:
    protocol.next["claims"] = [(204, {})]
    protocol.beat = {"worker": "drain"}
    program = start(STORY)
    program.communicate(timeout=20)
    assert program.returncode == 0
    assert [name for name, _, _ in protocol.calls] == ["claims", "beats", "workers"]


def test_a_handler_whose_parts_do_not_get_through_ends_after_a_cancel(
    protocol: Protocol, start: Any, tmp_path: Path
) -> None:
    protocol.run = RUN
    protocol.next["events"] = [(503, {"code": "unavailable", "retry_after_s": 60})]
    start("""
def tell(input, run):
    try:
        while True:
            yield "x" * 8_000
    finally:
        open("ended", "x")

serve({"me/x": tell})
""")
    until(lambda: protocol.of("events"))
    protocol.beat = {"cancel": ["r1"]}
    until((tmp_path / "ended").exists)


def test_an_output_is_put_until_it_is_taken(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    protocol.next["output"] = [(502, {}), (503, {"code": "unavailable"}), (401, {"code": "invalid_key"})]
    start('serve({"me/x": lambda input, run: input["n"] ** 2})')
    until(lambda: len(protocol.of("output")) == 4)
    assert protocol.of("output") == [b"49"] * 4


def test_what_a_handler_raises_is_told(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    protocol.next["failure"] = [(400, {"code": "bad_request"})]
    start('def fails(input, run): raise Fail("no", status=700)\nserve({"me/x": fails})')
    until(lambda: len(protocol.of("failure")) == 2)
    plain = {"message": "no", "retryable": False}
    assert [json.loads(body) for body in protocol.of("failure")] == [{**plain, "status": 700}, plain]


@pytest.mark.parametrize(("news", "ends"), [("cancel", 1), ("lost", 0)])
def test_a_cancel_and_a_loss_reach_the_handler(protocol: Protocol, start: Any, news: str, ends: int) -> None:
    protocol.run = RUN
    program = start('serve({"me/x": lambda input, run: [run.cancelled.wait(), run.cancelled.reason, run.log("late")][1]})')
    # By a waiting beat, not by the one right after the claim.
    until(lambda: len(protocol.of("beats")) > 2)
    protocol.beat = {news: ["r1"]}
    until(lambda: len(protocol.of("claims")) == 2)
    assert len(protocol.of("output")) == ends
    assert protocol.of("output") == [b'"cancelled"'] * ends
    program.send_signal(signal.SIGTERM)
    program.communicate(timeout=20)


def test_a_second_signal_hands_back_at_once(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    program = start('import time\nserve({"me/x": lambda input, run: time.sleep(60)})')
    until(lambda: protocol.of("beats"))
    program.send_signal(signal.SIGTERM)
    until(lambda: any(json.loads(body)["state"] == "drain" for body in protocol.of("beats")))
    program.send_signal(signal.SIGTERM)
    program.communicate(timeout=20)
    assert [(name, body) for name, _, body in protocol.calls if name not in ("beats", "claims")] == [("workers", b"")]


def test_a_worker_whose_service_is_silent_leaves_in_time_or_at_a_further_signal(protocol: Protocol, start: Any) -> None:
    runs = [{**RUN, "request_id": f"r{n}", "lease_token": f"t{n}"} for n in range(8)]
    for is_hurried in (False, True):
        protocol.calls.clear()
        protocol.next["claims"] = [(200, {"runs": runs})]
        leave_s = "import worker\nworker.LEAVE_S = 3600\n" if is_hurried else ""
        program = start(f'{leave_s}import time\nserve({{"me/x": lambda input, run: time.sleep(60)}}, concurrency=8)')
        until(lambda: len(protocol.of("beats")) > 1)
        protocol.silent.set()
        program.send_signal(signal.SIGINT)
        until(lambda: program.stderr.readline().endswith("claims no more.\n"))
        program.send_signal(signal.SIGINT)
        until(lambda: protocol.of("workers"))
        if is_hurried:
            program.send_signal(signal.SIGINT)
        program.communicate(timeout=20)
        assert len(protocol.of("workers")) == 1
        protocol.silent.clear()


def test_a_worker_that_may_not_claim_ends_with_an_error(protocol: Protocol, start: Any) -> None:
    protocol.next["claims"] = [(403, {"code": "forbidden", "detail": "Not this model."})]
    program = start(STORY)
    _, said = program.communicate(timeout=20)
    assert program.returncode == 1 and "forbidden: Not this model." in said


def test_a_file_is_uploaded_with_a_url_that_carries_its_own_right(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    urls = {"file_url": "https://queue/v1/files/1/a.png", "upload_url": f"{protocol.url}/upload/here"}
    protocol.next["files"] = [(503, {"code": "unavailable"}), (200, urls)]
    start('serve({"me/x": lambda input, run: run.upload("a.png", b"123")})')
    until(lambda: protocol.of("output"))
    assert json.loads(protocol.of("output")[0]) == urls["file_url"]
    [(headers, body)] = [(headers, body) for name, headers, body in protocol.calls if name == "here"]
    assert (body, headers["content-type"], "authorization" in headers) == (b"123", "image/png", False)


def test_a_file_is_sent_to_the_address_of_the_worker_whatever_the_one_for_callers_is(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    upload_url = "https://unreachable.invalid/queue/v1/storage/uploads/x?signature=s"
    protocol.next["files"] = [(200, {"file_url": "https://unreachable.invalid/f", "upload_url": upload_url})]
    start('serve({"me/x": lambda input, run: run.upload("a.png", b"123")})')
    until(lambda: protocol.of("output"))
    assert protocol.of("x") == [b"123"]


def test_a_file_that_the_service_has_no_room_for_is_kept_and_sent_again_while_the_run_goes_on(
    protocol: Protocol, start: Any
) -> None:
    protocol.run = RUN
    urls = {"file_url": "https://queue/v1/files/1/a.png", "upload_url": f"{protocol.url}/upload/here"}
    protocol.next["here"] = [(507, {"code": "storage_full", "retry_after_s": 0})] * 9
    protocol.next["files"] = [(503, {"code": "unavailable", "retry_after_s": 0})] + [(200, urls)] * 10
    start('serve({"me/x": lambda input, run: run.upload("a.png", b"123")})')
    until(lambda: protocol.of("output"))
    assert json.loads(protocol.of("output")[0]) == urls["file_url"]
    assert (len(protocol.of("here")), protocol.of("failure")) == (10, [])


def test_an_output_that_the_service_has_no_room_for_is_kept_and_sent_again(protocol: Protocol, start: Any) -> None:
    protocol.run = RUN
    full = [(507, {"code": "storage_full", "retry_after_s": 0}), (503, {"code": "unavailable", "retry_after_s": 0})]
    protocol.next["output"] = full * 4
    start('serve({"me/x": lambda input, run: "made once"})')
    until(lambda: len(protocol.of("output")) == 9)
    assert [json.loads(one) for one in protocol.of("output")] == ["made once"] * 9
    assert protocol.of("failure") == []


def test_try_runs_once_without_a_service(start: Any) -> None:
    program = start(STORY, "--try", '{"n":1}')
    printed, _ = program.communicate(timeout=20)
    assert [json.loads(line)["type"] for line in printed.splitlines()] == ["log", "delta", "delta", "output"]
    assert json.loads(printed.splitlines()[-1]) == {"type": "output", "output": "ab"}
    assert program.returncode == 0
    failing = start('def fails(input, run): raise Retry(after=3)\nserve({"me/x": fails})', "--try", "{}")
    printed, _ = failing.communicate(timeout=20)
    assert json.loads(printed)["retry_after_s"] == 3 and failing.returncode == 1


def test_a_module_that_is_imported_serves_nothing(start: Any, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(f"from worker import serve\n{STORY}")
    program = start("import module\nprint(module.story.__name__)")
    printed, said = program.communicate(timeout=20)
    assert printed.strip() == "story", said

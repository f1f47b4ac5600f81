"""A worker in Python. It does with each run what the input asks, and logs it."""

import ctypes
import hashlib
import importlib.util
import itertools
import json
import os
import time

# Loads the one file as a user who copied it has it: the rest of the package requires more than Python's standard
# library.
spec = importlib.util.spec_from_file_location("worker", os.environ["CHAOS_LIBRARY"])
worker = importlib.util.module_from_spec(spec)
spec.loader.exec_module(worker)

AS_ASKED_CODE = 86
RELEASE_LOOK_S = 0.2
made = itertools.count()


# The nonce of the last run, by request.
nonces = {}


def note(nonce, say, **fields):
    """Write the line in one write, so that a process that is killed leaves no half line."""
    line = {"at": time.time() * 1000, "pid": os.getpid(), "nonce": nonce, "say": say, **fields}
    log = os.open(os.environ["CHAOS_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(log, (json.dumps(line) + "\n").encode())
    finally:
        os.close(log)


class Execution:
    def __init__(self, run):
        self.run = run
        self.nonce = f"{run.request_id}.{run.attempt}.{os.getpid()}.{next(made)}"
        nonces[run.request_id] = self.nonce
        self.lines = 0

    def note(self, say, **fields):
        note(self.nonce, say, **fields)

    def output(self):
        return {"request_id": self.run.request_id, "attempt": self.run.attempt, "nonce": self.nonce}

    def pause(self, ms):
        """Raise as soon as the run is to stop."""
        if self.run.cancelled.wait(ms / 1000):
            raise worker.Stopped(self.run.cancelled.reason)

    def say_lines(self, ms, lines):
        for i in range(lines):
            self.pause(ms / (lines + 1))
            self.run.log(f"{self.nonce} line {i}")
            self.lines += 1
        self.pause(ms / (lines + 1))

    def say_deltas(self, ms, deltas, kind):
        for i in range(deltas):
            self.pause(ms / (deltas + 1))
            self.run.delta(f"{self.nonce} {i};" if kind == "texts" else {"nonce": self.nonce, "i": i})
            if i % 10 == 0:
                self.run.progress(i / deltas, self.nonce)
        self.pause(ms / (deltas + 1))

    def upload(self, ms, size):
        self.pause(ms)
        line = f"{self.nonce}\n".encode()
        content = (line * (size // len(line) + 1))[:size]
        self.note("uploading")
        url = self.run.upload("drawing.bin", content, "application/octet-stream")
        self.note("uploaded", url=url, size=size, sha256=hashlib.sha256(content).hexdigest())
        return {**self.output(), "drawing": url}


def handle(value, run):
    execution = Execution(run)
    execution.note(
        "start", id=run.request_id, attempt=run.attempt, model=run.model, worker=os.environ["CHAOS_WORKER"]
    )
    plan = value.get("plan") or []
    step = plan[min(run.attempt, len(plan)) - 1] if plan else {"do": "hold"}
    how = "failed"
    try:
        output = take(step, execution)
        how = "answered"
        return output
    except BaseException:
        if run.cancelled():
            execution.note("told", why=run.cancelled.reason)
            how = "stopped"
        raise
    finally:
        execution.note("end", how=how, lines=execution.lines)


def take(step, execution):
    what = step["do"]
    if what == "answer":
        execution.pause(step["ms"])
        return execution.output()
    if what == "lines":
        execution.say_lines(step["ms"], step["lines"])
        return execution.output()
    if what == "deltas":
        execution.say_deltas(step["ms"], step["deltas"], step["kind"])
        return execution.output() if step["whole"] else None
    if what == "cut":
        execution.say_deltas(step["ms"], step.get("deltas", 0), "texts")
        raise RuntimeError("as asked")
    if what == "error":
        execution.say_lines(step["ms"], step["lines"])
        raise worker.Retry(after=0) if step["retryable"] else worker.Fail("as asked", status=422)
    if what == "file":
        return execution.upload(step["ms"], step["bytes"])
    if what == "block":
        # Called this way it holds the interpreter, so no other thread runs meanwhile.
        ctypes.PyDLL(None).usleep(int(step["ms"] * 1000))
        return execution.output()
    if what == "crash":
        execution.pause(step["ms"])
        os._exit(AS_ASKED_CODE)
    if what == "hold":
        since = time.time() * 1000
        while released_at() < since:
            execution.pause(RELEASE_LOOK_S * 1000)
        return execution.output()
    raise worker.Fail(f"{execution.nonce}: no worker can {what}")


def released_at():
    try:
        with open(os.environ["CHAOS_RELEASE"]) as file:
            return float(file.read() or 0)
    except FileNotFoundError:
        return 0


def go_by(name):
    """Make this process use the given name, because the library gives each process its own."""
    own = worker._Worker.__init__

    def init(self, *args):
        own(self, *args)
        self._about["id"] = name

    worker._Worker.__init__ = init


def note_what_is_taken():
    own = worker._Service.once

    def once(self, method, path, *args, **options):
        answer = own(self, method, path, *args, **options)
        _, _, request_id, what = ([*path.split("?")[0].split("/")] + [""] * 4)[:4]
        if what in ("output", "failure") and request_id in nonces:
            note(nonces[request_id], "taken", what=what, status=answer.status)
        return answer

    worker._Service.once = once


go_by(os.environ["CHAOS_WORKER"])
note_what_is_taken()
models = {model: handle for model in os.environ["CHAOS_MODELS"].split(",")}
worker.serve(models, concurrency=8, name=os.environ["CHAOS_WORKER"])

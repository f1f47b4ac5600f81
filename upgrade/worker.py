"""A worker of the drill, with the library in PYTHONPATH. It answers with its number after a while."""

from nowserving.worker import serve


def work(input, run):
    if run.cancelled.wait(input["ms"] / 1000):
        return None
    return {"n": input["n"]}


serve({"up/worker": work}, concurrency=4)

"""The storyteller as a worker: it asks the queue for requests, so nothing has to reach this machine."""

from nowserving_worker import serve
from storyteller import storyteller


@serve("story/worker", concurrency=4)
def story(input, run):
    yield from storyteller.tell(**input)  # each token is streamed, and all tokens together are the output

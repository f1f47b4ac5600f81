"""What a caller does, by the client library in PYTHONPATH. Prints how each call ended."""

import json
import sys

from nowserving import Client, NowServingError

MODEL = "up/http"


def code_of(call):
    try:
        call()
    except NowServingError as error:
        return " ".join(str(part) for part in (error.code, error.status) if part is not None)
    return "accepted"


url, key = sys.argv[1:]
client = Client(url, key)
ends = {"run": client.run(MODEL, {"n": 1, "ms": 100}).output}

followed = client.submit(MODEL, {"n": 2, "ms": 500})["request_id"]
for status in client.follow(followed):
    ends["stream"] = status["status"]
ends["result"] = client.result(followed).output
ends["status"] = client.status(followed)["status"]

cancelled = client.submit(MODEL, {"n": 3, "ms": 60_000})["request_id"]
client.cancel(cancelled)
ends["cancel"] = code_of(lambda: client.result(cancelled))

if hasattr(client, "batches"):
    lines = [{"custom_id": "a", "input": {"n": 4, "ms": 1}}]
    ends["batch"] = code_of(lambda: client.batches.create(lines, model=MODEL))
print(json.dumps(ends))

"""The storyteller as a server that the queue calls: one POST per request, answered by NDJSON while it tells."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from storyteller import storyteller


class Model(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        count = given.get("max_tokens", 120)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.end_headers()
        try:
            told = ""
            for number, token in enumerate(storyteller.tell(**given), 1):
                told += token
                self.say({"type": "delta", "delta": token})
                self.say({"type": "progress", "value": number / count})
            self.say({"type": "output", "output": told})
        except ConnectionError:
            pass  # Cancelled: the caller has disconnected.

    def say(self, line: dict) -> None:
        self.wfile.write(json.dumps(line).encode() + b"\n")

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 9300
    server = ThreadingHTTPServer(("127.0.0.1", port), Model)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()

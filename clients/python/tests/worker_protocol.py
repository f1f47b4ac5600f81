"""The worker's protocol without a queue."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Protocol:
    """Hands out one run, lets the following claims wait, and answers as the test says."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, str], bytes]] = []
        self.next: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        self.beat: dict[str, Any] = {}
        self.run: dict[str, Any] | None = None
        self.echo_names = False
        self.over = threading.Event()
        # While it is set, calls get no answer.
        self.silent = threading.Event()
        protocol = self

        class Answers(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                route = self.path.split("?")[0].rsplit("/", 1)[1] if "/workers/" not in self.path else "workers"
                protocol.calls.append((route, {k.lower(): v for k, v in self.headers.items()}, body))
                if protocol.silent.is_set():
                    protocol.over.wait(60)
                status, said = protocol.answer(route, body)
                if route == "events" and status == 202:
                    said["next"] += int(self.path.rsplit("=", 1)[1])
                data = json.dumps(said).encode() if status != 204 else b""
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                if "retry_after_s" in said:
                    self.send_header("Retry-After", str(said["retry_after_s"]))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, route: str, body: bytes) -> tuple[int, dict[str, Any]]:
        scripted = self.next.get(route)
        if scripted:
            return scripted.pop(0)
        if route == "claims":
            if self.run is not None:
                run, self.run = self.run, None
                return 200, {"runs": [run]}
            self.over.wait(20)
            return 204, {}
        if route == "beats":
            if json.loads(body)["state"] == "run" and not self.beat:
                self.over.wait(0.3)
            return 200, {"worker": "run", "cancel": [], "lost": [], **self.beat}
        if route == "events":
            return 202, {"next": body.count(b"\n"), "cancel": False}
        if route == "files" and self.echo_names:
            name = json.loads(body)["file_name"]
            return 200, {"file_url": f"/v1/files/{name}", "upload_url": f"{self.url}/upload/here"}
        return (204, {}) if route in ("release", "workers") else (200, {})

    def of(self, route: str) -> list[bytes]:
        return [body for name, _, body in self.calls if name == route]

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in b"".join(self.of("events")).splitlines()]


RUN = {"request_id": "r1", "attempt": 1, "model_id": "me/x", "lease_token": "t1", "lease_s": 10, "input": {"n": 7}}

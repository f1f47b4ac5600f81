"""A server that answers byte for byte as a test says, one answer per connection."""

from __future__ import annotations

import socket
import threading
from typing import Union
from collections.abc import Callable

# The heads of the requests, in lower case.
Said = Union[bytes, Callable[[str], bytes]]


def answer(body: bytes, status: str = "200 OK", length: int | None = None, **fields: str) -> bytes:
    """Returns an answer with the length of its body, or with the claimed length."""
    names = {"Content-Length": str(len(body) if length is None else length), **fields}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in names.items() if value)
    return f"HTTP/1.1 {status}\r\nConnection: close\r\n{head}\r\n".encode() + body


def chunked(body: bytes, is_whole: bool = True, **fields: str) -> bytes:
    said = answer(b"", Content_Length="", Transfer_Encoding="chunked", **fields).replace(b"Content-Length: 0\r\n", b"")
    return said + f"{len(body):x}\r\n".encode() + body + b"\r\n" + (b"0\r\n\r\n" if is_whole else b"")


def unframed(body: bytes, **fields: str) -> bytes:
    """Returns an answer whose body ends with the connection."""
    return answer(body, **fields).replace(f"Content-Length: {len(body)}\r\n".encode(), b"")


class Scripted:
    def __init__(self, *answers: Said) -> None:
        """The last answer is repeated."""
        self.heads: list[str] = []
        self.bodies: list[bytes] = []
        self._answers = list(answers)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self) -> Scripted:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            with connection:
                try:
                    self._answer(connection)
                except OSError:
                    pass

    def _answer(self, connection: socket.socket) -> None:
        said = b""
        while b"\r\n\r\n" not in said:
            more = connection.recv(65_536)
            if not more:
                return
            said += more
        head, _, body = said.partition(b"\r\n\r\n")
        text = head.decode().lower()
        length = next((int(line[15:]) for line in text.split("\r\n") if line.startswith("content-length:")), 0)
        while len(body) < length:
            more = connection.recv(65_536)
            if not more:
                break
            body += more
        self.heads.append(text)
        self.bodies.append(body)
        answer = self._answers[0] if len(self._answers) == 1 else self._answers.pop(0)
        connection.sendall(answer(text) if callable(answer) else answer)
        connection.shutdown(socket.SHUT_WR)

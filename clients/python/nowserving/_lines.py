from __future__ import annotations


class Lines:
    """Splits bytes into lines as they arrive. A long line is joined once, when its end has arrived."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    @property
    def rest(self) -> bytes:
        """The line that has not ended yet."""
        return b"".join(self._pieces)

    def feed(self, chunk: bytes) -> list[bytes]:
        self._pieces.append(chunk)
        if b"\n" not in chunk:
            return []
        *lines, rest = self.rest.split(b"\n")
        self._pieces = [rest]
        return lines

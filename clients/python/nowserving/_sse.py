from __future__ import annotations

from dataclasses import dataclass

from ._lines import Lines


@dataclass(frozen=True)
class Event:
    id: str | None
    data: str
    name: str = "message"


class EventParser:
    """Parses server-sent events from chunks that end anywhere. It never returns an event that was cut."""

    def __init__(self) -> None:
        self._lines = Lines()
        self._id: str | None = None
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[Event]:
        events = []
        for line in self._lines.feed(chunk):
            event = self._take(line.removesuffix(b"\r").decode())
            if event is not None:
                events.append(event)
        return events

    def _take(self, line: str) -> Event | None:
        if line == "":
            data, self._data = self._data, []
            sent, self._name = self._name or "message", ""
            return Event(self._id, "\n".join(data), sent) if data else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            self._id = value
        elif name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)
        return None

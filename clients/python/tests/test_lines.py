"""Lines that are longer than a chunk."""

from __future__ import annotations

from nowserving._lines import Lines
from nowserving._sse import EventParser

PIECE = b"a" * 65_536


def test_lines_end_anywhere_in_a_chunk() -> None:
    lines = Lines()
    assert [lines.feed(chunk) for chunk in (b"a", b"b\nc\n", b"", b"\n", b"d")] == [[], [b"ab", b"c"], [], [b""], []]
    assert lines.rest == b"d"


def test_an_event_may_be_one_line_of_many_chunks() -> None:
    parser = EventParser()
    chunks = [b"data: ", *[PIECE] * 2_000, b"\n", b"\n"]
    [event] = [event for chunk in chunks for event in parser.feed(chunk)]
    assert len(event.data) == 2_000 * len(PIECE)

"""
What the rules ask of a connection. A rule is a generator that yields steps and is sent their outcome: it does no
I/O itself, so that the two clients share every one of them.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar, Union
from collections.abc import Callable, Generator, Mapping

T = TypeVar("T")


@dataclass
class Content:
    """A body that is read while it is sent."""

    open: Callable[[], BinaryIO]
    # True if the client opened the file, and therefore closes it.
    is_own: bool
    name: str
    # In bytes; None: the size is known only at the end.
    size: int | None
    # The SHA-256 of the content that was read last.
    sum: str = ""


@dataclass(frozen=True)
class Call:
    method: str
    url: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | Content | None = field(default=None, repr=False)
    # True: the answer may be any JSON value. Others are objects.
    is_value: bool = False


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Raises ValueError for a body that is no JSON. None: the status says that there is no body."""
        # No functools.cached_property: before Python 3.12 all its users share a lock, and a fork copies it locked.
        kept = vars(self)
        if "parsed" not in kept:
            kept["parsed"] = None if self.status == 204 else json.loads(self.body)
        return kept["parsed"]


@dataclass(frozen=True)
class Lost:
    """There was no answer, or it was not complete."""

    why: str


@dataclass(frozen=True)
class Send:
    """Returns an Answer or Lost."""

    call: Call
    timeout_s: float


@dataclass(frozen=True)
class Open:
    """Returns Lost or an Answer. If its status is 200, its body has still to be read in chunks."""

    call: Call
    timeout_s: float
    # True: an answer whose end cannot be told from a broken connection is Lost.
    shows_end: bool = False
    # What is not read after this many seconds is Lost. `timeout_s` starts again with each chunk.
    ends_s: float = math.inf


@dataclass(frozen=True)
class Read:
    """Returns the next chunk of the open answer, None at its end, or Lost."""


@dataclass(frozen=True)
class Close:
    pass


@dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclass(frozen=True)
class Emit:
    """The next value for the caller's loop."""

    value: Any


class Left(BaseException):
    """
    Sent into a flow whose caller has left its loop. GeneratorExit would close the generators that a flow is made of,
    from the inside, and let none of them do anything more.
    """


Step = Union[Send, Open, Read, Close, Sleep, Emit]
Flow = Generator[Step, Any, T]

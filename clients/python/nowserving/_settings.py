from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from collections.abc import Callable

__version__ = "1.0.0"


# A program may seed the module `random`, and its processes would then all retry at the same moments.
_system = random.SystemRandom()


def jitter() -> float:
    return _system.random()


@dataclass(frozen=True)
class Settings:
    url: str
    key: str | None = field(repr=False)
    retries: int
    timeout_s: float
    hold_s: int
    clock: Callable[[], float] = time.monotonic
    random: Callable[[], float] = jitter

    def __post_init__(self) -> None:
        if self.key is not None:
            key = self.key.strip()  # such as the line end of a file
            # The error of a header would show the key.
            if not (key.isascii() and key.isprintable()):
                raise ValueError("The key has characters that no key has.")
            object.__setattr__(self, "key", key)
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(f"The address of the service must begin with http:// or https://, unlike {self.url}.")
        # The longest time that the service holds a call.
        if not 0 <= self.hold_s <= 60:
            raise ValueError(f"hold_s must be 0 to 60 seconds, not {self.hold_s}.")

"""
The stand-in for a small language model: it has counted which words follow which in harbour.txt, and tells on from
there, token by token. No downloads, nothing but Python; the same input gives the same story.
"""

import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

# A word or a mark, with the space before it.
TOKEN = re.compile(r"\s*(?:\w[\w'-]*|[^\w\s])")
MAX_CONTEXT = 3


class Storyteller:
    def __init__(self, text: str) -> None:
        tokens = TOKEN.findall(text)
        self._next: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for at, token in enumerate(tokens):
            for length in range(1, min(at, MAX_CONTEXT) + 1):
                self._next[self._key(tokens[at - length : at])][token] += 1

    def tell(
        self,
        prompt: str,
        max_tokens: int = 120,
        temperature: float = 1.0,
        tokens_per_second: float = 40,
    ) -> Iterator[str]:
        """Yields words at the pace of a model that has to think."""
        dice = random.Random(prompt)
        told = TOKEN.findall(prompt)
        for _ in range(max_tokens):
            time.sleep(1 / tokens_per_second)
            token = self._choose(told, temperature, dice)
            told.append(token)
            yield token

    def _choose(self, told: list[str], temperature: float, dice: random.Random) -> str:
        for length in range(min(len(told), MAX_CONTEXT), 0, -1):
            known = self._next.get(self._key(told[-length:]))
            # With only one continuation it now and then looks less far back; otherwise it would only quote.
            if known and (len(known) > 1 or length == 1 or dice.random() < 0.4):
                weights = [count ** (1 / temperature) for count in known.values()]
                return dice.choices(list(known), weights)[0]
        return dice.choices(list(self._next[(".",)]))[0]

    @staticmethod
    def _key(tokens: list[str]) -> tuple[str, ...]:
        return tuple(token.strip().lower() for token in tokens)


storyteller = Storyteller(Path(__file__).with_name("harbour.txt").read_text(encoding="utf-8"))

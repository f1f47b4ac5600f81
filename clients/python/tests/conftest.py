from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from nowserving import Client
from support import Service


NAMES = ("URL", "KEY", "LIMITED_KEY", "MODEL", "WEBHOOK_SECRET")


@pytest.fixture(scope="session")
def service() -> Service:
    """A running service, whose models are in test/processes/python-client.test.ts."""
    try:
        return Service(*(os.environ[f"NOWSERVING_TEST_{name}"] for name in NAMES))
    except KeyError as missing:
        said = "Start it with: npm run test:processes -- python-client"
        raise RuntimeError(f"{missing} says which service to test, and is not set. {said}") from None


@pytest.fixture
def client(service: Service) -> Iterator[Client]:
    with Client(service.url, service.key) as client:
        yield client

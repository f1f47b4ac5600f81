from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nowserving import Client, worker
from support import Service
from worker_protocol import Protocol


NAMES = ("URL", "KEY", "LIMITED_KEY", "MODEL", "WEBHOOK_SECRET")


@pytest.fixture(scope="session")
def service() -> Service:
    """A running service. Its models are in test/processes/python-client.test.ts."""
    try:
        return Service(*(os.environ[f"NOWSERVING_TEST_{name}"] for name in NAMES))
    except KeyError as missing:
        said = "Start it with: npm run test:processes -- python-client"
        raise RuntimeError(f"{missing} says which service to test, and is not set. {said}") from None


@pytest.fixture
def client(service: Service) -> Iterator[Client]:
    with Client(service.url, service.key) as client:
        yield client


@pytest.fixture
def protocol() -> Iterator[Protocol]:
    protocol = Protocol()
    yield protocol
    protocol.over.set()
    protocol.server.shutdown()
    protocol.server.server_close()


@pytest.fixture
def start(protocol: Protocol, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a program beside a copy of the file, without any other installed package."""
    started: list[subprocess.Popen[str]] = []

    def start(body: str, *args: str, **more: str) -> subprocess.Popen[str]:
        shutil.copy(worker.__file__, tmp_path / "worker.py")
        (tmp_path / "program.py").write_text(f"from worker import Fail, Retry, serve\n\n{body}\n")
        env = {"PATH": os.environ["PATH"], "NOWSERVING_URL": protocol.url, "NOWSERVING_KEY": "ns_k", **more}
        command = [sys.executable, "-S", "-B", "program.py", *args]
        pipe = subprocess.PIPE
        program = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=pipe, stderr=pipe, text=True)
        started.append(program)
        return program

    yield start
    end_all(started)


@pytest.fixture
def start_file(protocol: Protocol, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a worker for a file of another service, with the package alone: -S ignores installed ones."""
    started: list[subprocess.Popen[str]] = []

    def start(module: str, *args: str, path: str = "", **files: str) -> subprocess.Popen[str]:
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        source = os.pathsep.join([str(Path(worker.__file__).parent.parent), *([path] if path else [])])
        temporary = tmp_path / "temporary"
        temporary.mkdir(exist_ok=True)
        env = {
            "PATH": os.environ["PATH"],
            "NOWSERVING_URL": protocol.url,
            "NOWSERVING_KEY": "ns_k",
            "PYTHONPATH": source,
            "TMPDIR": str(temporary),
        }
        command = [sys.executable, "-S", "-B", "-m", f"nowserving.{module}", *args, "--model", "me/x"]
        pipe = subprocess.PIPE
        program = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=pipe, stderr=pipe, text=True)
        started.append(program)
        return program

    yield start
    end_all(started)


def end_all(started: list[subprocess.Popen[str]]) -> None:
    for program in started:
        program.kill()
        program.communicate()

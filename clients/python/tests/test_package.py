"""The package as its users get it: a wheel, unpacked in an empty directory, and the documentation's lines."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from support import Service

HERE = Path(__file__).parent.parent
PAGES = HERE.parent.parent / "docs"
DOCS = [HERE / "README.md", PAGES / "clients.md", PAGES / "worker-libraries.md"]
LINES = re.findall(r"```python\n(.*?)```", "".join(file.read_text() for file in DOCS), re.DOTALL)


def python(code: str, cwd: Path, *args: str, **env: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], **env},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, because setuptools leaves folders behind."""
    source = tmp_path_factory.mktemp("source") / "python"
    shutil.copytree(HERE, source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    build = "from setuptools.build_meta import build_wheel; print(build_wheel('.'))"
    return source / python(build, source).strip().splitlines()[-1]


@pytest.fixture
def installed(wheel: Path, tmp_path: Path) -> Path:
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    return tmp_path / "installed"


def test_the_wheel_has_the_package_and_no_more(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    package = {path.relative_to(HERE).as_posix() for path in (HERE / "nowserving").rglob("*.py")}
    assert {name for name in names if ".dist-info/" not in name} == {*package, "nowserving/py.typed"}
    metadata = next(name for name in names if name.endswith("/METADATA"))
    text = ZipFile(wheel).read(metadata).decode()
    for line in ("Name: nowserving", "Requires-Python: >=3.10", "Requires-Dist: httpx"):
        assert f"\n{line}" in text


WORKERS = [lines for lines in LINES if "serve" in lines]
CALLERS = [lines for lines in LINES if "serve" not in lines]


@pytest.mark.parametrize("lines", WORKERS)
def test_the_workers_of_the_documentation_work(installed: Path, tmp_path: Path, lines: str) -> None:
    tried = '{"prompt": "hello there", "size": 3}'
    printed = python(lines, tmp_path, "--try", tried, PYTHONPATH=str(installed)).splitlines()
    assert json.loads(printed[-1])["type"] == "output"


@pytest.mark.parametrize("lines", CALLERS)
def test_the_lines_of_the_documentation_work(service: Service, installed: Path, tmp_path: Path, lines: str) -> None:
    code = lines.replace("http://127.0.0.1:3000", service.url)
    (tmp_path / "empty").mkdir()
    env = {"PYTHONPATH": str(installed), "NOWSERVING_KEY": service.key}
    printed = python(code, tmp_path / "empty", **env).splitlines()
    if "asyncio" in lines:
        assert printed == ["[0, 1, 2]"]
    else:
        assert printed[0] == "{'prompt': 'hello'}"
    if "subscribe" in lines:
        assert printed[-2].startswith("COMPLETED") and printed[-1].isdigit()

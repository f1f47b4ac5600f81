"""Runs the handler file of a RunPod worker as it is: `python3 -m nowserving.runpod handler.py --model me/image/draw`.

The file calls `runpod.serverless.start`. Where the package `runpod` is installed, its `start` and `progress_update`
are replaced by those of this module. Where it is not, a stand-in has them.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import runpy
import sys
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from ._adapter import STAND_INS, Execution, parser_of, set_arguments
from .worker import MAX_CONCURRENCY, Fail, Run, _is_imported_by_multiprocessing, say, serve

__all__ = ["progress_update", "start"]

# The current runs by the ids of their jobs.
_runs: weakref.WeakValueDictionary[str, Run] = weakref.WeakValueDictionary()
_options: argparse.Namespace | None = None
_has_started = False


def start(config: Mapping[str, Any]) -> None:
    """Serves the model with `config["handler"]`, until the worker is stopped."""
    global _has_started
    if _is_imported_by_multiprocessing():
        return
    _has_started = True
    if _options is None:
        raise RuntimeError("Start the file with: python3 -m nowserving.runpod handler.py --model me/image/draw")
    concurrency = _options.concurrency
    if concurrency is None:
        concurrency = _modified(config.get("concurrency_modifier"))
    handler = {_options.model: lambda input, run: _Job(run, config).carry_out(input)}
    serve(handler, concurrency=concurrency, grace=_options.grace, name=_options.name)


def _modified(modifier: Callable[[int], int] | None) -> int | Callable[[], int]:
    """Returns the concurrency. The modifier is asked again before each claim, with the number that it returned."""
    if modifier is None:
        return 1
    current = 1

    def concurrency() -> int:
        nonlocal current
        current = min(modifier(current), MAX_CONCURRENCY)
        return current

    return concurrency


def progress_update(job: Mapping[str, Any], progress: Any) -> None:
    """Shows how far a job is. A text is a line of its log."""
    run = _runs.get(job["id"])
    if run is None:
        return
    value, message = progress, None
    if isinstance(progress, Mapping):
        value, message = progress.get("progress"), progress.get("message")
    share = _share(value)
    if share is not None:
        run.progress(share, None if message is None else str(message))
    else:
        run.log(progress if isinstance(progress, str) else json.dumps(progress, default=str))


def _share(value: Any) -> float | None:
    """Returns a progress from 0 to 1. Whole numbers and those above 1 are percentages."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 100:
        return None
    return value / 100 if isinstance(value, int) or value > 1 else value


class _Job(Execution):
    def __init__(self, run: Run, config: Mapping[str, Any]) -> None:
        super().__init__(run)
        self._config = config
        self.keeps_parts = bool(config.get("return_aggregate_stream"))

    def begin(self, input: Any, stack: contextlib.ExitStack) -> Any:
        if self._config.get("refresh_worker"):
            stack.callback(self.run._retire)
        _runs[self.run.request_id] = self.run
        return self._config["handler"]({"id": self.run.request_id, "input": input})

    def whole(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if value.get("refresh_worker"):
            self.run._retire()
        _raise_error(value)
        output = {name: one for name, one in value.items() if name not in ("error", "refresh_worker")}
        return None if value and not output else output

    def part(self, value: Any) -> Any:
        if isinstance(value, dict):
            _raise_error(value)
        return value


def _raise_error(value: Mapping[str, Any]) -> None:
    """RunPod fails a job whose handler returns or yields an error, and does not try it again."""
    error = value.get("error")
    if error:
        raise Fail(error if isinstance(error, str) else json.dumps(error, default=str))


def main() -> None:
    global _options
    about = "Runs the handler file of a RunPod worker. Other arguments are those of the file."
    _options, rest = parser_of("runpod", "handler.py", about).parse_known_args()
    sys.path.insert(0, os.path.dirname(os.path.abspath(_options.file)))
    # At the end: an installed package comes first.
    sys.path.append(str(STAND_INS / "runpod"))
    serverless = importlib.import_module("runpod.serverless")
    if str(serverless.__file__).startswith(str(STAND_INS)):
        say("The package runpod is not installed. A stand-in has its serverless.start and progress_update.")
    serverless.start, serverless.progress_update = start, progress_update  # type: ignore[attr-defined]
    set_arguments(_options.file, rest, _options.tried)
    runpy.run_path(_options.file, run_name="__main__")
    if not _has_started:
        sys.exit(f"{_options.file} ended without a call of runpod.serverless.start.")


if __name__ == "__main__":
    # The module itself, which the file's runpod imports too, and not a second one of the name __main__.
    importlib.import_module("nowserving.runpod").main()

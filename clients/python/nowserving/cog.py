"""Runs a Cog predictor as it is: `python3 -m nowserving.cog predict.py:Predictor --model me/image/upscale`.

The predictor imports `cog`. A stand-in takes its place, also where the package is installed, because only its types are
needed: `nowserving._cog_types` has them.
"""

from __future__ import annotations

import argparse
import contextlib
import enum
import importlib
import importlib.util
import inspect
import os
import pathlib
import re
import sys
import tempfile
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ._adapter import STAND_INS, Execution, parser_of, set_arguments
from ._cog_inputs import Inputs
from ._cog_types import AsyncConcatenateIterator, BaseRunner, ConcatenateIterator, Scope, plain, scope_of_run
from ._printed import Printing, watch_streams
from .worker import Run, _loop, say, serve

REFERENCE = re.compile(r"(.+\.py):([A-Za-z_]\w*)")


class Predictor:
    """A function of a predictor that is set up. It is the handler of the worker."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.inputs = Inputs(function)
        returned = typing.get_type_hints(function).get("return")
        self.joins_parts = (typing.get_origin(returned) or returned) in (ConcatenateIterator, AsyncConcatenateIterator)

    def __call__(self, input: Any, run: Run) -> Any:
        return Prediction(run, self).carry_out(input)


class Prediction(Execution):
    def __init__(self, run: Run, predictor: Predictor) -> None:
        super().__init__(run)
        self._predictor = predictor
        self._scope = Scope()
        self._printing = Printing(run.log)
        self.keeps_parts = not predictor.joins_parts

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        token = scope_of_run.set(self._scope)
        try:
            with self._printing.entered():
                yield
        finally:
            scope_of_run.reset(token)

    def begin(self, input: Any, stack: contextlib.ExitStack) -> Any:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="nowserving-cog-"))
        stack.callback(self._say_usage)
        stack.callback(self._printing.flush)
        return self._predictor.function(**self._predictor.inputs.read(input, self.run, pathlib.Path(folder)))

    def whole(self, value: Any) -> Any:
        return output_of(value, self.run)

    def part(self, value: Any) -> Any:
        return output_of(value, self.run)

    def output_of(self, parts: list[Any]) -> Any:
        if self.keeps_parts:
            return parts
        return None if parts else ""

    def _say_usage(self) -> None:
        usage = numbers_in(self._scope.metrics)
        if usage:
            self.run.usage(usage)


def numbers_in(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the metrics that a usage may have: whole numbers."""
    found = {name: numbers_in(one) if isinstance(one, Mapping) else one for name, one in metrics.items()}
    return {name: one for name, one in found.items() if isinstance(one, (int, dict)) and not isinstance(one, bool)}


def output_of(value: Any, run: Run) -> Any:
    """Returns a value of a predictor as JSON. Its files are uploaded."""
    if isinstance(value, pathlib.PurePath):
        return uploaded(pathlib.Path(value), run)
    if hasattr(value, "read"):
        if value.seekable():
            value.seek(0)
        content = value.read()
        name = os.path.basename(str(getattr(value, "name", "output")))
        return run.upload(name, content.encode() if isinstance(content, str) else content)
    if isinstance(value, enum.Enum):
        return output_of(value.value, run)
    members = plain(value)
    if members is not None:
        value = members
    if isinstance(value, Mapping):
        return {str(name): output_of(one, run) for name, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset, Iterator)):
        return [output_of(one, run) for one in value]
    if hasattr(value, "tolist"):  # numpy and torch
        return value.tolist()
    return value


def uploaded(path: pathlib.Path, run: Run) -> str:
    """Uploads a file. One in the folder for temporary files is deleted then, as Cog does."""
    url = run.upload(path.name, path)
    if pathlib.Path(tempfile.gettempdir()).resolve() in path.resolve().parents:
        path.unlink(missing_ok=True)
    return url


def found(given: str) -> tuple[pathlib.Path, str, str]:
    """Returns the folder of a predictor, its file:name, and the text of its cog.yaml."""
    path = pathlib.Path(given)
    if REFERENCE.fullmatch(given) is not None:
        return pathlib.Path.cwd(), given, ""
    config = path / "cog.yaml" if path.is_dir() else path
    if config.suffix not in (".yaml", ".yml"):
        raise SystemExit(f"{given} is neither a folder with a cog.yaml nor a file and a name such as predict.py:Predictor.")
    try:
        text = config.read_text(encoding="utf-8")
    except OSError as error:
        raise SystemExit(f"{config} cannot be read: {error}") from None
    line = re.search(r"^(?:predict|run):\s*[\"']?([^\"'#\n]+?)[\"']?\s*(?:#.*)?$", text, re.MULTILINE)
    if line is None or REFERENCE.fullmatch(line[1]) is None:
        raise SystemExit(f'{config} has no line such as predict: "predict.py:Predictor".')
    return config.resolve().parent, line[1], text


def most_at_once(text: str) -> int:
    """Returns the `concurrency: max` of a cog.yaml."""
    inside = re.search(r"^concurrency:[ \t]*(?:#.*)?\n((?:[ \t]+.*\n?|\n)+)", text, re.MULTILINE)
    most = re.search(r"^\s+max:\s*(\d+)", inside[1], re.MULTILINE) if inside else None
    return int(most[1]) if most else 1


def loaded(reference: str) -> Any:
    """Imports the file of a predictor, and returns what it calls by the name."""
    file, name = REFERENCE.fullmatch(reference).groups()  # type: ignore[union-attr]
    spec = importlib.util.spec_from_file_location(pathlib.Path(file).stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    try:
        return getattr(module, name)
    except AttributeError:
        raise SystemExit(f"{file} has no {name}.") from None


def prepared(predictor: Any) -> Callable[..., Any]:
    """Sets a predictor up, and returns its function."""
    if not inspect.isclass(predictor):
        function: Callable[..., Any] = predictor
        return function
    one: Any = predictor()
    if hasattr(one, "setup"):
        asks = "weights" in inspect.signature(one.setup).parameters
        done = one.setup(**({"weights": os.environ.get("COG_WEIGHTS")} if asks else {}))
        if inspect.isawaitable(done):
            # In the event loop of the predictions, to which what it makes may belong.
            _loop.value_of(done)
    return one.run if isinstance(one, BaseRunner) else one.predict  # type: ignore[no-any-return]


def options() -> argparse.Namespace:
    parser = parser_of("cog", "predict.py:Predictor", "Runs a Cog predictor. A folder with a cog.yaml may be given, too.")
    parser.add_argument(
        "--downloads",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="an origin other than the service that files of inputs may come from, or *",
    )
    return parser.parse_args()


def main() -> None:
    given = options()
    folder, reference, config = found(given.file)
    os.chdir(folder)
    sys.path[:0] = [str(STAND_INS / "cog"), os.path.dirname(os.path.abspath(reference)), str(folder)]
    set_arguments(reference, [], given.tried)
    watch_streams()
    predictor = loaded(reference)
    say("The predictor is set up before the worker takes requests.")
    serve(
        {given.model: Predictor(prepared(predictor))},
        concurrency=most_at_once(config) if given.concurrency is None else given.concurrency,
        grace=given.grace,
        name=given.name,
        downloads=given.downloads,
    )


if __name__ == "__main__":
    main()

"""Reads the inputs of a Cog predictor: types, defaults, limits and files."""

from __future__ import annotations

import base64
import enum
import inspect
import mimetypes
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path as AnyPath
from typing import Any
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from ._cog_types import REQUIRED, UNIONS, File, InputField, Path, Secret, is_optional
from .worker import Fail, Run

NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", dict: "an object", list: "a list"}
DATA_URL = re.compile(r"data:([^,;]*)(?:;[^,;]*)*?(;base64)?,", re.IGNORECASE)


class Invalid(ValueError):
    """An input is not what the predictor takes."""


@dataclass(frozen=True)
class Remote:
    """A file of an input that is not fetched yet."""

    url: str
    is_open: bool


class Inputs:
    """The inputs of a predictor, by the parameters of its function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        hints = typing.get_type_hints(function)
        self._fields: dict[str, tuple[Any, InputField]] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            given = parameter.default
            if not isinstance(given, InputField):
                given = InputField(REQUIRED if given is parameter.empty else given)
            self._fields[name] = hints.get(name, Any), given

    def read(self, input: Any, run: Run, folder: AnyPath) -> dict[str, Any]:
        """Returns the arguments of the function. Its files are put into the folder. Fail: the input is invalid."""
        if not isinstance(input, Mapping):
            raise Fail("The input must be an object.", status=422)
        for name in input.keys() - self._fields.keys():
            run.log(f"The predictor has no input {name!r}, so it is ignored.", "WARN")
        values, faults = {}, []
        for name, (hint, demands) in self._fields.items():
            try:
                values[name] = self._value(name in input, input.get(name), hint, demands)
            except Invalid as fault:
                faults.append(f'"{name}" {fault}')
        if faults:
            raise Fail(f"The input is invalid: {'; '.join(faults)}.", status=422, details={"errors": faults})
        files = Files(run, folder)
        return {name: files.fetched(value) for name, value in values.items()}

    def _value(self, is_given: bool, value: Any, hint: Any, demands: InputField) -> Any:
        if not is_given:
            if demands.default is not REQUIRED:
                default = demands.default
                return Path(default) if hint is Path and isinstance(default, str) else default
            if is_optional(hint):
                return None
            raise Invalid("is missing")
        if value is None and (demands.default is None or is_optional(hint)):
            return None
        read = read_as(hint, value)
        for one in read if isinstance(read, list) else [read]:
            check(one, demands)
        return read


def read_as(hint: Any, value: Any) -> Any:
    """Returns a JSON value as a type. Types that Cog does not know get the value as it is."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in UNIONS:
        return read_as_one_of(arguments, value)
    if origin is typing.Literal:
        if value not in arguments:
            raise Invalid(f"must be one of {listed(arguments)}, not {value!r}")
        return value
    if origin in (list, dict):
        expect(origin, value)
        return [read_as(arguments[0], one) for one in value] if origin is list and arguments else value
    if not isinstance(hint, type):
        return value
    if issubclass(hint, (AnyPath, File)):
        expect(str, value)
        if re.match(r"(https?|data|file):|/", value, re.IGNORECASE) is None:
            raise Invalid("must be the URL of a file")
        return Remote(value, is_open=issubclass(hint, File))
    if issubclass(hint, Secret):
        expect(str, value)
        return Secret(value)
    if issubclass(hint, enum.Enum):
        return read_as_enum(hint, value)
    if hint is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise Invalid("must be a smaller number") from None
    if hint in NAMES:
        expect(hint, value)
    return value


def read_as_one_of(hints: tuple[Any, ...], value: Any) -> Any:
    if value is None and type(None) in hints:
        return None
    faults = []
    for hint in hints:
        if hint is type(None):
            continue
        try:
            return read_as(hint, value)
        except Invalid as fault:
            faults.append(str(fault))
    raise Invalid(" or ".join(faults))


def read_as_enum(hint: type[enum.Enum], value: Any) -> enum.Enum:
    try:
        return hint(value)
    except ValueError:
        raise Invalid(f"must be one of {listed([one.value for one in hint])}, not {value!r}") from None


def expect(kind: type, value: Any) -> None:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Invalid(f"must be {NAMES[kind]}")


def check(value: Any, demands: InputField) -> None:
    if isinstance(value, enum.Enum):
        value = value.value
    if demands.choices is not None and value not in demands.choices:
        raise Invalid(f"must be one of {listed(demands.choices)}, not {value!r}")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if demands.ge is not None and value < demands.ge:
            raise Invalid(f"must be at least {demands.ge}, not {value}")
        if demands.le is not None and value > demands.le:
            raise Invalid(f"must be at most {demands.le}, not {value}")
    if isinstance(value, str):
        if demands.min_length is not None and len(value) < demands.min_length:
            raise Invalid(f"must have at least {demands.min_length} characters")
        if demands.max_length is not None and len(value) > demands.max_length:
            raise Invalid(f"must have at most {demands.max_length} characters")
        if demands.regex is not None and re.match(demands.regex, value) is None:
            raise Invalid(f"must match {demands.regex}")


def listed(values: Any) -> str:
    return ", ".join(repr(value) for value in values)


class Files:
    """Fetches the files of one input. Each has a folder of its own, because two may have the same name."""

    def __init__(self, run: Run, folder: AnyPath) -> None:
        self._run = run
        self._folder = folder
        self._count = 0

    def fetched(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.fetched(one) for one in value]
        if not isinstance(value, Remote):
            return value
        try:
            path = self._fetch(value.url)
        except ValueError:  # of its base64, or of an address such as http://[
            raise Fail("A file of the input is neither a data: URL nor another one.", status=422) from None
        return open(path, "rb") if value.is_open else path

    def _fetch(self, url: str) -> Path:
        self._count += 1
        folder = self._folder / str(self._count)
        folder.mkdir()
        data = DATA_URL.match(url[:1_000])
        if data is None:
            name = re.sub(r"[^\w.,+ -]", "_", unquote(urlsplit(url).path).rsplit("/", 1)[-1])[-150:].lstrip(".")
            return Path(self._run.download(url, folder / (name or "file")))
        path = Path(folder / f"file{mimetypes.guess_extension(data[1] or 'text/plain') or ''}")
        rest = url[data.end() :]
        path.write_bytes(base64.b64decode(rest) if data[2] else unquote_to_bytes(rest))
        return path

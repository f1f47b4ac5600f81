"""What a Cog predictor imports from `cog`: https://github.com/replicate/cog/blob/main/docs/python.md."""

from __future__ import annotations

import io
import pathlib
import types
import typing
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar, Union

__all__ = [
    "AsyncConcatenateIterator",
    "AsyncIterator",
    "BaseModel",
    "BasePredictor",
    "BaseRunner",
    "CancelationException",
    "ConcatenateIterator",
    "File",
    "Input",
    "Path",
    "Secret",
    "current_scope",
]

Item = TypeVar("Item")


class CancelationException(BaseException):
    """The name of what Cog raises in a predictor whose prediction is cancelled. Workers never raise it."""


class Path(type(pathlib.Path())):  # type: ignore[misc]
    """A file on the disk: of an input, or for the output."""


class File(io.IOBase):
    """An open file: of an input, or for the output."""

    def __new__(cls, content: Any) -> Any:
        return content


class Secret:
    """A text that is not printed."""

    def __init__(self, value: str) -> None:
        self._value = value

    def get_secret_value(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return f"Secret({str(self)!r})"

    def __str__(self) -> str:
        return "**********" if self._value else ""


class ConcatenateIterator(Iterator[Item]):
    """The type of a predictor's output whose texts are joined."""


class AsyncConcatenateIterator(AsyncIterator[Item]):
    """The type of an asynchronous predictor's output whose texts are joined."""


REQUIRED: Any = object()


@dataclass(frozen=True)
class InputField:
    """What a predictor demands of one of its inputs."""

    default: Any
    ge: float | None = None
    le: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    regex: str | None = None
    choices: Sequence[Any] | None = None


def Input(
    default: Any = REQUIRED,
    *,
    description: str | None = None,
    ge: float | None = None,
    le: float | None = None,
    min_length: int | None = None,
    max_length: int | None = None,
    regex: str | None = None,
    choices: Sequence[Any] | None = None,
    deprecated: bool | None = None,
) -> Any:
    return InputField(default, ge, le, min_length, max_length, regex, choices)


class BaseModel:
    """An object with named members. Those that are not given and have no default are left out of an output."""

    def __init__(self, **members: Any) -> None:
        hints = typing.get_type_hints(type(self))
        for name in members.keys() - hints.keys():
            raise TypeError(f"{type(self).__name__} has no member {name!r}.")
        missing = [name for name, hint in hints.items() if not (name in members or hasattr(self, name) or is_optional(hint))]
        if missing:
            raise TypeError(f"{type(self).__name__} needs the member {missing[0]!r}.")
        self.__dict__.update({name: None for name in hints if not hasattr(self, name)}, **members)
        self._given = members.keys() | {name for name in hints if hasattr(type(self), name)}

    def members(self) -> dict[str, Any]:
        """Returns the members that an output has."""
        names = typing.get_type_hints(type(self))
        return {name: getattr(self, name) for name in names if name in self._given}


def is_optional(hint: Any) -> bool:
    return typing.get_origin(hint) in UNIONS and type(None) in typing.get_args(hint)


# `int | None` has a type of its own since Python 3.10.
UNIONS = (Union, getattr(types, "UnionType", Union))


@dataclass
class Scope:
    """What a prediction records."""

    metrics: dict[str, Any] = field(default_factory=dict)

    def record_metric(self, key: str, value: Any, mode: str = "replace") -> None:
        *folders, name = key.split(".")
        into = self.metrics
        for folder in folders:
            into = into.setdefault(folder, {})
        if value is None:
            into.pop(name, None)
        elif mode == "replace":
            into[name] = value
        elif mode == "incr":
            into[name] = into.get(name, 0) + value
        elif mode == "append":
            into[name] = [*into.get(name, []), value]
        else:
            raise ValueError(f'The mode of a metric must be "replace", "incr" or "append", not {mode!r}.')


scope_of_run: ContextVar[Scope | None] = ContextVar("scope_of_run", default=None)


def current_scope() -> Scope:
    """Returns the scope of the current prediction. Outside one, it records nothing that is kept."""
    return scope_of_run.get() or Scope()


class BasePredictor:
    def setup(self, weights: Any = None) -> Any:
        """Prepares the predictor. It is called once, before any prediction."""

    def predict(self, **inputs: Any) -> Any:
        raise NotImplementedError("The predictor has no predict().")

    def record_metric(self, key: str, value: Any, mode: str = "replace") -> None:
        self.scope.record_metric(key, value, mode)

    @property
    def scope(self) -> Scope:
        return current_scope()


class BaseRunner(BasePredictor):
    """A predictor whose method is `run`."""

    def run(self, **inputs: Any) -> Any:
        raise NotImplementedError("The runner has no run().")


def plain(value: Any) -> Mapping[str, Any] | None:
    """Returns the members of an object that is a model of this module or of pydantic. None: it is neither."""
    if isinstance(value, BaseModel):
        return value.members()
    for mark, dump in (("model_fields_set", "model_dump"), ("__fields_set__", "dict")):
        if hasattr(value, mark):
            members: Mapping[str, Any] = getattr(value, dump)(exclude_unset=True)
            return members
    return None

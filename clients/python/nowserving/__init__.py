"""The client of Now Serving, a self-hosted queue for work that takes longer than an HTTP call should."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._settings import __version__
from .errors import ErrorCode, NowServingError
from .types import Result
from .webhooks import verify_webhook

if TYPE_CHECKING:
    from ._async_client import AsyncClient
    from ._client import Client

__all__ = [
    "AsyncClient",
    "Client",
    "ErrorCode",
    "NowServingError",
    "Result",
    "__version__",
    "verify_webhook",
]

# Only the clients need a package, httpx. Workers use this package without it.
_CLIENTS = {"AsyncClient": "._async_client", "Client": "._client"}


def __getattr__(name: str) -> Any:
    if name not in _CLIENTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_CLIENTS[name], __name__), name)

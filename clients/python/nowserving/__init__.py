"""The client of Now Serving, a self-hosted queue for work that takes longer than an HTTP call should."""

from ._async_client import AsyncClient
from ._client import Client
from ._settings import __version__
from .errors import ErrorCode, NowServingError
from .types import Result
from .webhooks import verify_webhook

__all__ = [
    "AsyncClient",
    "Client",
    "ErrorCode",
    "NowServingError",
    "Result",
    "__version__",
    "verify_webhook",
]

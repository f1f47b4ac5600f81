"""The logger of RunPod's handlers. It prints to the worker's standard error."""

import sys
from typing import Any, Optional

__all__ = ["RunPodLogger"]

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR")


class RunPodLogger:
    def __init__(self) -> None:
        self.level = "INFO"

    def set_level(self, new_level: str) -> None:
        self.level = new_level.upper()

    def log(self, message: Any, message_level: str = "INFO", job_id: Optional[str] = None) -> None:
        if self.level in LEVELS and LEVELS.index(message_level) < LEVELS.index(self.level):
            return
        of = "" if job_id is None else f"{job_id} | "
        print(f"{message_level} | {of}{message}", file=sys.stderr, flush=True)

    def trace(self, message: Any, request_id: Optional[str] = None) -> None:
        self.log(message, "TRACE", request_id)

    def debug(self, message: Any, request_id: Optional[str] = None) -> None:
        self.log(message, "DEBUG", request_id)

    def info(self, message: Any, request_id: Optional[str] = None) -> None:
        self.log(message, "INFO", request_id)

    def warn(self, message: Any, request_id: Optional[str] = None) -> None:
        self.log(message, "WARN", request_id)

    def error(self, message: Any, request_id: Optional[str] = None) -> None:
        self.log(message, "ERROR", request_id)

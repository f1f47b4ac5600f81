"""Stands in for the package `runpod` where it is not installed: what a handler file needs to be served."""

from . import serverless
from .serverless.modules.rp_logger import RunPodLogger

__all__ = ["RunPodLogger", "serverless"]

"""Stands in for the package `cog`: what a predictor needs to be served."""

from nowserving._cog_types import *  # noqa: F403

from nowserving._cog_types import CancelationException

__all__ = ["CancelationException"]

from nowserving.runpod import progress_update, start

__all__ = ["progress_update", "start"]

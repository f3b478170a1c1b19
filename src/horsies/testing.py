"""Testing tasks without a database."""

from horsies.entrypoints.testing.sandbox import Sandbox
from horsies.entrypoints.testing.sent import SentTask

__all__ = ["Sandbox", "SentTask"]

"""Hypothesis as the laws need it: a slow machine is no counterexample."""

from hypothesis import settings

settings.register_profile("laws", parent=settings(), deadline=None)
settings.load_profile("laws")

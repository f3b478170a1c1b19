"""The outside world, each technology behind the ports it serves."""

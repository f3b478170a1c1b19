"""Running tasks: supervised child processes, or the worker's own loop."""

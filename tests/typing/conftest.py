"""These files are read by the type checker (`make check`); pytest must not import them."""

collect_ignore_glob = ["*.py"]

"""Where the hexagon is put together and used: the facade, the command line, tests."""

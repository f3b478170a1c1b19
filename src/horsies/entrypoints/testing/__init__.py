"""Testing tasks without a database: the real engine in memory, time under control."""

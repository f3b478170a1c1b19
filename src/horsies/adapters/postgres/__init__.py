"""The real thing: tasks in PostgreSQL."""

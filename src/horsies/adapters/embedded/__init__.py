"""A PostgreSQL of the project's own: started on demand, shared, stopped by its last user."""

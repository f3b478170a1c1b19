"""The pure core: what a task is, how it lives, and who decides what happens next."""

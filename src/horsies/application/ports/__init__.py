"""What the core needs from the outside, one role a file."""

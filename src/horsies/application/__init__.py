"""Use cases, the ports they speak through, and the settings that steer them."""

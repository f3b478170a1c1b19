"""A worker: the loops that claim, run, speak and recover, over the ports."""

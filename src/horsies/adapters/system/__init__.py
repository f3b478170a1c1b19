"""Clock, randomness and identities of the machine."""

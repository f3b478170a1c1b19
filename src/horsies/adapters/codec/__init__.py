"""Values on the wire: the `Codec` port by msgspec."""

"""The verbs of the engine. Parts of a tick take its transaction; the rest open their own."""

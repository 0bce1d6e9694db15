"""Tables of one's own, and models that are saved and loaded."""

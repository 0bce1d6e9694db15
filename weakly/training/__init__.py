"""What the detectors share: the base classes, the compiled training loop, and its version for sparse rows."""

"""What the detectors share: the base classes, the one compiled training loop, the same on sparse rows."""

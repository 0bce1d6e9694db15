"""Measurements of the code itself: time against a floor, growth with the data."""

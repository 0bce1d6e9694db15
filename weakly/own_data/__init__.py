"""Anomalies in a user's own tables: the commands of detect.py, and the model files."""

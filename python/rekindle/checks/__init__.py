"""Plays micro-batches in several orders and processes, compares what comes out, and looks for causes of differences."""

"""Forks model processes from a process that has the imports of a task."""

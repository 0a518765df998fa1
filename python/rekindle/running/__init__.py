"""Runs a task as a job: describes the job, starts a cluster on this machine, and follows the job to its end."""

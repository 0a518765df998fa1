"""Trains a PyTorch module on machines that come and go."""

from rekindle import hf
from rekindle.checks.call import check
from rekindle.errors import Refused
from rekindle.run import Submitted, run, submit
from rekindle.running.options import (SGD, AdamW, Checkpoint, Constant, Cosine, CosineRestarts, Linear, Lion, Muon,
                                      Plateau, WarmupStableDecay)
from rekindle.running.result import Failed, Result
from rekindle.task import Sum, Task

__all__ = ["AdamW", "Checkpoint", "Constant", "Cosine", "CosineRestarts", "Failed", "Linear", "Lion", "Muon",
           "Plateau", "Refused", "Result", "SGD", "Submitted", "Sum", "Task", "WarmupStableDecay", "check", "hf",
           "run", "submit"]
__version__ = "0.1.0"

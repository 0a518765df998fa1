"""Is a trainer that a test kills: has a model process compute something long, and says which processes there are.

usage: stand_in.py TASK FOLDER STATE"""
import json
import signal
import sys

import base  # noqa: F401

from trainer import Trainer, processes_below

task, folder, state = sys.argv[1:]
trainer = Trainer(task, folder, start="program").begin()
trainer.ask([1, 2])
trainer.await_state(int(state))
print(json.dumps([trainer.pid, *processes_below(trainer.pid)]), flush=True)
signal.pause()

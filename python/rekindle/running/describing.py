"""Names a job's code as a folder to send, and hands a job over to `rekindle submit` where that has run the script."""

from __future__ import annotations

import json
import os
from typing import Any

# `rekindle submit train.py` runs the script with this variable, which names the file for the job.
VARIABLE = "REKINDLE_DESCRIBE"


def with_bundle(job: dict[str, Any]) -> dict[str, Any]:
    """Returns the job with its folder of code as a bundle, which the program `rekindle` packs and sends."""
    model = dict(job["spec"]["model"])
    model["bundle"] = model.pop("folder")
    return {**job, "spec": {**job["spec"], "model": model}}


def hand_over(job: dict[str, Any]) -> None:
    """Ends this process with the job written to the file that `rekindle submit` has named. Else it does nothing."""
    path = os.environ.get(VARIABLE)
    if not path:
        return
    with open(path, "w", encoding="utf-8") as file:
        json.dump(with_bundle(job), file)
    raise SystemExit(0)

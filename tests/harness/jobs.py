"""Makes a small job and its text, which are the same everywhere. Only the standard library is used."""
import pathlib

TASKS = pathlib.Path(__file__).resolve().parents[1] / "python" / "tasks"


def text_file(folder):
    """Returns the file of a text that is the same everywhere: sentences from a fixed chain of words."""
    path = pathlib.Path(folder) / "text.txt"
    if not path.exists():
        words = "the of rank step shard lease pool and one two peer state moves to a node that stays".split()
        out, x = [], 12345
        for _ in range(60_000):
            x = (1103515245 * x + 12345) % 2**31
            out.append(words[(x >> 16) % len(words)])
        path.write_text(" ".join(out))
    return path


def small_job(name, text, steps=60, workers=3, **training):
    """Returns a job whose steps take about 30 ms on one core."""
    return {"name": name, "spec": {
        "seed": 3, "workers": {"min": 1, "max": workers},
        "model": {"kind": "gpt", "layers": 2, "heads": 2, "width": 64, "context": 64},
        "data": {"text": [str(text)], "validation_fraction": 0.05},
        "training": {"steps": steps, "global_batch": 12, "micro_batch": 1, "reduce": "exact", "evaluate_every": 25,
                     "evaluate_micro_batches": 8, **training},
        "optimizer": {"kind": "adamw", "learning_rate": 2e-3}, "schedule": {"kind": "cosine", "warmup_steps": 10},
        "checkpoint": {"every_steps": 15, "keep_last": 2}}}


def own_job(name, task, steps, workers, folder=TASKS):
    """Returns a job that trains a model of the user's own, whose steps take about 20 ms on one core."""
    return {"name": name, "spec": {
        "seed": 3, "workers": {"min": 1, "max": workers}, "model": {"python": task, "folder": str(folder)},
        "training": {"steps": steps, "global_batch": 12, "micro_batch": 2, "reduce": "exact"},
        "optimizer": {"kind": "adamw", "learning_rate": 2e-3}, "checkpoint": {"every_steps": 15, "keep_last": 2}}}

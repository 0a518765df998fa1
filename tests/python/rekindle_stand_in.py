"""Stands for the program `rekindle` in tests: records how it was called, and plays the answers that a test has planned.

The folder STAND_IN holds `plan.json`, `job.json` with the one job that there is, and `calls`, where each call adds a
line of JSON."""
import contextlib
import fcntl
import json
import os
import pathlib
import signal
import sys

FOLDER = pathlib.Path(os.environ["STAND_IN"])
STATUS = {"state": "PENDING", "reason": "waits for workers", "step": 0, "loss": 0.0, "tokens_per_second": 0.0,
          "step_seconds": 0.0, "last_event": "", "state_digest": "", "checkpoint_step": -1, "loss_curve": [],
          "validation_curve": [], "final_store": "", "traceback": ""}
OVER = ("SUCCEEDED", "FAILED", "CANCELLED")


def note(**what):
    with open(FOLDER / "calls", "a", encoding="utf-8") as calls:
        calls.write(json.dumps(what) + "\n")


def plan():
    with contextlib.suppress(FileNotFoundError):
        return json.loads((FOLDER / "plan.json").read_text())
    return {}


def read_job():
    with contextlib.suppress(FileNotFoundError):
        return json.loads((FOLDER / "job.json").read_text())
    return None


def write_job(job):
    (FOLDER / "job.json.new").write_text(json.dumps(job))
    (FOLDER / "job.json.new").replace(FOLDER / "job.json")
    return job


def answer(what):
    print(json.dumps(what, indent=1), flush=True)


def fail(code, message):
    print(json.dumps({"error": {"code": code, "message": message}}), file=sys.stderr, flush=True)
    sys.exit(1)


def up(words):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    if "up" in plan():
        fail("FAILED_PRECONDITION", plan()["up"])
    folder = pathlib.Path(words[words.index("--dir") + 1])
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    (FOLDER / "up.pid").write_text(str(os.getpid()))
    if plan().get("up_leaves") and os.fork() == 0:
        signal.sigwait({signal.SIGTERM})
        note(ended="left")
        os._exit(0)
    print(json.dumps({"endpoint": "127.0.0.1:1", "web": "", "dir": str(folder)}), flush=True)
    # The signals are counted at the start, because the plan of a later run is another one.
    for _ in range(2 if plan().get("up_lingers") else 1):
        signal.sigwait({signal.SIGTERM})
    note(ended="up")


def found(name):
    job = read_job()
    if job is None or name not in (job["name"], job["uid"]):
        fail("NOT_FOUND", f"no job '{name}'")
    return job


def change(name, **status):
    job = found(name)
    job["status"].update(status)
    return write_job(job)


def submit(path):
    if "submit" in plan():
        fail("INVALID_ARGUMENT", plan()["submit"])
    job = json.loads(pathlib.Path(path).read_text())
    note(file=path, job=job)
    before = read_job()
    uid = f"uid{int(before['uid'][3:]) + 1 if before else 1}"
    spec = {**job["spec"], "checkpoint": {"store": plan().get("store", "file:///nowhere")}}
    answer(write_job({**job, "uid": uid, "status": {**STATUS, "resolved_spec": spec}}))


def watch(name):
    for status in plan()["watch"]:
        print(json.dumps(change(name, **status)), flush=True)
    if found(name)["status"]["state"] not in OVER:
        signal.pause()


def pause(name):
    if "pause" in plan():
        fail("FAILED_PRECONDITION", plan()["pause"])
    if plan().get("pause_waits"):
        signal.pause()
    answer(change(name, state="PAUSED", reason="paused by the user"))


def export(uid, folder):
    if "export" in plan():
        fail("NOT_FOUND", plan()["export"])
    os.mkdir(folder)
    data = bytes.fromhex("0000803f00000040")
    header = json.dumps({"w": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},
                         "empty": {"dtype": "F32", "shape": [0], "data_offsets": [8, 8]}}).encode()
    pathlib.Path(folder, "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + data)
    answer({"checkpoint": "1-3-n1", "folder": folder, "files": ["model.safetensors"]})


def main():
    words = sys.argv[1:]
    note(words=words)
    verb, *rest = words
    if verb == "up":
        return up(rest)
    verbs = {"get": lambda: answer(found(rest[0])), "submit": lambda: submit(rest[0]), "watch": lambda: watch(rest[0]),
             "resume": lambda: answer(change(rest[0], state="PENDING", reason="resumed by the user")),
             "cancel": lambda: answer(change(rest[0], state="CANCELLED")), "pause": lambda: pause(rest[0]),
             "rm": lambda: answer({"job": found(rest[0])}), "checkpoint": lambda: export(rest[1], rest[2]),
             "logs": lambda: answer({"lines": plan().get("logs", [])})}
    return verbs[verb]()


main()

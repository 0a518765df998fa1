"""Takes one job from its begin, or from where it was, to its end."""

from __future__ import annotations

import hashlib
import json
import os
import re
import selectors
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rekindle.errors import Refused, inside
from rekindle.running import job_file, programs
from rekindle.running.cluster import LocalCluster, ProjectFolder
from rekindle.running.place import Place
from rekindle.running.programs import Client, ProgramError
from rekindle.running.progress import Progress
from rekindle.running.result import Failed, Result, curve

OVER = ("SUCCEEDED", "FAILED", "CANCELLED")
TICK_SECONDS = 0.5
# So many lines of the trainers are shown where a job has failed without a traceback.
LOG_LINES = 20


class Session:
    """Holds one call of rekindle.run. `local` is None where the cluster is somebody else's."""

    def __init__(self, client: Client, folder: ProjectFolder, local: LocalCluster | None, progress: Progress) -> None:
        self._client = client
        self._folder = folder
        self._local = local
        self._progress = progress
        # What to pause at Ctrl-C: the job's uid, its name while it is being submitted, or nothing.
        self._begun = ""

    def run(self, place: Place, job: dict[str, Any], fresh: bool) -> Result:
        """Returns the result of the job. Raises Refused, Failed and KeyboardInterrupt."""
        try:
            ended = self._follow(self._begin(place, job, fresh))
        except KeyboardInterrupt:
            told = self._pause(job["name"])
            self._progress.end()
            raise KeyboardInterrupt(told) from None
        except ProgramError as error:
            raise Failed(self._why(error)) from None
        finally:
            self._progress.end()
        if ended["status"]["state"] != "SUCCEEDED":
            raise self._failure(ended)
        result = self._result(ended)
        self._progress.say(f"job {job['name']} has made all its {ended['status']['step']} steps; the digest of its "
                           f"state is {result.digest}")
        return result

    def _begin(self, place: Place, job: dict[str, Any], fresh: bool) -> dict[str, Any]:
        """Returns the job, which was submitted, resumed or found as it is."""
        name = job["name"]
        earlier = self._client.job(name)
        if earlier is not None and fresh:
            self._forget(earlier)
            earlier = None
        if earlier is None:
            return self._submit(place, job)
        status = earlier["status"]
        why = self._why_anew(job, earlier)
        if why:
            self._progress.say(f"job {name} {why}, and begins anew")
            return self._submit(place, job)
        self._check_same(place, job, earlier)
        self._begun = earlier["uid"]
        if status["state"] == "SUCCEEDED":
            self._progress.say(f"job {name} was trained before, and this is its result; fresh=True trains anew")
            return earlier
        if status["state"] == "FAILED":
            self._progress.say(f"job {name} has failed before, at step {status['step']}, and goes on from its "
                               f"checkpoint of step {status['checkpoint_step']}; fresh=True trains anew")
        else:
            self._progress.say(f"job {name} goes on from step {status['step']}")
        if status["state"] in ("PAUSED", "FAILED"):
            return self._client.call("resume", earlier["uid"])
        return earlier

    def _why_anew(self, job: dict[str, Any], earlier: dict[str, Any]) -> str:
        """Returns why an earlier job that is over does not go on, or nothing where it does or has an end."""
        status = earlier["status"]
        if status["state"] == "CANCELLED":
            return f"was cancelled before, at step {status['step']}"
        if status["state"] != "FAILED":
            return ""
        failed = f"has failed before, at step {status['step']}"
        record = self._folder.record(earlier["name"], earlier["uid"], self._local is not None)
        if int(status["checkpoint_step"]) < 0 or record is None:
            return failed
        told = job_file.differences(record["job"], job)
        return f"{failed}, with other arguments ({'; '.join(told[:3])})" if told else ""

    def _submit(self, place: Place, job: dict[str, Any]) -> dict[str, Any]:
        self._begun = job["name"]
        submitted = submit(self._client, self._folder, place, job)
        self._begun = submitted["uid"]
        return submitted

    def _check_same(self, place: Place, job: dict[str, Any], earlier: dict[str, Any]) -> None:
        """Refuses to go on with a job that is another one than what is asked for now."""
        name = job["name"]
        ways = "say fresh=True to train anew, or give the new one a name of its own by name="
        record = self._record(earlier)
        told = job_file.differences(record["job"], job)
        if told:
            raise Refused(f"job {name} was begun with other arguments: {_some(told, '; ')}; {ways}")
        before = record.get("sources", {})
        changed = [file for file, now in _sources(place).items() if before.get(file, "") != now]
        if changed:
            have = f"{_some(changed, ', ')} {'have' if len(changed) > 1 else 'has'}"
            self._progress.say(f"{have} changed since job {name} was begun; what is done already was done by the "
                               "earlier lines, and fresh=True trains anew")

    def _record(self, earlier: dict[str, Any]) -> dict[str, Any]:
        """Returns what was submitted from this folder as that job. Refuses a job that somebody else has submitted."""
        record = self._folder.record(earlier["name"], earlier["uid"], self._local is not None)
        if record is None:
            raise Refused(f"a job {earlier['name']} is there already, and was not begun from this folder on this "
                          "machine; give the new one a name of its own by name=")
        return record

    def _forget(self, earlier: dict[str, Any]) -> None:
        """Ends an earlier job. If it had ended already, what lies of it in the project's own folder is removed."""
        if earlier["status"]["state"] not in OVER:
            self._record(earlier)
            self._client.call("cancel", earlier["uid"], "--discard")
            return
        if self._local is None:
            return
        try:
            self._client.call("rm", earlier["uid"])
        except ProgramError:
            return  # A node has not stopped the job's trainers yet. It is forgotten by the next fresh run.
        store = str(earlier["status"]["resolved_spec"].get("checkpoint", {}).get("store", ""))
        for folder in (self._folder.weights(earlier["uid"]),
                       os.path.join(store.removeprefix("file://"), earlier["uid"])):
            if os.path.abspath(folder).startswith(os.path.join(self._folder.path, "")):
                shutil.rmtree(folder, ignore_errors=True)

    def _follow(self, job: dict[str, Any]) -> dict[str, Any]:
        """Shows the job until it is over, and returns it then."""
        if job["status"]["state"] in OVER:
            return job
        self._progress.show(job)
        watch = self._client.start("watch", job["uid"])
        assert watch.stdout is not None and watch.stderr is not None
        ended = -1 if self._local is None else os.pidfd_open(self._local.pid)
        try:
            with selectors.DefaultSelector() as ready:
                ready.register(watch.stdout, selectors.EVENT_READ)
                if ended >= 0:
                    ready.register(ended, selectors.EVENT_READ)
                job = self._read(ready, watch.stdout.fileno(), job)
            watch.wait()
            if job["status"]["state"] not in OVER:
                raise programs.error_of(watch.stderr.read().decode("utf-8", "replace"))
            return job
        finally:
            _end(watch)
            if ended >= 0:
                os.close(ended)

    def _read(self, ready: selectors.BaseSelector, output: int, job: dict[str, Any]) -> dict[str, Any]:
        """Shows each state that `watch` writes, to the end of its output. Returns the last one."""
        unread = b""
        while True:
            events = ready.select(TICK_SECONDS)
            if not events:
                self._progress.tick()
                continue
            if all(key.fd != output for key, _ in events):
                assert self._local is not None
                raise Failed(f"the cluster on this machine has ended: {self._local.said()}; run again to go on")
            data = os.read(output, 1 << 20)
            if not data:
                return job
            *lines, unread = (unread + data).split(b"\n")
            for line in lines:
                job = json.loads(line)
                self._progress.show(job)

    def _pause(self, name: str) -> str:
        """Stops the job with a checkpoint, and returns what has become of it."""
        if not self._begun:
            return "stopped before the job was begun"
        try:
            self._progress.say("stopping: the job ends its step and saves a checkpoint; Ctrl-C again stops at once")
            status = self._client.call("pause", self._begun, "--wait")["status"]
        except KeyboardInterrupt:
            return f"job {name} was stopped at once; run again to go on from its newest checkpoint"
        except ProgramError as error:
            return f"job {name} could not be paused: {self._why(error)}"
        return f"job {name} has stopped after step {status['step']}; run again to go on"

    def _failure(self, job: Mapping[str, Any]) -> Failed:
        status = job["status"]
        if status["state"] == "CANCELLED":
            return Failed(f"job {job['name']} was cancelled at step {status['step']}")
        # Which trainer was the first to say it means nothing to the user.
        message = job_file.as_arguments(re.sub(r"^trainer \S+: ", "", str(status["reason"])))
        lines = str(status.get("traceback") or "") or self._last_lines(job["uid"])
        return Failed(f"job {job['name']} has failed after step {status['step']}: {message}", lines.rstrip())

    def _last_lines(self, uid: str) -> str:
        try:
            lines = self._client.call("logs", uid, "--tail", str(LOG_LINES)).get("lines", [])
        except ProgramError:
            return ""
        return "\n".join(f"{line.get('trainer', '')}: {line['text']}" for line in lines if line.get("text"))

    def _result(self, job: Mapping[str, Any]) -> Result:
        status = job["status"]
        checkpoint, path = None, None
        missing = "it has kept no checkpoint; leave checkpoint= out, or give it steps above 0"
        if int(status["checkpoint_step"]) >= 0:
            try:
                checkpoint, path = self._export(job)
            except ProgramError as error:
                missing = f"they could not be exported: {error.message}"
            except OSError as error:
                missing = f"they could not be exported: {error.filename}: {error.strerror}"
            if path is None:
                self._progress.say(f"there are no weights of job {job['name']}: {missing}")
        return Result(job["name"], job["uid"], str(status["state_digest"]), curve(status["loss_curve"]),
                      curve(status["validation_curve"]), checkpoint, path, self._folder.path,
                      "" if path else missing)

    def _export(self, job: Mapping[str, Any]) -> tuple[str, str]:
        """Writes the final weights. Returns the place of the checkpoint, and the folder of the weights."""
        path = self._folder.weights(job["uid"])
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        # The program does not write over weights that are there already, which an earlier run has exported.
        shutil.rmtree(f"{path}.new", ignore_errors=True)
        exported = self._client.call("checkpoint", "export", job["uid"], f"{path}.new")
        shutil.rmtree(path, ignore_errors=True)
        os.replace(f"{path}.new", path)
        store = str(job["status"].get("final_store") or job["status"]["resolved_spec"]["checkpoint"]["store"])
        place, mark, query = store.partition("?")
        place = f"{place.removeprefix('file://').rstrip('/')}/{job['uid']}/manifests/{exported['checkpoint']}.json"
        return place + mark + query, path

    def _why(self, error: ProgramError) -> str:
        if self._local is not None and error.code == "UNAVAILABLE":
            return f"{error.message} (the logs of its programs are in {os.path.join(self._folder.path, 'logs')})"
        return error.message


def submit(client: Client, folder: ProjectFolder, place: Place, job: dict[str, Any]) -> dict[str, Any]:
    """Returns the submitted job. Raises Refused where the coordinator refuses it, and ProgramError."""
    record = {"job": job, "sources": _sources(place)}
    path = folder.begin_submit(job, record)
    try:
        submitted = client.call("submit", path)
    except ProgramError as error:
        if error.code in ("INVALID_ARGUMENT", "ALREADY_EXISTS", "FAILED_PRECONDITION"):
            raise Refused(error.message) from None
        raise
    folder.end_submit(job["name"], {**record, "uid": submitted["uid"]})
    return submitted


def _sources(place: Place) -> dict[str, str]:
    """Returns a hash of the task's file and of each module in its folder that this process has imported, by name."""
    root = os.path.join(os.path.realpath(place.folder), "")
    imported = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    files = {os.path.realpath(file) for file in (place.file, *imported) if file}
    return {os.path.relpath(file, root): _hash(file) for file in sorted(files) if inside(file, root)}


def _some(texts: Sequence[str], between: str) -> str:
    """Returns the first texts, for a message."""
    return between.join(texts[:3]) + (f" and {len(texts) - 3} more" if len(texts) > 3 else "")


def _hash(path: str) -> str:
    """Returns a hash of the file, or nothing if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()

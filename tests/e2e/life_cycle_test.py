"""Tests the life of checkpoints after they were written, by the user's command, and what is kept of the job beside
them.

Checkpoints are kept, pinned, archived, exported and imported."""
import base64
import contextlib
import glob
import hashlib
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import unittest

from base import ClusterTest, small_job, wait_until
from programs import program
import servers

MODEL = {"kind": "gpt", "layers": 2, "heads": 2, "width": 64, "context": 64}
FRACTION = 0.05


class LifeCycleTest(ClusterTest):
    def rekindle(self, cluster, *args, code=0):
        """Runs `rekindle checkpoint ARGS`, which must exit with `code`."""
        done = subprocess.run([program("rekindle"), "checkpoint", *map(str, args), "--endpoint", cluster.endpoint],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def names(self, cluster, tier="store"):
        listed = cluster.cli("checkpoint", "ls", "job")["checkpoints"]
        return [c["name"] for c in listed if c["tier"] == tier]

    def finished(self, **checkpoint):
        """Runs a job to success on a new cluster. All of the validation text is evaluated at the end."""
        cluster = self.cluster(nodes=("n1", "n2"))
        spec = small_job("job", self.text, steps=30, workers=2, evaluate_every=10, evaluate_micro_batches=1000)
        spec["spec"]["checkpoint"] = {"every_steps": 5, **checkpoint}
        cluster.submit(spec)
        return cluster, spec, self.await_end(cluster, "job")

    def loss_of(self, folder):
        """Returns the loss, logits and types of an exported set, as PyTorch computes and reads them."""
        readers = servers.python_wheels("readers")
        [site] = glob.glob(f"{readers}/lib/python3*/site-packages")
        script = pathlib.Path(__file__).with_name("exported_loss.py")
        numbers = [str(MODEL[name]) for name in ("layers", "heads", "width", "context")]
        done = subprocess.run([os.environ["REKINDLE_PYTHON"], script, folder, self.text, *numbers, str(FRACTION)],
                              capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHONPATH": site})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_what_is_exported_is_what_was_trained(self):
        cluster, spec, status = self.finished(keep_last=2)
        folder = pathlib.Path(self.folder)
        exported = cluster.cli("checkpoint", "export", "job", str(folder / "f32"))
        self.assertEqual(exported["files"], ["model.safetensors"])
        mine = self.loss_of(folder / "f32")
        self.assertEqual(mine["types"], ["torch.float32"])
        self.assertAlmostEqual(mine["loss"], status["validation_loss"], delta=1e-5)
        self.assert_same_logits(mine["logits"], self.trainer_logits(cluster))
        cut = cluster.cli("checkpoint", "export", "job", str(folder / "bf16"), "--dtype", "bf16",
                          "--max-file-bytes", "50KB")
        self.assertGreater(len(cut["files"]), 3)
        rounded = self.loss_of(folder / "bf16")
        self.assertEqual(rounded["types"], ["torch.bfloat16"])
        self.assertAlmostEqual(rounded["loss"], status["validation_loss"], delta=0.02)
        self.import_of(cluster, spec, status, folder)

    def trainer_logits(self, cluster):
        job = cluster.cli("get", "job")
        store = job["status"]["resolved_spec"]["checkpoint"]["store"].removeprefix("file://")
        numbers = [str(MODEL[name]) for name in ("layers", "heads", "width", "context")]
        done = subprocess.run([program("trainer_logits"), store, job["uid"], self.text, *numbers], capture_output=True,
                              text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [[float(value) for value in line.split()] for line in done.stdout.splitlines()]

    def assert_same_logits(self, ours, trainers):
        """Checks that logits agree, except for a constant and what FP32 rounds.

        The program trainer_logits gets only sums of losses over up to a whole context, which are rounded."""
        self.assertEqual([len(row) for row in trainers], [256] * 3)
        for row, other in zip(ours, trainers, strict=True):
            level = statistics.mean(row) - statistics.mean(other)
            self.assertLess(max(abs(a - b - level) for a, b in zip(row, other)), 1e-4)
            self.assertGreater(max(row) - min(row), 1)

    def import_of(self, cluster, spec, status, folder):
        """Checks jobs that start from an export: equal bits on one and two workers, and a low first loss."""
        digests = []
        for workers in (1, 2):
            spec["name"] = f"tuned{workers}"
            spec["spec"]["workers"]["max"] = workers
            spec["spec"]["training"].update(steps=4, evaluate_every=0)
            spec["spec"]["schedule"] = {"kind": "constant", "warmup_steps": 0}
            path = folder / f"tuned{workers}.yaml"
            path.write_text(json.dumps(spec))
            self.rekindle(cluster, "import", folder / "f32", "--job", path)
            tuned = self.await_end(cluster, spec["name"])
            self.assertLess(tuned["loss_curve"][0]["value"], status["loss_curve"][0]["value"] - 1)
            digests.append(tuned["state_digest"])
        self.assertEqual(*digests)
        spec["name"], spec["spec"]["model"] = "wider", {**MODEL, "width": 66, "layers": 3}
        path.write_text(json.dumps(spec))
        refused = self.rekindle(cluster, "import", folder / "f32", "--job", path, code=1).stderr
        self.assertIn("missing (8):\n  blocks.2.ln1.weight [66]", refused)
        self.assertIn("tok.weight: [256, 64] instead of [256, 66]", refused)
        self.assertNotIn("wider", [job["name"] for job in cluster.cli("jobs")["jobs"]])

    def test_kept_pinned_removed_and_archived(self):
        cold = f"file://{self.folder}/cold"
        cluster, _, _ = self.finished(keep_last=1, keep_every=5, keep_best=1, archive_store=cold)
        names = self.names(cluster)
        newest, older = names[0], names[-1]
        self.assertEqual(newest.split("-")[1], "30")
        self.assertNotEqual(newest, older)
        store = json.loads(self.rekindle(cluster, "ls", "job", "-o", "json").stdout)
        self.assertEqual([t["tier"] for t in store["tiers"]], ["store", "archive"])
        self.assertEqual(store["tiers"][0]["cost_month"], 0)
        self.rekindle(cluster, "verify", "job")
        self.assertIn("30", self.rekindle(cluster, "show", "job").stdout)

        self.rekindle(cluster, "pin", "job", older, "--why", "gold")
        self.assertEqual(cluster.cli("checkpoint", "show", "job", older)["pin"]["why"], "gold")
        self.assertIn("is pinned", self.rekindle(cluster, "rm", "job", older, code=1).stderr)
        self.assertIn("newest whole", self.rekindle(cluster, "rm", "job", newest, code=1).stderr)
        self.rekindle(cluster, "rm", "job", code=2)
        self.rekindle(cluster, "pin", "job", "9-9-nobody", code=1)

        told = cluster.cli("checkpoint", "gc", "job", "--dry-run", "--keep-every", "0", "--keep-best", "0")
        fates = {c["name"]: (c["fate"], c["reason"]) for c in told["checkpoints"]}
        self.assertEqual(fates[older], ("stays", "is pinned"))
        self.assertEqual(self.names(cluster), names)
        cluster.cli("checkpoint", "gc", "job", "--keep-every", "0", "--keep-best", "0")
        self.assertEqual(self.names(cluster), [newest, older])

        cluster.cli("checkpoint", "archive", "job", "--after", "0s")
        # The older checkpoint is pinned, so it is not archived but stays in the store.
        self.assertEqual(self.names(cluster), [older])
        self.assertEqual(self.names(cluster, "archive"), [newest])
        cluster.cli("checkpoint", "archive", "job", newest, "--restore")
        self.assertEqual(self.names(cluster), [newest, older])
        # The coordinator is killed. Without it, the commands need only the store's URI and the job's uid.
        uid = cluster.cli("get", "job")["uid"]
        place = ["--store", cold, "--job-uid", uid]
        cluster.kill_coordinator()
        self.rekindle(cluster, "verify", *place, newest)
        self.rekindle(cluster, "rm", *place, newest, "--force")
        self.rekindle(cluster, "ls", "job", code=3)


def fields(message):
    """Yields (number, value) of each field of a serialized protobuf message that is bytes or a number."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(message):
        number, kind = divmod(varint(), 8)
        size = {0: None, 1: 8, 2: None, 5: 4}[kind]
        if kind == 0:
            yield number, varint()
            continue
        size = varint() if size is None else size
        yield number, message[at:at + size]
        at += size


class JobFileTest(ClusterTest):
    """Tests what the store keeps of a job, from which the job is recovered if the coordinator's folder is lost."""

    def store_of(self, cluster, uid):
        return cluster.dir / "coordinator" / "checkpoints" / uid

    def told(self, store):
        try:
            return json.loads((store / "job.json").read_text())["job"]
        except FileNotFoundError:
            return None

    def secret_of(self, cluster, uid):
        with contextlib.closing(sqlite3.connect(cluster.dir / "coordinator" / "state.db")) as state:
            [[record]] = state.execute("SELECT value FROM entries WHERE key = ?", ("job/" + uid,)).fetchall()
        return dict(fields(record))[2]

    def assert_nowhere(self, store, secret):
        self.assertEqual(len(secret), 32)
        forms = [secret, secret.hex().encode(), secret.hex().upper().encode(), base64.b64encode(secret)[:40],
                 base64.urlsafe_b64encode(secret)[:40]]
        looked_at = 0
        # The files and folders of an old checkpoint are removed while the job trains. os.walk leaves out such folders.
        for path in (pathlib.Path(folder, name) for folder, _, names in os.walk(store.parent) for name in names):
            try:
                content = path.read_bytes()
            except FileNotFoundError:
                continue
            looked_at += bool(content)
            for form in forms:
                self.assertNotIn(form, content, path)
        self.assertGreater(looked_at, 3)

    def test_the_store_knows_the_job_and_that_it_is_over(self):
        cluster = self.cluster(nodes=("n1", "n2"))
        spec = small_job("job", self.text, steps=600, workers=2)
        cluster.submit(spec)
        uid = cluster.cli("get", "job")["uid"]
        store, secret = self.store_of(cluster, uid), self.secret_of(cluster, uid)

        def while_it_trains():
            told = self.told(store)
            return told if told and told["record"]["job"]["status"].get("step", 0) > 30 else None
        told = wait_until(while_it_trains, 120, "the job's file", poll=0.1)
        self.assertTrue(list((store / "manifests").glob("*.json")))
        self.assertNotIn("over", told)
        self.assertEqual(told["job_uid"], uid)
        self.assertEqual(told["secret_sha256"], hashlib.sha256(secret).hexdigest())
        job = told["record"]["job"]
        self.assertEqual(job["status"]["resolved_spec"]["training"]["steps"], 600)
        self.assertEqual(job["spec"]["training"]["global_batch"], 12)
        self.assertGreater(job["status"]["cost"]["node_hours"], 0)
        self.assertEqual(told["record"]["membership"]["generation"], cluster.status("job")["generation"])
        self.assert_nowhere(store, secret)

        status = self.await_end(cluster, "job")
        told = wait_until(lambda: self.told(store) if "over" in self.told(store) else None, 30, "its end", poll=0.1)
        self.assertEqual(told["over_reason"], status["reason"])
        self.assertEqual(told["record"]["job"]["status"]["state"], "SUCCEEDED")
        self.assertEqual(told["record"]["job"]["status"]["state_digest"], status["state_digest"])
        self.assert_nowhere(store, secret)

    def test_one_that_is_cancelled_while_it_trains_is_over_too(self):
        cluster = self.cluster(nodes=("n1", "n2"))
        cluster.submit(small_job("job", self.text, steps=20_000, workers=2))
        store = self.store_of(cluster, cluster.cli("get", "job")["uid"])
        wait_until(lambda: self.told(store), 120, "the job's file", poll=0.1)
        cluster.cli("cancel", "job")
        told = wait_until(lambda: self.told(store) if "over" in self.told(store) else None, 30, "its end", poll=0.1)
        self.assertEqual(told["over_reason"], "cancelled by the user")


if __name__ == "__main__":
    unittest.main()

"""Tests that validate and submit give the same answer, and that --offline makes the checks without a coordinator."""
import copy
import json
import pathlib
import subprocess
import time
import unittest

from base import ClusterTest, small_job, wait_until
from programs import program

# A job file may have at most `MAX_BYTES` bytes and `MAX_DOCUMENTS` documents, as common/spec/yaml.h says.
MAX_BYTES, MAX_DOCUMENTS = 1 << 20, 100


class JobFileTest(ClusterTest):
    def path(self, *jobs, name="job.yaml"):
        path = pathlib.Path(self.folder) / name
        path.write_text("\n---\n".join(json.dumps(job, indent=1) for job in jobs))
        return str(path)

    def rekindle(self, *args, cluster=None, stdin=""):
        """Runs a command at the endpoint of `cluster`. If that is None, nobody answers at the endpoint."""
        endpoint = cluster.endpoint if cluster else "127.0.0.1:1"
        return subprocess.run([program("rekindle"), *args, "--endpoint", endpoint], input=stdin, capture_output=True,
                              text=True, timeout=60)

    def offline(self, *args, **options):
        return self.rekindle("validate", "--offline", *args, **options)

    def names(self, cluster):
        return [job["name"] for job in cluster.cli("jobs")["jobs"]]


def put(section, field, value):
    return lambda job: job["spec"].setdefault(section, {}).update({field: value})


class OneTableTest(JobFileTest):
    """Tests that all commands agree on each check.

    Every check has a job that only it refuses. All commands say the same of that job, or that they do not check it."""

    def cases(self):
        """Returns {check: (change of a job that it refuses, words of the refusal, name of the cluster to ask)}."""
        many = [f"{self.folder}{'/' * 900}text.txt"] * 100
        return {
            "name": (lambda job: job.update(name="Bad Name"), "must be 1 to 63", "plain"),
            "seed, priority and team": (lambda job: job["spec"].update(priority=5000), "spec.priority: 5000", "plain"),
            "workers": (put("workers", "min", -1), "spec.workers.min: -1", "plain"),
            "model": (put("model", "dropout", 1), "spec.model.dropout: 1", "plain"),
            "data": (put("data", "validation_fraction", 0.95), "spec.data.validation_fraction", "plain"),
            "training": (put("training", "clip_norm", -1), "spec.training.clip_norm", "plain"),
            "optimizer": (put("optimizer", "beta1", 2), "spec.optimizer.beta1", "plain"),
            "schedule": (put("schedule", "final_ratio", 2), "spec.schedule.final_ratio", "plain"),
            "checkpoint": (put("checkpoint", "keep_last", -1), "spec.checkpoint.keep_last", "plain"),
            "goals": (put("goals", "objective", "best"), "spec.goals.objective: 'best'", "plain"),
            "off-peak hours": (put("goals", "off_peak", [{"from": "25:99", "until": "06:00"}]), "'25:99' is not a time",
                               "plain"),
            "estimate for a deadline": (put("goals", "deadline_hours", 5), "spec.estimate.step_seconds: is missing",
                                        "plain"),
            "levers": (put("early_stop", "patience", 0), "spec.early_stop.patience", "plain"),
            "recovery": (put("recovery", "lease", "10m"), "spec.recovery.lease: '10m'", "plain"),
            "size": (put("data", "text", many), "name files by globs", "plain"),
            "weights": (put("model", "weights", str(self.text)), "spec.model.weights: ", "plain"),
            "precision policy": (put("training", "precision", "fp32"), "computes all jobs in 'bf16'", "enforcing"),
            "default store": (put("checkpoint", "archive_store", f"file://{self.folder}/plain/coordinator/checkpoints"),
                              "is spec.checkpoint.store", "plain"),
            "code of users": (self.make_own, "this coordinator takes no code of users", "closed"),
            "interpreters of the nodes": (self.make_own, "no node can run it (node n1: it has no Python", "refusing"),
            "data roots": (put("data", "text", [str(self.text)]), "is outside of what jobs may read here", "rooted"),
            "servers of stores": (put("checkpoint", "store", "s3://bucket/a?endpoint_override=evil.example"),
                                  "endpoint_override=evil.example is none of the servers", "plain"),
            "data files": (put("data", "text", ["/nonexistent/file.txt"]), "/nonexistent/file.txt", "plain"),
            "checkpoint folder": (put("checkpoint", "store", f"file://{self.text}"), "is a file: name a folder",
                                  "plain"),
            "name in use": (lambda job: job.update(name="taken"), "job taken exists already", "plain"),
            "precision of the nodes": (put("training", "precision", "fp16"), "the nodes are not fit for fp16",
                                       "refusing"),
            "budget": (put("goals", "budget", 5), "nobody knows what a node costs", "plain"),
            "goals on the fleet": (put("goals", "objective", "cheapest"), "there are no pools to plan on", "plain"),
        }

    def make_own(self, job):
        job["spec"].pop("data")
        job["spec"]["model"] = {"python": "train:task", "folder": self.folder}
        job["spec"]["training"].pop("evaluate_every")

    def clusters(self):
        environments = {"plain": {},
                        "enforcing": {"REKINDLE_PRECISION_POLICY": "enforce", "REKINDLE_DEFAULT_PRECISION": "bf16"},
                        "refusing": {"REKINDLE_PRECISION_POLICY": "refuse"}}
        rooted = self.cluster(nodes=(), name="rooted", coordinator_flags=["--data-root", "/var/lib/rekindle/data"])
        closed = self.cluster(nodes=(), name="closed", coordinator_flags=["--allow-code", "off"])
        return {"rooted": rooted, "closed": closed,
                **{name: self.cluster(nodes=("n1",) if name == "refusing" else (), name=name, env=env)
                   for name, env in environments.items()}}

    def test_all_commands_are_held_against_it(self):
        cases, clusters = self.cases(), self.clusters()
        good = small_job("good", self.text)
        clusters["plain"].submit(small_job("taken", self.text))
        wait_until(lambda: clusters["refusing"].cli("nodes")["nodes"], 30, "the node")
        table = json.loads(self.offline(self.path(good), "-o", "json").stdout)
        unchecked = {row["check"]: row["needs"] for row in table["not_checked"]}
        # The check "room for a job" does not depend on the job file, so coordinator_sync_test tests it instead.
        self.assertEqual({*table["checked"], *unchecked} - {"room for a job"}, set(cases))
        self.assertEqual(unchecked["goals on the fleet"], "nodes and prices")
        for check, (change, words, cluster) in cases.items():
            with self.subTest(check):
                job = copy.deepcopy(good)
                change(job)
                self.assert_refused_alike(self.path(job), clusters[cluster], words, check in table["checked"], check)
        self.assertEqual(self.names(clusters["plain"]), ["taken"])

    def assert_refused_alike(self, path, cluster, words, is_offline, check):
        told = []
        for verb in ("validate", "submit"):
            done = self.rekindle(verb, path, cluster=cluster)
            if check == "precision of the nodes" and done.returncode == 0:
                self.skipTest("this machine computes FP16 as fast as FP32")
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            told.append(done.stderr)
        self.assertEqual(*told)
        self.assertIn(words, told[0])
        self.assertRegex(told[0], rf"^rekindle: {path}:\d+: .*\n$")
        done = self.offline(path)
        if is_offline:
            self.assertEqual((done.returncode, done.stderr), (1, told[0]))
        else:
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, rf"(?m)^not checked without a coordinator: .*{check} \(")


class FilesTest(JobFileTest):
    def test_documents_are_jobs(self):
        cluster = self.cluster(nodes=())
        jobs = [small_job(name, self.text) for name in ("a", "b", "c")]
        done = self.rekindle("submit", self.path(jobs[0], None, jobs[1]), cluster=cluster)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines() if not line.startswith(" ")], ["a", "b"])
        self.assertEqual(self.names(cluster), ["a", "b"])
        jobs[0]["name"] = "new"
        for verb in ("validate", "submit"):
            done = self.rekindle(verb, self.path(jobs[0], jobs[1], jobs[2], jobs[2]), cluster=cluster)
            self.assertEqual(done.returncode, 1)
            self.assertIn("has 2 problems", done.stderr)
            self.assertIn("name: job b exists already", done.stderr)
            self.assertRegex(done.stderr, r"name: the job at line \d+ has the name c too")
        self.assertEqual(self.names(cluster), ["a", "b"], "all are checked before the first is submitted")
        shown = self.rekindle("validate", self.path(jobs[0], jobs[2]), cluster=cluster).stdout
        first, end = json.JSONDecoder().raw_decode(shown)
        self.assertEqual((first["name"], json.loads(shown[end:])["name"]), ("new", "c"))

    def test_all_mistakes_are_told_by_line(self):
        path = pathlib.Path(self.folder) / "job.yaml"
        path.write_text("name: a\nspec:\n  priority: 5000\n  data: {text: /a}\n  training:\n    steps: 5\n"
                        "    reduce: exat\n    clip_norm: -1\n  model: {kind: gtp}\n")
        expected = [f"{path}:3: spec.priority", f"{path}:7: spec.training.reduce", f"{path}:8: spec.training.clip_norm",
                    f"{path}:9: spec.model.kind"]
        cluster = self.cluster(nodes=())
        for done in (self.offline(str(path)), self.rekindle("validate", str(path), cluster=cluster),
                     self.rekindle("submit", str(path), cluster=cluster)):
            head, *lines = done.stderr.splitlines()
            self.assertEqual(head, f"rekindle: {path} has 4 problems:")
            for line, begin in zip(lines, expected, strict=True):
                self.assertTrue(line.startswith(begin), line)
        path.write_text("".join(f"field{i}: 1\n" for i in range(30)))
        lines = self.offline(str(path)).stderr.splitlines()
        self.assertEqual((len(lines), lines[-1]), (22, "and 10 more"))

    def test_standard_input(self):
        cluster = self.cluster(nodes=())
        for source in ("-", "/dev/stdin"):
            job = small_job("piped" if source == "-" else "piped-too", self.text)
            self.assertEqual(self.offline(source, stdin=json.dumps(job)).returncode, 0)
            done = self.rekindle("submit", source, cluster=cluster, stdin=json.dumps(job))
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.names(cluster), ["piped", "piped-too"])
        done = self.offline("-", stdin="name: a\nspec: {seeed: 1}\n")
        self.assertIn("stdin:2: `spec.seeed` is not a field; did you mean `seed`?", done.stderr)
        self.assertIn("stdin has more than the 1048576 bytes allowed",
                      self.offline("-", stdin="#" * (MAX_BYTES + 1)).stderr)
        self.assertIn("stdin is empty", self.offline("-").stderr)

    def test_fields_are_set(self):
        cluster = self.cluster(nodes=())
        path = self.path(small_job("a", self.text), small_job("b", self.text))
        done = self.rekindle("submit", "--set", "training.steps=70", path, "--set", "spec.priority=3", cluster=cluster)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("a", "b"):
            spec = cluster.cli("get", name)["spec"]
            self.assertEqual((spec["training"]["steps"], spec["priority"]), (70, 3))
        for setting, words in (("training.stepz=7", "`spec.training.stepz` is not a field; did you mean `steps`?"),
                               ("training.steps=x", "`spec.training.steps` must be a whole number, not 'x'"),
                               ("training.steps=-7", "spec.training.steps: -7 is out of range"),
                               ("name=c", "name: another job has the name c too")):
            done = self.offline(path, "--set", setting)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), "of both jobs, told once")
            self.assertTrue(done.stderr.startswith(f"rekindle: --set {setting}: {words}"), done.stderr)
        self.assertEqual(self.offline(path, "--set", "steps").returncode, 2)

    def test_what_is_no_job(self):
        path = pathlib.Path(self.folder) / "job.yaml"
        for text, words in ((": : :", "has a `:` without the name of a field before it"),
                            ("just words", "and is a single value"),
                            ("[1, 2]", "and is a list"), ("{", "not valid YAML"), ("", "is empty"),
                            ("---\n" * (MAX_DOCUMENTS + 1), "has more than 100 documents"),
                            ("#" * (MAX_BYTES + 1), "more than the 1048576 allowed")):
            path.write_text(text)
            done = self.offline(str(path))
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)

    def test_offline_is_quick_and_light(self):
        path = self.path(small_job("a", self.text))
        seconds = []
        for _ in range(5):
            begun = time.monotonic()
            self.assertEqual(self.offline(path).returncode, 0)
            seconds.append(time.monotonic() - begun)
        self.assertLess(min(seconds), 0.5, "0.05 s on a machine that is not busy")
        libraries = subprocess.run(["ldd", program("rekindle")], capture_output=True, text=True).stdout
        self.assertIn("libc.so", libraries)
        self.assertNotRegex(libraries, "libtorch|libarrow|libparquet")


if __name__ == "__main__":
    unittest.main()

"""Tests kill -9 of the trainer, of the checkpoint service, or of both, at each single operation of a save.

The operations are those of the service on its store: calls of the file system, requests to a real S3 server. After each
kill the newest checkpoint is whole and bit for bit as it was saved, and it is not older than the last one that was said
to be durable. No checkpoint is skipped, because a torn one never gets a name. The next save succeeds. A run begins at a
random operation, takes every fourth, and draws which process dies. REKINDLE_SEED repeats a run. REKINDLE_KILL_ALL=1
takes every operation and every choice of processes, which lasts many times as long.
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
import servers  # noqa: E402
from fault_proxy import FaultProxy  # noqa: E402
from probe import Died, Probe  # noqa: E402
from programs import program  # noqa: E402
from waiting import wait_until  # noqa: E402

PATIENCE = 120
# The service keeps only `KEEP` checkpoints, so that each save also collects an old one.
KEEP = 2
STRIDE = 1 if os.environ.get("REKINDLE_KILL_ALL") else 4
VICTIMS = (("service",), ("trainer",), ("trainer", "service"))


class Node:
    """Runs a checkpoint service and a trainer without training (checkpoint/testing/client_probe.cc).

    Both are killed and started again."""

    def __init__(self, folder, store, env):
        self.folder, self.store, self.env = pathlib.Path(folder), store, env
        self.service = self.trainer = None
        self.generation, self.durable = 0, 0

    def __enter__(self):
        self.revive()
        return self

    def __exit__(self, *_):
        self.kill("trainer", "service")
        self.trainer.__exit__()

    def revive(self):
        """Starts the checkpoint service and the trainer, each if it does not run."""
        self.revive_service()
        if self.trainer is None or self.trainer.process.poll() is not None:
            if self.trainer:
                self.trainer.__exit__()
            self.trainer = Probe("checkpoint_client_probe", self.folder / "node/checkpoint.sock", self.store, "n/0")

    def revive_service(self):
        if self.service is None or self.service.poll() is not None:
            shared = self.folder / "shm"
            shared.mkdir(exist_ok=True)
            self.service = subprocess.Popen(
                [program("checkpoint_faulty_service"), "--dir", str(self.folder / "node"), "--shm-dir", str(shared),
                 "--memory-limit", "64MiB"], env={**os.environ, "REKINDLE_LOG_LEVEL": "error", **self.env})

    def kill(self, *names):
        for process in [self.trainer.process if name == "trainer" else self.service for name in names]:
            process.kill()
            process.wait()

    def save(self, step, victims=(), on_death=lambda: None):
        """Returns the answer to a save, or None where the trainer died.

        A service that dies is started again at once, as a supervisor does."""
        self.generation += 1
        service = self.service
        self.trainer.send("save", generation=self.generation, step=step, keep=KEEP)

        self.await_answer(on_death)
        try:
            answer = self.trainer.receive()
        except Died:
            answer = None
            if "service" in victims:
                service.wait(PATIENCE)
        self.revive()
        if answer and answer["code"] == "OK":
            self.durable = step
        return answer

    def await_answer(self, on_death=lambda: None):
        def settled():
            if self.service.poll() is not None and self.trainer.process.poll() is None:
                on_death()
                # Only the service is started here, because the process of a trainer that was killed as well may not
                # have ended yet.
                self.revive_service()
            return self.trainer.answered()
        wait_until(settled, PATIENCE, "an answer of the trainer")

    def load(self):
        """Returns the answer to a load.

        A save is answered before the service has removed the checkpoints that it does not keep. So the kill may come as
        late as during this load, which is then tried once more."""
        for _ in range(2):
            self.revive()
            try:
                self.trainer.send("load", generation=self.generation + 1)
                self.await_answer()
                return self.trainer.receive()
            except Died:
                pass
        raise Died("the trainer died twice")


class Schedule:
    """Runs trials. In each, a trainer, a checkpoint service, or both are killed at one operation of a save."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="rekindle-kill-"))

    def assert_whole(self, node, *steps):
        newest = node.load()
        self.assertEqual(newest["code"], "OK", newest)
        self.assertTrue(newest["found"] and newest["equal"], newest)
        self.assertEqual(newest["skipped"], [])
        self.assertIn(newest["step"], steps)
        return newest["step"]

    def trial(self, node, step, victims):
        """Makes a save during which the victims are killed, and checks what is left in the store."""
        node.save(step, victims, self.disarm)
        self.disarm()
        self.assert_whole(node, *{node.durable, step})
        following = node.save(step + 1)
        self.assertEqual(following["code"], "OK", following)
        self.assert_whole(node, step + 1)

    def every_operation(self, node):
        """Runs trials until a save has no further operation."""
        seed = int(os.environ.get("REKINDLE_SEED", random.randrange(2**31)))
        draw = random.Random(seed)
        operation = draw.randrange(STRIDE)
        self.assertEqual(node.save(10)["code"], "OK")
        while True:
            everybody = [(victims, when) for victims in VICTIMS for when in self.WHEN]
            trials = everybody if os.environ.get("REKINDLE_KILL_ALL") else [draw.choice(everybody)]
            for victims, when in trials:
                hit = self.arm(node, operation, victims, when)
                with self.subTest(seed=seed, operation=operation, victims=victims, when=when):
                    self.trial(node, node.durable + 1, victims)
                if not hit():
                    print(f"REKINDLE_SEED={seed}: {operation} operations, each {STRIDE}. tried", flush=True)
                    return self.assertGreater(operation, 10)
            operation += STRIDE


class KillOnFilesTest(Schedule, unittest.TestCase):
    WHEN = ("before",)

    def arm(self, node, operation, victims, _):
        pids = {"trainer": node.trainer.pid, "service": 0}
        self.plan.write_text(f"kill {operation} {' '.join(str(pids[v]) for v in victims)}\n")
        armed = {"trainer": node.trainer.process, "service": node.service}
        return lambda: all(armed[v].poll() is not None for v in victims)

    def disarm(self):
        self.plan.write_text("")

    def test_killed_at_every_operation(self):
        self.plan = pathlib.Path(self.folder) / "plan"
        self.disarm()
        node = self.enterContext(Node(self.folder, f"file://{self.folder}/store",
                                      {"REKINDLE_TEST_FILE_FAULTS": str(self.plan)}))
        self.every_operation(node)


class KillOnS3Test(Schedule, unittest.TestCase):
    SERVER = servers.S3
    WHEN = ("before", "after")

    def arm(self, node, operation, victims, when):
        killed = []

        def act():
            killed.append(True)
            node.kill(*victims)
            return "service" not in victims
        # If `act` has killed the service, `act` returns False, so that the proxy neither sends the request on nor
        # answers it.
        self.proxy.spoil("call", skip=operation, **{when: act})
        return lambda: bool(killed)

    def disarm(self):
        """Makes further requests kill nothing, and waits until no kill is under way any more."""
        self.proxy.heal()
        self.proxy.await_calls()

    def test_killed_at_every_request(self):
        try:
            server = self.enterContext(self.SERVER(f"{self.folder}/server"))
        except servers.Missing as why:
            self.skipTest(str(why))
        self.proxy = self.enterContext(FaultProxy(server.port))
        node = self.enterContext(Node(self.folder, server.uri("kill", self.proxy.port), {
            **server.env, "REKINDLE_TEST_FILE_FAULTS": "/dev/null"}))
        self.every_operation(node)


if __name__ == "__main__":
    unittest.main(verbosity=2)

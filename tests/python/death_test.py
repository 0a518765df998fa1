"""Tests that no process outlives its trainer, and that a trainer that talks nonsense is told so."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import unittest

from base import ChildTest

from rekindle import messages, state, wire
from trainer import TASKS, Failure, await_end, memory, processes_below

# A process may outlive the trainer by so many seconds.
GRACE = 2
STAND_IN = pathlib.Path(__file__).with_name("stand_in.py")


class DeathTest(ChildTest):
    def busy(self, task, wanted, **options):
        """Returns a trainer whose model process is in the state `wanted` for long, and all of its processes."""
        trainer = self.ready(task, **options)
        trainer.ask([1, 2])
        trainer.await_state(wanted)
        return trainer, [trainer.pid, *processes_below(trainer.pid)]

    def closes(self, trainer, pids):
        trainer.channel.close()
        begin = time.monotonic()
        left = await_end([pid for pid in pids if pid != trainer.pid], GRACE)
        self.assertEqual(left + await_end([trainer.pid], GRACE), [])
        self.assertLess(time.monotonic() - begin, GRACE)
        self.assertEqual(trainer.exit_code(), 0)

    def test_a_closed_socket_ends_an_idle_process(self):
        trainer = self.ready("models:perceptron", data_workers=2)
        self.assertEqual(trainer.ping().state, state.IDLE)
        pids = [trainer.pid, *processes_below(trainer.pid)]
        self.assertEqual(len(pids), 3)
        self.closes(trainer, pids)

    def test_a_closed_socket_ends_a_process_in_a_long_operator(self):
        self.closes(*self.busy("failing:slow", state.FORWARD))

    def test_a_closed_socket_ends_processes_that_wait_for_data(self):
        trainer, pids = self.busy("failing:endless_data", state.WAITS_FOR_DATA, data_workers=None)
        self.assertEqual(len(pids), 4, "the task says how many data processes there are")
        self.closes(trainer, pids)

    def test_a_killed_trainer_leaves_no_process(self):
        for task, wanted in (("failing:slow", state.FORWARD), ("failing:endless_data", state.WAITS_FOR_DATA)):
            stand_in = subprocess.Popen([sys.executable, str(STAND_IN), task, self.folder.name, str(wanted)],
                                        stdout=subprocess.PIPE, text=True)
            self.addCleanup(stand_in.stdout.close)
            pids = json.loads(stand_in.stdout.readline())
            self.assertGreaterEqual(len(pids), 2)
            stand_in.kill()
            stand_in.wait()
            self.assertEqual(await_end(pids, GRACE), [])

    def test_data_processes_die_with_a_killed_model_process(self):
        trainer, pids = self.busy("failing:endless_data", state.WAITS_FOR_DATA, data_workers=2)
        os.kill(trainer.pid, signal.SIGKILL)
        self.assertEqual(await_end(pids[1:], GRACE), [])
        self.assertEqual(trainer.exit_code(), -signal.SIGKILL)

    def test_stop_ends_all_after_what_was_asked_before(self):
        trainer = self.ready("models:perceptron", data_workers=2, start="program")
        pids = processes_below(trainer.pid)
        trainer.ask([1, 2])
        trainer.channel.send(messages.Stop())
        while not isinstance(trainer.receive(), messages.Done):
            pass
        self.assertEqual(trainer.exit_code(), 0)
        self.assertEqual(await_end(pids, GRACE), [])

    def test_a_ping_is_answered_within_a_long_operator(self):
        trainer, _ = self.busy("failing:slow", state.FORWARD)
        one, other = trainer.ping(1), trainer.ping(2)
        self.assertEqual((one.state, other.state), (state.FORWARD, state.FORWARD))
        self.assertGreaterEqual(other.cpu_seconds, one.cpu_seconds)
        self.assertGreater(one.cpu_seconds, 0)

    def test_a_ping_is_answered_while_the_task_loads(self):
        path = pathlib.Path(self.folder.name, "loads.py")
        os.mkfifo(path.with_name("gate"))
        path.write_text(f"import sys\nsys.path.append({str(TASKS)!r})\nopen('gate').read()\n"
                        "from models import perceptron\n")
        os.symlink(TASKS / "models.py", path.with_name("models.py"))
        trainer = self.trainer("loads:perceptron", folder=self.folder.name)
        trainer.channel.send(messages.Configure(trainer.settings))
        # The gate opens when the process reads from it, hence in the middle of the import.
        with open(path.with_name("gate"), "w", encoding="ascii"):
            self.assertEqual(trainer.ping().state, state.LOADING)
            self.assertEqual(trainer.notes, ["imports loads"])
        self.assertEqual(trainer.receive().fields["samples"], 64)


class GarbageTest(ChildTest):
    def ends(self, trainer, words):
        with self.assertRaises(Failure) as caught:
            while True:
                trainer.receive()
        self.assertIn(words, caught.exception.fields["message"])
        self.assertEqual(trainer.exit_code(), 4)
        self.assertIn(words, trainer.output())

    def raw(self, trainer, packet):
        with socket.socket(fileno=os.dup(trainer.channel.fileno())) as sender:
            sender.send(packet)

    def test_a_message_that_is_none(self):
        trainer = self.ready("models:perceptron", start="program")
        self.raw(trainer, b"GET / HTTP/1.1\r\n\r\n")
        self.ends(trainer, "a message begins with 0x20544547")

    def test_a_message_that_is_too_short_in_a_long_operator(self):
        trainer = self.ready("failing:slow")
        trainer.ask([1, 2])
        trainer.await_state(state.FORWARD)
        self.raw(trainer, wire.HEADER.pack(wire.MAGIC, 6, 0, 3) + b"abc")
        self.ends(trainer, "the body of Compute cannot be read")

    def test_messages_that_do_not_fit_the_conversation(self):
        for send, words in (
                (lambda trainer: trainer.channel.send(messages.Configure({})), "Configure came twice"),
                (lambda trainer: trainer.ask([64]), "names the samples (64,) of 64"),
                (lambda trainer: trainer.ask([1], checked=(0, 64)), "names the samples (1, 64) of 64"),
                (lambda trainer: trainer.ask([1], checked=(-2, 5)), "names the samples (1, 5) of 64"),
                (lambda trainer: trainer.channel.send(messages.Hash(1, (64,))), "names the samples (64,) of 64"),
                (lambda trainer: trainer.channel.send(messages.Hash(1, ())), "names the samples () of 64"),
                (lambda trainer: trainer.expect([(0, [-1])]), "names the samples (-1,) of 64"),
                (lambda trainer: trainer.evaluate([12]), "names the samples (12,) of 12"),
                (lambda trainer: trainer.channel.send(messages.Compute(1, 0, 0, 2, 1.0, 0, -1, -1, (1,))),
                 "names slot 2"),
                (lambda trainer: trainer.channel.send(messages.Initialize(0)), "Initialize came after Bind")):
            trainer = self.ready("models:perceptron")
            try:
                send(trainer)
            except Failure as failure:
                self.assertIn(words, failure.fields["message"])
                self.assertEqual(trainer.exit_code(), 4)
            else:
                self.ends(trainer, words)

    def test_messages_before_their_time(self):
        compute = messages.Compute(1, 0, 0, 0, 1.0, 0, -1, -1, (1,))
        for message, words in ((compute, "before Configure"), (messages.Expect(0, ()), "before Ready")):
            trainer = self.trainer("models:perceptron")
            trainer.channel.send(message)
            self.ends(trainer, words)
        trainer = self.trainer("models:perceptron")
        trainer.configure()
        trainer.channel.send(compute)
        self.ends(trainer, "names slot 0")

    def test_memory_that_is_too_small(self):
        for words, message in (("weights", messages.Bind(64, 64)), ("weights", messages.Bind(64, 4096)),
                               ("weights", messages.Bind(4, 2048)), ("slots", messages.Slots(2, 4096)),
                               ("slots", messages.Slots(1, 64)), ("slots", messages.Slots(0, 4096))):
            trainer = self.trainer("models:perceptron")
            trainer.configure()
            descriptor = memory(4096)
            trainer.channel.send(message, [descriptor])
            os.close(descriptor)
            self.ends(trainer, words)


if __name__ == "__main__":
    unittest.main()

"""Tests the warm process: that it forks model processes which work, and that none of them outlives its trainer."""
import json
import os
import pathlib
import random
import resource
import signal
import socket
import subprocess
import sys
import time
import unittest

from warmed import GRACE, WarmTest

import warming
from rekindle import messages, processes
from trainer import TASKS, await_end, processes_below

class ForkTest(WarmTest):
    def test_a_fork_computes_what_a_process_of_its_own_does(self):
        self.warm()
        cold = self.ready("models:perceptron")
        trainer, _ = self.warmed("warming:counts")
        self.assertEqual(trainer.begin().told["digest"], cold.told["digest"])
        one, other = trainer.compute([1, 2, 3]), cold.compute([1, 2, 3])
        self.assertEqual(one.loss, other.loss)
        self.assert_equal_gradients(one.gradients, other.gradients)

    def test_what_is_drawn_in_an_import_is_what_a_process_of_its_own_draws(self):
        # The warm processes have the generators of this process, and nothing that it maps.
        random.seed(1)
        lines = []
        for seed in (7, 8):
            self.warm("drawing_import:task", seed=seed)
            lines.append(self.line())
        losses = [self.warmed("drawing_import:task", line)[0].begin().compute([1, 2]).loss for line in lines]
        self.assertEqual(self.ready("drawing_import:task").compute([1, 2]).loss, losses[0])
        self.assertNotEqual(losses[1], losses[0])

    def test_two_trainers_have_processes_that_do_not_see_each_other(self):
        self.warm()
        one, printed_one = self.warmed("warming:counts")
        other, printed_other = self.warmed("warming:counts")
        self.assertNotEqual(one.pid, other.pid)
        one.begin()
        other.begin()
        self.assertEqual(one.compute([1, 2]).loss, other.compute([1, 2]).loss)
        # The module is as the imports left it: what the first process changed in it is not there in the second.
        self.assertEqual([printed_one.readline(), printed_other.readline()], ["call 1\n"] * 2)
        one.line.close()
        self.assert_end([one.pid])
        self.assertEqual(other.compute([3]).done.count, 1)
        again, printed = self.warmed("warming:counts", other.line)
        again.begin()
        self.assertEqual(printed.readline(), "call 1\n")
        self.assertEqual(warming.calls, 0)

    def test_a_fork_begins_like_a_program(self):
        self.warm()
        trainer, printed = self.warmed("warming:signals", data_workers=1)
        trainer.begin()
        told = json.loads(printed.readline())
        self.assertEqual(told[:4], [True, [], True, "/dev/null"])
        # The descriptors are the standard ones, the socket, the file for faults and the one of the listing.
        self.assertEqual(len(told[4]), 6, told)
        self.assertEqual(os.stat(trainer.faults).st_size, 0)

    @unittest.skipUnless(os.path.exists("/proc/self/autogroup"), "this kernel has no autogroups")
    def test_a_fork_has_a_smaller_share_until_it_is_waited_for(self):
        def nice(trainer):
            return int(pathlib.Path(f"/proc/{trainer.pid}/autogroup").read_text(encoding="ascii").split()[-1])

        self.warm()
        starting, _ = self.warmed("warming:counts", nice=3)
        replacing, _ = self.warmed("warming:counts")
        starting.begin()
        replacing.begin()
        # A rehearsal is no step.
        starting.compute([1, 2])
        self.assertEqual([nice(starting), nice(replacing)], [3, 0])
        starting.expect([(0, [1, 2])])
        starting.ping()
        self.assertEqual(nice(starting), 0)

    def test_ends_are_told(self):
        self.warm()
        line = self.line()
        for task, code in (("warming:aborts", -signal.SIGABRT), ("warming:leaves", 7), ("warming:missing", 3)):
            trainer, _ = self.warmed(task, line)
            trainer.channel.send(messages.Configure(trainer.settings))
            self.assertEqual(trainer.exit_code(), code)
        self.assertIn("Fatal Python error: Aborted", pathlib.Path(trainer.faults).read_text(encoding="utf-8"))
        trainer, _ = self.warmed("warming:counts", line)
        trainer.begin().channel.send(messages.Stop())
        self.assertEqual(trainer.exit_code(), 0)

    def test_descriptors_and_processes_do_not_pile_up(self):
        pid = self.warm()
        line = self.line()

        def count():
            return len(os.listdir(f"/proc/{pid}/fd")), len(processes_below(pid, ended=True))

        before = count()
        for turn in range(50):
            trainer, _ = self.warmed("warming:counts", line)
            if turn % 2:
                trainer.line.send({"verb": "kill", "pid": trainer.pid})
            else:
                trainer.channel.close()
            self.assertEqual(trainer.exit_code(), -signal.SIGKILL if turn % 2 else 0)
        for packet in (b"GET / HTTP/1.1", b'{"verb": "fork"}'):
            other = self.line()
            other.send(packet, [0, 1, 2] if packet[0] == 71 else [0, 1, 2, 0])
            self.assertIn("closed", other.receive())
            self.assertIsNone(other.receive())
        self.assertEqual(count(), before)


class DeathTest(WarmTest):
    def test_a_killed_trainer_leaves_no_process_that_holds_the_interpreter(self):
        self.warm()
        told, writing = self.pipe()

        def train():
            os.write(writing, json.dumps(self.holding()[1]).encode() + b"\n")
            signal.pause()

        stand_in = processes.fork(train)
        pids = json.loads(told.readline())
        os.kill(stand_in, signal.SIGKILL)
        begin = time.monotonic()
        os.waitpid(stand_in, 0)
        self.assert_end(pids)
        self.assertLess(time.monotonic() - begin, GRACE)
        os.close(writing)

    def test_a_trainer_that_ended_loses_its_process_though_others_hold_its_connection(self):
        self.warm()
        line = self.line()
        stand_in = processes.fork(signal.pause)
        model, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        trainer = os.pidfd_open(stand_in)
        pid = line.fork(model.fileno(), 2, trainer=trainer)["pid"]
        os.kill(stand_in, signal.SIGKILL)
        self.assertEqual(line.receive(), {"ended": pid, "code": -signal.SIGKILL})
        self.assertEqual(line.fork(model.fileno(), 2, trainer=trainer), {"refused": "the trainer has ended"})
        os.waitpid(stand_in, 0)
        os.close(trainer)
        model.close()
        other.close()

    def test_a_closed_connection_and_kill_end_a_process_that_holds_the_interpreter(self):
        self.warm()
        for end in (lambda line, pid: line.close(), lambda line, pid: line.send({"verb": "kill", "pid": pid})):
            trainer, pids = self.holding()
            end(trainer.line, trainer.pid)
            self.assert_end(pids)

    def test_kill_does_not_reach_the_processes_of_others(self):
        self.warm()
        trainer, _ = self.warmed("warming:counts")
        trainer.begin()
        line = self.line()
        for pid in (trainer.pid, os.getpid(), 1, 0, -1, 10**30):
            line.send({"verb": "kill", "pid": pid})
        self.assertIn("refused", line.fork(0, 2), "the requests before were served")
        self.assertEqual(trainer.compute([1]).done.count, 1)

    def test_what_a_process_left_behind_ends_with_it(self):
        self.warm()
        trainer, printed = self.warmed("warming:escapes")
        trainer.begin()
        escaped = int(printed.readline().split()[1])
        self.assertEqual(await_end([escaped], 0), [escaped])
        trainer.line.send({"verb": "kill", "pid": trainer.pid})
        self.assert_end([trainer.pid, escaped])
        self.assertEqual(trainer.exit_code(), -signal.SIGKILL)

    def test_the_end_of_the_parent_ends_all(self):
        parent = processes.fork(signal.pause)
        pidfd = os.pidfd_open(parent)
        pid = self.warm(parent=pidfd)
        _, pids = self.holding()
        os.kill(parent, signal.SIGKILL)
        self.assert_end([pid, *pids])
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        os.waitpid(parent, 0)
        os.close(pidfd)

    def test_the_end_of_the_agent_leaves_trainers_their_processes(self):
        agent = processes.fork(signal.pause)
        pidfd = os.pidfd_open(agent)
        pid = self.warm(agent=pidfd)
        trainer, _ = self.warmed("warming:counts")
        trainer.begin()
        os.kill(agent, signal.SIGKILL)
        os.waitpid(agent, 0)
        self.assertEqual(trainer.compute([1]).done.count, 1)
        # Whoever connects in time keeps the warm process, as the agent's successor does.
        successor = self.line()
        trainer.line.close()
        self.assert_end([trainer.pid])
        self.assertEqual(self.warmed("warming:counts", successor)[0].begin().compute([1]).done.count, 1)
        successor.close()
        self.assert_end([pid])
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        os.close(pidfd)

    def test_an_agent_that_ends_during_the_imports_ends_the_warm_process(self):
        os.mkfifo(os.path.join(self.folder.name, "gate"))
        pathlib.Path(self.folder.name, "hangs.py").write_text("open('gate').read()\n", encoding="ascii")
        told, writing = self.pipe()

        def start():
            os.write(writing, f"{self.warm('hangs:task', self.folder.name)}\n".encode())
            signal.pause()

        agent = processes.fork(start)
        pid = int(told.readline())
        # The import has begun when it reads from the gate.
        with open(os.path.join(self.folder.name, "gate"), "w", encoding="ascii"):
            os.kill(agent, signal.SIGKILL)
            self.assert_end([pid])
        os.waitpid(agent, 0)
        os.close(writing)

    def test_a_killed_warm_process_leaves_no_process(self):
        pid = self.warm()
        _, pids = self.holding()
        os.kill(pid, signal.SIGKILL)
        self.assert_end([pid, *pids])

    def test_sigterm_ends_the_program_and_its_processes(self):
        with self.listener() as listener:
            program = subprocess.Popen(
                [sys.executable, "-m", "rekindle.warm", "--listen", "0", "--folder", str(TASKS), "--task",
                 "warming:counts", "--seed", "7", "--agent-pidfd", str(pidfd := os.pidfd_open(os.getpid()))],
                stdin=listener, pass_fds=[pidfd], env=processes.environment())
        os.close(pidfd)
        self.addCleanup(self.reap, program.pid)
        line = self.line()
        self.assertEqual((line.hello["ready"], line.hello["pid"]), (True, program.pid))
        _, pids = self.holding(line)
        program.terminate()
        self.assert_end([program.pid, *pids])
        self.assertEqual(program.wait(), 0)
        self.assertIsNone(line.receive())


class GarbageTest(WarmTest):
    def test_garbage_closes_its_connection_alone(self):
        self.warm()
        trainer, _ = self.warmed("warming:counts")
        trainer.begin()
        for packet, descriptors, words in (
                (b"\x00", [], "no JSON"), (b"[" * 4000, [], "no JSON"), (b"[]", [], "no JSON object"),
                (b"{}", [], "neither fork nor kill"), (b" " * 4097, [], "more than 4096 bytes"),
                (b"{}", [0] * 200, "more than 4096 bytes or 3 descriptors"),
                (b'{"verb": "kill", "pid": "1"}', [], "neither"), (b'{"verb": "kill", "pid": 1}', [0], "neither"),
                (b'{"verb": "fork", "faults": "here"}', [0, 1, 2], "faults is 'here'"),
                (b'{"verb": "fork", "faults": "/\\u0000"}', [0, 1, 2], "faults is"),
                (b'{"verb": "fork", "faults": null}', [0, 1], "2 descriptors")):
            line = self.line()
            line.send(packet, descriptors)
            self.assertIn(words, line.receive()["closed"])
            self.assertIsNone(line.receive())
        self.assertEqual(trainer.compute([1]).done.count, 1)

    def test_descriptors_that_are_none_of_those_needed_are_refused(self):
        self.warm()
        line = self.line()
        model, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        stream, peer = socket.socketpair()
        nothing = os.open(os.devnull, os.O_RDONLY)
        for end, log, trainer, words in ((stream.fileno(), 2, None, "first"), (nothing, 2, None, "first"),
                                         (model.fileno(), nothing, None, "second"),
                                         (model.fileno(), 2, nothing, "third")):
            self.assertIn(words, line.fork(end, log, trainer=trainer)["refused"])
        for one in (model, other, stream, peer):
            one.close()
        os.close(nothing)

    def test_a_trainer_that_reads_nothing_is_left(self):
        self.warm()
        trainer, _ = self.warmed("warming:counts")
        trainer.begin()
        with self.assertRaises((BrokenPipeError, ConnectionResetError)):
            while True:
                trainer.line.send({"verb": "fork", "faults": None}, [0, 2, 0])
        self.assert_end([trainer.pid])

    def test_more_connections_than_allowed_are_closed(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.assertGreater(soft, 200, "the test needs that many descriptors")
        self.warm()
        lines = [self.line() for _ in range(64)]
        self.assertIsNone(self.line().hello)
        lines[0].close()
        self.assertIn("refused", lines[1].fork(0, 2), "the closed connection was noticed before this answer")
        self.assertTrue(self.line().hello["ready"])


if __name__ == "__main__":
    unittest.main()

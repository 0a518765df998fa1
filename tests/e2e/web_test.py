"""Tests the web page in a headless Chromium, through a run with kills, as its viewers see and use it."""
import pathlib
import sys
import time
import unittest

from base import ClusterTest, small_job, wait_until
import browser

SKIPPED = 77
ROWS = "document.querySelectorAll('tbody tr').length"


class PageTest(ClusterTest):
    def started(self, nodes=("n1", "n2", "n3"), steps=20_000, **options):
        cluster = self.cluster(nodes=nodes, coordinator_flags=["--web", "127.0.0.1:0"], **options)
        cluster.submit(small_job("job", self.text, steps=steps))
        self.chromium = self.enterContext(browser.Browser(self.folder))
        return cluster

    @staticmethod
    def address(cluster):
        """Returns the address that the coordinator tells users to open, with the token."""
        return (cluster.coordinator_data() / "web").read_text().strip()

    def page(self, cluster, view="", **size):
        """Opens the page at the address that users are told, and then a view, as a link does."""
        page = self.chromium.open(self.address(cluster), **size)
        page.wait(f"{ROWS} > 0", 30, "the list of jobs")
        if view:
            page.run(f"location.hash = '{view}'")
        return page

    def job_page(self, cluster, **size):
        page = self.page(cluster, "#/job?name=job", **size)
        page.wait("document.querySelector('h1').innerText === 'job'", 30, "the job")
        return page

    def assert_clean(self, page, cluster):
        """Checks that neither page nor browser has complained, and that the page asked only its own server."""
        self.assertEqual([c for c in page.complaints() if "net::ERR_CONNECTION" not in c], [])
        origin = self.address(cluster).split("#")[0]
        self.assertEqual([url for url in page.requests() if not url.startswith(origin) and url != "about:blank"], [])


class KillTest(PageTest):
    def test_a_fault_is_on_the_page_within_two_seconds(self):
        cluster = self.started()
        wait_until(lambda: cluster.status("job")["step"] > 10, 60, "the job to step", poll=0.1)
        page = self.job_page(cluster)
        page.wait("document.querySelectorAll('figure canvas').length === 2", 30, "both curves")
        # The page itself records when it first shows the fault, so that the test's own queries cause no delay.
        page.run("""(() => {
          window.shown = 0;
          new MutationObserver(() => {
            const kinds = [...document.querySelectorAll('.timeline strong')].map((e) => e.innerText);
            if (!shown && kinds.includes('trainer_killed')) shown = Date.now() / 1000;
          }).observe(document.querySelector('.timeline'), {childList: true, subtree: true, characterData: true});
        })()""")
        killed = time.time()
        cluster.nodes["n2"].kill_trainers()
        shown = page.wait("window.shown", 60, "the fault on the page")
        fault = next(f for f in cluster.status("job")["faults"] if f["kind"] == "trainer_killed")
        print(f"the fault was decided {fault['at'] - killed:.2f} s after the kill, "
              f"and shown {shown - fault['at']:.2f} s later")
        self.assertLess(shown - fault["at"], 2)
        item = page.run("[...document.querySelectorAll('.timeline li.fault')]"
                        ".find((e) => e.innerText.includes('trainer_killed')).innerText")
        self.assertIn("killed by signal 9", item)
        self.assertIn("micro-batches again", item)
        # The job's page also has workers with ranges, curves with values, and the cost in words.
        page.wait("document.querySelectorAll('section[aria-label=Workers] tbody tr').length === 3", 60, "three workers")
        self.assertRegex(page.text("section[aria-label=Workers]"), r"n[123]/0")
        self.assertIn("spec.goals.budget", page.text("section[aria-label='Cost and savings']"))
        page.run("document.querySelector('figure details').open = true")
        page.wait("document.querySelectorAll('figure details[open] tbody tr').length > 0", 10, "values of the curve")
        page.wait("!document.querySelector('section[aria-label=Checkpoints]').innerText.includes('none\\n')", 60,
                  "a checkpoint")
        self.assert_clean(page, cluster)

    def test_a_coordinator_that_is_away_is_said_and_comes_back(self):
        cluster = self.started(nodes=("n1",))
        page = self.job_page(cluster)
        address = self.address(cluster)
        cluster.kill_coordinator()
        page.wait("!document.getElementById('away').hidden", 30, "the page to say so")
        self.assertIn("does not answer", page.text("#away"))
        cluster.coordinator_flags = ["--web", address.split("/")[2]]
        cluster.start_coordinator()
        page.wait("document.getElementById('away').hidden", 30, "the page to go on")
        # After a restart the coordinator has the same token, so nobody has to open the page anew.
        self.assertEqual(self.address(cluster), address)
        self.assert_clean(page, cluster)


class UseTest(PageTest):
    """Tests what a viewer does, on a cluster without workers, because nothing has to train for it."""

    def setUp(self):
        super().setUp()
        self.running = self.started(nodes=())
        for name in ("alpha", "beta", "gamma"):
            self.running.submit(small_job(name, self.text))

    def test_by_keyboard_alone(self):
        page = self.page(self.running)
        page.wait(f"{ROWS} === 4", 30, "four jobs")
        focused = "document.activeElement"
        page.press("Tab")
        self.assertEqual(page.run(f"{focused}.id"), "skip")
        page.press("Enter")
        self.assertEqual(page.run(f"{focused}.id"), "main")
        page.press("/")
        self.assertEqual(page.run(f"{focused}.id"), "search")
        page.type("bet")
        page.wait(f"{ROWS} === 1 && document.querySelector('tbody a').innerText === 'beta'", 30,
                  "the list to be filtered")
        for _ in range(3):
            page.press("Backspace")
        page.wait(f"{ROWS} === 4", 30, "the whole list")
        # The Tab key moves on to the head of the first column, and Enter sorts by it.
        for _ in range(10):
            page.press("Tab")
            if page.run(f"{focused}.innerText") == "Job":
                break
        page.press("Enter")
        page.wait("document.querySelector('th').getAttribute('aria-sort') === 'ascending'", 30, "the order by name")
        page.wait("document.querySelector('tbody a').innerText === 'alpha'", 30, "alpha to come first")
        page.press("Enter")
        page.wait("document.querySelector('tbody a').innerText === 'job'", 30, "the order to be turned")
        for _ in range(20):
            page.press("Tab")
            if page.run(f"{focused}.closest('tbody') !== null"):
                break
        self.assertTrue(page.run(f"{focused}.matches(':focus-visible')"))
        page.press("Enter")
        page.wait("document.querySelector('h1').innerText === 'job'", 30, "the job's page")
        # The focus moves to the heading, so that a screen reader says which page this is.
        self.assertEqual(page.run(f"{focused}.tagName"), "H1")
        self.assert_clean(page, self.running)

    def test_a_narrow_screen_never_scrolls_sideways(self):
        page = self.page(self.running, width=320, height=640)
        for view in ("#/jobs", "#/job?name=alpha", "#/nodes", "#/events", "#/cost", "#/jobs?q=none"):
            page.run(f"location.hash = '{view}'")
            page.wait("document.querySelector('h1') !== null && !document.title.startsWith('undefined')", 30, view)
            page.wait("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))", 30,
                      view)
            wide = page.run("[...document.querySelectorAll('body *')]"
                            ".filter((e) => e.getBoundingClientRect().right > 320.5 && !e.closest('.skip'))"
                            ".map((e) => e.tagName + '.' + e.className).slice(0, 5)")
            self.assertEqual((view, page.run("document.documentElement.scrollWidth"), wide), (view, 320, []))
        self.assert_clean(page, self.running)

    def test_dark_and_light_by_the_system_and_by_choice(self):
        page = self.page(self.running)
        ground = "getComputedStyle(document.body).backgroundColor"
        page.prefer("light")
        light = page.run(ground)
        page.prefer("dark")
        dark = page.run(ground)
        self.assertNotEqual(light, dark)
        choose = ("(() => { const s = document.getElementById('theme'); s.value = '%s'; "
                  "s.dispatchEvent(new Event('change')); })()")
        page.run(choose % "light")
        self.assertEqual(page.run(ground), light)
        page.run("location.reload()")
        page.wait(f"{ROWS} > 0", 30, "the page again")
        self.assertEqual(page.run(ground), light)
        page.run(choose % "")
        self.assertEqual(page.run(ground), dark)
        self.assert_clean(page, self.running)

    def test_what_others_wrote_is_text(self):
        file = pathlib.Path(self.folder) / "<img src=x onerror=alert(1)>\u202e.txt"
        file.write_text(self.text.read_text())
        self.running.submit(small_job("marked", file))
        page = self.page(self.running, "#/job?name=marked")
        page.wait("document.querySelector('pre')?.textContent.includes('<img src=x onerror=alert(1)>\\ufffd.txt')", 30,
                  "the path, as text")
        self.assertEqual(page.run("document.images.length"), 0)
        self.assert_clean(page, self.running)

    def test_without_the_token_a_form_asks_for_it(self):
        page = self.chromium.open(self.address(self.running).split("#")[0])
        page.wait("document.activeElement.id === 'token'", 30, "the form")
        page.type("wrong")
        page.press("Enter")
        page.wait("document.querySelector('main').innerText.includes('wrong token')", 30, "the refusal")
        page.wait("document.activeElement.id === 'token'", 30, "the form again")
        page.type(self.address(self.running).split("=")[1])
        page.press("Enter")
        page.wait(f"{ROWS} === 4", 30, "the jobs")
        self.assertNotIn("token", page.run("location.href"))
        self.assertEqual([c for c in page.complaints() if "401" not in c], [])
        # The page's token appears in no log.
        token = self.address(self.running).split("=")[1]
        logs = "".join(path.read_text() for path in pathlib.Path(self.running.logs).iterdir())
        self.assertIn("serving the page", logs)
        self.assertNotIn(token, logs)

    def test_a_job_that_is_not_there_is_said(self):
        page = self.page(self.running, "#/job?name=none")
        page.wait("document.querySelector('h1').innerText === 'Not there'", 30, "the page to say so")
        self.assertIn("no job 'none'", page.text("main"))


if __name__ == "__main__":
    try:
        browser.find()
    except browser.Missing as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()

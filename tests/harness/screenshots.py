"""Makes the pictures of docs/images.

A small cluster of nodes with prices trains jobs and loses trainers and a node. A terminal shows `rekindle watch`, and a
headless Chromium shows the page. scripts/screenshots builds the programs and calls this file."""
import argparse
import json
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
from cluster import Cluster  # noqa: E402
from faults import Injector  # noqa: E402
from jobs import small_job, text_file  # noqa: E402
from programs import program  # noqa: E402
from screen import Screen  # noqa: E402
from waiting import wait_until  # noqa: E402
import terminal_picture  # noqa: E402

HOUR = 3600
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


def fleet_file(folder):
    """Writes a fleet file with two spot pools and one on demand, in a region whose grid has a carbon trace of today."""
    hour = int(time.time()) // HOUR * HOUR
    times = [time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(hour + HOUR * i)) for i in range(-1, 4)]
    (folder / "carbon_ES_2026.csv").write_text(
        "datetime_utc,direct_gco2eq_per_kwh,lca_gco2eq_per_kwh\n" +
        "".join(f"{at},{160 + 12 * i},0\n" for i, at in enumerate(times)))
    pool = {"provider": "local", "instance_type": "box", "carbon_region": "ES", "node_watts": 300}
    pools = [{**pool, "name": "spot-a", "zone": "a", "capacity": "spot", "price": 0.92, "on_demand_price": 3.06},
             {**pool, "name": "spot-b", "zone": "b", "capacity": "spot", "price": 1.04, "on_demand_price": 3.06},
             {**pool, "name": "demand-a", "zone": "a", "capacity": "on_demand", "price": 3.06}]
    path = folder / "fleet.yaml"
    path.write_text(json.dumps({"currency": "USD", "pools": pools, "carbon": {"files": ["carbon_ES_2026.csv"]}}))
    return path


def job(name, text, steps, team, priority=0, budget=0.0):
    spec = small_job(name, text, steps=steps)
    spec["spec"].update({"team": team, "priority": priority, "goals": {"budget": budget} if budget else {}})
    spec["spec"]["training"]["evaluate_every"] = 50
    spec["spec"]["checkpoint"]["every_steps"] = 200
    return spec


def run(cluster, text):
    """Runs a job that ends, one that trains after it has lost a trainer and a node, and two that wait."""
    for name, steps, team in (("warm-up", 60, "language"), ("gpt-small", 6000, "language")):
        cluster.submit(job(name, text, steps, team, priority=10, budget=5.0))
        if name == "warm-up":
            cluster.await_end(name)
    inject = Injector(cluster, "gpt-small")
    inject.await_members(3)
    inject.await_steps(200)
    inject.trainer_killed("n1")
    inject.await_steps(120)
    inject.node_killed("n3")
    cluster.worker_flags["n4"] = ["--pool", "spot-b"]
    inject.node_added("n4")
    inject.await_steps(150)
    inject.drained("n2")
    cluster.worker_flags["n5"] = ["--pool", "demand-a"]
    inject.node_added("n5")
    # The two jobs want more nodes than there are. If they were submitted earlier, they would take the added nodes.
    for name in ("ablation", "sweep-7"):
        waiting = job(name, text, 400, "research", priority=-5)
        waiting["spec"]["workers"] = {"min": 6, "max": 6}
        cluster.submit(waiting)
    inject.await_steps(100)


def shoot(chromium, address, images):
    page = chromium.open(address, width=1280, height=900)
    page.prefer("light")
    page.wait("document.querySelectorAll('tbody tr').length === 4", 60, "the jobs")

    def shot(name, view, ready, width=1280, height=900, scheme="light"):
        page.size(width, height)
        page.prefer(scheme)
        page.run(f"location.hash = '{view}'")
        page.wait(ready, 60, view)
        page.run("scrollTo(0, 0); document.activeElement.blur()")
        page.wait(DRAWN, 10, "the page to be drawn")
        page.shot(images / f"{name}.png")
        print(f"{images / name}.png", flush=True)
    curves = ("document.querySelectorAll('figure canvas').length === 2"
              " && document.querySelectorAll('.timeline li').length > 4")
    shot("page-jobs", "#/jobs", "document.querySelectorAll('tbody tr').length === 4", height=420)
    shot("page-job", "#/job?name=gpt-small", curves, height=1400)
    shot("page-job-dark", "#/job?name=gpt-small", curves, height=1000, scheme="dark")
    shot("page-nodes", "#/nodes", "document.querySelectorAll('tbody')[1]?.rows.length > 2", height=620)
    shot("page-narrow", "#/job?name=gpt-small", curves, width=320, height=900)
    complaints = page.complaints()
    if complaints:
        sys.exit(f"the page complained: {complaints}")


def shoot_watch(cluster, images):
    """Makes a picture of a terminal, 80 columns wide, in which `watch` shows the job."""
    shown = Screen([program("rekindle"), "watch", "gpt-small", "--endpoint", cluster.endpoint], columns=80, rows=40,
                   env={"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
    try:
        wait_until(lambda: len(shown.frames()) > 3, 60, "`watch` to draw", poll=0.05)
        # Between the end of one drawing and the start of the next, the screen is whole.
        wait_until(lambda: shown.text().endswith("the job goes on") and shown.bytes.endswith(b"\033[J"), 60,
                   "a whole drawing", poll=0.01)
        path = images / "watch.svg"
        title = "rekindle watch: progress, loss, speed, members, cost and the last event of a job"
        path.write_text(terminal_picture.svg(shown.screen, title))
        print(path, flush=True)
    finally:
        shown.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=pathlib.Path, required=True, help="folder for the pictures")
    parser.add_argument("--terminal", action="store_true", help="only the picture of `watch`, which needs no browser")
    options = parser.parse_args()
    try:
        if not options.terminal:
            browser.find()
    except browser.Missing as why:
        sys.exit(str(why))
    options.images.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="rekindle-pictures-") as folder:
        folder = pathlib.Path(folder)
        pools = {"n1": ["--pool", "spot-a"], "n2": ["--pool", "spot-b"], "n3": ["--pool", "spot-b"]}
        with Cluster(folder / "cluster", coordinator_flags=["--web", "127.0.0.1:0", "--fleet", str(fleet_file(folder))],
                     worker_flags=pools) as cluster:
            cluster.start()
            run(cluster, text_file(folder))
            shoot_watch(cluster, options.images)
            if options.terminal:
                return
            file = cluster.coordinator_data() / "web"
            address = wait_until(lambda: file.exists() and file.read_text().strip(), 10, "the page's address")
            with browser.Browser(folder) as chromium:
                shoot(chromium, address, options.images)


if __name__ == "__main__":
    main()

"""Tests checkpoints on real object stores, and what happens when the connection to one of them is spoiled."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
import servers  # noqa: E402
from fault_proxy import FaultProxy  # noqa: E402
from probe import Probe  # noqa: E402

PASSING = ("UNAVAILABLE", "DEADLINE_EXCEEDED", "DATA_LOSS", "RESOURCE_EXHAUSTED")
# The state has 30 MB, in two shards of two parts each.
ELEMENTS, SHARDS = 2_500_000, 2
# A call may take `DEADLINE` seconds with its retries, and one attempt `ATTEMPT` seconds.
DEADLINE, ATTEMPT = 12, 4


class StoreProbe(Probe):
    """Runs a process that uses the store at `uri` (checkpoint/testing/store_probe.cc)."""

    def __init__(self, uri, env, deadline=60, attempt=15, bandwidth=0):
        super().__init__("checkpoint_store_probe", uri, *[x for x in (deadline, attempt, bandwidth) if x], env=env)

    def save(self, step, elements=ELEMENTS, **options):
        return self.ask("save", step=step, elements=elements, shards=SHARDS, **options)

    def load(self, elements=ELEMENTS):
        return self.ask("load", elements=elements)


class RealServer:
    """Runs an object store of the class `SERVER`, with a bucket, for all tests of a test class."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="rekindle-objects-")
        cls.addClassCleanup(cls.folder.cleanup)
        try:
            cls.server = cls.enterClassContext(cls.SERVER(pathlib.Path(cls.folder.name) / "server"))
        except servers.Missing as why:
            raise unittest.SkipTest(str(why)) from why

    def probe(self, prefix, port=None, **limits):
        return self.enterContext(StoreProbe(self.server.uri(prefix, port), self.server.env, **limits))

    def assert_ok(self, answer):
        self.assertEqual(answer["code"], "OK", answer["message"])
        return answer


class LifeCycle(RealServer):
    """Tests write, restore, list and delete on each kind of server."""

    def test_write_restore_list_delete(self):
        probe = self.probe("plain/life")
        self.assertFalse(self.assert_ok(probe.load())["found"])
        self.assertEqual(self.assert_ok(probe.ask("list"))["checkpoints"], [])
        for step in (10, 20, 30):
            self.assert_ok(probe.save(step, generation=step))
        other = self.probe("plain/life")
        newest = self.assert_ok(other.load())
        self.assertTrue(newest["equal"])
        self.assertEqual((newest["name"], newest["skipped"]), ("30-30-w0", []))
        listed = self.assert_ok(other.ask("list"))
        self.assertEqual([c["name"] for c in listed["checkpoints"]], ["30-30-w0", "20-20-w0", "10-10-w0"])
        self.assertEqual([c["problem"] for c in listed["checkpoints"]], [""] * 3)
        self.assertEqual(listed["jobs"], ["job"])
        collected = self.assert_ok(probe.ask("collect", keep=1))
        self.assertEqual((len(collected["manifests"]), collected["shards"]), (2, 8))
        self.assertEqual([c["name"] for c in other.ask("list")["checkpoints"]], ["30-30-w0"])
        self.assertTrue(self.assert_ok(other.load())["equal"])

    def test_a_bucket_that_is_not_there_is_no_empty_store(self):
        uri = self.server.uri("x").replace(servers.BUCKET, "nowhere-at-all")
        probe = self.enterContext(StoreProbe(uri, self.server.env, deadline=DEADLINE, attempt=ATTEMPT))
        for answer in (probe.load(), probe.save(10), probe.ask("list"), probe.ask("collect", keep=1)):
            self.assertNotIn(answer["code"], ("OK", "NOT_FOUND"), answer)
            self.assertLess(answer["seconds"], 2 * DEADLINE)


class S3Test(LifeCycle, unittest.TestCase):
    SERVER = servers.S3

    def test_shards_that_are_there_are_skipped(self):
        with FaultProxy(self.server.port) as proxy:
            probe = self.probe("plain/again", proxy.port)
            self.assert_ok(probe.save(10))
            sent = len([p for m, p in proxy.requests if m == "PUT" and "partNumber" in p])
            self.assertGreaterEqual(sent, 2 * SHARDS)
            # Another process, as after a crash, finds the shards in the store and sends none of them again.
            self.assert_ok(self.probe("plain/again", proxy.port).save(10, generation=2))
            self.assertEqual(len([p for m, p in proxy.requests if m == "PUT" and "partNumber" in p]), sent)

    def test_the_cap_holds(self):
        probe = self.probe("plain/cap", bandwidth=10_000_000)
        answer = self.assert_ok(probe.save(10))
        # The cap of 10 MB/s lets the first 10 MB of the state pass at once, and the other 20 MB take two seconds.
        self.assertGreater(answer["seconds"], 1.5)

    def test_wrong_credentials_say_so_at_once_and_tell_no_secret(self):
        env = {**self.server.env, "AWS_SECRET_ACCESS_KEY": "hush-hush"}
        answer = self.enterContext(StoreProbe(self.server.uri("x"), env)).save(10)
        self.assertEqual(answer["code"], "PERMISSION_DENIED", answer)
        self.assertLess(answer["seconds"], DEADLINE)
        for secret in ("hush", servers.SECRET, self.server.env["AWS_ACCESS_KEY_ID"] + "/"):
            self.assertNotIn(secret, answer["message"])


class SecondS3Test(S3Test):
    """Runs the tests of S3Test against an independent implementation of S3."""
    SERVER = servers.VersityGw


class FaultTest(RealServer, unittest.TestCase):
    """Tests each fault, in a save and in a restore.

    A call succeeds after a retry, or gives a clear error within the deadline. No checkpoint is ever damaged, and the
    checkpoint before a failed save is not lost."""
    SERVER = servers.S3

    def setUp(self):
        self.prefix = f"faults/{self.id().rsplit('.', 1)[1]}"
        self.proxy = self.enterContext(FaultProxy(self.server.port))
        self.near = self.probe(self.prefix)
        self.far = self.probe(self.prefix, self.proxy.port, deadline=DEADLINE, attempt=ATTEMPT)
        self.assert_ok(self.near.save(10))

    def assert_restorable(self, *steps):
        """Checks that an undisturbed process sees one of `steps` as the newest checkpoint, and whole."""
        newest = self.assert_ok(self.near.load())
        self.assertTrue(newest["found"] and newest["equal"], newest)
        self.assertEqual(newest["skipped"], [])
        self.assertIn(newest["name"], [f"1-{step}-w0" for step in steps])

    def passes(self, kind, **options):
        """Checks that saving and restoring succeed in spite of a fault that ends after a few requests."""
        self.proxy.spoil(kind, method="PUT|POST", **options)
        self.assert_ok(self.far.save(20))
        self.assertTrue(self.proxy.spoiled, "the fault was not met")
        self.assert_restorable(20)
        self.proxy.heal()
        self.proxy.spoil(kind, method="GET|HEAD", **options)
        self.assertTrue(self.assert_ok(self.far.load())["equal"])

    def stays(self, kind, expect=PASSING, method="", **options):
        """Checks a fault that lasts: calls fail within a few deadlines, damage nothing, and succeed after it."""
        self.proxy.spoil(kind, times=None, method=method, **options)
        for answer in (self.far.save(30), self.far.load()):
            if answer["code"] == "OK":
                continue
            self.assertIn(answer["code"], expect, answer)
            self.assertTrue(answer["message"])
            self.assertNotIn(servers.SECRET, answer["message"])
            self.assertLess(answer["seconds"], 4 * (DEADLINE + 15), answer)
        self.assertTrue(self.proxy.spoiled, "the fault was not met")
        self.proxy.heal()
        self.assert_restorable(10, 20, 30)
        self.assert_ok(self.far.save(40))
        self.assert_restorable(40)

    def test_503(self):
        self.passes("status", status=503, times=6)
        self.stays("status", status=503)

    def test_500(self):
        self.passes("status", status=500, code="InternalError", times=3)

    def test_slow_down(self):
        self.passes("slowdown", times=6)
        self.stays("slowdown", expect=("RESOURCE_EXHAUSTED", "UNAVAILABLE"))

    def test_reset_in_the_middle_of_a_part(self):
        self.passes("reset", times=2)
        self.stays("reset", method="PUT")

    def test_short_answers(self):
        self.proxy.spoil("short", times=3, method="GET", path=r"safetensors$")
        self.assertTrue(self.assert_ok(self.far.load())["equal"])
        self.stays("short", method="GET")

    def test_endless_body(self):
        self.stays("endless", method="GET", path=r"safetensors$")

    def test_no_answer(self):
        self.passes("hang", times=1)
        self.stays("hang", method="PUT")

    def test_wrong_etag(self):
        self.passes("etag", times=1)
        self.stays("etag", method="PUT", path="partNumber")

    def test_lost_last_part(self):
        self.proxy.spoil("lost", method="PUT", path="partNumber=2")
        self.assert_ok(self.far.save(20))
        self.assert_restorable(20)
        self.stays("lost", method="PUT", path="partNumber=2")

    def test_bits_that_flip_on_the_way_are_never_trusted(self):
        self.proxy.spoil("flip", times=1, method="PUT", path="partNumber")
        self.far.save(20)
        newest = self.near.load()
        # The restored step is 20, or 10 if step 20 was stored damaged.
        self.assertTrue(self.assert_ok(newest)["equal"])
        for reason in newest["skipped"]:
            self.assertIn("XXH3", reason)

    def test_credentials_that_expire(self):
        self.stays("status", expect=("PERMISSION_DENIED",), method="PUT|POST|GET", status=400, code="ExpiredToken")

    def test_clocks_that_differ(self):
        self.proxy.spoil("status", times=None, status=403, code="RequestTimeTooSkewed")
        answer = self.far.save(20)
        self.assertEqual(answer["code"], "PERMISSION_DENIED", answer)
        self.assertLess(answer["seconds"], 2 * DEADLINE)
        self.proxy.heal()
        self.assert_restorable(10)


class VanishedBucketTest(RealServer, unittest.TestCase):
    SERVER = servers.S3

    def test_a_bucket_that_vanishes(self):
        probe = self.probe("plain/vanish", deadline=DEADLINE, attempt=ATTEMPT)
        self.assert_ok(probe.save(10))
        self.server.remove_bucket()
        # If a bucket does not exist, this server refuses a put with the words for a client that has no permission.
        self.assertIn(probe.save(20)["code"], ("UNAVAILABLE", "PERMISSION_DENIED"))
        for answer in (probe.load(), probe.ask("list")):
            self.assertEqual(answer["code"], "UNAVAILABLE", answer)
            self.assertIn("bucket", answer["message"])
            self.assertLess(answer["seconds"], 2 * DEADLINE)


class GcsTest(LifeCycle, unittest.TestCase):
    SERVER = servers.Gcs


class AzureTest(LifeCycle, unittest.TestCase):
    SERVER = servers.Azure


if __name__ == "__main__":
    unittest.main(verbosity=2)

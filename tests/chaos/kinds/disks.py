"""Defines faults of slow or full disks: the coordinator's, and that of the checkpoint store."""
import contextlib
import errno
import sqlite3

from kinds.fault import Fault


class CoordinatorDiskFull(Fault):
    """Fills the small file system on which the coordinator's folder lies."""

    name, privileged = "coordinator's disk full", True

    def begin(self):
        self.filler = self.world.coordinator_disk / f"filler-{id(self)}"
        with open(self.filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
        return True

    def end(self):
        self.filler.unlink(missing_ok=True)


class CoordinatorDiskSlow(Fault):
    """Blocks the coordinator's next write to its database, as another writer would, until the fault ends."""

    name, longest = "coordinator's disk slow", 4.0

    def begin(self):
        self.database = sqlite3.connect(self.world.cluster.coordinator_data() / "state.db", timeout=0,
                                        isolation_level=None)
        # If the coordinator is writing as the fault begins, or its disk is full, the fault cannot lock the database.
        with contextlib.suppress(sqlite3.OperationalError):
            self.database.execute("BEGIN IMMEDIATE")
            return True
        self.database.close()
        return False

    def end(self):
        with contextlib.suppress(sqlite3.OperationalError):
            self.database.execute("ROLLBACK")
        self.database.close()


class StoreFails(Fault):
    """Makes one kind of file operation on the checkpoint store fail on all nodes."""

    name = "store full or broken"

    @staticmethod
    def draw(random, nodes):
        del nodes
        operation, code = random.choice([["append", errno.ENOSPC], ["sync", errno.EIO], ["rename", errno.EIO],
                                         ["close", errno.EDQUOT], ["list", errno.EIO]])
        return {"plan": f"fail {operation} {code}"}

    def begin(self):
        self.world.spoil_store(self.plan)
        return True

    def end(self):
        self.world.mend_store(self.plan)


class StoreSlow(StoreFails):
    """Makes one kind of file operation on the checkpoint store slow on all nodes."""

    name = "store slow"

    @staticmethod
    def draw(random, nodes):
        del nodes
        return {"plan": f"slow {random.choice(['append', 'sync', 'rename', 'open'])} {0.1 + 0.9 * random.random():.3f}"}

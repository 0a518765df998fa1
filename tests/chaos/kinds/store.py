"""What happens to files of the checkpoint store behind the programs' backs."""
import os
import pathlib
import tempfile

from kinds.fault import Fault


class FileDamage(Fault):
    """One file, drawn as a share of all there are then."""

    @staticmethod
    def draw(random, nodes):
        del nodes
        return {"which": round(random.random(), 6), "where": round(random.random(), 6)}

    def begin(self):
        files = sorted(path for path in self.world.store.rglob("*")
                       if path.is_file() and path.stat().st_size and path.parent.name in ("shards", "manifests"))
        if not files:
            return False
        self.path = files[int(self.which * len(files))]
        try:
            self.content = self.path.read_bytes()
            self.damage()
        except FileNotFoundError:    # It was collected between two of these lines.
            return False
        self.world.say(f"    it is {self.path.relative_to(self.world.store)}")
        return True

    def damage(self):
        raise NotImplementedError

    def end(self):
        """Its own bytes again, unless it was collected meanwhile."""
        try:
            with open(self.path, "r+b") as file:
                file.write(self.content)
                file.truncate()
        except FileNotFoundError:
            pass


class BitFlipped(FileDamage):
    name, damages_store = "bit flipped in the store", True

    def damage(self):
        at = int(self.where * len(self.content))
        with open(self.path, "r+b") as file:
            file.seek(at)
            file.write(bytes([self.content[at] ^ (1 << int(self.where * 1000) % 8)]))


class Truncated(FileDamage):
    name, damages_store = "file of the store truncated", True

    def damage(self):
        os.truncate(self.path, int(self.where * len(self.content)))


class Removed(FileDamage):
    name = "file of the store removed"

    def damage(self):
        self.path.unlink()

    def end(self):
        if not self.path.exists() and self.path.parent.is_dir():
            whole = self.path.with_name(f"{self.path.name}.back")
            whole.write_bytes(self.content)
            whole.rename(self.path)


class WrongMount(Fault):
    """An empty folder lies in the store's place. When the store is back, its operator brings to it what was written
    there meanwhile."""

    name, longest = "wrong mount", 5.0

    def begin(self):
        if self.world.aside.exists():    # The other one is in place already.
            return False
        self.world.store.rename(self.world.aside)
        self.world.store.mkdir(exist_ok=True)    # Whoever writes there makes it, too.
        return True

    def end(self):
        wrong = pathlib.Path(tempfile.mkdtemp(prefix="wrong-mount-", dir=self.world.folder))
        self.world.store.rename(wrong)
        self.world.aside.rename(self.world.store)
        self.world.bring_to_store(wrong)

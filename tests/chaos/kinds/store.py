"""Defines faults that change files of the checkpoint store while no program notices."""
import errno
import os
import pathlib
import tempfile

from kinds.fault import Fault


class FileDamage(Fault):
    """Damages one file. The schedule draws its place, from 0 to 1, among the files that exist when the fault begins."""

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
        # The drawn file was collected as garbage after it had been listed.
        except FileNotFoundError:
            return False
        self.world.say(f"    it is {self.path.relative_to(self.world.store)}")
        return True

    def damage(self):
        raise NotImplementedError

    def end(self):
        """Writes the file's original bytes back, unless the file was collected meanwhile."""
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
    """Puts an empty folder in the store's place. Files that programs write there are moved to the store at the end."""

    name, longest = "wrong mount", 5.0

    def begin(self):
        # Another fault of this kind, which has not ended yet, has moved the store's folder to `aside`.
        if self.world.aside.exists():
            return False
        self.world.store.rename(self.world.aside)
        # A program that writes to the store makes the store's folder if it is missing, so the folder may exist again
        # after it was moved away.
        self.world.store.mkdir(exist_ok=True)
        return True

    def end(self):
        wrong = []
        # A program may make the store's folder again, and write there, just before the right one comes back.
        while self.world.aside.exists():
            wrong.append(pathlib.Path(tempfile.mkdtemp(prefix="wrong-mount-", dir=self.world.folder)))
            if self.world.store.exists():
                self.world.store.rename(wrong[-1])
            try:
                self.world.aside.rename(self.world.store)
            except OSError as error:
                if error.errno != errno.ENOTEMPTY:
                    raise
        for folder in wrong:
            self.world.bring_to_store(folder)

"""Plays rounds of overlapping faults on real processes: see scripts/chaos --help."""
import argparse
import collections
import os
import pathlib
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "harness")]
from namespaces import unavailable  # noqa: E402
from play import Round, Undisturbed  # noqa: E402
from schedule import DEVICES, MODELS, NODES, SECONDS, draw_device, draw_model  # noqa: E402

SEEDS = HERE / "seeds"
# A coordinator beyond loopback refuses nodes with the fake device, so their rounds have no namespaces.
ON_LOOPBACK = "the fake device needs a coordinator on loopback"


def kept_seeds():
    """Returns {seed: the broken promise that it found} from the lines of the file `SEEDS`."""
    lines = [line.split(" ", 1) for line in SEEDS.read_text().splitlines() if line and not line.startswith("#")]
    return {int(seed): words for seed, words in lines}


def say(text):
    print(text, flush=True)


class Chaos:
    """Plays rounds, one after the other, and sums up their outcomes.

    All rounds are on `device`, and their jobs train `model`. Each seed draws what is not given."""

    def __init__(self, device=None, model=None):
        self.device, self.model = device, model
        self.reason, self.undisturbed = unavailable(), Undisturbed()
        self.counts = collections.defaultdict(collections.Counter)
        # `broken` has the seeds of the rounds that broke a promise.
        self.broken = []

    def play(self, seed):
        model = self.model or ("gpt" if self.device == "fake" else draw_model(seed))
        # A node whose trainers compute on a GPU gets no model of the user's own.
        device = self.device or ("cpu" if model == "own" else draw_device(seed))
        reason = self.reason or (ON_LOOPBACK if device == "fake" else "")
        again = f"scripts/chaos --seed {seed}" + (f" --device {self.device}" if self.device else "")
        again += f" --model {self.model}" if self.model else ""
        say(f"chaos: seed {seed}, {SECONDS:.0f} s of faults on {len(NODES)} nodes, device {device}, model {model}")
        if reason:
            say(f"chaos: cuts, slow links and full disks are left out: {reason}")
        try:
            outcome = Round(seed, device, model, reason, self.undisturbed, say).play()
        except BaseException:
            say(f"chaos: seed {seed} was not played to its end; play it again: {again}")
            raise
        for kind, counts in outcome.counts.items():
            self.counts[kind].update(counts)
        for sentence in outcome.broken:
            say(f"chaos: BROKEN, seed {seed}: {sentence}")
        if outcome.slow:
            say(f"chaos: slow, seed {seed}: {outcome.slow}")
        if outcome.broken:
            self.broken.append(seed)
        if outcome.folder:
            say(f"chaos: logs and timelines are in {outcome.folder}; play it again: {again}")
        return not outcome.broken

    def play_from(self, seed, until):
        """Plays the rounds of `seed` and later seeds. Stops when less time is left than the last round has taken."""
        while True:
            begun = time.monotonic()
            self.play(seed)
            now = time.monotonic()
            if now + (now - begun) > until:
                return
            seed += 1

    def tell(self):
        say(f"{'kind of fault':34}{'alone':>8}{'overlapping':>13}{'nothing there':>15}{'skipped':>9}")
        for kind, counts in sorted(self.counts.items()):
            say(f"{kind:34}{counts['alone']:8}{counts['overlapping']:13}{counts['nothing there']:15}"
                f"{counts['skipped']:9}")
        say(f"chaos: broken promises with seeds {self.broken}" if self.broken else "chaos: every promise was kept")


def main(arguments):
    parser = argparse.ArgumentParser(prog="scripts/chaos", description="Plays overlapping faults on real processes.")
    parser.add_argument("--seed", type=int, help="play this one; default: one that is drawn")
    parser.add_argument("--minutes", type=float, default=0,
                        help="go on with the seeds after it for about so long; default: one round")
    parser.add_argument("--device", choices=DEVICES, help="what trainers compute on; default: the seed draws it")
    parser.add_argument("--model", choices=MODELS, help="what jobs train, own for one in Python; default: the seed "
                                                        "draws it")
    parser.add_argument("--kept", action="store_true", help="first those that have found something")
    options = parser.parse_args(arguments)
    if (options.device, options.model) == ("fake", "own"):
        parser.error("--model own: models of the user's own compute on the CPU; leave --device fake out")
    # SIGTERM raises SystemExit, so that the clean-up still stops all processes.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    begun, chaos = time.monotonic(), Chaos(options.device, options.model)
    if options.kept:
        for seed in kept_seeds():
            chaos.play(seed)
    seed = int.from_bytes(os.urandom(3), "big") if options.seed is None else options.seed
    chaos.play_from(seed, begun + 60 * options.minutes)
    chaos.tell()
    return 1 if chaos.broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

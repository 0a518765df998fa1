"""Parses the options that every bench has. They decide how large a run is: full, small or a turn of a comparison."""
import argparse
import concurrent.futures


class Options(argparse.ArgumentParser):
    """Parses a bench's options. An option of size() has a default for each of a full run, --smoke and --against."""

    def __init__(self, bench, doc):
        super().__init__(prog=f"scripts/bench {bench.replace('_', '-')}", description=doc)
        self.sizes = {}
        self.add_argument("--report", metavar="FILE", help="write the JSON to a file too")
        self.add_argument("--no-peers", action="store_true", help="ours alone")
        self.add_argument("--smoke", action="store_true",
                          help="everything small, without peers: shows that each metric can be had; no value counts")
        self.add_argument("--turn", action="store_true", help=argparse.SUPPRESS)

    def size(self, name, full, smoke, turn=None, text=""):
        self.add_argument(f"--{name}", type=type(full), help=f"{text} (default: {full})".strip())
        self.sizes[name.replace("-", "_")] = {"full": full, "smoke": smoke, "turn": full if turn is None else turn}

    def parse(self, argv=None):
        """Returns the options. `peers` says whether other systems are measured too, `judged` whether targets count."""
        args = self.parse_args(argv)
        kind = "smoke" if args.smoke else "turn" if args.turn else "full"
        for name, values in self.sizes.items():
            if getattr(args, name) is None:
                setattr(args, name, values[kind])
        args.judged = kind == "full"
        args.peers = args.judged and not args.no_peers
        return args


def run_all(args, calls):
    """Calls all functions in `calls` and returns their results.

    The calls run one after the other, or all at once with --smoke, which measures nothing."""
    calls = list(calls)
    with concurrent.futures.ThreadPoolExecutor(len(calls) if args.smoke else 1) as threads:
        return list(threads.map(lambda call: call(), calls))

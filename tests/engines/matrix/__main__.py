"""Every engine against a Guillemot of its own: a matrix of engine x step.

    python tests/engines/matrix run [ENGINE...]   runs them (all) and puts their lines into results.jsonl
    python tests/engines/matrix print             prints the kept results of all
    python tests/engines/matrix page              writes them into docs/engines.md

It needs the surroundings of tests/env/run.py. MATRIX_LOGS names a folder that keeps the engines' output.
"""

import sys
from pathlib import Path

if not __package__:
    sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1])]
    from matrix import __main__

    sys.exit(__main__.main(sys.argv[1:]))

from . import page, steps


def main(arguments):
    """The exit code."""
    match arguments:
        case ["run", *names]:
            return run(names)
        case ["print"]:
            print(page.matrix(steps.load()))
        case ["page"]:
            page.PAGE.write_text(page.rewritten(steps.load()))
        case _:
            sys.exit(__doc__)
    return 0


def run(names):
    """Runs the engines named, or all; 1 when a step failed."""
    from .engines import ENGINES
    from .run import run as run_engine

    unknown = set(names) - {e.name for e in ENGINES}
    if unknown:
        sys.exit(f"no such engine: {', '.join(sorted(unknown))}")
    lines = []
    for engine in ENGINES:
        if not names or engine.name in names:
            done = run_engine(engine)
            print(page.text(done), flush=True)
            steps.replace(engine.name, done)
            lines += done
    print(f"\n{page.matrix(steps.load())}\n")
    failed = sum(line["result"] == "fail" for line in lines)
    passed = sum(line["result"] == "pass" for line in lines)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0

"""What an engine's program says it did, one JSON line a claim, for the matrix to check."""

import json
import os
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor


def step(name, body, otherwise="fail"):
    """Claims that `body()` works, or says why it does not; what it returns are proofs."""
    try:
        write({"step": name, "result": "pass", "proofs": body() or []})
    except Exception as e:
        traceback.print_exc(file=sys.stderr)
        write({"step": name, "result": otherwise, "message": words(e)})


def absent(name, body):
    """A step that this engine refuses by itself; when it works, that is claimed instead."""
    step(name, body, otherwise="absent")


def counts(rows):
    """`rows(history)` of every history, or why they could not be counted."""
    for history in os.environ["HISTORIES"].split():
        try:
            write({"count": history, "rows": int(rows(history))})
        except BaseException as e:  # PyO3 panics are no Exception
            if isinstance(e, (KeyboardInterrupt, SystemExit)):
                raise
            traceback.print_exc(file=sys.stderr)
            write({"count": history, "message": words(e)})


def together(write, writers=4):
    """Runs `write(i)` of so many writers at once; fails as the first of them did, when all are done."""
    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, range(writers)))


def same(found, expected):
    """Fails the step unless both are equal."""
    if found != expected:
        raise AssertionError(f"expected {expected}, found {found}")


def words(e):
    """An error as its engine words it."""
    return f"{type(e).__name__}: {e}"


def write(claim):
    """Adds a line."""
    with open(os.environ["CLAIMS"], "a") as out:
        out.write(json.dumps(claim) + "\n")

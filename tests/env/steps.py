#!/usr/bin/env python3
"""Runs the steps of a make target one after another; prints each with its time and sums up in the last line.

    python3 tests/env/steps.py lint|test|engines|compat|schemathesis

A step of `lint` says nothing about the next one: all run. Elsewhere the first step that fails ends the run, since what
follows would be judged on a broken base.
"""

import subprocess
import sys
import time

BUILD = "cargo build --locked"
COMPAT = "python tests/compat-java/run.py"
SCHEMATHESIS = "python tests/schemathesis/run.py"
STEPS = {
    "lint": {
        "rustfmt": "cargo fmt --check",
        "rustfmt fuzz": "cargo fmt --check --manifest-path fuzz/Cargo.toml",
        "rustfmt iceberg-rust": "cargo fmt --check --manifest-path tests/engines/iceberg-rust/Cargo.toml",
        "clippy": "cargo clippy --locked --all-targets -- -D warnings",
        "rustdoc": "env RUSTDOCFLAGS=-Dwarnings cargo doc --locked --no-deps",
        "ruff": "ruff check tests examples fuzz",
        "ruff format": "ruff format --check tests examples fuzz",
        "hadolint": "hadolint Dockerfile",
        "docs": "python -m pytest -q tests/docs",
        "cargo-deny": "cargo-deny --offline --locked check bans licenses sources",
    },
    "test": {
        "build": BUILD,
        "cargo test": "cargo test --locked --no-fail-fast",
        "verdicts": "python tests/verdicts/verdicts.py --failures",
        "traces": "python -m pytest -q -s tests/traces",
        # The same seed each time, so that a change is not judged by another draw; `schemathesis` draws new ones.
        "schemathesis": f"{SCHEMATHESIS} --seconds 120 --seed 1",
        "race": "python -m pytest -q -s tests/race",
        "compose": "python -m pytest -q tests/compose",
        # All but a job of three minutes, which `engines` runs.
        "engines": "python -m pytest -q tests/engines --ignore=tests/engines/test_gcs_credentials.py",
        "compat": COMPAT,
    },
    "compat": {
        "build": BUILD,
        "compat": COMPAT,
    },
    "schemathesis": {
        "build": BUILD,
        "on SQLite": f"{SCHEMATHESIS} --seconds 450",
        "on Postgres": f"{SCHEMATHESIS} --seconds 450 --postgres",
    },
    "engines": {
        "build": BUILD,
        "engines": "python -m pytest -v --durations=0 tests/engines",
        "matrix": "python tests/engines/matrix run",
    },
}


def main(target):
    """Runs the steps of `target`; the exit code."""
    times, failed = {}, []
    for name, command in STEPS[target].items():
        print(f"\n=== {target}: {name}: {command}", flush=True)
        began = time.monotonic()
        code = subprocess.run(command.split(), stdin=subprocess.DEVNULL).returncode
        times[name] = time.monotonic() - began
        print(f"=== {target}: {name}: {'ok' if code == 0 else f'code {code}'}, {times[name]:.0f} s", flush=True)
        if code != 0:
            failed.append(name)
            if target != "lint":
                break
    print(f"\n{target}: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in times.items()))
    verdict = f"FAILED at {', '.join(failed)}" if failed else "all steps passed"
    print(f"{target}: {verdict} in {sum(times.values()):.0f} s")
    print(f"{len(times) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:] not in [[target] for target in STEPS]:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))

#!/usr/bin/env python3
"""Builds the fuzz targets, runs each for a while on seeds from tests/data, and prints one line for each.

    python3 fuzz/run.py [TARGET...]

FUZZ_SECONDS says how long each runs (60). The corpus that grows is kept in target/fuzz/corpus; an input that broke a
limit or a promise is kept in target/fuzz/found, and the exit code is 1. The compiler's coverage pass is part of the
stable toolchain, so no nightly one is needed; libFuzzer is built with the machine's C++ compiler.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import seeds

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / "target" / "fuzz"
COVERAGE = ["level=4", "inline-8bit-counters", "pc-table", "trace-compares"]
FLAGS = [
    "-Cpasses=sancov-module",
    "-Ccodegen-units=1",
    *(f"-Cllvm-args=-sanitizer-coverage-{name}" for name in COVERAGE),
]
LIMITS = ["-timeout=10", "-rss_limit_mb=1024", "-max_len=65536", "-print_final_stats=1", "-verbosity=1"]


def main(names):
    seconds = int(os.environ.get("FUZZ_SECONDS", "60"))
    build = _build()
    failed = [name for name in names or seeds.TARGETS if not _run(build / name, name, seconds)]
    print(f"fuzz-smoke: {'FAILED: ' + ', '.join(failed) if failed else 'no target found a fault'}")
    return 1 if failed else 0


def _build():
    host = re.search(r"host: (\S+)", subprocess.check_output(["rustc", "-vV"], text=True)).group(1)
    # With a target named, build scripts and procedural macros are built without the flags.
    command = ["cargo", "build", "--locked", "--release", "--target", host, "--target-dir", OUT]
    subprocess.run(command, cwd=HERE, check=True, env=os.environ | {"RUSTFLAGS": " ".join(FLAGS)})
    return OUT / host / "release"


def _run(binary, name, seconds):
    corpus, found = OUT / "corpus" / name, OUT / "found" / name
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        seeds.write(name, Path(folder))
        options = [f"-max_total_time={seconds}", f"-artifact_prefix={found}/", *LIMITS]
        run = subprocess.run([binary, corpus, folder, *options], text=True, errors="replace", capture_output=True)
    log = run.stderr
    stat = dict(re.findall(r"stat::(\w+):\s+(\d+)", log))
    cover = re.findall(r"cov: (\d+) ft: (\d+)", log)
    held = [int(taken) for taken in re.findall(r"^MEMORY: (\d+)", log, re.MULTILINE)]
    edges, features = cover[-1] if cover else (0, 0)
    print(
        f"{name}: {stat.get('number_of_executed_units', '?')} executions in {seconds} s, {edges} edges,"
        f" {features} features, at most {max(held, default=0) / 1e6:.1f} MB for one input,"
        f" {stat.get('peak_rss_mb', '?')} MB resident: {'ok' if run.returncode == 0 else 'FAULT'}",
        flush=True,
    )
    if run.returncode != 0:
        print(log[-3000:])
    return run.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

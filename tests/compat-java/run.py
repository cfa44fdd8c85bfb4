#!/usr/bin/env python3
"""Runs the Java tests beside this file, each class against a fresh Guillemot of its own.

    python3 tests/compat-java/run.py [ARGUMENT OF MAVEN...]

For one class or one test: `-Dtest=CatalogTest#testAppend`.
"""

import contextlib
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from env import cache, guillemot, process

# Class, and what its server is started with besides.
SERVERS = {
    "CatalogTest": ["--verify-metadata-on-load"],
}


def main(arguments):
    with contextlib.ExitStack() as running:
        folder = process.scratch()
        running.callback(shutil.rmtree, folder, ignore_errors=True)
        # Requested locations are there, and so are the tests' temporary folders.
        places = folder / "places"
        places.mkdir()
        settings = {"guillemot.folder": places, "guillemot.target": cache.PROJECT / "target" / "compat-java"}
        for name, more in SERVERS.items():
            (folder / name).mkdir()
            server = guillemot.Guillemot(folder / name, arguments=["--allow-prefix", f"file://{places}", *more])
            settings[f"guillemot.{name}"] = running.enter_context(server).uri
        argv = ["mvn", "-B", "-q", "-f", HERE / "pom.xml", "test"]
        argv += [f"-D{key}={value}" for key, value in settings.items()]
        return subprocess.run([str(a) for a in argv + arguments], stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""iceberg-js of npm: namespaces and tables from creation to purge, in one program beside this file."""

import subprocess
from pathlib import Path

from env import cache

PROGRAM = Path(__file__).resolve().parent / "iceberg-js" / "catalog.mjs"
STEPS = 5


def test_iceberg_js(lake):
    argv = ["node", PROGRAM, cache.iceberg_js(), lake.uri, lake.warehouse]
    done = subprocess.run([str(a) for a in argv], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert done.stdout.count("ok: ") == STEPS

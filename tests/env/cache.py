"""Fetches what the tests need into one folder, by the registries' ordinary clients.

The folder is `.cache/` of the project, or GUILLEMOT_TEST_CACHE. Each part is complete once its
`.complete` file says so; a part that was interrupted or whose pins changed is made anew.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
REQUIREMENTS = HERE / "requirements"
ICEBERG_JS = PROJECT / "tests" / "engines" / "iceberg-js"
GCP_POM = HERE / "gcp-jars" / "pom.xml"

ICEBERG_RUNTIME = "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1"
ICEBERG_GCP_BUNDLE = "org.apache.iceberg:iceberg-gcp-bundle:1.10.1"
# Carries iceberg-spark-runtime-3.5_2.12-1.10.2.jar; for machines without Maven Central.
ICEBERG_RUNTIME_WHEEL = "snowpark-connect-deps-iceberg==1.0.2"


@dataclass(frozen=True)
class Spark:
    """A Python that can import pyspark, and the folder of jars to put before Spark's own."""

    python: Path
    jars: Path


def folder():
    """The cache folder."""
    return Path(os.environ.get("GUILLEMOT_TEST_CACHE") or PROJECT / ".cache").resolve()


def tools():
    """A virtual environment with the services, the engines, pytest and the linters; returns its folder."""
    return venv("tools")


def oidc():
    """A virtual environment with an OpenID provider; returns its folder."""
    return venv("oidc")


def s3():
    """A virtual environment with a store that speaks S3, Amazon's token service, and PyIceberg on fsspec."""
    return venv("s3")


def sql():
    """The packages, in a folder, that PyIceberg's SQL catalog needs besides the tools."""
    (packages,) = venv("sql").glob("lib/python3*/site-packages")
    return packages


def schemathesis():
    """A virtual environment with schemathesis; returns its folder."""
    return venv("schemathesis")


def iceberg_js():
    """A folder with iceberg-js in its `node_modules`, as the lock file says."""
    files = [ICEBERG_JS / "package.json", ICEBERG_JS / "package-lock.json"]

    def build(path):
        path.mkdir(parents=True)
        for file in files:
            shutil.copy(file, path)
        run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", path)

    return _once("iceberg-js", "\n".join(file.read_text() for file in files), build)


def spark():
    """Spark and the Iceberg jars."""
    python = venv("spark") / "bin" / "python"
    key = "\n".join((ICEBERG_RUNTIME, ICEBERG_GCP_BUNDLE, ICEBERG_RUNTIME_WHEEL, GCP_POM.read_text()))
    return Spark(python, _once("jars", key, _fetch_jars))


def sail():
    """A Python with Sail and its client."""
    return venv("sail") / "bin" / "python"


def venv(name):
    """The virtual environment of requirements/NAME.txt; returns its folder."""
    pins = REQUIREMENTS / f"{name}.txt"
    key = f"{sys.version}\n{pins.read_text()}"

    def build(path):
        run(sys.executable, "-m", "venv", path)
        run(path / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "-r", pins)

    return _once(name, key, build)


def _fetch_jars(path):
    path.mkdir(parents=True)
    if not _maven_copy(ICEBERG_RUNTIME, path):
        _jar_from_wheel(ICEBERG_RUNTIME_WHEEL, "iceberg-spark-runtime-*.jar", path)
    if not _maven_copy(ICEBERG_GCP_BUNDLE, path):
        # The bundle's parts: the same GCSFileIO class with Google's client unshaded beside it.
        run("mvn", "-B", "-q", "-f", GCP_POM, "dependency:copy-dependencies", f"-DoutputDirectory={path}")


def _maven_copy(artifact, path):
    argv = ["mvn", "-B", "-q", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={path}"]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"cache: Maven has no {artifact}, taking its stand-in", flush=True)
    return done.returncode == 0


def _jar_from_wheel(package, pattern, path):
    with tempfile.TemporaryDirectory(dir=path) as target:
        run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", target, package)
        for jar in Path(target).rglob(pattern):
            shutil.copy(jar, path)


def _once(name, key, build):
    """Runs `build(path)` unless that was already done for `key`; only one process builds at a time."""
    path, digest = folder() / name, hashlib.sha256(key.encode()).hexdigest()
    complete = path / ".complete"
    folder().mkdir(parents=True, exist_ok=True)
    with _lock(folder() / f"{name}.lock"):
        if complete.exists() and complete.read_text() == digest:
            return path
        began = time.monotonic()
        print(f"cache: fetching {name} into {path}", flush=True)
        shutil.rmtree(path, ignore_errors=True)
        build(path)
        complete.write_text(digest)
        print(f"cache: {name} fetched in {time.monotonic() - began:.0f} s", flush=True)
    return path


@contextlib.contextmanager
def _lock(path):
    with open(path, "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)  # the kernel lets go of it when this process ends, however it ends
        yield


def run(*argv, variables=None):
    """Runs a registry's client or a build; SystemExit with its words when it fails."""
    argv = [str(a) for a in argv]
    env = os.environ | (variables or {})
    done = subprocess.run(
        argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(argv)}\n{done.stdout}\nfailed with code {done.returncode}")

"""The engines of the matrix: where each lies, what fetches it, and what runs it."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from env import cache

FOLDER = cache.PROJECT / "tests" / "engines"
# Where Java 25 is looked for, beside the variable JAVA25_HOME.
JAVA25 = ("/usr/lib/jvm/temurin-25-jdk-amd64", "/usr/lib/jvm/java-25-openjdk-amd64")


@dataclass(frozen=True)
class Engine:
    """One column of the matrix."""

    name: str
    version: str
    run: callable
    # Puts what the engine needs into a client's own cache; raises SystemExit with the client's words.
    fetch: callable = lambda: None
    storage: str = "gcs"
    variables: dict = field(default_factory=dict)

    @property
    def folder(self):
        """Its program and its pins."""
        return FOLDER / self.name


def python(venv, script):
    """A Python program in an environment of its own."""
    return {"run": lambda: [cache.venv(venv) / "bin" / "python", FOLDER / script], "fetch": lambda: cache.venv(venv)}


def maven(folder, main, java_home=None, arguments=()):
    """A Maven project whose class path is written once and run with plain `java`."""

    def build():
        target = cache.folder() / "engines" / folder
        target.mkdir(parents=True, exist_ok=True)
        argv = ["mvn", "-B", "-q", "-f", FOLDER / folder / "pom.xml", f"-DbuildDirectory={target}", "package"]
        cache.run(*argv, variables={"JAVA_HOME": java_home()} if java_home else {})
        return target

    def command():
        target = cache.folder() / "engines" / folder
        java = Path(java_home()) / "bin" / "java" if java_home else "java"
        return [java, "-Xmx2g", *arguments, "-cp", f"{target}/classes:{target}/lib/*", main]

    return {"run": command, "fetch": build}


def java25():
    """The home of a Java 25, or SystemExit."""
    for home in (os.environ.get("JAVA25_HOME"), *JAVA25):
        if home and Path(home).exists():
            return home
    raise SystemExit("no Java 25: set JAVA25_HOME")


def cargo():
    """The iceberg-rust program, built outside the server's package."""
    target = cache.folder() / "engines" / "iceberg-rust"
    manifest = FOLDER / "iceberg-rust" / "Cargo.toml"
    cache.run("cargo", "build", "--locked", "--manifest-path", manifest, "--target-dir", target)
    return target / "debug" / "iceberg-rust-engine"


def go():
    """The iceberg-go program."""
    target = cache.folder() / "engines" / "iceberg-go"
    cache.run("go", "build", "-C", FOLDER / "iceberg-go", "-o", target / "engine", ".")
    return target / "engine"


# The open packages of the JDK that Flink and Spark reach into.
OPENS = [
    f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in ("java.lang", "java.util", "java.util.concurrent", "java.time")
]

ENGINES = [
    Engine("flink", "Flink 2.0.0, Iceberg 1.11.0", **maven("flink", "FlinkEngine", arguments=OPENS)),
    Engine("iceberg-go", "iceberg-go 0.7.0", run=lambda: [go()], fetch=go),
    Engine("iceberg-rust", "iceberg-rust 0.10.1", run=lambda: [cargo()], fetch=cargo),
]

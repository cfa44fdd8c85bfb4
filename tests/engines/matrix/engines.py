"""The engines of the matrix: where each lies, what fetches it, and what runs it."""

from collections.abc import Callable
from dataclasses import dataclass

from env import cache

from . import jdk

FOLDER = cache.PROJECT / "tests" / "engines"


@dataclass(frozen=True)
class Engine:
    """One column of the matrix."""

    name: str
    version: str
    run: Callable
    # Puts what the engine needs into a client's own cache; raises SystemExit with the client's words.
    fetch: Callable = lambda: None
    storage: str = "gcs"


def python(venv, script):
    """A Python program in an environment of its own."""
    return {"run": lambda: [cache.venv(venv) / "bin" / "python", FOLDER / script], "fetch": lambda: cache.venv(venv)}


def maven(folder, main, arguments=(), java=17, properties=()):
    """A Maven project, built with its class path beside it and run with the `java` of a JDK that is new enough."""
    target = cache.folder() / "engines" / "-".join([folder, *(p.partition("=")[2] for p in properties)])

    def build():
        target.mkdir(parents=True, exist_ok=True)
        argv = ["mvn", "-B", "-q", "-f", FOLDER / folder / "pom.xml", f"-DbuildDirectory={target}", "package"]
        cache.run(*argv, *properties, variables={"JAVA_HOME": str(jdk.home(java))})

    def run():
        command = jdk.home(java) / "bin" / "java"
        return [command, "-Xmx2g", *arguments, "-cp", f"{target}/classes:{target}/lib/*", main]

    return {"run": run, "fetch": build}


def spark4():
    """The jars of Spark 4."""
    cache.venv("spark4")
    jars = cache.folder() / "engines" / "spark4"
    pom = FOLDER / "spark" / "pom.xml"
    cache.run("mvn", "-B", "-q", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={jars}")
    return jars


def spark(python_of, jars_of):
    """The Spark program on one version of Spark."""
    script = FOLDER / "spark" / "spark_engine.py"
    return {
        "run": lambda: ["env", f"SPARK_JARS={jars_of()}", python_of(), script],
        "fetch": lambda: (python_of(), jars_of()),
    }


def go():
    """The iceberg-go program."""
    target = cache.folder() / "engines" / "iceberg-go"
    cache.run("go", "build", "-C", FOLDER / "iceberg-go", "-o", target / "engine", ".")
    return target / "engine"


def rust():
    """The iceberg-rust program."""
    target = cache.folder() / "engines" / "iceberg-rust"
    manifest = FOLDER / "iceberg-rust" / "Cargo.toml"
    cache.run(
        "cargo", "build", "--locked", "-q", "--manifest-path", manifest, variables={"CARGO_TARGET_DIR": str(target)}
    )
    return target / "debug" / "iceberg-rust-engine"


# The open packages of the JDK that Flink and Spark reach into.
OPENS = [
    f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in ("java.lang", "java.util", "java.util.concurrent", "java.time")
]

# What Trino's own launcher gives to Java, as far as its embedded server needs it.
TRINO = ["--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"]

ENGINES = [
    Engine("flink", "Flink 2.0.0, Iceberg 1.11.0", **maven("flink", "FlinkEngine", arguments=OPENS)),
    Engine("iceberg-go", "iceberg-go 0.7.0", run=lambda: [go()], fetch=go),
    Engine(
        "spark-3.5",
        "Spark 3.5.8, Iceberg 1.10.1",
        **spark(lambda: cache.spark().python, lambda: cache.spark().jars),
    ),
    Engine(
        "spark-4.0",
        "Spark 4.0.1, Iceberg 1.11.0",
        **spark(lambda: cache.venv("spark4") / "bin" / "python", spark4),
    ),
    Engine("polars", "Polars 2.1.0", **python("readers", "readers/polars_engine.py")),
    Engine("daft", "Daft 0.7.26", storage="folder", **python("readers", "readers/daft_engine.py")),
    Engine("chdb", "chDB 4.4.0", **python("readers", "readers/chdb_engine.py")),
    Engine("sail", "Sail 0.7.2", **python("readers", "readers/sail_engine.py")),
    Engine("iceberg-rust", "iceberg-rust 0.10.1", run=lambda: [rust()], fetch=rust),
    Engine("trino", "Trino 483", **maven("trino", "TrinoEngine", arguments=TRINO, java=25)),
    Engine("beam", "Beam 2.67.0, its Iceberg 1.6.1", **maven("beam", "BeamEngine", arguments=["-Dformat=2"])),
    Engine(
        "beam-newer",
        "Beam 2.67.0, Iceberg 1.9.2",
        **maven("beam", "BeamEngine", arguments=["-Dformat=3"], properties=["-Diceberg=1.9.2", "-Davro=1.12.0"]),
    ),
]

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
    # The server is closed, and the engine logs in as an identity: CATALOG_CREDENTIAL, CATALOG_TOKEN or a key file.
    login: bool = False


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


def iceberg_js():
    """The command of the iceberg-js program."""
    return ["node", FOLDER / "iceberg-js" / "engine.mjs", cache.iceberg_js()]


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


# The packages of the JDK that Flink reaches into, as its own scripts open them.
OPENS = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in (
        "java.lang",
        "java.lang.reflect",
        "java.io",
        "java.net",
        "java.nio",
        "java.text",
        "java.time",
        "java.util",
        "java.util.concurrent",
        "java.util.concurrent.atomic",
        "java.util.concurrent.locks",
        "sun.nio.ch",
    )
]

# What Trino's own launcher gives to Java, as far as its embedded server needs it.
TRINO = ["--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"]

ENGINES = [
    Engine("flink", "Flink 2.0.0, Iceberg 1.11.0", login=True, **maven("flink", "FlinkEngine", arguments=OPENS)),
    Engine("iceberg-go", "iceberg-go 0.7.0", login=True, run=lambda: [go()], fetch=go),
    Engine(
        "spark-3.5",
        "Spark 3.5.8, Iceberg 1.10.1",
        login=True,
        **spark(lambda: cache.spark().python, lambda: cache.spark().jars),
    ),
    Engine(
        "spark-4.0",
        "Spark 4.0.1, Iceberg 1.11.0",
        login=True,
        **spark(lambda: cache.venv("spark4") / "bin" / "python", spark4),
    ),
    Engine("pyiceberg", "PyIceberg 0.12.0", login=True, **python("tools", "readers/pyiceberg_engine.py")),
    Engine("duckdb", "DuckDB 1.5.5", login=True, **python("tools", "readers/duckdb_engine.py")),
    Engine("iceberg-js", "iceberg-js 1.0.0", login=True, run=iceberg_js, fetch=iceberg_js),
    Engine("curl", "curl of the system", login=True, **python("tools", "curl_engine.py")),
    Engine("polars", "Polars 2.1.0", login=True, **python("readers", "readers/polars_engine.py")),
    Engine("daft", "Daft 0.7.26", login=True, storage="folder", **python("readers", "readers/daft_engine.py")),
    Engine("chdb", "chDB 4.4.0", login=True, **python("readers", "readers/chdb_engine.py")),
    Engine("sail", "Sail 0.7.2", login=True, **python("readers", "readers/sail_engine.py")),
    Engine("iceberg-rust", "iceberg-rust 0.10.1", run=lambda: [rust()], fetch=rust),
    Engine("trino", "Trino 483", **maven("trino", "TrinoEngine", arguments=TRINO, java=25)),
    Engine("beam", "Beam 2.67.0, its Iceberg 1.6.1", **maven("beam", "BeamEngine", arguments=["-Dformat=2"])),
    Engine(
        "beam-newer",
        "Beam 2.67.0, Iceberg 1.9.2",
        **maven("beam", "BeamEngine", arguments=["-Dformat=3"], properties=["-Diceberg=1.9.2", "-Davro=1.12.0"]),
    ),
]

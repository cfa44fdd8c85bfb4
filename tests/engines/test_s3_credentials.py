"""S3 with nothing but what the catalog gives: temporary keys, and signatures. The server's own keys are sealed."""

import contextlib
import json
import os
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from env import cache, guillemot, moto, seaweed
from env.rest import Rest

CLIENT = Path(__file__).with_name("s3_client.py")
KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
MAKE_BUCKET = """
import sys, botocore.session
endpoint, key, secret = sys.argv[1:]
s3 = botocore.session.Session().create_client(
    "s3", "us-east-1", endpoint_url=endpoint, aws_access_key_id=key, aws_secret_access_key=secret)
s3.create_bucket(Bucket="lake")
"""


def run(argv, **variables):
    """Runs a program that has no credentials of its own; its output."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "GUILLEMOT_"))}
    clean |= {"AWS_EC2_METADATA_DISABLED": "true", "HOME": "/nonexistent"} | variables
    done = subprocess.run([str(a) for a in argv], env=clean, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=["seaweed", "moto"])
def store(request, tmp_path_factory):
    service = {"seaweed": seaweed, "moto": moto}[request.param]
    with service.running(tmp_path_factory.mktemp(request.param)) as store:
        python = cache.s3() / "bin" / "python"
        run([python, "-c", MAKE_BUCKET, store.endpoint, store.access_key, store.secret_key])
        yield store


@contextlib.contextmanager
def lake(folder, store, *settings):
    """A server whose warehouse is in the store; what it is reached with is set by the command line."""
    variables = {"GUILLEMOT_S3_ENDPOINT": store.endpoint, "GUILLEMOT_S3_REGION": "us-east-1"}
    variables |= {"GUILLEMOT_SECRET_KEY": KEY, "AWS_EC2_METADATA_DISABLED": "true"}
    secret = folder / "secret.json"
    secret.write_text(json.dumps({"access-key-id": store.access_key, "secret-access-key": store.secret_key}))
    database = f"sqlite://{folder}/guillemot.db"
    argv = [guillemot.binary(), "--database-url", database, "warehouse"]
    run([*argv, "create", "lake", "s3://lake/w"], **variables)
    said = run([*argv, "set", "lake", "--storage-secret", secret, *settings], **variables)
    assert store.secret_key not in said and "a secret of its own" in said
    secret.unlink()
    secrets = [store.secret_key, KEY]
    places = {"lake": "s3://lake/w"}
    with guillemot.Guillemot(folder, database, places, variables=variables, secrets=secrets) as server:
        yield server


def client(server, mode):
    argv = [cache.s3() / "bin" / "python", CLIENT, server.uri, mode]
    # PyIceberg 0.12 puts its signer anew into a store client that its threads share, and what another thread sends at
    # that moment goes out unsigned.
    found = json.loads(run(argv, PYICEBERG_MAX_WORKERS="1").splitlines()[-1])
    server.secrets |= set(found.pop("secrets"))
    return found


def test_temporary_keys_read_and_write_one_table(tmp_path, store, request):
    settings = ["--credentials", "vended-credentials", "--s3-role-arn", store.role]
    with lake(tmp_path, store, *settings) as server:
        found = client(server, "vended-credentials")
    assert found["rows"] == [1, 1, 2, 2, 3, 3]
    assert found["key"] not in (None, store.access_key)
    if "seaweed" in request.node.name:  # moto looks at no policy
        assert found["refused"] == [True] * 4


def test_signed_requests_read_and_write_one_table(tmp_path, store):
    with lake(tmp_path, store, "--credentials", "remote-signing") as server:
        found = client(server, "remote-signing")
    assert found["rows"] == [1, 1, 2, 2, 3, 3]
    assert found["key"] is None and found["io"] == "FsspecFileIO"
    assert found["refused"] == [True] * 3


def test_a_role_that_is_not_there_is_told_without_a_secret(tmp_path, store, request):
    if "moto" in request.node.name:
        return  # any role is there
    settings = ["--credentials", "vended-credentials", "--s3-role-arn", f"{store.role}-not"]
    with lake(tmp_path, store, *settings) as server:
        rest = Rest(server.uri, "lake")
        rest.ensure_namespace(["ns"])
        schema = {"type": "struct", "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}]}
        rest.call("POST", f"{rest.base}/namespaces/ns/tables", {"name": "t", "schema": schema})
        asked = urllib.request.Request(f"{server.uri}/v1/lake/namespaces/ns/tables/t")
        asked.add_header("X-Iceberg-Access-Delegation", "vended-credentials")
        with pytest.raises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(asked)
    said = refusal.value.read().decode()
    assert refusal.value.code == 500 and "the security token service refuses" in said, said
    assert store.secret_key not in said

"""Engines log in: by id and secret, by a key file in the shape of Google's, by a token of an OpenID provider."""

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg import exceptions
from pyiceberg.catalog.rest import RestCatalog

from env import guillemot, oidc

SPARK = Path(__file__).with_name("spark_logins.py")
AUDIENCE = "lake"


@pytest.fixture(scope="module")
def provider(tmp_path_factory):
    with oidc.running(tmp_path_factory.mktemp("oidc")) as provider:
        yield provider


@pytest.fixture(scope="module")
def server(provider, tmp_path_factory):
    folder = tmp_path_factory.mktemp("guarded")
    settings = folder / "guillemot.toml"
    settings.write_text(
        f"[[auth.issuer]]\nurl = '{provider.issuer}'\naudience = ['{AUDIENCE}']\nuser-claim = 'email'\n"
    )
    with guillemot.Guillemot(folder, arguments=["--config", settings], secrets=[]) as server:
        yield server


def credential_of(printed):
    return re.search(r"^credential +(\S+)$", printed, re.MULTILINE).group(1)


def connect(server, **login):
    return RestCatalog("lk", uri=server.uri, warehouse=server.warehouse, **login)


def write_and_read(catalog, namespace):
    catalog.create_namespace(namespace)
    rows = pa.table({"id": pa.array([1, 2, 3], pa.int64())})
    table = catalog.create_table((namespace, "t"), rows.schema)
    table.append(rows)
    assert catalog.load_table((namespace, "t")).scan().to_arrow() == rows


def repeat(call, seconds):
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        call()
        time.sleep(0.2)


def test_nobody_is_let_in_without_a_login(server):
    for login in ({}, {"token": "x"}):
        with pytest.raises(exceptions.UnauthorizedError):
            connect(server, **login)
    with pytest.raises(exceptions.OAuthError):
        connect(server, credential="nobody:x")


def test_pyiceberg_with_id_and_secret(server):
    credential = credential_of(server.identity("create", "pyiceberg"))
    with pytest.raises(exceptions.RESTError, match="NoSuchWarehouseException"):
        connect(server, credential=credential)  # nothing was granted: there is no warehouse to be seen
    server.grant("admin", "identity:pyiceberg")
    catalog = connect(server, credential=credential)
    write_and_read(catalog, "by_secret")
    assert "pyiceberg\tactive\tsecret\n" in server.identity("list")

    server.identity("revoke", "pyiceberg")
    # PyIceberg asks for a new token when its own is refused, and hears that there is none.
    with pytest.raises((exceptions.UnauthorizedError, exceptions.OAuthError)):
        repeat(catalog.list_namespaces, 10)
    with pytest.raises(exceptions.OAuthError):
        connect(server, credential=credential)


def test_pyiceberg_with_a_token_of_an_openid_provider_whose_key_changes(server, provider):
    server.grant("editor", f"{provider.issuer}#ann@example.com")
    server.grant("viewer", f"{provider.issuer}#bob@example.com")
    write_and_read(connect(server, token=provider.token("ann@example.com", AUDIENCE)), "by_provider")
    with pytest.raises(exceptions.UnauthorizedError, match="another audience"):
        connect(server, token=provider.token("ann@example.com", "another"))

    provider.rotate()
    token = provider.token("bob@example.com", AUDIENCE)
    server.secrets.add(token.split(".")[-1])
    time.sleep(5)  # keys that nobody knows are asked for every five seconds at most
    catalog = connect(server, token=token)
    assert catalog.table_exists(("by_provider", "t"))
    with pytest.raises(exceptions.ForbiddenError):
        catalog.drop_table(("by_provider", "t"))


def test_spark_with_id_and_secret_and_with_googles_auth_manager(server, tmp_path):
    credential = credential_of(server.identity("create", "spark"))
    key = tmp_path / "key.json"
    server.identity("create", "beam", "--google-key", key, "--token-uri", f"{server.uri}/v1/oauth/tokens")
    server.grant("editor", "identity:spark")
    server.grant("editor", "identity:beam")
    assert key.stat().st_mode & 0o777 == 0o600
    file = json.loads(key.read_text())
    assert file["type"] == "service_account"
    server.secrets |= set(file["private_key"].splitlines()[1:-1])
    argv = [os.environ["TEST_SPARK_PYTHON"], SPARK, os.environ["TEST_SPARK_JARS"]]
    argv += [server.uri, server.warehouse, credential, key]
    run = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert run.returncode == 0, run.stdout
    assert "secret reads 2 rows of google" in run.stdout
    assert "google reads 2 rows of secret" in run.stdout

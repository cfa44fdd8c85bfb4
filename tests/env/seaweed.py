"""SeaweedFS: a real store that speaks S3, gives temporary keys, and holds their session policies."""

import contextlib
import json
import shutil
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from . import cache, process

ROLE = "arn:aws:iam::000000000000:role/Lake"

# Who the catalog is to the store.
ACCESS_KEY, SECRET_KEY = "catalog", "catalog-secret-3f9a"

_S3 = {
    "identities": [
        {
            "name": "catalog",
            "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
    ]
}


def _policy(action, **more):
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": [action], **more}]}


_IAM = {
    "sts": {
        "tokenDuration": "1h",
        "maxSessionLength": "12h",
        "issuer": "seaweedfs-sts",
        "signingKey": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=",
    },
    "policy": {"defaultEffect": "Deny", "storeType": "memory"},
    "policies": [{"name": "Lake", "document": _policy("s3:*", Resource=["arn:aws:s3:::*", "arn:aws:s3:::*/*"])}],
    "roles": [
        {
            "roleName": "Lake",
            "roleArn": ROLE,
            "trustPolicy": _policy("sts:AssumeRole", Principal={"AWS": "*"}),
            "attachedPolicies": ["Lake"],
        }
    ],
}


@dataclass(frozen=True)
class Store:
    """A running store; `role` may do everything in it."""

    endpoint: str
    role: str = ROLE
    access_key: str = ACCESS_KEY
    secret_key: str = SECRET_KEY


@contextlib.contextmanager
def running(folder):
    """A store on free ports that keeps its files in `folder`."""
    folder = Path(folder)
    data = folder / "seaweed"
    data.mkdir()
    (folder / "s3.json").write_text(json.dumps(_S3))
    (folder / "iam.json").write_text(json.dumps(_IAM))
    names = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc")
    names += ("s3.port", "s3.port.grpc")
    ports = dict(zip(names, _free_ports(len(names)), strict=True))
    argv = [
        cache.s3() / "bin" / "weed",
        "-logtostderr=true",
        "server",
        f"-dir={data}",
        "-ip=127.0.0.1",
        "-filer",
        "-s3",
    ]
    argv += [f"-{name}={port}" for name, port in ports.items()]
    argv += [f"-s3.config={folder / 's3.json'}", f"-s3.iam.config={folder / 'iam.json'}", "-s3.port.iceberg=0"]
    argv += ["-volume.max=20", "-master.volumeSizeLimitMB=64", "-volume.preStopSeconds=0"]
    log = folder / "seaweed.log"
    store = process.start(argv, log, cwd=folder)
    try:
        process.wait_until(lambda: _answers(ports["s3.port"]), store, log, "SeaweedFS", seconds=90)
        time.sleep(2)  # its volumes join a moment after it answers
        yield Store(f"http://127.0.0.1:{ports['s3.port']}")
    finally:
        process.stop(store, seconds=3)
        shutil.rmtree(data, ignore_errors=True)


def _answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _free_ports(count):
    """So many ports, all held until all are known; below the range that connections are given."""
    ports, sockets = [], []
    candidate = 20000 + (time.monotonic_ns() // 1000) % 8000
    while len(ports) < count:
        candidate += 1
        held = socket.socket()
        try:
            held.bind(("127.0.0.1", candidate))
        except OSError:
            held.close()
            continue
        ports.append(candidate)
        sockets.append(held)
    for held in sockets:
        held.close()
    return ports

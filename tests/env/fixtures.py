#!/usr/bin/env python3
"""The real tables and the corrupt commits of tests/data/fixtures, as objects of the GCS emulator.

As a program it puts one table there and registers it:

    python3 tests/env/fixtures.py TABLE --uri http://127.0.0.1:8181/iceberg --warehouse NAME --gcs http://127.0.0.1:4443
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from env.cache import PROJECT
from env.gcs import Gcs
from env.rest import Rest

FOLDER = PROJECT / "tests" / "data" / "fixtures"


@dataclass(frozen=True)
class Table:
    """A table that an engine wrote."""

    name: str
    location: str
    current: str
    folder: Path

    @property
    def namespace(self):
        """The namespace of its location: the folder between the bucket and the table."""
        return [self.location.split("/")[-2]]

    def history(self):
        """Addresses of its metadata files, oldest first."""
        log = self.metadata(self.current)["metadata-log"]
        return [entry["metadata-file"] for entry in log] + [self.current]

    def metadata(self, address):
        """A metadata file, parsed."""
        return json.loads((self.folder / address.removeprefix(f"{self.location}/")).read_bytes())

    def upload(self, gcs):
        """Writes its files under its location."""
        upload(gcs, self.folder, self.location)


def tables(folder=FOLDER):
    """All tables, in the order of the index."""
    return [
        Table(t["name"], t["location"], f"{t['location']}/{t['current-metadata']}", folder / t["name"])
        for t in json.loads((folder / "tables.json").read_bytes())
    ]


def table(name, folder=FOLDER):
    """One table."""
    return next(t for t in tables(folder) if t.name == name)


def corrupt_cases(folder=FOLDER):
    """The hand-made commits on top of `t19_corrupt_base`: each case's description, by name."""
    return [json.loads(path.read_bytes()) for path in sorted((folder / "corrupt").glob("*/case.json"))]


def upload(gcs, folder, location):
    """Writes the objects of `folder`/{data,metadata} under `location`; returns their addresses."""
    written = []
    for part in ("data", "metadata"):
        for path in sorted((folder / part).rglob("*")):
            if path.is_file():
                address = f"{location}/{path.relative_to(folder)}"
                gcs.put(address, path.read_bytes())
                written.append(address)
    return written


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("--uri", required=True)
    parser.add_argument("--warehouse", required=True)
    parser.add_argument("--gcs", required=True)
    options = parser.parse_args()
    wanted = table(options.table)
    wanted.upload(Gcs(options.gcs))
    catalog = Rest(options.uri, options.warehouse)
    catalog.ensure_namespace(wanted.namespace)
    catalog.register(wanted.namespace, wanted.name, wanted.current)
    print(f"{'.'.join(wanted.namespace)}.{wanted.name}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs the Java tests beside this file, each class against a fresh Guillemot of its own.

    make compat
    python3 tests/env/run.py -- python tests/compat-java/run.py -Dtest=CatalogTest#testAppend

Arguments are passed on to Maven. Fails when a test fails, and when one is skipped that EXCLUDED does not explain.
"""

import contextlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from env import guillemot, process
from env.cache import PROJECT

HERE = Path(__file__).resolve().parent
TARGET = PROJECT / "target" / "compat-java"

# Each class, and what its server is started with besides the folder of the tests' tables.
VERIFY = "--verify-metadata-on-load"  # for testLoadTableWithMissingMetadataFile
SERVERS = {
    "CatalogTest": [VERIFY],
    "CatalogOnPostgresTest": [VERIFY],
    "ViewTest": [],
    "ViewOnPostgresTest": [],
    "FreshnessTest": [],
    "FailureTest": [],
    "FormatVersion3Test": [],
    "NamesTest": [],
    "TransactionTest": [],
    "PlanningTest": ["--plan-task-files", "3"],
}

# A namespace without levels: the REST protocol has no name for it, and Iceberg's own kit leaves these out too.
EXCLUDED = {
    "listNamespacesWithEmptyNamespace",
    "createAndDropEmptyNamespace",
    "namespacePropertiesOnEmptyNamespace",
    "listTablesInEmptyNamespace",
    "listViewsInEmptyNamespace",
}


def main(arguments):
    with contextlib.ExitStack() as running:
        scratch = process.scratch()
        running.callback(shutil.rmtree, scratch, ignore_errors=True)
        argv = ["mvn", "-B", "-ntp", "-f", HERE / "pom.xml", "test", f"-Dguillemot.target={TARGET}"]
        argv += [f"-D{name}={value}" for name, value in start_servers(scratch, running).items()]
        shutil.rmtree(TARGET / "surefire-reports", ignore_errors=True)
        code = subprocess.run([str(a) for a in argv + arguments], stdin=subprocess.DEVNULL).returncode
    return code or unexplained()


def start_servers(scratch, running):
    """Starts them all; the properties that tell the tests where they are."""
    # Tables that ask for a location get one there, and it is Java's folder for temporary files.
    places = scratch / "places"
    places.mkdir()
    settings = {"guillemot.folder": places}
    for name, more in SERVERS.items():
        folder = scratch / name
        folder.mkdir()
        database = guillemot.postgres_database(name.lower()) if "OnPostgres" in name else None
        arguments = ["--allow-prefix", f"file://{places}", *more]
        server = running.enter_context(guillemot.Guillemot(folder, database, arguments=arguments))
        settings[f"guillemot.{name}"] = server.uri
        settings[f"guillemot.{name}.warehouse"] = server.warehouses[server.warehouse].removeprefix("file://")
    return settings


def unexplained():
    """Says what ran; 1 if a test was skipped without a reason of ours."""
    ran, skipped = 0, []
    for report in sorted((TARGET / "surefire-reports").glob("TEST-*.xml")):
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            ran += 1
            if case.find("skipped") is not None:
                skipped.append(f"{case.get('classname').split('.')[-1]}.{case.get('name')}")
    print(f"compat: {ran - len(skipped)} tests passed; left out: {', '.join(skipped) or 'none'}")
    surprises = [name for name in skipped if name.split(".")[1] not in EXCLUDED]
    if surprises:
        print(f"compat: skipped without a reason: {', '.join(surprises)}")
    return int(bool(surprises))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""docs/dependencies.md names every crate of Cargo.toml, and no other."""

import re
import tomllib

from env.cache import PROJECT

DOCUMENT = (PROJECT / "docs" / "dependencies.md").read_text()


def test_every_crate_has_its_reason():
    manifest = tomllib.loads((PROJECT / "Cargo.toml").read_text())
    crates = {*manifest["dependencies"], *manifest.get("dev-dependencies", {}), *manifest.get("build-dependencies", {})}
    rows = re.findall(r"^\| (`.*?) \|", DOCUMENT, re.MULTILINE)
    explained = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert explained == crates

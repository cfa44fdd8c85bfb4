"""A JDK that is new enough for an engine, found where JDKs lie."""

import os
import re
import shutil
from pathlib import Path


def home(least):
    """The folder of a JDK of Java `least` or newer; SystemExit with what was found when there is none."""
    found = {}
    for folder in candidates():
        version = version_of(folder)
        if version is None or not (folder / "bin" / "javac").exists():
            continue
        if version >= least:
            return folder
        found[str(folder)] = version
    seen = ", ".join(f"{folder} (Java {version})" for folder, version in found.items()) or "none"
    raise SystemExit(f"needs a JDK of Java {least} or newer, set JAVA_HOME to one; found: {seen}")


def candidates():
    """JAVA_HOME, the JDK of the `java` on the PATH, and what lies in the usual folder."""
    if os.environ.get("JAVA_HOME"):
        yield Path(os.environ["JAVA_HOME"])
    command = shutil.which("java")
    if command:
        yield Path(command).resolve().parents[1]
    yield from sorted(Path("/usr/lib/jvm").glob("*"))


def version_of(folder):
    """The major version that the `release` file of a JDK tells, or None."""
    try:
        text = (folder / "release").read_text()
    except OSError:
        return None
    match = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', text, re.MULTILINE)
    return int(match[1]) if match else None

"""Every curl command of the README and the documents, as it stands there, against a fresh server."""

import os
import re
import subprocess

import pytest

from env.cache import PROJECT
from env.guillemot import Guillemot

ADDRESS = "127.0.0.1:8181"


def commands():
    """(document, command) of all fenced blocks for a shell that begin with curl; the README's come first."""
    pages = [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]
    for page in pages:
        for block in re.findall(r"^```sh\n(curl .*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                if line.strip():
                    yield page.name, line


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """Runs a command with the address of a running server, and curl failing where the server refuses."""
    home = tmp_path_factory.mktemp("curl")
    (home / ".curlrc").write_text("fail-with-body\nsilent\nshow-error\n")
    with Guillemot() as server:
        address = re.search(r"//([^/]+)", server.uri).group(1)

        def run(command):
            assert ADDRESS in command, "it names another address"
            argv = ["sh", "-ec", command.replace(ADDRESS, address)]
            return subprocess.run(argv, env=os.environ | {"CURL_HOME": str(home)}, capture_output=True, text=True)

        yield run


def test_there_are_examples():
    assert {"README.md", "durable-work.md"} <= {page for page, _ in commands()}


@pytest.mark.parametrize(("page", "command"), list(commands()))
def test_the_command_works(shell, page, command):
    done = shell(command)
    assert done.returncode == 0, f"{page}: {done.stdout}{done.stderr}"

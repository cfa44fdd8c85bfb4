"""Google's token services and its storage behind a guard, as far as vended credentials meet them.

The token services give tokens for a short time; the guard stands in front of the GCS emulator and lets in who has one
that is not over, for objects that it is good for. That is what Google itself does, and the emulator does not.
"""

import base64
import contextlib
import http.client
import json
import re
import subprocess
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LIFETIME_S = 60


class Google:
    """What was given and what was let in; `guard` is the address of the storage, `url` of the token services."""

    def __init__(self, gcs_url):
        self.gcs = urllib.parse.urlsplit(gcs_url)
        self.base = f"ya29.of-everything-{time.time_ns()}"  # the token of the service account
        self.given = {}  # token -> (when it is over, the beginning of the names that it is good for)
        self.used = set()
        self.refused = []
        self.lock = threading.Lock()
        self.url = self.guard = None

    @property
    def sts_url(self):
        """Where tokens are exchanged."""
        return f"{self.url}/v1/token"

    @property
    def token_url(self):
        """Where service accounts get tokens."""
        return f"{self.url}/token"

    def key_file(self):
        """A service account's key file, with a key of its own."""
        argv = ["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
        pem = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
        return {
            "type": "service_account",
            "project_id": "p",
            "private_key_id": "k1",
            "private_key": pem,
            "client_email": "lake@p.iam.gserviceaccount.com",
        }


@contextlib.contextmanager
def running(gcs_url):
    """Both, on free ports."""
    google, servers = Google(gcs_url), []
    for name, handler in (("url", Tokens), ("guard", Guard)):
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads, server.google = True, google
        threading.Thread(target=server.serve_forever, daemon=True).start()
        setattr(google, name, f"http://127.0.0.1:{server.server_port}")
        servers.append(server)
    try:
        yield google
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()


class Handler(BaseHTTPRequestHandler):
    """What both have in common."""

    protocol_version = "HTTP/1.1"

    def _body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if not any(name.lower() == "content-length" for name, _ in headers):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        """Silent: the tests say what went wrong."""


class Tokens(Handler):
    """The token services."""

    def do_POST(self):
        """A token for a service account, or one for a token."""
        google, form = self.server.google, dict(urllib.parse.parse_qsl(self._body().decode()))
        if self.path == "/token":
            json.loads(base64.urlsafe_b64decode(form["assertion"].split(".")[1] + "=="))
            token, lifetime = google.base, 3600
        else:
            assert form["subject_token"] == google.base
            first = json.loads(form["options"])["accessBoundary"]["accessBoundaryRules"][0]
            name = re.match(r"resource\.name\.startsWith\('([^']+)'\)", first["availabilityCondition"]["expression"])
            with google.lock:
                token, lifetime = f"ya29.of-one-table-{len(google.given) + 1}.", LIFETIME_S
                google.given[token] = (time.time() + lifetime, name.group(1))
        reply = {"access_token": token, "token_type": "Bearer", "expires_in": lifetime}
        self._answer(200, json.dumps(reply).encode(), [("Content-Type", "application/json")])


class Guard(Handler):
    """The way to the emulator."""

    def _pass(self):
        google, body = self.server.google, self._body()
        refusal = self._refusal(google)
        if refusal:
            with google.lock:
                google.refused.append(f"{self.command} {self.path}: {refusal}")
            self._answer(401, json.dumps({"error": {"code": 401, "message": refusal}}).encode())
            return
        connection = http.client.HTTPConnection(google.gcs.netloc, timeout=60)
        skipped = ("host", "authorization", "connection", "transfer-encoding", "content-length", "accept-encoding")
        headers = {name: value for name, value in self.headers.items() if name.lower() not in skipped}
        connection.request(self.command, self.path, body or None, headers | {"Host": google.gcs.netloc})
        answer = connection.getresponse()
        text = answer.read()
        emulator, kept = google.gcs.geturl(), []
        for name, value in answer.getheaders():
            if name.lower() == "content-length" and self.command != "HEAD":
                continue
            if name.lower() not in ("connection", "transfer-encoding", "date"):
                kept.append((name, value.replace(emulator, google.guard)))  # where an upload goes on
        self._answer(answer.status, text, kept)
        connection.close()

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = do_PATCH = _pass

    def _refusal(self, google):
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        with google.lock:
            expires, prefix = google.given.get(token, (0, ""))
            google.used.add(token)
        if not prefix:
            # The end of an upload that was begun with a token goes by its name alone.
            return None if "upload_id=" in self.path else f"no token that was given here: {token[:8]!r}"
        if time.time() > expires:
            return f"token {token} is over"
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        match = re.match(r"(?:/upload|/download)?/storage/v1/b/([^/]+)/o(?:/([^/?]+))?$", url.path)
        bucket, name = match.groups() if match else ("", None)
        name = urllib.parse.unquote(name) if name else query.get("name", query.get("prefix", ""))
        if "upload_id" not in query and not f"projects/_/buckets/{bucket}/objects/{name}".startswith(prefix):
            return f"token {token} is good for {prefix}, not for {bucket}/{name}"
        return None

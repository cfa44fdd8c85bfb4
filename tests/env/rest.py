"""A few calls of the Iceberg REST protocol, without any engine."""

import json
import urllib.error
import urllib.parse
import urllib.request

SEPARATOR = "\x1f"


class Refused(Exception):
    """An answer of 400 or more."""

    def __init__(self, status, body):
        self.status = status
        self.error = _error(body)
        self.message = self.error.get("message", body)
        super().__init__(f"{status} {self.error.get('type', '')}: {self.message}")

    @property
    def rules(self):
        """Ids of the validation rules that the commit broke."""
        return [v.get("rule") for v in self.error.get("violations") or []]


def _error(body):
    try:
        return json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        return {}


def oauth_token(uri, client, secret):
    """A token of the catalog at `uri` for an id and its secret."""
    form = {"grant_type": "client_credentials", "client_id": client, "client_secret": secret}
    data = urllib.parse.urlencode(form).encode()
    with urllib.request.urlopen(f"{uri}/v1/oauth/tokens", data=data, timeout=30) as answer:
        return json.loads(answer.read())["access_token"]


class Rest:
    """One warehouse of a catalog at `uri` (the part before `/v1`)."""

    def __init__(self, uri, warehouse, token=None):
        self.uri, self.token = uri.rstrip("/"), token
        config = self.call("GET", f"/v1/config?{urllib.parse.urlencode({'warehouse': warehouse})}")
        prefix = (config["defaults"] | config["overrides"]).get("prefix", "")
        self.base = f"/v1/{prefix}".rstrip("/")

    def call(self, method, path, body=None):
        """Sends one request; the parsed answer, or None when it has no body. Raises Refused."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.uri + path, data=data, method=method)
        request.add_header("Content-Type", "application/json")
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                text = answer.read()
        except urllib.error.HTTPError as e:
            raise Refused(e.code, e.read().decode(errors="replace")) from None
        return json.loads(text) if text else None

    def ensure_namespace(self, namespace):
        """Creates a namespace unless it is there."""
        try:
            self.call("POST", f"{self.base}/namespaces", {"namespace": namespace})
        except Refused as e:
            if e.status != 409:
                raise

    def register(self, namespace, name, metadata_location):
        """Makes a table of an existing metadata file."""
        body = {"name": name, "metadata-location": metadata_location}
        return self.call("POST", f"{self.base}/namespaces/{_path(namespace)}/register", body)

    def load(self, namespace, name):
        """The table's LoadTableResult."""
        return self.call("GET", self._table(namespace, name))

    def commit(self, namespace, name, request):
        """Commits to one table."""
        return self.call("POST", self._table(namespace, name), request)

    def drop(self, namespace, name):
        """Drops a table and leaves its files."""
        return self.call("DELETE", f"{self._table(namespace, name)}?purgeRequested=false")

    def _table(self, namespace, name):
        return f"{self.base}/namespaces/{_path(namespace)}/tables/{urllib.parse.quote(name, safe='')}"


def _path(namespace):
    return urllib.parse.quote(SEPARATOR.join(namespace), safe="")

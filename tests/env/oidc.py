"""An OpenID provider of the test's own."""

import base64
import contextlib
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from . import cache, process

SCRIPT = Path(__file__).with_name("oidc_provider.py")
REDIRECT = "http://127.0.0.1/back"


class Oidc:
    """A running provider; `issuer` is what its tokens call it."""

    def __init__(self, issuer):
        self.issuer = issuer

    def token(self, user, client):
        """An ID token of a user for a client, by the code flow, as a browser would do it."""
        query = {"client_id": client, "redirect_uri": REDIRECT, "response_type": "code", "scope": "openid email"}
        url = f"{self.issuer}/oauth2/authorize?{urllib.parse.urlencode(query)}"
        back = _post(url, {"sub": user}).headers["Location"]
        (code,) = urllib.parse.parse_qs(urllib.parse.urlsplit(back).query)["code"]
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT}
        basic = base64.b64encode(f"{client}:any".encode()).decode()
        answer = _post(f"{self.issuer}/oauth2/token", form, {"Authorization": f"Basic {basic}"})
        return json.loads(answer.read())["id_token"]

    def rotate(self):
        """Signs with a new key from now on, and publishes that one alone."""
        _post(f"{self.issuer}/rotate", {})


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def _post(url, form, headers=()):
    request = urllib.request.Request(url, urllib.parse.urlencode(form).encode(), dict(headers), method="POST")
    try:
        return urllib.request.build_opener(_NoRedirect).open(request, timeout=30)
    except urllib.error.HTTPError as e:
        if e.code in (302, 303):
            return e
        raise AssertionError(f"{url}: {e.code} {e.read().decode(errors='replace')}") from None


@contextlib.contextmanager
def running(folder):
    """Starts a provider and stops it."""
    log = Path(folder) / "oidc.log"
    provider = process.start([cache.oidc() / "bin" / "python", SCRIPT], log)
    try:
        said = process.wait_until(
            lambda: re.search(rb"serving on port (\d+)", log.read_bytes()), provider, log, "the OpenID provider"
        )
        yield Oidc(f"http://127.0.0.1:{said.group(1).decode()}")
    finally:
        process.stop(provider)

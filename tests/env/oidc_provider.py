"""Runs `oidc-provider-mock` on a free port, by the Python of its own environment, and prints the port.

POST /rotate    signs with a new key from now on, and publishes that one alone
"""

import flask
import oidc_provider_mock
import werkzeug.serving
from authlib import jose


def main():
    app = oidc_provider_mock.app()

    @app.post("/rotate")
    def rotate():
        flask.g.oidc_provider_mock_storage.jwk = jose.RSAKey.generate_key(is_private=True)
        return "rotated\n"

    server = werkzeug.serving.make_server("127.0.0.1", 0, app, threaded=True)
    print(f"serving on port {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

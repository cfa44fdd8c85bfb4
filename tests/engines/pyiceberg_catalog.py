"""PyIceberg, connected."""

import time

from pyiceberg.catalog.rest import RestCatalog


def connect(lake):
    """A PyIceberg catalog on a lake; it logs in where the lake has a credential."""
    properties = {"credential": lake.credential} if getattr(lake, "credential", None) else {}
    if lake.gcs:
        # PyArrow asks for credentials unless it is given a token; the emulator looks at none.
        expires = str(int(time.time() * 1000) + 86_400_000)
        properties |= {"gcs.oauth2.token": "any", "gcs.oauth2.token-expires-at": expires, "gcs.service.host": lake.gcs}
    return RestCatalog("lk", uri=lake.uri, warehouse=lake.warehouse, **properties)

"""Where the lake is, as the matrix says it; and a PyIceberg catalog on it."""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

URI, WAREHOUSE = os.environ["CATALOG_URI"], os.environ["CATALOG_WAREHOUSE"]
GCS, XML = os.environ["GCS_URL"], os.environ["XML_ENDPOINT"]


def pyiceberg():
    """A catalog; the emulator looks at no token, but PyArrow asks for one."""
    from pyiceberg.catalog.rest import RestCatalog

    expires = str(int(time.time() * 1000) + 86_400_000)
    properties = (
        {"gcs.oauth2.token": "any", "gcs.oauth2.token-expires-at": expires, "gcs.service.host": GCS} if GCS else {}
    )
    return RestCatalog("lk", uri=URI, warehouse=WAREHOUSE, **properties)

"""moto, a stand-in for Amazon: S3 and its token service as Amazon words them. It looks at no policy."""

import contextlib
import socket

from . import cache, process
from .seaweed import Store


@contextlib.contextmanager
def running(folder):
    """Serves on a free port."""
    port, log = process.free_port(), folder / "moto.log"
    server = process.start([cache.s3() / "bin" / "moto_server", "-H", "127.0.0.1", "-p", str(port)], log)
    try:
        process.wait_until(lambda: _answers(port), server, log, "moto", seconds=60)
        yield Store(f"http://127.0.0.1:{port}")
    finally:
        process.stop(server, seconds=3)


def _answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False

"""Lets half of the requests name what run.py made, where random names would only ever find nothing."""

import zlib

import schemathesis

# What takes something away, or switches it off, is pointed at something else: the rest is to stay for the others.
TAKES_AWAY = {"dropTable", "unregisterTable", "dropView", "dropNamespace", "deleteWarehouse", "updateWarehouse"}
KNOWN = {
    "prefix": ["known", "lake"],
    "namespace": ["known"],
    "table": ["v1", "v2", "v3", "t02_partitioned", "t13_eqdelete"],
    "view": ["view"],
    "warehouse": ["known"],
}


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """Swaps names for known ones: which, the name itself decides, so that a seed says it all."""
    if not isinstance(path_parameters, dict):
        return path_parameters
    operation = context.operation.definition.raw.get("operationId")
    for name, value in path_parameters.items():
        choice = zlib.crc32(f"{name} {value}".encode(errors="replace"))
        if name in KNOWN and choice % 4 and not (operation in TAKES_AWAY and name not in ("prefix", "namespace")):
            path_parameters[name] = KNOWN[name][choice // 4 % len(KNOWN[name])]
    return path_parameters

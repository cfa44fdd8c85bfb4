"""What BigQuery takes for the four parts of `project.catalog.namespace.table`, by its documentation of names."""

import re
import unicodedata

MOST_BYTES = 1024
# Letters, marks, numbers, connectors, dashes, spaces.
IN_TABLES = {"L", "M", "N", "Pc", "Pd", "Zs"}


def objections(project, catalog, namespace, table):
    """Why BigQuery could not name a table so; nothing where it can. `namespace` is a list of levels."""
    found = []
    if not re.fullmatch(r"[a-z][a-z0-9-]{4,28}[a-z0-9]", project):
        found.append(f"project {project}: 6 to 30 small letters, digits and dashes")
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{1,61}[a-z0-9]", catalog):
        found.append(f"catalog {catalog}: the name of a bucket without dots")
    if len(namespace) != 1:
        found.append(f"namespace {'.'.join(namespace)}: one level")
    elif not re.fullmatch(r"[A-Za-z0-9_]+", namespace[0]) or len(namespace[0]) > MOST_BYTES:
        found.append(f"namespace {namespace[0]}: letters, digits and underscores")
    kinds = [unicodedata.category(letter) for letter in table]
    if not table or len(table.encode()) > MOST_BYTES or not all(k in IN_TABLES or k[0] in IN_TABLES for k in kinds):
        found.append(f"table {table}: letters, marks, numbers, connectors, dashes and spaces, 1024 bytes at most")
    return found

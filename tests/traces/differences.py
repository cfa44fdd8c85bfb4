"""Where our replies differ from the recorded ones, and why that is right."""

import re

NO_BODY = "the specification says 204 where there is no body; the reference's adapter answers 200"
STALE = "what is stale is a conflict, and clients try again; the reference answered 400 until 2026-03"
ONE_TYPE = "every refusal of a commit's content is a BadRequestException"
AFTER = "follows from an exchange before it that was rightly refused"

# (flow, request line, difference): patterns; the first row that fits gives the reason.
DIFFERENCES = [
    (".", "^(HEAD|DELETE) |/(metrics|rename|commit)$", "^status 200 -> 204$", NO_BODY),
    (
        ".",
        "^GET .*/(namespaces|tables)",
        "^without next-page-token$",
        "there is no next page, so no token is sent; the reference sends null",
    ),
    (".", "^(GET|POST) .*/tables", "^with config$", "tells clients where the emulator is"),
    (".", "^GET /v1/config", "^with idempotency-key-lifetime$", "the reference knows no idempotency keys"),
    (
        "duckdb",
        "^POST .*/tables$",
        r"^with metadata.partition-specs\[\].type$",
        "DuckDB sends it, and members that are not known are kept",
    ),
    (
        "error-bodies",
        "^POST .*/mytable_v3$",
        "^status 400 -> 200$",
        "the same snapshot sent again is answered as before, and changes nothing",
    ),
    (
        "error-bodies",
        "^POST .*/mytable_v3$",
        "^status 400 -> 409 CommitFailedException Validation failed, please retry: ",
        STALE,
    ),
    (
        "error-bodies|spark-errors",
        "^POST ",
        "^type (Validation|IllegalArgument)Exception -> BadRequestException$",
        ONE_TYPE,
    ),
    (
        "error-bodies",
        "^GET /v1/nothing",
        "^status 400 -> 404 NotFoundException no route",
        "what is not served is not found",
    ),
    (
        "spark-errors",
        "^POST .*/dv/tables$",
        "^status 200 -> 400 .*Unsupported format version: v4$",
        "version 4 is no released format",
    ),
    ("spark-errors", "^DELETE .*/t4$", "^status 200 -> 404 ", AFTER),
    (
        "spark-t11_ctas_rtas_view",
        "^POST .*/t11_ctas/metrics$",
        "^status 200 -> 404 ",
        "the report comes before the commit that creates its table; the reference takes reports on nothing",
    ),
    (
        "spark-t06_wap",
        "^POST .*/t06_wap$",
        "^status 200 -> 400 .*before the snapshot log's last entry",
        "the recorded snapshot is old by now, and the log's last entry has today's time",
    ),
    (
        "duckdb-1.5.3",
        "^POST .*/commit$",
        "^status 200 -> 400 .*breaks rule dv-out-of-bounds",
        "the commit is corrupt: DuckDB 1.5.3 wrote a Puffin file that no other engine can read",
    ),
    (
        "duckdb-1.5.3",
        "^POST .*/commit$",
        "^status 200 -> 409 CommitFailedException Requirement failed: branch main",
        AFTER,
    ),
    ("duckdb-1.5.3", "^GET .*/t$", r"^without metadata.snapshots\[\].parent-snapshot-id$", AFTER),
]
FITTED = []


def explained(flow, recorded, difference):
    """The reason of a difference, or None."""
    request = f"{recorded['method']} {recorded['path'].split('?')[0]}"
    for row in DIFFERENCES:
        where, what, how, reason = row
        if re.search(where, flow) and re.search(what, request) and re.search(how, difference):
            FITTED.append(row)
            return f"({reason})"
    return None

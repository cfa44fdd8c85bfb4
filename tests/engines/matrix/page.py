"""The matrix as text, and as the generated part of docs/engines.md."""

from env.cache import PROJECT

from .steps import COUNT, HISTORIES, MARKS, STEPS

PAGE = PROJECT / "docs" / "engines.md"
BEGIN, END = "<!-- generated from here by: make engines-page -->", "<!-- to here -->"


def text(lines):
    """For a terminal: one line an engine x step."""
    return "\n".join(
        f"{line['engine']:<12} {line['step']:<30} {MARKS[line['result']]:<10} {line['message']}".rstrip()
        for line in lines
    )


def matrix(lines):
    """For a terminal: all engines, and the rows that they count."""
    engines = sorted({line["engine"] for line in lines})
    cells = {(line["engine"], line["step"]): line for line in lines}
    return f"{aligned(*grid(engines, cells, STEPS))}\n\n{aligned(*counts(engines, cells))}"


def rewritten(lines, page=PAGE):
    """The page with its generated part made anew."""
    head, _, rest = page.read_text().partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{markdown(lines)}\n{END}{tail}"


def markdown(lines):
    """Versions, the matrix, the counts, and every message."""
    engines = sorted({line["engine"] for line in lines})
    cells = {(line["engine"], line["step"]): line for line in lines}
    versions = {line["engine"]: line["version"] for line in lines}
    parts = [table(["engine", "version measured"], [[e, versions[e]] for e in engines])]
    parts.append("### Steps")
    parts.append(table(*grid(engines, cells, STEPS)))
    parts.append("### Rows after the same history")
    parts.append(table(*counts(engines, cells)))
    parts.append("### What the engines said")
    parts.append(messages(lines))
    return "\n\n".join(parts) + "\n"


def grid(engines, cells, steps):
    """Head and rows: steps down, engines across."""
    rows = [
        [title, *(MARKS[cells[e, step]["result"]] if (e, step) in cells else "" for e in engines)]
        for step, title in steps.items()
    ]
    return ["step", *engines], rows


def counts(engines, cells):
    """Head and rows: the live rows of each history as each reader counts them."""
    readers = [e for e in engines if any((e, COUNT + name) in cells for name in HISTORIES)]
    rows = []
    for name, live in HISTORIES.items():
        row = [name, str(live)]
        for engine in readers:
            cell = cells.get((engine, COUNT + name))
            row.append("" if cell is None else cell["message"] if cell["result"] == "pass" else MARKS[cell["result"]])
        rows.append(row)
    return ["history", "live rows", *readers], rows


def messages(lines):
    """Everything that is not a plain pass, in the engine's own words; the steps that have the same words together."""
    said = {}
    for line in lines:
        if line["message"] and not (line["step"].startswith(COUNT) and line["result"] == "pass"):
            said.setdefault((line["engine"], line["result"], line["message"]), []).append(line["step"])
    return "\n".join(
        f"- {engine}, {', '.join(steps)}, {MARKS[result]}: {cell(message)}"
        for (engine, result, message), steps in said.items()
    )


def aligned(head, rows):
    """Columns of equal width, for a terminal."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in [head, *rows])
    return "\n".join(line.rstrip() for line in lines)


def table(head, rows):
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(cell, line)) + " |" for line in lines)


def cell(value):
    """Text that cannot break out of its cell."""
    return " ".join(value.replace("|", "\\|").replace("<", "&lt;").split())

#!/usr/bin/env python3
"""Writes what the documents say of GDN forward from benchmarks/results/forward_h200.json: the chart docs/forward_h200.svg,
the tables of docs/forward_h200.md and the paragraph of README.md, both between the lines `<!-- forward -->` and
`<!-- end of forward -->`.

    report.py            writes all three
    report.py --check    writes nothing; exit status 1 when a committed file differs from what the record gives
    report.py --root DIR another checkout
"""
import argparse
import difflib
import json
import pathlib
import sys

from chart import draw
from forward_rows import OURS, Forward, title

BEGIN, END = "<!-- forward -->", "<!-- end of forward -->"
RECORD = "benchmarks/results/forward_h200.json"
CHART = "docs/forward_h200.svg"
TABLES = "docs/forward_h200.md"


def milliseconds(row, name):
    if row.times.get(name) is not None:
        return f"{row.times[name]:.3f}"
    return "failed" if name in row.failed else "-"


def table(forward, rows):
    head = ["lengths", title(OURS) + ", ms", *(title(name) + ", ms" for name in forward.peers), "speed-up", "tensor", "memory"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in rows:
        shares = [f"{100 * row.share[limit]:.0f} %" for limit in ("tensor", "memory")] if row.share else ["-", "-"]
        speedup = f"{1 / row.ratio:.2f}" if row.ratio else "-"
        lines.append("| " + " | ".join([row.lens, *(milliseconds(row, name) for name in (OURS, *forward.peers)), speedup, *shares]) + " |")
    return lines


def tables(forward):
    lines = [f"{forward.origin()}.", "", forward.summary()]
    for (heads, dtype), rows in forward.groups().items():
        lines += ["", f"### ({heads[0]}, {heads[1]}), {dtype}", "", *table(forward, rows)]
    return "\n".join(lines)


def paragraph(forward):
    return f"![Time of GDN forward over that of the fastest peer]({CHART})\n\n{forward.summary()} ({forward.origin()}; [all numbers]({TABLES}))"


def between(document, text):
    """The document with what lies between its markers replaced."""
    before, mark, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise SystemExit(f"report.py: the lines {BEGIN} and {END} are missing")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def outputs(root):
    """{file: text} from the record."""
    forward = Forward(json.loads((root / RECORD).read_text(encoding="utf-8")))
    inside = {TABLES: tables(forward), "README.md": paragraph(forward)}
    written = {file: between((root / file).read_text(encoding="utf-8"), text) for file, text in inside.items()}
    return {CHART: draw(forward), **written}


def differs(root, file, text):
    old = (root / file).read_text(encoding="utf-8") if (root / file).exists() else ""
    lines = difflib.unified_diff(old.splitlines(), text.splitlines(), file, f"from {RECORD}", lineterm="", n=1)
    shown = list(lines)[:20]
    print("\n".join(shown), end="\n" if shown else "")
    return bool(shown)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--check", action="store_true")
    ap.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    a = ap.parse_args()
    texts = outputs(a.root)
    if a.check:
        if any([differs(a.root, file, text) for file, text in texts.items()]):
            print("the documents do not say what the record does: run benchmarks/report.py and commit the result", file=sys.stderr)
            return 1
        return 0
    for file, text in texts.items():
        (a.root / file).write_text(text, encoding="utf-8")
        print(f"wrote {file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

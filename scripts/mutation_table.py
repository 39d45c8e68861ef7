"""Writes the tables of docs/mutation.md from what `tilewright mutate ... --json FILE` wrote.

    mutation_table.py docs/mutation.md FILE...

Replaces what lies between the lines `<!-- tables -->` and `<!-- end of tables -->`.
"""
import collections
import json
import pathlib
import sys

BEGIN, END = "<!-- tables -->", "<!-- end of tables -->"
COLUMNS = ("verifier", "simulator", "nobody", "equivalent")


def column(mutant: dict) -> str:
    if mutant["found_by"] == "nobody":
        return "equivalent" if mutant["equivalent"] else "nobody"
    return "verifier" if mutant["found_by"] == "verifier" else "simulator"


def score(count: collections.Counter) -> str:
    found = count["verifier"] + count["simulator"]
    tried = found + count["nobody"]
    return f"{100 * found / tried:.1f} %" if tried else "-"


def row(name: str, count: collections.Counter) -> str:
    return f"| {name} | {sum(count[c] for c in COLUMNS)} | " + " | ".join(str(count[c]) for c in COLUMNS) + f" | {score(count)} |"


def table(title: str, counts: dict[str, collections.Counter]) -> list[str]:
    total = sum(counts.values(), collections.Counter())
    head = [f"| {title} | mutants | verifier | simulator | nobody | equivalent | found |", "|---|---|---|---|---|---|---|"]
    return head + [row(name, count) for name, count in counts.items()] + [row("all", total)]


def main(document: pathlib.Path, files: list[str]) -> None:
    runs = [json.loads(pathlib.Path(file).read_text(encoding="utf-8")) for file in files]
    mutants = [m for run in runs for m in run["mutants"]]
    kernels: dict[str, collections.Counter] = {}
    kinds: dict[str, collections.Counter] = {}
    for m in mutants:
        kernels.setdefault(f"`{m['kernel']}`", collections.Counter())[column(m)] += 1
        kinds.setdefault(f"`{m['kind']}`", collections.Counter())[column(m)] += 1
    alarms = [a for run in runs for a in run["false_alarms"]]
    schedules = sorted({run["schedules"] for run in runs})
    lines = [f"Schedules: {', '.join(map(str, schedules))}. False alarms on the unspoilt kernels: {len(alarms)}.", ""]
    lines += table("kernel", kernels) + [""] + table("kind", dict(sorted(kinds.items())))
    reasons: dict[str, collections.Counter] = {}
    for m in mutants:
        if column(m) == "equivalent":
            reasons.setdefault(m["equivalent"], collections.Counter())[f"`{m['kernel'].split()[0]}` {m['kind']}"] += 1
    lines += ["", "| equivalent mutants | because |", "|---|---|"]
    lines += [f"| {', '.join(name + (f' ({n})' if n > 1 else '') for name, n in which.items())} | {reason} |" for reason, which in reasons.items()]
    open_ones = [m for m in mutants if column(m) == "nobody"]
    if open_ones:
        lines += ["", "Found by nobody:", ""]
        lines += [f"- `{m['kernel']}`: `{m['kind']}` at {m['place']} ({m['what']})" for m in open_ones]
    text = document.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    document.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after, encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])

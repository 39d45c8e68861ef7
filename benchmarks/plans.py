#!/usr/bin/env python3
"""Times GDN forward by the planner's own plan and by fixed ones, in turns, and says how far the planner is from the best.

    plans.py --heads 2x8,8x24 --lens 32768 8192 28672+4096 --json out.json

A row has the heads, the lens, the median time of each plan in ms ("auto", "off": whole chains, "4": four segments of every
chain, ...), the best of them, ratio = auto / best, the rounds that the medians are of, and what `tilewright plan` says of
the planner's. A round runs all plans; rows whose ratio is above --bar get --more rounds. Times are those of
`tilewright bench`. Exit status 1 where a ratio stays above. The command is the one beside the library (capi.py).
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

import capi

AUTO = "auto"


def command():
    return str(pathlib.Path(capi.library_path()).with_name("tilewright"))


def output_of(*arguments):
    done = subprocess.run([command(), *arguments], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"tilewright {' '.join(arguments)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def times(heads, lens, plan):
    """Milliseconds for each of `lens`."""
    rows = json.loads(output_of("bench", "gdn-forward", "--heads", heads, "--lens", *lens, "--cp", plan, "--json"))["rows"]
    return {row["lens"]: row["ms"] for row in rows}


def summary(heads, lens):
    """The head of what `tilewright plan` prints: the form, the costs, the estimate and the items, without the course."""
    lines = output_of("plan", "gdn-forward", "--heads", heads, "--lens", lens).splitlines()
    return [line.strip() for line in lines[:4]]


def measure(heads, lens, plans, rounds, more, bar):
    """A row for each of `lens`."""
    found = {length: {plan: [] for plan in plans} for length in lens}

    def run(lens, rounds):
        for _ in range(rounds if lens else 0):
            for plan in plans:
                for length, ms in times(heads, lens, plan).items():
                    found[length][plan].append(ms)

    def row(length):
        ms = {plan: round(statistics.median(values), 4) for plan, values in found[length].items()}
        best = min(ms, key=ms.get)
        return dict(heads=heads, lens=length, ms=ms, best=best, ratio=round(ms[AUTO] / ms[best], 3), rounds=len(found[length][AUTO]))

    run(lens, rounds)
    run([length for length in lens if row(length)["ratio"] > bar], more)
    for length in lens:
        yield row(length) | dict(plan=summary(heads, length))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--heads", default="2x8,4x16,8x24,8x32", help="key x value heads, several with commas")
    ap.add_argument("--lens", nargs="+", default=["32768", "8192", "2048", "28672+4096", "8192x4"])
    ap.add_argument("--plans", default="off,4,8,16,32", help="fixed plans, with commas")
    ap.add_argument("--rounds", type=int, default=1)
    ap.add_argument("--more", type=int, default=4, help="further rounds for rows above --bar")
    ap.add_argument("--bar", type=float, default=1.05, help="largest ratio that passes")
    ap.add_argument("--json")
    a = ap.parse_args()
    rows = []
    for heads in a.heads.split(","):
        for row in measure(heads, a.lens, [AUTO, *a.plans.split(",")], a.rounds, a.more, a.bar):
            rows.append(row)
            print(f"{row['heads']:>6} {row['lens']:<12} {row['ratio']:.3f}  best {row['best']:<4} "
                  + "  ".join(f"{plan} {ms:.4f}" for plan, ms in row["ms"].items()), flush=True)
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if all(row["ratio"] <= a.bar for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs a benchmark and writes what it measured, with where and on what, to results/NAME.json.

    record.py forward_h200 -- peers.py --peers flashinfer --module ours.py --heads 16x64 --lens 8192x4 4096x8 --verify
    record.py gemm_h200 -- gemm_vs_torch.py
    record.py forward_h200 --merge part1.json part2.json

The benchmark is a script of this folder; `--json FILE` is added to its arguments. The record is {commit, card, driver,
date, versions, command, rows}. An older record of the same name is kept as NAME_DATE.json (its own date).
--commit names the commit where the checkout has no git (a copy on another machine); --results another folder.
--merge makes one record of several, of one commit on one card with the same versions; what was measured beside each
other stays together, so no two of them may hold the same row. It has "parts" (date, command, number of rows) instead
of the command.
"""
import argparse
import datetime
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import ceilings

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = {"torch": "torch", "triton": "triton", "flashinfer": "flashinfer-python", "flash_qla": "flash-qla",
            "fla": "flash-linear-attention"}


def output_of(*command):
    """First line that the command prints, or None where it is missing or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=HERE, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else None


def commit():
    """The commit of the checkout, with "+changes" where files differ from it."""
    sha = output_of("git", "rev-parse", "HEAD")
    if sha is None:
        return None
    return sha + ("+changes" if output_of("git", "status", "--porcelain", "--untracked-files=no") else "")


def versions():
    found = {"python": sys.version.split()[0]}
    for name, package in PACKAGES.items():
        try:
            found[name] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    try:
        import torch

        found["torch_cuda"] = torch.version.cuda
    except ImportError:
        pass
    try:
        import capi

        found["tilewright"] = capi.version()
    except (OSError, AttributeError):
        pass  # no library: a record of the peers alone
    return found


def card():
    """(name, driver) of the first GPU as nvidia-smi says, or None twice."""
    line = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    return [part.strip() for part in line.split(",")] if line else [None, None]


def keep_older(path):
    """Moves an existing record to a name with its date."""
    if not path.exists():
        return
    date = json.loads(path.read_text()).get("date", "undated")
    stamp = "".join(c for c in date if c.isdigit() or c in "T-")
    path.rename(path.with_name(f"{path.stem}_{stamp}.json"))


class Mismatch(RuntimeError):
    """Records that cannot become one."""


def identity(row):
    """What a row measures, without what was found."""
    return {key: row[key] for key in ("dir", "check", "hq", "hv", "lens", "dtype", "shape") if key in row}


def merge(parts):
    """One record of several, given as {name: record}. Throws Mismatch, which names the parts and what differs."""
    (first_name, first), *others = parts.items()
    for name, part in others:
        for key in ("commit", "card", "driver", "versions"):
            if part.get(key) != first.get(key):
                raise Mismatch(f"{name}: {key} is {part.get(key)}, expected {first.get(key)} as in {first_name}")
    owner = {}
    for name, part in parts.items():
        for row in part["rows"]:
            key = json.dumps(identity(row), sort_keys=True)
            if key in owner:
                raise Mismatch(f"{name}: the row {key} is in {owner[key]}, too")
            owner[key] = name
    records = list(parts.values())
    history = [one for p in records for one in p.get("parts") or [dict(date=p["date"], command=p["command"], rows=len(p["rows"]))]]
    return dict(commit=first["commit"], card=first["card"], driver=first["driver"], date=max(p["date"] for p in records),
                versions=first["versions"], parts=history, rows=[row for part in records for row in part["rows"]])


def write(record, name, results):
    results.mkdir(parents=True, exist_ok=True)
    path = results / f"{name}.json"
    keep_older(path)
    path.write_text(json.dumps(record, indent=1) + "\n")
    print(f"recorded {len(record['rows'])} rows in {path}")


def merge_files(a):
    try:
        record = merge({str(part): json.loads(part.read_text()) for part in a.merge})
        ceilings.add_to_all(record["rows"])
    except (Mismatch, ceilings.Missing) as error:
        print(f"record.py: {error}", file=sys.stderr)
        return 1
    write(record, a.name, a.results)
    return 0


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("name")
    ap.add_argument("--commit")
    ap.add_argument("--results", type=pathlib.Path, default=HERE / "results")
    ap.add_argument("--merge", nargs="+", type=pathlib.Path, metavar="PART")
    words = sys.argv[1:] + ["--"]
    own, command = words[: words.index("--")], words[words.index("--") + 1 : -1]
    a = ap.parse_args(own)
    if a.merge:
        return merge_files(a)
    if not command:
        ap.error("no benchmark given: expected -- SCRIPT ARGUMENTS after the options")
    script = HERE / os.path.basename(command[0])
    if not script.exists():
        ap.error(f"{command[0]}: no such benchmark in {HERE.name}/")

    folder = tempfile.mkdtemp()
    rows_file = os.path.join(folder, "rows.json")
    try:
        done = subprocess.run([sys.executable, str(script), *command[1:], "--json", rows_file], cwd=HERE)
        if not os.path.exists(rows_file):
            print(f"record.py: {script.name} left no rows (status {done.returncode}); nothing is recorded", file=sys.stderr)
            return done.returncode or 1
        rows = json.load(open(rows_file))
    finally:
        shutil.rmtree(folder)

    name, driver = card()
    record = dict(commit=a.commit or commit(), card=name, driver=driver,
                  date=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ"),
                  versions=versions(), command=[script.name, *command[1:]], rows=rows)
    write(record, a.name, a.results)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())

"""How near a measured forward row comes to what the card's tensor cores and memory allow.

The formula and the rates are those of kernels/gdn/ceilings.h; here the command is asked for them. It lies beside
libtilewright.so (see capi.py).
"""
import json
import pathlib
import subprocess

import capi


class Missing(RuntimeError):
    """The command cannot be asked; the text says why."""


def ask(heads, lens):
    """{lens: {"tensor_ms", "memory_ms"}} of forward calls with `heads` (key, value heads)."""
    try:
        command = pathlib.Path(capi.library_path()).with_name("tilewright")
        done = subprocess.run([command, "bench", "gdn-forward", "--heads", f"{heads[0]}x{heads[1]}", "--lens", *lens,
                               "--ceilings", "--json"], capture_output=True, text=True)
    except OSError as error:
        raise Missing(str(error)) from None
    if done.returncode != 0:
        raise Missing(done.stderr.strip())
    return {row["lens"]: row["ceilings"] for row in json.loads(done.stdout)["rows"]}


def names_of(row):
    """The implementations that the row has times of."""
    return [key[: -len("_range")] for key in row if key.endswith("_range")]


def add(row, ceilings):
    """Puts "ceilings" into the row, and NAME_share for every time: the least time over the measured one."""
    row["ceilings"] = {limit: round(ms, 5) for limit, ms in ceilings.items()}
    for name in names_of(row):
        row[name + "_share"] = {"tensor": round(ceilings["tensor_ms"] / row[name], 4),
                                "memory": round(ceilings["memory_ms"] / row[name], 4)}


def add_to_all(rows):
    """The same for every forward row of a benchmark that has none yet."""
    missing = [row for row in rows if row.get("dir") == "fwd" and "ceilings" not in row]
    for heads in dict.fromkeys((row["hq"], row["hv"]) for row in missing):
        of_heads = [row for row in missing if (row["hq"], row["hv"]) == heads]
        found = ask(heads, list(dict.fromkeys(row["lens"] for row in of_heads)))
        for row in of_heads:
            add(row, found[row["lens"]])

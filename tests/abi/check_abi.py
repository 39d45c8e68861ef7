#!/usr/bin/env python3
"""Compares the library's C interface with the checked-in list: exported symbols, sizes of structs, offsets of fields.

    check_abi.py --library libtilewright.so --include include --cc cc --list tests/abi/abi.txt [--update]

The headers are compiled as C99 with -pedantic. Adding symbols, structs, or fields at a struct's end is a change to record with
--update; a change of an existing line breaks programs that were built against the older header.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

STRUCT = re.compile(r"typedef struct (\w+) \{(.*?)\n\} \1;", re.S)
ENUM = re.compile(r"enum(?: \w+)? \{(.*?)\}", re.S)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
FIELD = re.compile(r"(\w+)(?:\[\w+\])?$")


def exported(library: str) -> list[str]:
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return sorted(line.split()[-1].split("@")[0] for line in out.splitlines() if line.strip())


def fields(body: str) -> list[str]:
    return [FIELD.search(part.strip()).group(1) for part in body.split(";") if part.strip()]


def program(text: str) -> str:
    """A C program that prints one line for each struct, field and enumerator."""
    lines = ["#include <stddef.h>", "#include <stdio.h>", "#include <tilewright/tilewright.h>", "int main(void) {"]
    for name, body in STRUCT.findall(text):
        lines.append(f'  printf("struct {name} %d\\n", (int)sizeof({name}));')
        for field in fields(body):
            lines.append(f'  printf("field {name}.{field} %d\\n", (int)offsetof({name}, {field}));')
    for body in ENUM.findall(text):
        for entry in filter(None, (part.split("=")[0].strip() for part in body.split(","))):
            lines.append(f'  printf("constant {entry} %d\\n", (int){entry});')
    return "\n".join([*lines, "  return 0;", "}", ""])


def measured(include: pathlib.Path, cc: str) -> list[str]:
    text = "\n".join(COMMENT.sub("", h.read_text()) for h in sorted((include / "tilewright").glob("*.h")) if "extern \"C\"" in h.read_text())
    with tempfile.TemporaryDirectory() as folder:
        source, binary = pathlib.Path(folder) / "abi.c", pathlib.Path(folder) / "abi"
        source.write_text(program(text))
        subprocess.run([cc, "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I", str(include), str(source), "-o", str(binary)], check=True)
        return subprocess.run([binary], check=True, capture_output=True, text=True).stdout.splitlines()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("library", "include", "cc", "list"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    now = [f"symbol {s}" for s in exported(options.library)] + measured(pathlib.Path(options.include), options.cc)
    list_file = pathlib.Path(options.list)
    if options.update:
        list_file.write_text("\n".join(now) + "\n")
        return 0
    before = list_file.read_text().splitlines()
    gone, new = [line for line in before if line not in now], [line for line in now if line not in before]
    for line in gone:
        print(f"gone or changed: {line}")
    for line in new:
        print(f"new: {line}")
    if gone or new:
        print(f"the C interface is not the one of {options.list}; if that is meant, run with --update")
    return 1 if gone or new else 0


if __name__ == "__main__":
    sys.exit(main())

"""Checks what docs/architecture.md says about the folders: who may include whom, and how long a file may be.

    check_house.py <repository root>

Prints one line for each file that breaks a rule; exit status 1 when there is one.
"""
import pathlib
import re
import sys

LINES_AT_MOST = 400
SOURCES = (".h", ".cpp", ".td")
ANYTHING = None

# Room -> rooms that its files may include. A room always may include itself and include/tilewright.
MAY_USE = {
    "include": set(),
    "dialect/layout": set(),
    "dialect/target": set(),
    "dialect/hopper": {"dialect/layout", "dialect/target"},
    "dialect/tile": {"dialect/layout", "dialect/target"},
    "compiler/codegen": set(),
    "compiler/nvrtc": set(),
    "compiler/verify": {"dialect/layout", "dialect/target", "dialect/tile"},
    "compiler/dsl": {"dialect/layout", "dialect/target", "dialect/tile"},
    "compiler/evaluate": {"compiler/dsl", "compiler/verify", "dialect/tile"},
    "compiler/passes/hopper": {"compiler/passes", "dialect/layout", "dialect/target", "dialect/hopper"},
    "compiler/passes": {"compiler/verify", "dialect/layout", "dialect/target", "dialect/hopper", "dialect/tile"},
    "compiler": {"dialect", "compiler", "runtime/program"},
    "runtime/program": {"runtime/device"},
    "runtime/device": {"runtime/sim", "runtime/cuda"},
    "runtime/sim": {"runtime/device", "dialect/layout", "dialect/target"},
    "runtime/cuda": {"runtime/device"},
    "runtime/assemble": set(),
    "runtime/cache": set(),
    "kernels": set(),
    "runtime/ops": {"kernels", "runtime", "compiler"},
    "runtime/api": {"kernels", "runtime", "compiler", "dialect"},
    "runtime/cli": {"dialect/layout", "runtime/api", "kernels", "runtime", "compiler", "examples"},
    "examples": ANYTHING,
    "benchmarks": ANYTHING,
    "tests": ANYTHING,
}
# Headers of compiler/ that all of its rooms share.
SHARED_IN_COMPILER = ("compiler/diagnostics.h",)
# Rooms whose files may include MLIR or LLVM headers.
KNOWS_MLIR = ("dialect/hopper", "dialect/tile", "compiler", "runtime/api", "tests", "cmake")

# And inside of those, rooms whose files may not.
KNOWS_NO_MLIR = ("compiler/nvrtc/",)

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')


def room_of(path: str) -> str | None:
    """The longest room name that path lies in."""
    inside = [room for room in MAY_USE if path == room or path.startswith(room + "/")]
    return max(inside, key=len, default=None)


def may_include(path: str, room: str, target: str) -> bool:
    allowed = MAY_USE[room]
    if allowed is ANYTHING:
        return True
    if room.startswith("compiler") and target in SHARED_IN_COMPILER:
        return True
    if path.endswith("-opt.cpp") and target.startswith("compiler/"):
        return True  # a driver of passes lies beside its dialect
    own = room_of(target)
    if own in (room, "include", None):
        return True
    return any(target.startswith(name + "/") for name in allowed)


def complaints(root: pathlib.Path, file: pathlib.Path) -> list[str]:
    path = file.relative_to(root).as_posix()
    room = room_of(path)
    if room is None:
        return []
    lines = file.read_text(encoding="utf-8").splitlines()
    found = []
    if len(lines) > LINES_AT_MOST:
        found.append(f"{path}: {len(lines)} lines, at most {LINES_AT_MOST}")
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match.group(1)
        if target.startswith(("mlir/", "llvm/", "mlir-c/", "llvm-c/")):
            if not path.startswith(KNOWS_MLIR) or path.startswith(KNOWS_NO_MLIR):
                found.append(f"{path}:{number}: includes {target}, but this folder knows nothing of MLIR")
        elif not may_include(path, room, target):
            found.append(f"{path}:{number}: includes {target}, which {room} must not know")
    return found


def main(root: pathlib.Path) -> int:
    found = []
    for top in sorted({room.split("/")[0] for room in MAY_USE}):
        for file in sorted((root / top).rglob("*")):
            if file.suffix in SOURCES and file.is_file():
                found += complaints(root, file)
    print("\n".join(found) if found else "every file is in its room")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))

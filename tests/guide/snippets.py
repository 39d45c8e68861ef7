#!/usr/bin/env python3
"""Writes a test for every ```cpp block of the guide: each is the body of a kernel, and must compile down to PTX.

usage: snippets.py docs/guide.md tests.cpp
"""
import sys

guide, out = sys.argv[1:]
tests, block = [], None
for number, line in enumerate(open(guide, encoding="utf-8"), 1):
    if block is None:
        if line.rstrip() == "```cpp":
            block = [f'TEST(Guide, Line{number}) {{\n  compiles([](Kernel& k) {{\n    (void)k;\n#line {number + 1} "{guide}"\n']
    elif line.rstrip() == "```":
        tests.append("".join(block) + "  });\n}\n")
        block = None
    else:
        block.append(line)
if block is not None or not tests:
    sys.exit(f"{guide}: " + ("a block without its end" if tests else "no block of C++"))
with open(out, "w", encoding="utf-8") as f:
    f.write('#include "tests/guide/compiles.h"\n\nnamespace tilewright::test {\n\n' + "\n".join(tests) + "\n}  // namespace tilewright::test\n")

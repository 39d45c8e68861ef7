#!/usr/bin/env python3
"""Times C = A B^T in bf16 by torch.matmul and by Tilewright, in turns in one process, and compares the results.

    gemm_vs_torch.py --shapes 8192x8192x8192 4096x4096x4096 8192x2048x4096 --json out.json

Shapes are MxNxK. Every time is the median over graph replays that take turns, the L2 flushed before each. A row has
torch and tilewright in ms (with _range and _tflops), speed = torch / tilewright, and the largest difference over the
largest value (err). Exit status 1 when a result is wrong or, with --bar, a speed is below it.
"""
import argparse
import json
import sys

import torch

import capi
from timing import interleaved_ms

ERROR_BAR = 0.01  # both round an fp32 sum to bf16 once: they differ by a unit in the last place, 2^-8 at most


def measure(handle, m, n, k, rounds):
    gen = torch.Generator(device="cuda").manual_seed(1)
    a, b = (torch.randn(rows, k, device="cuda", generator=gen).to(torch.bfloat16) for rows in (m, n))
    expected = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    c = torch.full_like(expected, float("nan"))

    def theirs():
        torch.matmul(a, b.t(), out=expected)

    def ours():
        handle.gemm_bf16(a.data_ptr(), b.data_ptr(), c.data_ptr(), m, n, k, torch.cuda.current_stream().cuda_stream)

    times = interleaved_ms([theirs, ours], rounds=rounds)
    row = dict(m=m, n=n, k=k)
    for name, (median, least, most) in zip(("torch", "tilewright"), times):
        row[name] = round(median, 4)
        row[name + "_range"] = [round(least, 4), round(most, 4)]
        row[name + "_tflops"] = round(2e-9 * m * n * k / median, 1)
    row["speed"] = round(times[0][0] / times[1][0], 4)
    difference = (c.float() - expected.float()).abs().max()
    row["err"] = float(f"{(difference / expected.float().abs().max()).item():.2e}")
    return row


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--shapes", nargs="+", default=["8192x8192x8192", "4096x4096x4096", "8192x2048x4096"])
    ap.add_argument("--rounds", type=int, default=15)
    ap.add_argument("--bar", type=float, help="smallest speed that passes, for example 0.95")
    ap.add_argument("--json")
    a = ap.parse_args()
    handle = capi.Handle(torch.cuda.current_device())
    rows, passed = [], True
    for shape in a.shapes:
        row = measure(handle, *map(int, shape.split("x")), a.rounds)
        rows.append(row)
        print(json.dumps(row), flush=True)
        passed &= row["err"] <= ERROR_BAR and (a.bar is None or row["speed"] >= a.bar)  # NaN does not pass
    if a.json:
        with open(a.json, "w") as f:
            json.dump(rows, f, indent=0)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())

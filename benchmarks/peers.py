#!/usr/bin/env python3
"""Times the GDN peers (FlashQLA, FlashInfer, FLA) on one card, on one set of inputs, and checks them against fp64.

The inputs are FlashQLA's: packed sequences (B = 1, int32 offsets), D = 128, bf16 q, k, v with q and k l2-normalised,
log-space g = logsigmoid(N(0,1)) / 16 in fp32 with a quarter of the value heads at g = 0, beta = sigmoid(N(0,1)),
fp32 initial state, final state asked for.  Every time is the median over graph replays of (replay / calls in the
graph), the L2 flushed before each replay, host cost excluded; `--host` adds the host cost of one eager call.
A forward row also says what share of the tensor cores' and the memory's ceiling each time is (ceilings.py).

    peers.py --peers flashqla,flashinfer,fla --heads 2x8,16x64 --lens 32768 8192x4 --dir fwd bwd --json out.json
    peers.py --check --dir fwd bwd ...    rms error against fp64 (token recurrence, autograd for gradients), ordinary and hard inputs
    peers.py --verify ...                 the timed rows also carry their error against an fp64 chunked reference (name_err)
    peers.py --dtype fp16 ...             the same with fp16 q, k, v
    peers.py --cold flashqla --heads 2x8  seconds from import to the first result, in this fresh process

Another implementation takes part as `--module FILE.py`: FILE defines NAME and forward(inputs) -> (o, final_state) and,
optionally, prepare_backward(inputs) (untimed: the forward that saves) and backward(inputs); gradients(inputs) -> dict of
dq, dk, dv, dg, dbeta, dh0 takes part in the checks.  See class Inputs for what it gets.
"""
import argparse
import json
import sys
import time

import torch

import ceilings
from gdn_inputs import Inputs, chunk_reference, lens_of, reference, reference_gradients, rms_ratio
from peer_adapters import PEERS, Module
from timing import graph_ms, host_us


KINDS = ("ordinary", "few_keys", "same_keys", "no_decay", "strong_decay")
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def short(error, most):
    return f"{type(error).__name__}: {str(error)[:most]}"


def cold(a, heads):
    """Seconds of the first call of one implementation, import included."""
    start = time.time()
    p = Module(a.cold) if a.cold.endswith(".py") else PEERS[a.cold]()
    t_import = time.time() - start
    for hq, hv in heads:
        for lens in a.lens:
            x = Inputs(lens_of(lens), hq, hv, dtype=DTYPES[a.dtype])
            for d in a.dir:
                torch.cuda.synchronize()
                start = time.time()
                if d == "fwd":
                    p.forward(x)
                else:
                    if hasattr(p, "prepare_backward"):
                        p.prepare_backward(x)
                    p.backward(x)
                torch.cuda.synchronize()
                print(f"cold {p.name} {d} {hq}x{hv} {lens}: first call {time.time() - start:.2f} s (import {t_import:.2f} s)", flush=True)


def results_of(p, x, directions):
    got = dict(zip(("o", "state"), p.forward(x))) if "fwd" in directions else {}
    if "bwd" in directions and hasattr(p, "gradients"):
        got.update(p.gradients(x))
    return got


def errors_of(got, want):
    return {n: float(f"{rms_ratio(got[n].reshape(want[n].shape), want[n]):.2e}") for n in want if n in got}


def check(a, heads, impls):
    """Prints, and returns as rows, the rms error ratios of each implementation on each kind of input."""
    rows = []
    for hq, hv in heads:
        for kind in KINDS:
            x = Inputs(lens_of(a.check_lens), hq, hv, seed=3, kind=kind, dtype=DTYPES[a.dtype])
            want = dict(zip(("o", "state"), reference(x))) if "fwd" in a.dir else {}
            if "bwd" in a.dir:
                want.update(reference_gradients(x))
            row = dict(check=kind, hq=hq, hv=hv, lens=a.check_lens)
            for p in impls:
                head = f"check {p.name:10} {hq}x{hv} {kind:12}"
                try:
                    row[p.name + "_err"] = errors = errors_of(results_of(p, x, a.dir), want)
                    print(head, *(f"{n} {e:.2e}" for n, e in errors.items()), flush=True)
                except Exception as e:
                    row[p.name + "_error"] = short(e, 200)
                    print(head, "failed:", short(e, 200), flush=True)
            rows.append(row)
    return rows


def measure(p, x, d, want, row, host):
    """Times one implementation on one row; what it finds goes into the row under the implementation's name."""
    start = time.time()
    if d == "bwd" and hasattr(p, "prepare_backward"):
        p.prepare_backward(x)
    fn = (lambda: p.forward(x)) if d == "fwd" else (lambda: p.backward(x))
    fn()
    torch.cuda.synchronize()
    first = time.time() - start
    median, least, most = graph_ms(fn)
    row[p.name] = round(median, 4)
    row[p.name + "_range"] = [round(least, 4), round(most, 4)]
    row[p.name + "_first_s"] = round(first, 2)
    if host:
        row[p.name + "_host_us"] = round(host_us(fn, 60), 1)
    if want and (d == "fwd" or hasattr(p, "gradients")):
        row[p.name + "_err"] = errors_of(results_of(p, x, [d]), want)


def add_ceilings(row):
    try:
        ceilings.add_to_all([row])
    except ceilings.Missing as e:
        print(f"no ceilings: {e}", file=sys.stderr, flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--peers", default="flashqla,flashinfer,fla")
    ap.add_argument("--module", action="append", default=[])
    ap.add_argument("--heads", default="2x8")
    ap.add_argument("--lens", nargs="+", default=["32768"])
    ap.add_argument("--dir", nargs="+", default=["fwd"], choices=["fwd", "bwd"])
    ap.add_argument("--dtype", default="bf16", choices=list(DTYPES))
    ap.add_argument("--check", action="store_true")
    ap.add_argument("--verify", action="store_true")
    ap.add_argument("--check-lens", default="700+64+260")
    ap.add_argument("--cold")
    ap.add_argument("--host", action="store_true")
    ap.add_argument("--json")
    ap.add_argument("--seconds", type=float, default=1e9, help="stop starting new rows after this long")
    a = ap.parse_args()
    heads = [tuple(map(int, h.split("x"))) for h in a.heads.split(",")]
    begun = time.time()
    if a.cold:
        return cold(a, heads)
    impls = []
    for name in [n for n in a.peers.split(",") if n]:
        try:
            impls.append(PEERS[name]())
        except Exception as e:
            print(f"{name}: not available: {short(e, 400)}", flush=True)
    impls += [Module(m) for m in a.module]
    rows = []

    def save():
        if a.json:
            with open(a.json, "w") as f:
                json.dump(rows, f, indent=0)

    if a.check:
        rows += check(a, heads, impls)
        return save()
    for hq, hv in heads:
        for lens in a.lens:
            if time.time() - begun > a.seconds:
                break
            x = Inputs(lens_of(lens), hq, hv, dtype=DTYPES[a.dtype])
            for d in a.dir:
                row = dict(dir=d, hq=hq, hv=hv, lens=lens)
                if a.dtype != "bf16":
                    row["dtype"] = a.dtype
                want = None
                if a.verify:
                    want = reference_gradients(x) if d == "bwd" else dict(zip(("o", "state"), chunk_reference(x, x.q, x.k, x.v, x.g, x.beta, x.h0)))
                for p in impls:
                    if d == "bwd" and not hasattr(p, "backward"):
                        continue
                    try:
                        measure(p, x, d, want, row, a.host)
                    except Exception as e:
                        row[p.name] = None
                        row[p.name + "_error"] = short(e, 160)
                add_ceilings(row)
                rows.append(row)
                print(json.dumps(row), flush=True)
                save()


if __name__ == "__main__":
    main()

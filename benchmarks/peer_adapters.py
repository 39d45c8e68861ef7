"""The implementations that are measured: FlashQLA, FlashInfer, FLA, and modules given as files."""
import importlib.util
import os
import sys


class FlashQLA:
    name = "flashqla"

    def __init__(self):
        from flash_qla.ops.gated_delta_rule import chunk as m
        self.m = m

    def fwd_raw(self, x):
        return self.m.chunk_gated_delta_rule_fwd(q=x.q, k=x.k, v=x.v, g=x.g, beta=x.beta, scale=x.scale,
                                                 initial_state=x.h0, cu_seqlens=x.cu, output_final_state=True)

    def forward(self, x):
        _, _, o, _, ht, _ = self.fwd_raw(x)
        return o, ht

    def prepare_backward(self, x):
        self.saved = self.fwd_raw(x)[:2]

    def backward(self, x):
        gamma, A = self.saved
        return self.m.chunk_gated_delta_rule_bwd(q=x.q, k=x.k, v=x.v, g=gamma, beta=x.beta, A=A, do=x.do, dht=x.dht,
                                                 scale=x.scale, initial_state=x.h0, cu_seqlens=x.cu)

    def gradients(self, x):
        self.prepare_backward(x)
        dq, dk, dv, db, dg, dh0 = self.backward(x)[:6]
        return dict(dq=dq, dk=dk, dv=dv, dg=dg, dbeta=db, dh0=dh0)


class FlashInfer:
    name = "flashinfer"

    def __init__(self):
        from flashinfer.gdn_prefill import chunk_gated_delta_rule
        self.f = chunk_gated_delta_rule

    def forward(self, x):
        o, ht = self.f(x.q[0], x.k[0], x.v[0], x.alpha[0], x.beta[0], x.scale, x.h0_vfirst, True, x.cu64)
        return o[None], ht.transpose(-1, -2)


class FLA:
    name = "fla"

    def __init__(self):
        from fla.ops.gated_delta_rule import chunk as m
        self.m = m

    def fwd_raw(self, x):
        return self.m.chunk_gated_delta_rule_fwd(q=x.q, k=x.k, v=x.v, g=x.g, beta=x.beta, scale=x.scale,
                                                 initial_state=x.h0, output_final_state=True, cu_seqlens=x.cu)

    def forward(self, x):
        out = self.fwd_raw(x)
        return out[1], out[3]

    def prepare_backward(self, x):
        out = self.fwd_raw(x)
        self.saved = out[0], out[2]

    def backward(self, x):
        g, A = self.saved
        return self.m.chunk_gated_delta_rule_bwd(q=x.q, k=x.k, v=x.v, g=g, beta=x.beta, A=A, scale=x.scale,
                                                 initial_state=x.h0, do=x.do, dht=x.dht, cu_seqlens=x.cu)

    def gradients(self, x):
        self.prepare_backward(x)
        dq, dk, dv, db, dg, dh0 = self.backward(x)[:6]
        return dict(dq=dq, dk=dk, dv=dv, dg=dg, dbeta=db, dh0=dh0)


class Module:
    """FILE.py with NAME, forward(inputs) -> (o, final_state) and perhaps prepare_backward, backward, gradients."""

    def __init__(self, path):
        sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
        spec = importlib.util.spec_from_file_location("candidate", path)
        m = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(m)
        self.name, self.forward = m.NAME, m.forward
        for f in ("backward", "prepare_backward", "gradients"):
            if hasattr(m, f):
                setattr(self, f, getattr(m, f))


PEERS = {c.name: c for c in (FlashQLA, FlashInfer, FLA)}

"""Inputs of the Gated Delta Net as torch tensors, and what they should give in fp64."""
import os

import torch
import torch.nn.functional as F

DEV = os.environ.get("PEERS_DEVICE", "cuda")  # "cpu" only to test the references of this file


def lens_of(text):
    """'32768', '8192x4', '28672+4096' -> list of lengths."""
    out = []
    for part in text.split("+"):
        n, _, reps = part.partition("x")
        out += [int(n)] * int(reps or 1)
    return out


class Inputs:
    """FlashQLA's inputs: q, k (1,T,Hq,D) and v (1,T,Hv,D) bf16; g, beta (1,T,Hv) fp32; h0 (N,Hv,D,D) fp32, K-first; cu (N+1) int32; do, dht."""

    def __init__(self, lens, hq, hv, seed=0, d=128, kind="ordinary", dtype=torch.bfloat16):
        gen = torch.Generator(device=DEV).manual_seed(seed)
        rn = lambda *s: torch.randn(*s, device=DEV, generator=gen)
        T, n = sum(lens), len(lens)
        self.lens, self.hq, self.hv, self.d, self.scale = lens, hq, hv, d, d ** -0.5
        self.q = F.normalize(rn(1, T, hq, d), dim=-1).to(dtype)
        self.k = F.normalize(rn(1, T, hq, d), dim=-1).to(dtype)
        self.v = rn(1, T, hv, d).to(dtype)
        self.g = F.logsigmoid(rn(1, T, hv)) / 16
        if hv >= 4:
            self.g[:, :, torch.randperm(hv, device=DEV, generator=gen)[: hv // 4]] = 0
        self.beta = torch.sigmoid(rn(1, T, hv))
        self.h0 = rn(n, hv, d, d)
        self.do = rn(1, T, hv, d).to(dtype)
        self.dht = rn(n, hv, d, d) / 8
        if kind == "same_keys":      # the triangular solve at its worst: identical keys, beta near 1, almost no decay
            self.k[:] = self.k[:, :1]
            self.beta = 0.9 + 0.1 * self.beta
            self.g *= 0.02
        elif kind == "few_keys":
            idx = torch.randint(0, 24, (T,), device=DEV, generator=gen)
            self.k = self.k[:, :24].contiguous()[:, idx].contiguous()
            self.beta = 0.9 + 0.1 * self.beta
            self.g *= 0.02
        elif kind == "no_decay":
            self.g.zero_()
        elif kind == "strong_decay":  # underflows within a chunk
            self.g = -20 * torch.rand(1, T, hv, device=DEV, generator=gen)
        self.cu = torch.tensor([0] + list(torch.tensor(lens).cumsum(0)), dtype=torch.int32, device=DEV)
        self.cu64 = self.cu.long()
        self.h0_vfirst = self.h0.transpose(-1, -2).contiguous()
        self.alpha = self.g.exp()


def reference(x, want=torch.float64):
    """o (1,T,Hv,D) and final state (N,Hv,D,D) by the token recurrence in fp64."""
    r = x.hv // x.hq
    q, k = (t[0].to(want).repeat_interleave(r, 1) for t in (x.q, x.k))
    v, g, b = x.v[0].to(want), x.g[0].to(want).exp(), x.beta[0].to(want)
    o, states, at = torch.empty_like(v), [], 0
    for i, L in enumerate(x.lens):
        S = x.h0[i].to(want).clone()
        for t in range(at, at + L):
            S *= g[t][:, None, None]
            u = b[t][:, None] * (v[t] - torch.einsum("hk,hkv->hv", k[t], S))
            S += k[t][:, :, None] * u[:, None, :]
            o[t] = torch.einsum("hk,hkv->hv", q[t], S) * x.scale
        states.append(S)
        at += L
    return o[None], torch.stack(states)


def chunk_reference(x, q, k, v, g, beta, h0, chunk=64):
    """The same, differentiable and fast: fp64 chunks with a triangular solve (equal to the recurrence to 1e-12)."""
    r = x.hv // x.hq
    w = lambda t: t[0].double().transpose(0, 1)                      # (heads, T, ...)
    Q, K = (w(t).repeat_interleave(r, 0) for t in (q, k))
    V, G, B = w(v), w(g), w(beta)
    outs, states, at = [], [], 0
    for i, L in enumerate(x.lens):
        S = h0[i].double()
        for s in range(at, at + L, chunk):
            e = min(s + chunk, at + L)
            qc, kc, vc, b, be = Q[:, s:e], K[:, s:e], V[:, s:e], G[:, s:e].cumsum(1), B[:, s:e]
            n = e - s
            low = torch.ones(n, n, dtype=torch.bool, device=b.device).tril()
            decay = (b[:, :, None] - b[:, None, :]).masked_fill(~low, float("-inf")).exp()
            M = torch.tril(decay * (kc @ kc.transpose(1, 2)), -1)
            rhs = be[:, :, None] * (vc - b.exp()[:, :, None] * (kc @ S))
            Vd = torch.linalg.solve_triangular(torch.eye(n, dtype=b.dtype, device=b.device) + be[:, :, None] * M, rhs, upper=False, unitriangular=True)
            outs.append(x.scale * (b.exp()[:, :, None] * (qc @ S) + (decay * (qc @ kc.transpose(1, 2))) @ Vd))
            S = b[:, -1].exp()[:, None, None] * S + kc.transpose(1, 2) @ ((b[:, -1:] - b).exp()[:, :, None] * Vd)
        states.append(S)
        at += L
    o = torch.cat(outs, 1).transpose(0, 1) if outs else x.v[0].double()
    return o[None], torch.stack(states)


GRADS = ("dq", "dk", "dv", "dg", "dbeta", "dh0")


def reference_gradients(x):
    leaves = [t.detach().clone().requires_grad_() for t in (x.q, x.k, x.v, x.g, x.beta, x.h0)]
    wide = [t.double() for t in leaves]
    o, s = chunk_reference(x, *wide)
    loss = (o * x.do.double()).sum() + (s * x.dht.double()).sum()
    return dict(zip(GRADS, (g.double() for g in torch.autograd.grad(loss, wide))))


def rms_ratio(a, ref):
    return ((a.double() - ref).pow(2).mean().sqrt() / ref.pow(2).mean().sqrt().clamp_min(1e-30)).item()

"""Times of GPU work, by CUDA graph replays with a flushed L2, and of the host's share of an eager call."""
import statistics
import time

import torch

FLUSH_BYTES = 256 << 20
_flush = None


def flush_l2():
    """Overwrites more memory than the L2 holds."""
    global _flush
    if _flush is None:
        _flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")
    _flush.zero_()


class Graph:
    """`calls` calls of fn captured in one CUDA graph, as many as fill budget_ms."""

    def __init__(self, fn, budget_ms=20.0):
        for _ in range(2):
            fn()
        torch.cuda.synchronize()
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            a, b = (torch.cuda.Event(enable_timing=True) for _ in "ab")
            a.record()
            fn()
            b.record()
            stream.synchronize()
            self.calls = max(1, min(200, int(budget_ms / max(a.elapsed_time(b), 1e-2))))
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=stream):
                for _ in range(self.calls):
                    fn()
        self.replay_ms()

    def replay_ms(self):
        """Milliseconds of one call, over one replay that starts with a flushed L2."""
        flush_l2()
        a, b = (torch.cuda.Event(enable_timing=True) for _ in "ab")
        a.record()
        self.graph.replay()
        b.record()
        torch.cuda.synchronize()
        return a.elapsed_time(b) / self.calls


def graph_ms(fn, budget_ms=20.0, replays=11):
    """Median, min, max in milliseconds of a call of fn, host cost excluded."""
    graph = Graph(fn, budget_ms)
    times = [graph.replay_ms() for _ in range(replays)]
    return statistics.median(times), min(times), max(times)


def interleaved_ms(fns, budget_ms=20.0, rounds=15):
    """The same for several functions whose replays take turns, so that clock and heat are the same for all."""
    graphs = [Graph(fn, budget_ms) for fn in fns]
    times = [[] for _ in graphs]
    for number in range(rounds):
        order = range(len(graphs)) if number % 2 == 0 else reversed(range(len(graphs)))
        for i in order:
            times[i].append(graphs[i].replay_ms())
    return [(statistics.median(t), min(t), max(t)) for t in times]


def host_us(fn, n=200):
    """Host microseconds of an eager call, with the GPU kept from being the limit by a synchronise between bursts of 4."""
    for _ in range(5):
        fn()
    bursts = []
    for _ in range(n // 4):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(4):
            fn()
        bursts.append((time.perf_counter() - start) / 4 * 1e6)
    return statistics.median(bursts)

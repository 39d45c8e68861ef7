"""What a record of GDN forward says, row by row: the names of its peers, times, ratios, and all of them in a sentence."""
import math

OURS = "tilewright"
NAMES = {OURS: "Tilewright", "flashinfer": "FlashInfer", "flashqla": "FlashQLA", "fla": "FLA"}
VERSION_KEYS = {"flashinfer": "flashinfer", "flashqla": "flash_qla", "fla": "fla"}
FULL = 64  # chains (sequences x value heads) from which on the card is full


def title(name):
    return NAMES.get(name, name)


def sequences(lens):
    """How many sequences '28672+4096' or '8192x4' is."""
    return sum(int(part.partition("x")[2] or 1) for part in lens.split("+"))


class Row:
    """One row: times in ms by implementation, None where one failed or did not run."""

    def __init__(self, row):
        self.heads, self.dtype, self.lens = (row["hq"], row["hv"]), row.get("dtype", "bf16"), row["lens"]
        self.times = {key[: -len("_range")]: row[key[: -len("_range")]] for key in row if key.endswith("_range")}
        self.failed = {key[: -len("_error")] for key in row if key.endswith("_error")}
        self.share = row.get(OURS + "_share")
        self.chains = sequences(self.lens) * self.heads[1]

    @property
    def ours(self):
        return self.times.get(OURS)

    @property
    def peers(self):
        return {name: ms for name, ms in self.times.items() if name != OURS}

    @property
    def best(self):
        """Time of the fastest peer, None without one."""
        return min(self.peers.values(), default=None)

    @property
    def ratio(self):
        """Our time over that of the fastest peer, None where either is missing."""
        return self.ours / self.best if self.ours and self.best else None


class Forward:
    """The forward rows of a record, in its order."""

    def __init__(self, record):
        self.record = record
        self.rows = [Row(row) for row in record["rows"] if row.get("dir") == "fwd"]
        names = dict.fromkeys(name for row in self.rows for name in (*row.times, *row.failed))
        self.peers = [name for name in names if name != OURS]

    def groups(self):
        """{(heads, dtype): rows}, in the order of the record."""
        found = {}
        for row in self.rows:
            found.setdefault((row.heads, row.dtype), []).append(row)
        return found

    def peer_titles(self):
        """'FlashInfer 0.7.4 and FLA 0.6.0'."""
        versions = self.record.get("versions", {})
        named = [" ".join(filter(None, (title(name), versions.get(VERSION_KEYS.get(name))))) for name in self.peers]
        return named[0] if len(named) == 1 else ", ".join(named[:-1]) + " and " + named[-1]

    def summary(self):
        """One or two sentences with the geometric mean and how many rows are at least as fast as the fastest peer."""
        compared = [row for row in self.rows if row.ratio]
        if not compared:
            return "No row has both our time and a peer's."
        mean = math.exp(-sum(math.log(row.ratio) for row in compared) / len(compared))
        full = [row for row in compared if row.chains >= FULL]
        ahead = lambda rows: f"{sum(row.ratio <= 1 for row in rows)} of {len(rows)}"
        best = self.peer_titles() if len(self.peers) == 1 else f"the fastest of {self.peer_titles()}"
        text = (f"Tilewright's speed is {mean:.2f} times that of {best}, as a geometric mean over {len(compared)} combinations of heads and "
                f"lengths; it is at least as fast in {ahead(compared)}")
        text += f", and in {ahead(full)} of those with {FULL} or more chains (sequences x value heads)." if full else "."
        alone = len(self.rows) - len(compared)
        return text + (f" {alone} more have no time of a peer or none of ours." if alone else "")

    def origin(self):
        """Card, driver, date and commit of the record."""
        r = self.record
        return f"{r['card']}, driver {r['driver']}, {r['date'][:10]}, commit {r['commit'][:7]}"

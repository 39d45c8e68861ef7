"""Draws a record of GDN forward as SVG: a panel for each head configuration, a bar for each row."""
from xml.sax.saxutils import escape

from forward_rows import OURS, title

COLUMNS, PANEL, LABEL, PLOT, NUMBER = 3, 310, 92, 165, 40  # panels a row; widths in pixels
LINE, HEAD, TOP, BOTTOM, GAP = 15, 24, 58, 34, 16  # heights in pixels
MOST = 2.0  # the axis ends here; longer bars are cut, their number is not
TICKS = (0, 0.5, 1, 1.5, 2)

LIGHT = dict(paper="#ffffff", ink="#1f2328", faint="#59636e", grid="#d1d9e0", ahead="#2f6fd0", behind="#c4622d", peer="#8250df")
DARK = dict(paper="#0d1117", ink="#e6edf3", faint="#9198a1", grid="#3d444d", ahead="#539bf5", behind="#e0823d", peer="#b083f0")


def colours(c):
    return (f"text{{fill:{c['ink']}}} .faint{{fill:{c['faint']}}} .paper{{fill:{c['paper']}}} .grid{{stroke:{c['grid']}}} .one{{stroke:{c['ink']}}} "
            f".ahead{{fill:{c['ahead']}}} .behind{{fill:{c['behind']}}} .peer{{fill:{c['paper']};stroke:{c['peer']}}}")


STYLE = f"""
text{{font:11px system-ui,sans-serif}} .title{{font-size:15px;font-weight:600}} .heads{{font-size:12px;font-weight:600}} .one,.peer{{stroke-width:1.5}}
{colours(LIGHT)}
@media (prefers-color-scheme:dark){{ {colours(DARK)} }}
"""


def text(x, y, words, kind="", anchor="start"):
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(str(words))}</text>'


def line(x1, y1, x2, y2, kind):
    return f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="{kind}"/>'


def place(ratio):
    """Pixels from the axis' zero."""
    return min(ratio, MOST) / MOST * PLOT


def bar(x, y, row):
    """A row's bar, its number, and a ring for each slower peer."""
    parts = [text(x + LABEL - 6, y + 11, row.lens, anchor="end")]
    x += LABEL
    if row.ratio is None:
        return parts + [text(x + 4, y + 11, f"{row.ours:.3g} ms, no peer" if row.ours else "not measured", "faint")]
    width, height = place(row.ratio), LINE - 4
    shape = f"M{x} {y + 2}h{width:.1f}v{height}h{-width:.1f}z"
    if row.ratio > MOST:  # cut: the end is an arrow
        shape = f"M{x} {y + 2}h{PLOT - 5}l5 {height / 2}l-5 {height / 2}h{5 - PLOT}z"
    parts.append(f'<path d="{shape}" class="{"ahead" if row.ratio <= 1 else "behind"}"/>')
    for name, ms in row.peers.items():
        if row.best < ms <= MOST * row.best:
            parts.append(f'<circle cx="{x + place(ms / row.best):.1f}" cy="{y + LINE / 2:g}" r="3.5" class="peer"><title>'
                         f"{escape(title(name))} {ms:g} ms</title></circle>")
    return parts + [text(x + PLOT + NUMBER - 2, y + 11, f"{row.ratio:.2f}", anchor="end")]


def panel(x, y, name, rows):
    bottom = y + HEAD + LINE * len(rows)
    parts = [text(x + LABEL, y + 12, name, "heads")]
    for tick in TICKS:
        at = x + LABEL + place(tick)
        parts += [line(at, y + HEAD - 4, at, bottom + 3, "grid"), text(at, bottom + 15, f"{tick:g}", "faint", "middle")]
    for i, row in enumerate(rows):
        parts += bar(x, y + HEAD + LINE * i, row)
    one = x + LABEL + place(1)
    return parts + [line(one, y + HEAD - 4, one, bottom + 3, "one")]


def draw(forward):
    """The SVG of a Forward."""
    groups = [(f"({heads[0]}, {heads[1]})" + ("" if dtype == "bf16" else f", {dtype}"), rows) for (heads, dtype), rows in forward.groups().items()]
    width = COLUMNS * PANEL + GAP
    best = title(forward.peers[0]) if len(forward.peers) == 1 else "the fastest peer"
    parts = [text(GAP, 26, f"GDN forward: time of {title(OURS)} over that of {best}", "title"),
             text(GAP, 44, f"Shorter is better; the line at 1 is {best}. (key heads, value heads); lengths of the packed sequences.", "faint")]
    if len(forward.peers) > 1:
        parts.append(text(width - GAP, 44, f"rings: the slower of {', '.join(map(title, forward.peers))}", "faint", "end"))
    y = TOP
    for first in range(0, len(groups), COLUMNS):
        beside = groups[first : first + COLUMNS]
        for i, (name, rows) in enumerate(beside):
            parts += panel(GAP + i * PANEL, y, name, rows)
        y += HEAD + LINE * max(len(rows) for _, rows in beside) + BOTTOM
    parts.append(text(GAP, y + 2, forward.origin(), "faint"))
    height = y + GAP
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">\n'
            f"<title>{escape(forward.summary())}</title>\n<style>{STYLE}</style>\n"
            f'<rect width="{width}" height="{height}" rx="6" class="paper"/>\n' + "\n".join(parts) + "\n</svg>\n")

"""Records of benchmarks and what is written from them: ceilings, merging, tables, chart. Needs the command, no card.

    records_test.py <benchmarks> [unittest arguments]
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

BENCHMARKS = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(BENCHMARKS))

import ceilings  # noqa: E402
import chart  # noqa: E402
import record as records  # noqa: E402
import report  # noqa: E402
from forward_rows import Forward, Row  # noqa: E402


def row(heads, lens, **times):
    """A row as peers.py leaves it; a time of None is a failure."""
    made = dict(dir="fwd", hq=heads[0], hv=heads[1], lens=lens)
    for name, ms in times.items():
        made[name] = ms
        if ms is None:
            made[name + "_error"] = "RuntimeError: no"
        else:
            made[name + "_range"] = [ms, ms]
    return made


def record(*rows, **fields):
    return dict(dict(commit="c0ffee0123", card="NVIDIA H200", driver="580", date="2026-11-30T10:00Z", versions={"flashinfer": "0.7.4"},
                     command=["peers.py"], rows=list(rows)), **fields)


SEVERAL = record(row((16, 64), "8192x4", flashinfer=0.8, fla=3.0, tilewright=0.4), row((16, 64), "32768", flashinfer=1.0, fla=None, tilewright=4.0),
                 row((2, 8), "1024x8", flashqla=0.5, tilewright=0.25), row((2, 8), "64", tilewright=0.01), row((2, 8), "65", fla=1.0, tilewright=None),
                 dict(check="ordinary", hq=2, hv=8, lens="700"))


class Ceilings(unittest.TestCase):
    def test_shares_of_every_time(self):
        rows = [row((16, 64), "32768", tilewright=0.74, flashinfer=1.48, fla=None), row((2, 8), "32768", tilewright=0.05),
                dict(dir="bwd", hq=2, hv=8, lens="64")]
        ceilings.add_to_all(rows)
        self.assertAlmostEqual(rows[0]["ceilings"]["tensor_ms"], 0.3697, 4)
        self.assertAlmostEqual(rows[0]["ceilings"]["memory_ms"], 0.3180, 4)
        self.assertAlmostEqual(rows[0]["tilewright_share"]["tensor"], 0.3697 / 0.74, 3)
        self.assertAlmostEqual(rows[0]["flashinfer_share"]["memory"], 0.3180 / 1.48, 3)
        self.assertNotIn("fla_share", rows[0])
        self.assertAlmostEqual(rows[1]["tilewright_share"]["tensor"], 0.04621 / 0.05, 3)
        self.assertEqual(rows[2], dict(dir="bwd", hq=2, hv=8, lens="64"))

    def test_what_the_command_refuses_is_said(self):
        with self.assertRaisesRegex(ceilings.Missing, "no tokens"):
            ceilings.ask((2, 8), ["0"])


class Merge(unittest.TestCase):
    def test_parts_become_one_record(self):
        first, second = record(row((2, 8), "64", tilewright=1.0)), record(row((2, 8), "128", tilewright=1.0), row((4, 8), "64"), date="2026-11-30T11:00Z")
        merged = records.merge({"a": first, "b": second})
        self.assertEqual(merged["rows"], first["rows"] + second["rows"])
        self.assertEqual((merged["date"], [part["rows"] for part in merged["parts"]]), ("2026-11-30T11:00Z", [1, 2]))
        third = record(row((8, 8), "64"))
        self.assertEqual([part["rows"] for part in records.merge({"ab": merged, "c": third})["parts"]], [1, 2, 1])

    def test_what_differs_is_refused(self):
        for field, value in dict(commit="other", card="NVIDIA H100", driver="570", versions={}).items():
            with self.assertRaisesRegex(records.Mismatch, f"b: {field} is"):
                records.merge({"a": record(), "b": record(**{field: value})})
        with self.assertRaisesRegex(records.Mismatch, "b: the row .* is in a, too"):
            records.merge({"a": record(row((2, 8), "64", fla=1.0)), "b": record(row((2, 8), "64", tilewright=1.0))})

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for i, lens in enumerate(("64", "128")):
                (folder / f"{i}.json").write_text(json.dumps(record(row((2, 8), lens, tilewright=1.0))))
            subprocess.run([sys.executable, BENCHMARKS / "record.py", "all", "--results", folder, "--merge", folder / "0.json", folder / "1.json"],
                           check=True, capture_output=True)
            rows = json.loads((folder / "all.json").read_text())["rows"]
            self.assertEqual([r["lens"] for r in rows], ["64", "128"])
            self.assertIn("tilewright_share", rows[0])


class Documents(unittest.TestCase):
    def test_ratios(self):
        forward = Forward(SEVERAL)
        self.assertEqual([r.ratio for r in forward.rows], [0.5, 4.0, 0.5, None, None])
        self.assertEqual([r.chains for r in forward.rows], [256, 64, 64, 8, 8])
        self.assertEqual(forward.peers, ["flashinfer", "fla", "flashqla"])
        self.assertEqual(Row(row((1, 1), "28672+4096x3")).chains, 4)

    def test_summary(self):
        text = Forward(SEVERAL).summary()  # speeds 2, 1/4 and 2
        self.assertIn("1.00 times that of the fastest of FlashInfer 0.7.4, FLA and FlashQLA, as a geometric mean over 3", text)
        self.assertIn("at least as fast in 2 of 3, and in 2 of 3 of those with 64 or more chains", text)
        self.assertIn("2 more have no time", text)
        self.assertIn("No row", Forward(record(row((2, 8), "64", tilewright=1.0))).summary())

    def test_table(self):
        text = report.tables(Forward(SEVERAL))
        self.assertIn("| 8192x4 | 0.400 | 0.800 | 3.000 | - | 2.00 | - | - |", text)
        self.assertIn("| 32768 | 4.000 | 1.000 | failed | - | 0.25 | - | - |", text)
        self.assertIn("| 64 | 0.010 | - | - | - | - | - | - |", text)
        with_share = row((2, 8), "64", tilewright=1.0, fla=2.0)
        ceilings.add(with_share, dict(tensor_ms=0.25, memory_ms=0.5))
        self.assertIn("| 64 | 1.000 | 2.000 | 2.00 | 25 % | 50 % |", report.tables(Forward(record(with_share))))

    def test_chart(self):
        picture = xml.dom.minidom.parseString(chart.draw(Forward(SEVERAL)))
        words = [t.firstChild.data for t in picture.getElementsByTagName("text")]
        for expected in ("(16, 64)", "(2, 8)", "8192x4", "0.50", "4.00", "0.01 ms, no peer", "not measured", "NVIDIA H200, driver 580, 2026-11-30, commit c0ffee0"):
            self.assertIn(expected, words)
        kinds = [p.getAttribute("class") for p in picture.getElementsByTagName("path")]
        self.assertEqual(kinds, ["ahead", "behind", "ahead"])
        width = float(picture.documentElement.getAttribute("width"))
        for element in picture.getElementsByTagName("text"):
            self.assertTrue(0 <= float(element.getAttribute("x")) <= width)

    def test_check_finds_a_document_that_was_edited(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for file in ("benchmarks/results", "docs"):
                (root / file).mkdir(parents=True)
            (root / report.RECORD).write_text(json.dumps(SEVERAL))
            for file in (report.TABLES, "README.md"):
                (root / file).write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
            run = lambda *more: subprocess.run([sys.executable, BENCHMARKS / "report.py", "--root", root, *more], capture_output=True, text=True)
            self.assertEqual(run("--check").returncode, 1)
            self.assertEqual(run().returncode, 0)
            self.assertEqual(run("--check").returncode, 0)
            text = (root / report.TABLES).read_text()
            self.assertTrue(text.startswith("before\n") and text.endswith("after\n") and "old" not in text)
            (root / report.TABLES).write_text(text.replace("0.400", "0.300"))
            found = run("--check")
            self.assertEqual(found.returncode, 1)
            self.assertIn("-| 8192x4 | 0.300", found.stdout)


FAKE_COMMAND = """#!/usr/bin/env python3
import json, pathlib, sys
if sys.argv[1] == "plan":
    print("gdn-forward, split form\\n  costs\\n  whole chains\\n  48 items\\n  SM 0 |")
else:
    given = sys.argv[sys.argv.index("--cp") + 1]
    seen = pathlib.Path(sys.argv[0]).with_name("seen")
    seen.write_text((seen.read_text() if seen.exists() else "") + given + " ")
    turn = seen.read_text().split().count(given)
    lens = sys.argv[sys.argv.index("--lens") + 1:sys.argv.index("--cp")]
    print(json.dumps({"rows": [{"lens": one, "ms": {"auto": 0.11, "off": 0.5, "4": 0.1}[given] * (9 if turn == 2 else 1)} for one in lens]}))
"""


class Plans(unittest.TestCase):
    """plans.py with a command whose second round is an outlier."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        command = pathlib.Path(self.folder.name) / "tilewright"
        command.write_text(FAKE_COMMAND)
        command.chmod(0o755)

    def run_with(self, *arguments):
        library = str(pathlib.Path(self.folder.name) / "libtilewright.so")
        out = pathlib.Path(self.folder.name) / "out.json"
        done = subprocess.run([sys.executable, BENCHMARKS / "plans.py", "--heads", "2x8", "--lens", "32768", "8192", "--plans", "off,4", "--json", out, *arguments],
                              capture_output=True, text=True, env=dict(os.environ, TILEWRIGHT_LIBRARY=library))
        return done, json.loads(out.read_text()) if out.exists() else None

    def test_medians_of_rounds_and_the_best_plan(self):
        done, rows = self.run_with()
        self.assertEqual([row["lens"] for row in rows], ["32768", "8192"])
        self.assertEqual(rows[0]["ms"], {"auto": 0.11, "off": 0.5, "4": 0.1})
        self.assertEqual((rows[0]["best"], rows[0]["ratio"], rows[0]["rounds"], rows[0]["plan"][3]), ("4", 1.1, 5, "48 items"))
        self.assertEqual(done.returncode, 1, done.stderr)

    def test_passes_within_the_bar(self):
        done, rows = self.run_with("--bar", "1.2")
        self.assertEqual((done.returncode, rows[0]["rounds"]), (0, 1))

    def test_says_which_command_failed(self):
        done, rows = self.run_with("--plans", "7")
        self.assertNotEqual(done.returncode, 0)
        self.assertIsNone(rows)
        self.assertIn("--cp 7 --json", done.stderr)


if __name__ == "__main__":
    unittest.main()

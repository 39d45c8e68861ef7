"""Counts the single test cases of one ctest run and prints 'N passed, N failed' as the last line.

    count_tests.py <folder>

<folder> holds ctest.xml (ctest --output-junit) and, for a ctest entry that runs many cases, a report <entry>.xml
in the same format (GoogleTest's --gtest_output, lit's --xunit-xml-output). An entry without a report is one case. An
entry that ctest calls failed counts at least one failure, whatever its report says: it may have crashed
half-way. Exit status 1 when a case failed or none ran.
"""
import pathlib
import sys
import xml.etree.ElementTree as xml


def cases(report: pathlib.Path) -> tuple[int, list[str], int]:
    """Passed cases, names of failed cases and skipped cases of a report."""
    passed, failed, skipped = 0, [], 0
    for case in xml.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname', '')}.{case.get('name', '')}"
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(name)
        elif case.find("skipped") is not None or case.get("result") in ("skipped", "suppressed") \
                or case.get("status") in ("notrun", "disabled"):
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main(folder: pathlib.Path) -> int:
    passed, failed, skipped = 0, [], 0
    summary = folder / "ctest.xml"
    entries = xml.parse(summary).getroot().iter("testcase") if summary.exists() else []
    for entry in entries:
        name, status = entry.get("name", "?"), entry.get("status")
        report = folder / f"{name}.xml"
        entry_passed, entry_failed, entry_skipped = 0, [], 0
        if report.exists():
            try:
                entry_passed, entry_failed, entry_skipped = cases(report)
            except xml.ParseError:
                entry_failed = [f"{name} (unreadable report)"]
        elif status == "run":
            entry_passed = 1
        elif status in ("notrun", "disabled"):
            entry_skipped = 1
        if status == "fail" and not entry_failed:
            entry_failed = [name]
        passed += entry_passed
        failed += entry_failed
        skipped += entry_skipped
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))

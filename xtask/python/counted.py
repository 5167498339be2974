"""Runs the cases of a test script and prints them as `cargo xtask` counts them.

Each case is a line `test <suite>::<class>::<case> ... ok`, `... FAILED` or `... ignored, <why>`; the last line
holds the counts. A skipped case is also noted in the file that COMPOZY_TEST_SKIPPED names, if it is set.
"""

import os
import sys
import traceback
import unittest


class _Lines(unittest.TestResult):
    def __init__(self, suite):
        super().__init__()
        self.suite = suite
        self.passed = self.failed = 0
        self.skipped_cases = 0
        self._broken = None

    def startTest(self, test):
        super().startTest(test)
        self._broken = None

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1
        self._print(test, "ok")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._fail(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self._fail(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self._explain(f"{self._name(test)} {subtest._subDescription()}", error)
            # Its parts are counted as one case, whose end is not announced when a part failed.
            if self._broken is not test:
                self._broken = test
                self.failed += 1
                self._print(test, "FAILED")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.skipped_cases += 1
        self._print(test, f"ignored, {reason}")
        if notes := os.environ.get("COMPOZY_TEST_SKIPPED"):
            with open(notes, "a", encoding="utf-8") as file:
                file.write(f"{self._name(test)}: {reason}\n")

    def _fail(self, test, error):
        self.failed += 1
        self._explain(self._name(test), error)
        self._print(test, "FAILED")

    def _explain(self, name, error):
        print(f"---- {name}")
        # Not the bare lines of the error: one of them could look like a line of ours.
        for line in "".join(traceback.format_exception(*error)).splitlines():
            print(f"     {line}")

    def _print(self, test, outcome):
        print(f"test {self._name(test)} ... {outcome}", flush=True)

    def _name(self, test):
        method = getattr(test, "_testMethodName", None)
        if method is None:
            # What stands for the preparation of a whole class or file, as in `setUpClass (__main__.BufCurl)`.
            step, _, place = test.id().rstrip(")").partition(" (")
            return f"{self.suite}::{place.rpartition('.')[2]}::{step}"
        return f"{self.suite}::{type(test).__name__}::{method.removeprefix('test_')}"


def main(suite):
    """Runs the cases of the script, or those that its arguments name; ends the process."""
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{pattern}*" for pattern in sys.argv[1:]] or None
    result = _Lines(suite)
    loader.loadTestsFromModule(sys.modules["__main__"]).run(result)
    print(f"{result.passed} passed, {result.failed} failed, {result.skipped_cases} skipped", flush=True)
    sys.exit(1 if result.failed else 0)

"""A real `compozyd` for test scripts: a home of its own, started, waited for, stopped in order."""

import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("COMPOZY_TEST_PROGRAMS", REPOSITORY / "target/debug"))

# A debug build on a busy machine; a failure is told as soon as the process has ended.
START_SECONDS = 30
# Above the daemon's own drain timeout, which has to end it.
STOP_SECONDS = 25
LOOK_AGAIN_SECONDS = 0.05


_databases = itertools.count(1)


def new_database():
    """The URL of an empty database on the Postgres of this run; the case is skipped without one."""
    url = os.environ.get("COMPOZY_TEST_POSTGRES_URL")
    folder = os.environ.get("COMPOZY_TEST_POSTGRES_BIN")
    psql = pathlib.Path(folder) / "psql" if folder else shutil.which("psql")
    if not url or not psql:
        raise unittest.SkipTest("no Postgres: COMPOZY_TEST_POSTGRES_URL is not set, or psql is not there")
    name = f"script_{os.getpid()}_{next(_databases)}"
    words = [psql, url, "--no-psqlrc", "-qc", f"CREATE DATABASE {name}"]
    subprocess.run(words, check=True, capture_output=True, timeout=60)
    return f"{url.rsplit('/', 1)[0]}/{name}"


def clean_environment(home, extra=None):
    """This process's environment without anything that steers Compozy or sends traffic elsewhere."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COMPOZY_", "OTEL_")) and not name.lower().endswith("_proxy")
    }
    # The daemon registers the user's home directory: not the real one.
    kept |= {"COMPOZY_HOME": str(home), "HOME": str(home.parent)}
    return kept | (extra or {})


class Daemon:
    """Starts with the home as it is found: write its config.toml first."""

    def __init__(self, home, environment=None, arguments=()):
        self.home = pathlib.Path(home)
        self.environment = clean_environment(self.home, environment)
        self.arguments = [str(argument) for argument in arguments]
        self.process = None

    def start(self):
        """Returns when the daemon serves."""
        with open(self._errors, "wb") as errors:
            self.process = subprocess.Popen(
                [PROGRAMS / "compozyd", *self.arguments],
                env=self.environment,
                cwd=self.home.parent,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._serves():
            if self.process.poll() is not None:
                raise AssertionError(f"compozyd ended with {self.process.returncode}: {self.errors()}")
            if time.monotonic() > deadline:
                self.process.kill()
                raise AssertionError(f"compozyd did not serve in {START_SECONDS} s: {self.errors()}")
            time.sleep(LOOK_AGAIN_SECONDS)
        return self

    def stop(self):
        """Asks it to end as systemd, Docker and Kubernetes do; answers its exit code."""
        if self.process is None or self.process.poll() is not None:
            return None if self.process is None else self.process.returncode
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"compozyd did not end within {STOP_SECONDS} s of SIGTERM") from None

    def compozy(self, *arguments):
        """Runs the command line on this home; answers its result with text in it."""
        return subprocess.run(
            [PROGRAMS / "compozy", "--no-autostart", *map(str, arguments)],
            env=self.environment,
            cwd=self.home.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )

    @property
    def about(self):
        """What it says about itself."""
        return json.loads((self.home / "daemon.json").read_text())

    @property
    def socket(self):
        return self.about["socket"]

    @property
    def port(self):
        """The port of its only TCP address."""
        [address] = self.about["addresses"]
        return int(address.rsplit(":", 1)[1])

    @property
    def token(self):
        return (self.home / "client.token").read_text().strip()

    def errors(self):
        """What it wrote to its terminal, and the end of its log."""
        log = self.home / "logs/compozy.log"
        lines = log.read_text(errors="replace").splitlines()[-20:] if log.exists() else []
        return "\n".join([self._errors.read_text(errors="replace"), *lines]).strip()

    @property
    def _errors(self):
        return self.home.parent / f"{self.home.name}-output.log"

    def _serves(self):
        return self.compozy("daemon", "health").returncode == 0

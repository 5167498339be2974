"""Checks deploy/: by the schemas and tools that its readers use, and by the daemon itself on each configuration.

`cargo xtask deploy-check` runs this with the packages of requirements.txt. The compose file is read by the library
behind `docker compose` where Go can build it (COMPOZY_TEST_COMPOSE_READER), the unit by systemd-analyze where
systemd is; without them these cases are skipped. Arguments select cases by a part of their name.
"""

import contextlib
import os
import pathlib
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest
import urllib.request

import grpc
import kubernetes_validate
import yaml
from grpc_health.v1 import health_pb2, health_pb2_grpc

import counted
from daemon import PROGRAMS, REPOSITORY, Daemon, new_database

DEPLOY = REPOSITORY / "deploy"
README = (DEPLOY / "README.md").read_text()
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
COMPOSE_FILE = DEPLOY / "compose/compose.yaml"
UNIT = DEPLOY / "systemd/compozyd.service"
DOCKERFILE = DEPLOY / "Dockerfile"

# The oldest cluster that the manifests are for; the newest is whatever the schemas have.
OLDEST_KUBERNETES = "1.30"
# systemd-analyze's measure from 0 (nothing left to abuse) to 10.
EXPOSURE_MAX = 2.0
# From a drain's end to the process's, and from the signal to its arrival.
ROOM_SECONDS = 5


def seconds(text):
    """`20s` or `1m`, as config.toml, systemd and compose write them."""
    number, unit = re.fullmatch(r"(\d+)(s|m)", text).groups()
    return int(number) * {"s": 1, "m": 60}[unit]


def drain_seconds(config):
    return seconds(tomllib.loads(config)["daemon"]["drain_timeout"])


def version():
    return tomllib.loads((REPOSITORY / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def documents():
    return [document for path in MANIFESTS for document in yaml.safe_load_all(path.read_text())]


def only(kind):
    [found] = [document for document in documents() if document["kind"] == kind]
    return found


class Kubernetes(unittest.TestCase):
    def setUp(self):
        self.deployment = only("Deployment")
        self.pod = self.deployment["spec"]["template"]["spec"]
        [self.container] = self.pod["containers"]
        self.config = only("ConfigMap")["data"]["config.toml"]

    def test_every_manifest_follows_the_published_schemas(self):
        self.assertGreaterEqual(len(documents()), 5)
        for release in [OLDEST_KUBERNETES, kubernetes_validate.latest_version()]:
            for document in documents():
                with self.subTest(release=release, kind=document["kind"]):
                    kubernetes_validate.validate(document, release, strict=True)

    def test_the_schemas_see_a_mistake(self):
        misspelt = only("Deployment")
        misspelt["spec"]["template"]["spec"]["containers"][0]["readinesProbe"] = {}
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(misspelt, kubernetes_validate.latest_version(), strict=True)

    def test_whatever_is_named_is_there(self):
        made = {(document["kind"], document["metadata"]["name"]) for document in documents()}
        # The README has the commands that make the secrets: their content is nobody else's business.
        made |= {("Secret", name) for name in re.findall(r"create secret (?:generic|tls) ([\w-]+)", README)}
        named = {("ServiceAccount", self.pod["serviceAccountName"])}
        for volume in self.pod["volumes"]:
            if "configMap" in volume:
                named.add(("ConfigMap", volume["configMap"]["name"]))
            if "secret" in volume:
                named.add(("Secret", volume["secret"]["secretName"]))
        for variable in self.container["env"]:
            if "valueFrom" in variable:
                named.add(("Secret", variable["valueFrom"]["secretKeyRef"]["name"]))
        self.assertLessEqual(named, made)
        volumes = {volume["name"] for volume in self.pod["volumes"]}
        for container in [*self.pod["initContainers"], self.container]:
            self.assertLessEqual({mount["name"] for mount in container["volumeMounts"]}, volumes)

    def test_service_and_budget_find_the_pods(self):
        labels = self.deployment["spec"]["template"]["metadata"]["labels"].items()
        for selector in [
            self.deployment["spec"]["selector"]["matchLabels"],
            only("Service")["spec"]["selector"],
            only("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        ]:
            self.assertLessEqual(selector.items(), labels)
        [port] = only("Service")["spec"]["ports"]
        self.assertIn(port["targetPort"], [port["name"] for port in self.container["ports"]])

    def test_one_replica_can_go_without_an_outage(self):
        replicas = self.deployment["spec"]["replicas"]
        self.assertGreaterEqual(replicas, 2)
        self.assertLess(only("PodDisruptionBudget")["spec"]["maxUnavailable"], replicas)
        self.assertEqual(self.deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"], 0)

    def test_the_drain_fits_into_the_grace_period(self):
        before = self.container["lifecycle"]["preStop"]["sleep"]["seconds"]
        least = before + drain_seconds(self.config) + ROOM_SECONDS
        self.assertGreaterEqual(self.pod["terminationGracePeriodSeconds"], least)

    def test_ports_are_those_of_the_configuration(self):
        config = tomllib.loads(self.config)
        ports = {port["name"]: port["containerPort"] for port in self.container["ports"]}
        for name, table in [("grpc", "grpc"), ("telemetry", "telemetry")]:
            self.assertEqual(config[table]["listen"], f"0.0.0.0:{ports[name]}")
        for probe in ["startupProbe", "livenessProbe", "readinessProbe"]:
            self.assertEqual(self.container[probe]["grpc"]["port"], ports["telemetry"], probe)

    def test_liveness_asks_for_the_process_and_readiness_for_everything(self):
        self.assertEqual(self.container["livenessProbe"]["grpc"]["service"], "liveness")
        self.assertEqual(self.container["readinessProbe"]["grpc"]["service"], "")

    def test_pods_are_as_restricted_as_the_restricted_standard(self):
        own = self.pod["securityContext"]
        self.assertTrue(own["runAsNonRoot"])
        self.assertEqual(own["seccompProfile"]["type"], "RuntimeDefault")
        for container in [*self.pod["initContainers"], self.container]:
            context = container["securityContext"]
            self.assertFalse(context["allowPrivilegeEscalation"])
            self.assertTrue(context["readOnlyRootFilesystem"])
            self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
            self.assertIn("memory", container["resources"]["limits"])
        self.assertFalse(self.pod["automountServiceAccountToken"])


class Systemd(unittest.TestCase):
    def setUp(self):
        self.settings = [line.partition("=")[::2] for line in UNIT.read_text().splitlines() if "=" in line]
        self.settings = [(name, value) for name, value in self.settings if not name.startswith("#")]
        self.config = (DEPLOY / "systemd/config.toml").read_text()

    def setting(self, name):
        [value] = [value for key, value in self.settings if key == name]
        return value

    @contextlib.contextmanager
    def installed(self):
        """The unit with a program that is there; nothing else is changed."""
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not there (Debian's package systemd has it)")
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder) / UNIT.name
            program = self.setting("ExecStart").split()[0]
            unit.write_text(UNIT.read_text().replace(program, str(PROGRAMS / "compozyd")))
            yield unit

    def analyze(self, *words):
        return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, timeout=60)

    def test_systemd_finds_nothing_wrong(self):
        with self.installed() as unit:
            result = self.analyze("verify", "--man=no", unit)
        self.assertEqual((result.returncode, result.stdout + result.stderr), (0, ""))

    def test_it_is_hardened(self):
        with self.installed() as unit:
            # The threshold is in tenths.
            words = ["--offline=true", f"--threshold={int(EXPOSURE_MAX * 10)}", "--no-pager"]
            result = self.analyze("security", *words, unit)
        if "Unknown command" in result.stderr or "unrecognized option" in result.stderr:
            self.skipTest("this systemd-analyze measures no unit that is not loaded")
        self.assertEqual(result.returncode, 0, result.stdout[-2000:] + result.stderr)
        self.assertEqual((self.setting("NoNewPrivileges"), self.setting("ProtectSystem")), ("yes", "strict"))

    def test_the_drain_fits_into_the_stop_timeout(self):
        least = drain_seconds(self.config) + ROOM_SECONDS
        self.assertGreaterEqual(seconds(self.setting("TimeoutStopSec")), least)

    def test_what_may_be_registered_may_be_written(self):
        roots = tomllib.loads(self.config)["workspaces"]["allowed_roots"]
        writable = [path.lstrip("-") for path in self.setting("ReadWritePaths").split()]
        self.assertEqual(roots, writable)


class Image(unittest.TestCase):
    def setUp(self):
        self.text = DOCKERFILE.read_text()

    def test_the_linter_finds_nothing(self):
        linter = pathlib.Path(sys.executable).parent / "hadolint"
        result = subprocess.run([linter, DOCKERFILE], capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stdout + result.stderr), (0, ""))

    def test_the_toolchain_is_the_repositorys(self):
        channel = tomllib.loads((REPOSITORY / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
        self.assertIn(f"FROM rust:{channel}-slim-bookworm AS build", self.text)
        self.assertIn(f"RUSTUP_TOOLCHAIN={channel} ", self.text)

    def test_it_builds_what_is_committed_and_runs_without_root(self):
        self.assertRegex(self.text, r"cargo build --release --locked ")
        last_stage = self.text[self.text.rindex("\nFROM ") :]
        self.assertEqual(re.findall(r"^USER (.*)$", last_stage, re.MULTILINE), ["10001:10001"])

    def test_what_it_copies_is_there_and_not_ignored(self):
        ignored = pathlib.Path(f"{DOCKERFILE}.dockerignore").read_text().split("\n")
        for words in re.findall(r"^COPY (?!--from)(.*)$", self.text, re.MULTILINE):
            *sources, _ = [word for word in words.split() if not word.startswith("--")]
            for source in sources:
                self.assertTrue((REPOSITORY / source).exists(), source)
                self.assertNotIn(source, ignored)

    def test_every_file_names_this_version(self):
        for path in [DOCKERFILE, COMPOSE_FILE, *MANIFESTS, DEPLOY / "README.md"]:
            tags = set(re.findall(r"\bcompozy:(\d[\w.]*\w)", path.read_text()))
            self.assertEqual(tags, {version()}, path)


class Compose(unittest.TestCase):
    values = {"COMPOZY_UID": "1000", "COMPOZY_GID": "1000", "POSTGRES_PASSWORD": "x", "COMPOZY_PROJECTS": "/srv"}

    def setUp(self):
        self.text = COMPOSE_FILE.read_text()
        self.services = yaml.safe_load(self.text)["services"]
        self.replicas = [service for name, service in self.services.items() if name.startswith("compozyd-")]

    def filled(self):
        """With a value for every variable; the reader looks none up by itself."""
        return re.sub(r"\$\{(\w+):\?[^}]*\}", lambda found: self.values[found.group(1)], self.text)

    def read(self, text):
        reader = os.environ.get("COMPOZY_TEST_COMPOSE_READER")
        if not reader:
            self.skipTest("the compose reader is not there (it takes Go to build it)")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "compose.yaml"
            file.write_text(text)
            return subprocess.run([reader, file], cwd=folder, capture_output=True, text=True, timeout=60)

    def test_compose_reads_it(self):
        result = self.read(self.filled())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(set(yaml.safe_load(result.stdout)["services"]), {"compozyd-1", "compozyd-2", "postgres"})

    def test_the_reader_sees_a_mistake(self):
        self.assertNotEqual(self.read(self.filled().replace("read_only:", "readonly:")).returncode, 0)

    def test_the_readme_sets_every_variable(self):
        named = set(re.findall(r"\$\{(\w+)", self.text))
        self.assertEqual(named, set(self.values))
        self.assertLessEqual(named, set(re.findall(r"^(\w+)=", README, re.MULTILINE)))

    def test_two_replicas_share_everything_but_the_port(self):
        self.assertEqual(len(self.replicas), 2)
        ports = {port for replica in self.replicas for port in replica.pop("ports")}
        self.assertEqual(len(ports), 2)
        self.assertEqual(self.replicas[0], self.replicas[1])

    def test_the_drain_fits_into_the_grace_period(self):
        least = drain_seconds((DEPLOY / "compose/config.toml").read_text()) + ROOM_SECONDS
        for replica in self.replicas:
            self.assertGreaterEqual(seconds(replica["stop_grace_period"]), least)

    def test_mounted_files_are_there_or_made_by_the_readme(self):
        for source in {volume.split(":")[0] for volume in self.replicas[0]["volumes"] if volume.startswith("./")}:
            made = f"deploy/make-secrets deploy/compose/{source[2:]}" in README
            self.assertTrue(made or (DEPLOY / "compose" / source).exists(), source)


class RealDaemon(unittest.TestCase):
    """The daemon on each configuration as it stands, but for the folders and the ports."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cz-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.secrets = self.folder / "secrets"
        self.make_secrets()
        self.daemons = []

    def make_secrets(self):
        script = subprocess.run([DEPLOY / "make-secrets", self.secrets, "localhost"], capture_output=True, text=True)
        self.assertEqual(script.returncode, 0, script.stderr)

    def start(self, home, environment=None):
        daemon = Daemon(home, environment)
        self.addCleanup(daemon.stop)
        self.daemons.append(daemon)
        return daemon.start()

    def moved(self, text, moves):
        for old, new in moves.items():
            self.assertIn(old, text)
            text = text.replace(old, str(new))
        return text

    def home(self, name, config):
        home = self.folder / name
        home.mkdir(mode=0o700)
        (home / "config.toml").write_text(config)
        return home

    def call(self, daemon, *words):
        """The command line over TLS, with what make-secrets gives a client."""
        way = ["--server", f"https://localhost:{daemon.port}", "--ca", self.secrets / "ca.pem"]
        result = daemon.compozy(*way, "--token-file", self.secrets / "token", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def stop_within(self, limit):
        began = time.monotonic()
        for daemon in self.daemons:
            self.assertEqual(daemon.stop(), 0, daemon.errors())
        self.assertLess(time.monotonic() - began, limit)

    def test_the_image_without_a_configuration(self):
        daemon = self.start(self.home("image", (DEPLOY / "container.toml").read_text()))
        self.assertEqual(daemon.about["addresses"], [])
        [check] = re.findall(r"HEALTHCHECK .*\\\n\s+CMD (\[.*\])", DOCKERFILE.read_text())
        program, *words = yaml.safe_load(check)
        self.assertEqual((program, daemon.compozy(*words).returncode), ("compozy", 0))
        self.assertIn('"', daemon.errors().splitlines()[0], "its log goes to stderr too")
        self.assertEqual(daemon.stop(), 0)
        self.assertNotEqual(daemon.compozy(*words).returncode, 0)

    def test_systemd(self):
        projects = self.folder / "projects"
        (projects / "shop").mkdir(parents=True)
        config = (DEPLOY / "systemd/config.toml").read_text()
        moves = {"127.0.0.1:2123": "127.0.0.1:0", "/etc/compozy": self.secrets, "/srv/projects": projects}
        daemon = self.start(self.home("systemd", self.moved(config, moves)))
        way = ["--server", f"http://127.0.0.1:{daemon.port}", "--token-file", self.secrets / "token"]
        added = daemon.compozy(*way, "workspace", "add", projects / "shop")
        self.assertEqual(added.returncode, 0, added.stderr)
        self.assertIn("shop", daemon.compozy(*way, "workspace", "list").stdout)
        self.stop_within(drain_seconds(config))

    def test_compose_on_postgres(self):
        projects = self.folder / "projects"
        (projects / "shop").mkdir(parents=True)
        config = (DEPLOY / "compose/config.toml").read_text()
        moves = {"0.0.0.0:2123": "0.0.0.0:0", "/etc/compozy": self.secrets, '"/projects"': f'"{projects}"'}
        config = self.moved(config, moves)
        store = {"COMPOZY_STORE_URL": new_database()}
        one, two = [self.start(self.home(name, config), store) for name in ["one", "two"]]
        self.call(one, "workspace", "add", projects / "shop")
        self.assertIn("shop", self.call(two, "workspace", "list"))
        self.call(two, "workspace", "remove", "shop")
        self.assertNotIn("shop", self.call(one, "workspace", "list"))
        self.stop_within(2 * drain_seconds(config))

    def test_a_renewed_certificate_is_taken_without_a_restart(self):
        files = f'[grpc.tls]\ncert = "{self.secrets}/server.pem"\nkey = "{self.secrets}/server.key"\n'
        tokens = f'[auth]\ntokens_file = "{self.secrets}/tokens.toml"\n'
        daemon = self.start(self.home("renewed", f'[grpc]\nlisten = "0.0.0.0:0"\n{files}{tokens}'))

        def shown():
            return ssl.get_server_certificate(("localhost", daemon.port), ca_certs=self.secrets / "ca.pem", timeout=10)

        first = shown()
        self.assertEqual(first, (self.secrets / "server.pem").read_text())
        self.make_secrets()
        deadline = time.monotonic() + 10
        while shown() == first and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(shown(), (self.secrets / "server.pem").read_text())
        self.call(daemon, "workspace", "list")

    def kubernetes_pod(self, environment):
        """One pod of the Deployment: its mounts, its init container, its container."""
        pod = only("Deployment")["spec"]["template"]["spec"]
        [first], [container] = pod["initContainers"], pod["containers"]
        etc, lib = self.folder / "etc", self.folder / "lib"
        lib.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            telemetry = listener.getsockname()[1]
        moves = {
            "0.0.0.0:2123": "0.0.0.0:0",
            "0.0.0.0:9464": f"127.0.0.1:{telemetry}",
            "/etc/compozy": etc,
        }
        config = self.moved(only("ConfigMap")["data"]["config.toml"], moves)
        mount(etc / "config", {"config.toml": config})
        mount(etc / "tokens", {"tokens.toml": (self.secrets / "tokens.toml").read_text()})
        keys = {"tls.crt": "server.pem", "tls.key": "server.key"}
        mount(etc / "tls", {name: (self.secrets / file).read_text() for name, file in keys.items()})
        folders = {"/etc/compozy": etc, "/var/lib/compozy": lib}
        command = self.moved(shlex.join(first["command"]), folders)
        subprocess.run(shlex.split(command), check=True, timeout=60)
        variables = {variable["name"]: variable.get("value") for variable in container["env"]}
        home = self.moved(variables["COMPOZY_HOME"], {"/var/lib/compozy": lib})
        return self.start(home, environment), container, telemetry

    def probe(self, container, name, telemetry):
        """As the kubelet: no TLS, no token."""
        service = container[name]["grpc"]["service"]
        with grpc.insecure_channel(f"127.0.0.1:{telemetry}") as channel:
            request = health_pb2.HealthCheckRequest(service=service)
            limit = container[name].get("timeoutSeconds", 1)
            return health_pb2_grpc.HealthStub(channel).Check(request, timeout=limit).status

    def check_pod(self, environment):
        daemon, container, telemetry = self.kubernetes_pod(environment)
        serving = health_pb2.HealthCheckResponse.SERVING
        for name in ["startupProbe", "livenessProbe", "readinessProbe"]:
            self.assertEqual(self.probe(container, name, telemetry), serving, name)
        self.assertIn('"workspaces": []', self.call(daemon, "workspace", "list", "--json"))
        with urllib.request.urlopen(f"http://127.0.0.1:{telemetry}/metrics", timeout=10) as answer:
            numbers = answer.read()
        for number in [b"compozy_store_ready 1", b"compozy_change_log_head ", b"compozy_change_log_pending "]:
            self.assertIn(number, numbers)
        self.stop_within(drain_seconds(only("ConfigMap")["data"]["config.toml"]))

    def test_kubernetes(self):
        self.check_pod({})

    def test_kubernetes_on_postgres(self):
        self.check_pod({"COMPOZY_STORE_URL": new_database()})


def mount(folder, files):
    """A ConfigMap or Secret as Kubernetes mounts it: links into a folder that is replaced as a whole."""
    content = folder / "..2026_01_01"
    content.mkdir(parents=True)
    (folder / "..data").symlink_to(content.name)
    for name, text in files.items():
        (content / name).write_text(text)
        (folder / name).symlink_to(f"..data/{name}")


if __name__ == "__main__":
    counted.main("deploy")

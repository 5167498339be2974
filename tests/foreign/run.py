"""Clients that are not ours against a real daemon: Python's grpcio, `buf curl`, grpcurl, grpc-health-probe.

`cargo xtask foreign` runs this with the packages of requirements.txt and names the programs in COMPOZY_TEST_BUF,
COMPOZY_TEST_GRPCURL and COMPOZY_TEST_HEALTH_PROBE; without its program a client is skipped. The Python calls are
made over TCP with the token, over the Unix socket, over TLS, and once more on Postgres. Arguments select cases by
a part of their name.
"""

import base64
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
import uuid

import grpc
import grpc_status.rpc_status
import grpc_tools.protoc
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

import counted
from daemon import REPOSITORY, Daemon, new_database

PROTO = REPOSITORY / "proto"
WORKSPACES = "compozy.workspace.v1.WorkspaceService"
SESSIONS = "compozy.session.v1.SessionCatalogService"
# Everything is on this machine; a call that takes longer hangs.
CALL_SECONDS = 20
UNKNOWN_ID = "ws_0000000000000000"
UNKNOWN_SESSION = "sess-0000000000000000"

numbers = itertools.count(1)


class Place:
    """What the cases share: the folder, the generated code, and daemons, each started on first use."""

    def __init__(self):
        # Short: a socket's path has an end, and grpcio takes it as it is.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="cz-")).resolve()
        self.projects = self.folder / "projects"
        self.projects.mkdir()
        self.daemons = {}

    def generate(self):
        """Compiles the contract as any Python project would."""
        generated = self.folder / "generated"
        generated.mkdir()
        files = [str(path.relative_to(PROTO)) for path in sorted(PROTO.rglob("*.proto"))]
        bundled = pathlib.Path(grpc_tools.__file__).parent / "_proto"
        words = ["protoc", f"-I{PROTO}", f"-I{bundled}", f"--python_out={generated}"]
        if grpc_tools.protoc.main([*words, f"--grpc_python_out={generated}", *files]) != 0:
            raise AssertionError("protoc refuses the contract")
        sys.path.insert(0, str(generated))
        global admin_pb2, admin_grpc, sessions_pb2, session_pb2, sessions_grpc
        global workspace_pb2, service_pb2, service_grpc
        from compozy.admin.v1 import admin_service_pb2 as admin_pb2
        from compozy.admin.v1 import admin_service_pb2_grpc as admin_grpc
        from compozy.session.v1 import session_catalog_service_pb2 as sessions_pb2
        from compozy.session.v1 import session_catalog_service_pb2_grpc as sessions_grpc
        from compozy.session.v1 import session_pb2
        from compozy.workspace.v1 import workspace_pb2
        from compozy.workspace.v1 import workspace_service_pb2 as service_pb2
        from compozy.workspace.v1 import workspace_service_pb2_grpc as service_grpc

    def daemon(self, name, config="", environment=None):
        """The running daemon of this name."""
        if name not in self.daemons:
            home = self.folder / name
            home.mkdir(mode=0o700)
            text = f'[grpc]\nlisten = "127.0.0.1:0"\n[workspaces]\nallowed_roots = ["{self.projects}"]\n{config}'
            (home / "config.toml").write_text(text)
            self.daemons[name] = Daemon(home, environment).start()
        return self.daemons[name]

    def plain(self):
        return self.daemon("plain")

    def secured(self):
        """Behind TLS, with the files that an operator makes."""
        secrets = self.folder / "secrets"
        if not secrets.exists():
            script = REPOSITORY / "deploy/make-secrets"
            subprocess.run([script, secrets, "localhost"], check=True, capture_output=True)
        files = f'[grpc.tls]\ncert = "{secrets}/server.pem"\nkey = "{secrets}/server.key"\n'
        return self.daemon("secured", f'{files}[auth]\ntokens_file = "{secrets}/tokens.toml"\n')

    def on_postgres(self):
        return self.daemon("postgres", environment={"COMPOZY_STORE_URL": new_database()})

    def project(self, name=None):
        """A new directory to register."""
        path = self.projects / (name or f"project-{next(numbers)}")
        path.mkdir()
        return path

    def leave(self):
        """Stops the daemons; answers what was wrong about that."""
        wrong = []
        for name, daemon in self.daemons.items():
            try:
                code = daemon.stop()
            except AssertionError as error:
                code = error
            if code != 0:
                wrong.append(f"the daemon '{name}' ended with: {code}\n{daemon.errors()}")
        shutil.rmtree(self.folder, ignore_errors=True)
        return wrong


place = None


def setUpModule():
    global place
    place = Place()
    place.generate()


def tearDownModule():
    if wrong := place.leave():
        raise AssertionError("\n".join(wrong))


def served_services():
    """What the contract declares and somebody serves, and the two standard ones."""
    names = {"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"}
    for file in PROTO.rglob("*.proto"):
        if file.name == "session_event_service.proto":  # Settled, but not served yet.
            continue
        text = file.read_text()
        package = re.search(r"^package ([\w.]+);", text, re.MULTILINE).group(1)
        names |= {f"{package}.{name}" for name in re.findall(r"^service (\w+)", text, re.MULTILINE)}
    return names


class _Token(grpc.UnaryUnaryClientInterceptor, grpc.StreamStreamClientInterceptor):
    """Puts the token into every call. grpcio's own call credentials insist on TLS, which loopback does not need."""

    def __init__(self, token):
        self.header = ("authorization", f"Bearer {token}")

    def _intercept(self, continuation, details, request):
        metadata = [*(details.metadata or ()), self.header]
        return continuation(details._replace(metadata=metadata), request)

    intercept_unary_unary = intercept_stream_stream = _intercept


def with_token(channel, token):
    return grpc.intercept_channel(channel, _Token(token))


class PythonCalls:
    """The calls, whatever the way to the daemon. A subclass says which: `connect`."""

    @classmethod
    def setUpClass(cls):
        cls.channel = cls.connect()
        cls.workspaces = service_grpc.WorkspaceServiceStub(cls.channel)
        cls.admin = admin_grpc.AdminServiceStub(cls.channel)
        cls.sessions = sessions_grpc.SessionCatalogServiceStub(cls.channel)
        cls.health = health_pb2_grpc.HealthStub(cls.channel)

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()

    def register(self, path, **fields):
        request = service_pb2.RegisterWorkspaceRequest(path=str(path), **fields)
        return self.workspaces.RegisterWorkspace(request, timeout=CALL_SECONDS)

    def failure(self, method, request):
        """Makes a call that has to fail; answers its code and its details by type."""
        with self.assertRaises(grpc.RpcError) as caught:
            method(request, timeout=CALL_SECONDS)
        status = grpc_status.rpc_status.from_call(caught.exception)
        self.assertIsNotNone(status, f"no details in {caught.exception}")
        details = {}
        for packed in status.details:
            detail = getattr(error_details_pb2, packed.TypeName().rpartition(".")[2])()
            self.assertTrue(packed.Unpack(detail))
            details.setdefault(type(detail), []).append(detail)
        [info] = details[error_details_pb2.ErrorInfo]
        self.assertEqual(info.domain, "compozy.dev")
        return caught.exception.code(), info, details

    def test_a_registered_directory_comes_back(self):
        path = place.project(f"Größe und Ähnliches {next(numbers)}")
        request_id = str(uuid.uuid4())
        answer = self.register(path, title="日本語 ✓", request_id=request_id)
        made = answer.workspace
        self.assertTrue(answer.created)
        self.assertRegex(made.id, r"^ws_[0-9a-f]{16}$")
        self.assertEqual((made.root_dir, made.title), (str(path), "日本語 ✓"))
        again = self.register(path, title="日本語 ✓", request_id=request_id)
        self.assertEqual(again, answer, "the remembered answer")
        unasked = self.register(path)
        self.assertEqual((unasked.created, unasked.workspace.id), (False, made.id))
        reference = workspace_pb2.WorkspaceRef(path=str(path))
        found = self.workspaces.GetWorkspace(service_pb2.GetWorkspaceRequest(ref=reference), timeout=CALL_SECONDS)
        self.assertEqual(found.workspace, made)

    def test_pages_are_counted_and_go_on(self):
        prefix = f"paged{next(numbers)}-"
        made = [self.register(place.project(f"{prefix}{index}")).workspace.id for index in range(3)]
        request = service_pb2.ListWorkspacesRequest(limit=2, name_prefix=prefix)
        first = self.workspaces.ListWorkspaces(request, timeout=CALL_SECONDS)
        self.assertEqual((first.page.total, first.page.has_more, len(first.workspaces)), (3, True, 2))
        request.cursor = first.page.next_cursor
        rest = self.workspaces.ListWorkspaces(request, timeout=CALL_SECONDS)
        self.assertEqual((rest.page.total, rest.page.has_more, rest.page.next_cursor), (3, False, ""))
        listed = [row.id for row in [*first.workspaces, *rest.workspaces]]
        self.assertEqual(listed, made[::-1], "the newest is in front")

    def test_a_session_lives_and_ends(self):
        reference = workspace_pb2.WorkspaceRef(path=str(place.project()))
        self.register(reference.path)
        # Maps have no order on the wire: a repetition is one all the same.
        wanted = {
            "workspace": reference,
            "bind": sessions_pb2.RuntimeBinding(holder="a runtime"),
            "request_id": str(uuid.uuid4()),
        }
        labels = {f"key {index}": "Größe ✓" for index in range(32)}
        request = sessions_pb2.CreateSessionRequest(labels=labels, **wanted)
        made = self.sessions.CreateSession(request, timeout=CALL_SECONDS)
        self.assertRegex(made.session.id, r"^sess-[0-9a-f]{16}$")
        self.assertEqual(dict(made.session.labels), labels)
        request = sessions_pb2.CreateSessionRequest(labels=dict(reversed(labels.items())), **wanted)
        again = self.sessions.CreateSession(request, timeout=CALL_SECONDS)
        self.assertEqual((again.session.id, again.HasField("lease")), (made.session.id, False))

        beat = sessions_pb2.HeartbeatRequest(lease=made.lease.token, prompting=True)
        self.sessions.Heartbeat(beat, timeout=CALL_SECONDS)
        listing = sessions_pb2.ListSessionsRequest(filter=sessions_pb2.SessionFilter(workspace=reference))
        page = self.sessions.ListSessions(listing, timeout=CALL_SECONDS)
        self.assertEqual((page.page.total, len(page.sessions)), (1, 1))
        self.assertEqual(page.sessions[0].badge, session_pb2.SESSION_BADGE_RUNNING)

        finish = sessions_pb2.FinishSessionRequest(lease=made.lease.token, error="it fell", exit_status=-9)
        ended = self.sessions.FinishSession(finish, timeout=CALL_SECONDS).session
        self.assertEqual((ended.state, ended.stop.exit_status), (session_pb2.SESSION_STATE_STOPPED, -9))
        code, info, _ = self.failure(self.sessions.Heartbeat, beat)
        self.assertEqual((code, info.reason), (grpc.StatusCode.ABORTED, "LEASE_LOST"))

    def test_a_missing_session_has_its_reason(self):
        request = sessions_pb2.GetSessionRequest(session_id=UNKNOWN_SESSION)
        code, info, details = self.failure(self.sessions.GetSession, request)
        self.assertEqual((code, info.reason), (grpc.StatusCode.NOT_FOUND, "SESSION_NOT_FOUND"))
        [resource] = details[error_details_pb2.ResourceInfo]
        self.assertEqual(resource.resource_name, UNKNOWN_SESSION)

    def test_a_missing_workspace_has_its_reason(self):
        reference = workspace_pb2.WorkspaceRef(id=UNKNOWN_ID)
        request = service_pb2.GetWorkspaceRequest(ref=reference)
        code, info, details = self.failure(self.workspaces.GetWorkspace, request)
        self.assertEqual((code, info.reason), (grpc.StatusCode.NOT_FOUND, "WORKSPACE_NOT_FOUND"))
        [resource] = details[error_details_pb2.ResourceInfo]
        self.assertEqual(resource.resource_name, UNKNOWN_ID)

    def test_a_wrong_field_is_named(self):
        request = service_pb2.ListWorkspacesRequest(limit=101)
        code, info, details = self.failure(self.workspaces.ListWorkspaces, request)
        self.assertEqual((code, info.reason), (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD"))
        [bad_request] = details[error_details_pb2.BadRequest]
        self.assertEqual([violation.field for violation in bad_request.field_violations], ["limit"])

    def test_a_request_above_4_mib_is_refused(self):
        request = service_pb2.RegisterWorkspaceRequest(path="/" + "x" * (5 << 20))
        code, info, _ = self.failure(self.workspaces.RegisterWorkspace, request)
        self.assertEqual((code, info.reason), (grpc.StatusCode.RESOURCE_EXHAUSTED, "MESSAGE_TOO_LARGE"))

    def test_many_calls_share_the_connection(self):
        request, ask = admin_pb2.GetServerInfoRequest(), self.admin.GetServerInfo.future
        calls = [ask(request, timeout=CALL_SECONDS) for _ in range(400)]
        self.assertEqual(len({call.result().catalog_id for call in calls}), 1)

    def test_health_is_told_and_watched(self):
        serving = health_pb2.HealthCheckResponse.SERVING
        for name in ["", "liveness", WORKSPACES, SESSIONS, "compozy.admin.v1.AdminService"]:
            answer = self.health.Check(health_pb2.HealthCheckRequest(service=name), timeout=CALL_SECONDS)
            self.assertEqual(answer.status, serving, name)
        watch = self.health.Watch(health_pb2.HealthCheckRequest(), timeout=CALL_SECONDS)
        self.assertEqual(next(watch).status, serving)
        watch.cancel()

    def test_reflection_describes_every_service(self):
        """N174, by the older reflection protocol."""
        database = ProtoReflectionDescriptorDatabase(self.channel)
        self.assertGreaterEqual(set(database.get_services()), served_services())
        for name in served_services():
            file = database.FindFileContainingSymbol(name)
            self.assertTrue(name.startswith(f"{file.package}."), name)


class PythonOverTcp(PythonCalls, unittest.TestCase):
    @classmethod
    def connect(cls):
        daemon = place.plain()
        cls.open = grpc.insecure_channel(f"127.0.0.1:{daemon.port}")
        return with_token(cls.open, daemon.token)

    @classmethod
    def tearDownClass(cls):
        cls.open.close()

    def test_w326_without_a_token_only_health_is_answered(self):
        """W326, the services of today and reflection among them."""
        answer = health_pb2_grpc.HealthStub(self.open).Check(health_pb2.HealthCheckRequest(), timeout=CALL_SECONDS)
        self.assertEqual(answer.status, health_pb2.HealthCheckResponse.SERVING)
        calls = [
            (service_grpc.WorkspaceServiceStub(self.open).ListWorkspaces, service_pb2.ListWorkspacesRequest()),
            (admin_grpc.AdminServiceStub(self.open).GetServerInfo, admin_pb2.GetServerInfoRequest()),
        ]
        for method, request in calls:
            code, info, _ = self.failure(method, request)
            self.assertEqual((code, info.reason), (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_MISSING"))
        with self.assertRaises(grpc.RpcError) as caught:
            ProtoReflectionDescriptorDatabase(self.open).get_services()
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAUTHENTICATED)

    def test_a_wrong_token_opens_nothing(self):
        stranger = admin_grpc.AdminServiceStub(with_token(self.open, "0" * 64))
        code, info, _ = self.failure(stranger.GetServerInfo, admin_pb2.GetServerInfoRequest())
        self.assertEqual((code, info.reason), (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_INVALID"))


class PythonOverTheSocket(PythonCalls, unittest.TestCase):
    @classmethod
    def connect(cls):
        # Without it, grpcio sends the escaped path of the socket as :authority, which the server's HTTP/2
        # does not take.
        options = [("grpc.default_authority", "localhost")]
        return grpc.insecure_channel(f"unix://{place.plain().socket}", options)


class PythonOverTls(PythonCalls, unittest.TestCase):
    @classmethod
    def connect(cls):
        port, secrets = place.secured().port, place.folder / "secrets"
        authority = grpc.ssl_channel_credentials((secrets / "ca.pem").read_bytes())
        token = grpc.access_token_call_credentials((secrets / "token").read_text().strip())
        # The certificate is for the name; the address is where the daemon listens.
        options = [("grpc.ssl_target_name_override", "localhost")]
        return grpc.secure_channel(f"127.0.0.1:{port}", grpc.composite_channel_credentials(authority, token), options)


class PythonOnPostgres(PythonCalls, unittest.TestCase):
    @classmethod
    def connect(cls):
        options = [("grpc.default_authority", "localhost")]
        return grpc.insecure_channel(f"unix://{place.on_postgres().socket}", options)


class Program:
    """A client that is a program: the way to it, and its answers."""

    variable = None

    @classmethod
    def setUpClass(cls):
        cls.program = os.environ.get(cls.variable)
        if not cls.program:
            raise unittest.SkipTest(f"its program is not there ({cls.variable} is not set)")
        cls.daemon = place.plain()

    def run_program(self, *words):
        words = [self.program, *map(str, words)]
        return subprocess.run(words, cwd=place.folder, capture_output=True, text=True, timeout=3 * CALL_SECONDS)

    def succeed(self, *words):
        result = self.run_program(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout


def error_info(text):
    """Reads one from base64 with or without its padding."""
    return error_details_pb2.ErrorInfo.FromString(base64.b64decode(text + "=="))


class BufCurl(Program, unittest.TestCase):
    """It finds the contract by reflection alone."""

    variable = "COMPOZY_TEST_BUF"

    def over_tcp(self):
        # The token goes with the questions to reflection as well.
        token = ["--header", f"Authorization: Bearer {self.daemon.token}", "--reflect-header", "*"]
        return token, f"http://127.0.0.1:{self.daemon.port}"

    def over_the_socket(self):
        return ["--unix-socket", self.daemon.socket], "http://localhost"

    def words(self, way, method, message):
        options, server = way()
        url = f"{server}/{WORKSPACES}/{method}"
        return ["curl", "--protocol=grpc", "--http2-prior-knowledge", *options, "--data", json.dumps(message), url]

    def register_and_list(self, way):
        path = place.project()
        made = json.loads(self.succeed(*self.words(way, "RegisterWorkspace", {"path": str(path)})))
        self.assertEqual((made["created"], made["workspace"]["rootDir"]), (True, str(path)))
        listed = json.loads(self.succeed(*self.words(way, "ListWorkspaces", {"namePrefix": path.name})))
        self.assertEqual([row["id"] for row in listed["workspaces"]], [made["workspace"]["id"]])
        self.assertEqual(int(listed["page"]["total"]), 1)

    def test_registers_and_lists_over_tcp(self):
        self.register_and_list(self.over_tcp)

    def test_registers_and_lists_over_the_socket(self):
        self.register_and_list(self.over_the_socket)

    def test_shows_the_reason_of_a_failure(self):
        for way in [self.over_tcp, self.over_the_socket]:
            with self.subTest(way=way.__name__):
                result = self.run_program(*self.words(way, "GetWorkspace", {"ref": {"id": UNKNOWN_ID}}))
                not_found = grpc.StatusCode.NOT_FOUND.value[0]
                self.assertEqual(result.returncode, not_found << 3, result.stderr)
                shown = json.loads(result.stderr)
                self.assertEqual(shown["code"], "not_found")
                [packed] = [detail for detail in shown["details"] if detail["type"] == "google.rpc.ErrorInfo"]
                info = error_info(packed["value"])
                self.assertEqual((info.reason, info.domain), ("WORKSPACE_NOT_FOUND", "compozy.dev"))


class Grpcurl(Program, unittest.TestCase):
    variable = "COMPOZY_TEST_GRPCURL"

    def over_tcp(self):
        token = f"Authorization: Bearer {self.daemon.token}"
        return ["-plaintext", "-H", token], [f"127.0.0.1:{self.daemon.port}"]

    def over_the_socket(self):
        return ["-plaintext", "-unix", "-authority", "localhost"], [self.daemon.socket]

    def call(self, way, method, message):
        options, server = way()
        return self.run_program(*options, "-format-error", "-d", json.dumps(message), *server, f"{WORKSPACES}/{method}")

    def test_reflection_lists_and_describes_every_service(self):
        """N174, by reflection v1."""
        for way in [self.over_tcp, self.over_the_socket]:
            with self.subTest(way=way.__name__):
                options, server = way()
                listed = set(self.succeed(*options, *server, "list").split())
                self.assertGreaterEqual(listed, served_services())
                for name in served_services():
                    self.assertIn(f"{name} is a service:", self.succeed(*options, *server, "describe", name))

    def test_registers_and_lists(self):
        for way in [self.over_tcp, self.over_the_socket]:
            with self.subTest(way=way.__name__):
                path = place.project()
                made = json.loads(self.call(way, "RegisterWorkspace", {"path": str(path)}).stdout)
                self.assertEqual((made["created"], made["workspace"]["rootDir"]), (True, str(path)))
                listed = json.loads(self.call(way, "ListWorkspaces", {"namePrefix": path.name}).stdout)
                self.assertEqual([row["id"] for row in listed["workspaces"]], [made["workspace"]["id"]])

    def test_shows_the_reason_of_a_failure(self):
        result = self.call(self.over_tcp, "GetWorkspace", {"ref": {"id": UNKNOWN_ID}})
        not_found = grpc.StatusCode.NOT_FOUND.value[0]
        self.assertEqual(result.returncode, 64 + not_found, result.stderr)
        shown = json.loads(result.stderr)
        [shown] = [detail for detail in shown["details"] if detail["@type"].endswith("/google.rpc.ErrorInfo")]
        # As fields if the server's reflection knows the type, else as bytes.
        info = error_info(shown["@value"]) if "@value" in shown else types.SimpleNamespace(**shown)
        self.assertEqual((info.reason, info.domain), ("WORKSPACE_NOT_FOUND", "compozy.dev"))


class GrpcHealthProbe(Program, unittest.TestCase):
    """Needs no token: health is open."""

    variable = "COMPOZY_TEST_HEALTH_PROBE"

    def ways(self):
        secrets, secured = place.folder / "secrets", place.secured()
        return {
            "tcp": [f"-addr=127.0.0.1:{self.daemon.port}"],
            "socket": [f"-addr=unix://{self.daemon.socket}"],
            "tls": [
                f"-addr=127.0.0.1:{secured.port}",
                *["-tls", f"-tls-ca-cert={secrets}/ca.pem", "-tls-server-name=localhost"],
            ],
        }

    def test_finds_everything_serving(self):
        for name, way in self.ways().items():
            for service in ["", "liveness", WORKSPACES]:
                with self.subTest(way=name, service=service):
                    result = self.run_program(*way, f"-service={service}")
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertIn("status: SERVING", result.stdout + result.stderr)

    def test_an_unknown_service_is_an_error(self):
        result = self.run_program(*self.ways()["tcp"], "-service=compozy.nothing.v1.Nothing")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("NotFound", result.stdout + result.stderr)


if __name__ == "__main__":
    counted.main("foreign")

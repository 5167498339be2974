//! The job that the product is for, on real projects: register them and a thousand more, list, page, find from
//! deep inside, move, copy, reorder, remove; the same script on both engines.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use compozy_client::Client;
use compozy_e2e::{
    Daemon, Database, Engine, Environment, Run, by_id, by_path, fingerprint, identity_path, list_all, names,
    register, utf8,
};
use compozy_proto::workspace::v1::{
    DiscoverWorkspaceRequest, DiscoveryMethod, GetWorkspaceRequest, ListWorkspacesRequest,
    MoveWorkspaceRequest, RemoveWorkspaceRequest, UpdateWorkspaceRequest, Workspace, WorkspaceRef,
    WorkspaceStatus,
};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::Value;

use crate::archive;

const GENERATED: usize = 1_000;
/// As many workers, agents and shells that start at once.
const AT_ONCE: usize = 16;

#[tokio::test(flavor = "multi_thread")]
async fn the_main_job_on_sqlite() {
    main_job("the_main_job_on_sqlite", Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_main_job_on_postgres() {
    let Some(database) = Database::fresh("the_main_job_on_postgres") else {
        return;
    };
    main_job("the_main_job_on_postgres", Engine::Postgres(database)).await;
}

async fn main_job(test: &str, engine: Engine) {
    let environment = Environment::on(engine);
    let Some(projects) = archive::unpack(test, &environment.make("projects")) else {
        return;
    };
    let daemon = Daemon::start(&environment).await;
    let job = Job {
        client: daemon.client().clone(),
        environment: &environment,
    };
    let registered = job.register_projects(&projects);
    job.register_generated().await;
    job.page_through(projects.len() + GENERATED).await;
    job.find_from_deep_inside(&projects, &registered).await;
    job.move_a_project(&projects[0], &registered[&projects[0]]).await;
    job.copy_a_project(&projects[1], &registered[&projects[1]]).await;
    job.reorder_and_rename(&registered[&projects[2]], &registered[&projects[3]])
        .await;
    job.remove_a_project(&projects[4], &registered[&projects[4]])
        .await;
    let before = list_all(daemon.client()).await;
    assert_eq!(before.len(), projects.len() + GENERATED);
    daemon.stop();
    let daemon = Daemon::start(&environment).await;
    assert_eq!(
        list_all(daemon.client()).await,
        before,
        "a restart changes nothing"
    );
    let report = Run::compozy(&environment, &["doctor"]).done().json();
    for check in report["checks"].as_array().unwrap() {
        assert!(
            matches!(check["severity"].as_str().unwrap(), "ok" | "info"),
            "{check}"
        );
    }
    daemon.stop();
}

struct Job<'e> {
    client: Client,
    environment: &'e Environment,
}

impl Job<'_> {
    fn compozy(&self, arguments: &[&str]) -> Value {
        Run::compozy(self.environment, arguments).done().json()
    }

    async fn get(&self, workspace: WorkspaceRef) -> Workspace {
        let request = GetWorkspaceRequest {
            r#ref: Some(workspace),
            include_status: true,
        };
        self.client
            .get_workspace(request)
            .await
            .unwrap()
            .workspace
            .unwrap()
    }

    async fn total(&self) -> i64 {
        let request = ListWorkspacesRequest {
            limit: 1,
            ..Default::default()
        };
        self.client
            .list_workspaces(request)
            .await
            .unwrap()
            .page
            .unwrap()
            .total
    }

    /// As a newcomer does: by the command line, one after the other. Answers their ids.
    fn register_projects(&self, projects: &[PathBuf]) -> BTreeMap<PathBuf, String> {
        let mut ids = BTreeMap::new();
        for project in projects {
            let committed = fs::read_to_string(identity_path(project)).ok();
            let answer = self.compozy(&["workspace", "add", &utf8(project)]);
            let workspace = &answer["workspace"];
            let base_name = project.file_name().unwrap().to_str().unwrap();
            assert_eq!(answer["created"], true);
            assert_eq!(
                (&workspace["name"], &workspace["title"]),
                (&base_name.into(), &base_name.into())
            );
            assert_eq!(workspace["root_dir"], utf8(project));
            let durable_id = workspace["durable_id"].as_str().unwrap();
            let now = fs::read_to_string(identity_path(project)).unwrap();
            assert!(now.contains(durable_id), "{now}");
            if let Some(committed) = committed {
                assert_eq!(now, committed, "a committed identity is taken as it is");
            }
            ids.insert(project.clone(), workspace["id"].as_str().unwrap().to_owned());
        }
        let with_identity = projects
            .iter()
            .filter(|project| project.ends_with("compozy"))
            .count();
        assert_eq!(
            with_identity, 1,
            "one repository of the archive carries an identity"
        );
        ids
    }

    /// Twenty of each base name, so that most get a derived name with a number.
    async fn register_generated(&self) {
        let directories: Vec<PathBuf> = (0..GENERATED)
            .map(|number| {
                self.environment
                    .make(&format!("generated/team-{}/service-{}", number / 50, number % 50))
            })
            .collect();
        let registering = directories
            .iter()
            .map(|directory| register(&self.client, directory));
        let answers: Vec<_> = stream::iter(registering)
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
            .unwrap();
        assert!(
            answers
                .iter()
                .all(|answer| answer.created && answer.diagnostics.is_empty())
        );
        for directory in directories {
            assert_eq!(names(directory.join(".compozy")), ["workspace.toml"]);
        }
    }

    /// Every row once, the same total on every page, the names unique; then the same through the command line.
    async fn page_through(&self, expected: usize) {
        let mut request = ListWorkspacesRequest {
            limit: 100,
            ..Default::default()
        };
        let (mut ids, mut names) = (Vec::new(), BTreeSet::new());
        loop {
            let answer = self.client.list_workspaces(request.clone()).await.unwrap();
            let page = answer.page.unwrap();
            assert_eq!(page.total, i64::try_from(expected).unwrap());
            assert_eq!(page.has_more, page.next_cursor.is_some());
            for workspace in answer.workspaces {
                names.insert(workspace.name().to_lowercase());
                ids.push(workspace.id);
            }
            let Some(next) = page.next_cursor else { break };
            request.cursor = next;
        }
        assert_eq!(
            ids.iter().collect::<BTreeSet<_>>().len(),
            expected,
            "every row once"
        );
        assert_eq!((ids.len(), names.len()), (expected, expected));
        let listed = Run::of(
            self.environment,
            "compozy",
            &["workspace", "list", "--all", "-o", "jsonl"],
        )
        .done();
        let lines: Vec<Value> = listed
            .exits(0)
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let (page, rows) = lines.split_last().unwrap();
        assert_eq!(page["page"]["total"], expected);
        let by_command: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(by_command, ids, "one order, whoever asks");
    }

    async fn find_from_deep_inside(&self, projects: &[PathBuf], registered: &BTreeMap<PathBuf, String>) {
        for project in projects {
            let deep = archive::deepest_directory(project);
            assert!(deep.components().count() > project.components().count());
            let request = DiscoverWorkspaceRequest { path: utf8(&deep) };
            let found = self.client.discover_workspace(request).await.unwrap();
            assert_eq!(found.method(), DiscoveryMethod::Ancestor);
            assert_eq!(found.workspace.unwrap().id, registered[project]);
            let info = Run::compozy(self.environment, &["workspace", "info"])
                .within(&deep)
                .done()
                .json();
            assert_eq!(info["resolution_source"], "cwd");
            assert_eq!(info["workspace"]["id"], registered[project].as_str());
        }
    }

    /// `mv a b && compozy workspace add b` loses nothing.
    async fn move_a_project(&self, from: &Path, id: &str) {
        let (before, order) = (self.get(by_id(id)).await, list_all(&self.client).await);
        let to = from.with_file_name("moved elsewhere");
        fs::rename(from, &to).unwrap();
        assert_eq!(self.get(by_id(id)).await.status(), WorkspaceStatus::RootMissing);
        let answer = self.compozy(&["workspace", "add", &utf8(&to)]);
        assert_eq!(
            (&answer["created"], &answer["relinked_from"]),
            (&false.into(), &utf8(from).into())
        );
        let after = self.get(by_id(id)).await;
        assert_eq!(
            (&after.root_dir, after.status()),
            (&utf8(&to), WorkspaceStatus::Ok)
        );
        assert_eq!((after.name(), after.title()), (before.name(), before.title()));
        assert_eq!(
            (&after.durable_id, &after.created_at),
            (&before.durable_id, &before.created_at)
        );
        assert_ne!(after.etag, before.etag);
        let ids = |rows: &[Workspace]| rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>();
        assert_eq!(
            ids(&list_all(&self.client).await),
            ids(&order),
            "its place is kept"
        );
    }

    /// A second registration of one identity, and both say so.
    async fn copy_a_project(&self, original: &Path, id: &str) {
        let copy = original.with_file_name("a copy");
        let status = Command::new("cp")
            .arg("-a")
            .arg(original)
            .arg(&copy)
            .status()
            .unwrap();
        assert!(status.success());
        let total = self.total().await;
        let answer = self.compozy(&["workspace", "add", &utf8(&copy)]);
        assert_eq!(answer["created"], true);
        let warning = &answer["diagnostics"][0];
        assert_eq!(
            (&warning["code"], &warning["severity"]),
            (&"identity_shared".into(), &"WARNING".into())
        );
        let remedy = warning["remedy"].as_str().unwrap();
        assert!(remedy.contains("compozy workspace identity fork"), "{remedy}");
        let copy_id = answer["workspace"]["id"].as_str().unwrap();
        assert_eq!(self.get(by_id(id)).await.shares_identity_with, [copy_id]);
        assert_eq!(self.get(by_path(&copy)).await.shares_identity_with, [id]);
        assert_eq!(self.total().await, total + 1);
    }

    async fn reorder_and_rename(&self, one: &str, other: &str) {
        let request = MoveWorkspaceRequest {
            r#ref: Some(by_id(one)),
            before: Some(by_id(other)),
            ..Default::default()
        };
        let answer = self.client.move_workspace(request).await.unwrap();
        assert_eq!((answer.moved, answer.next_id.as_str()), (true, other));
        let order = list_all(&self.client).await;
        let place = |id: &str| order.iter().position(|row| row.id == id).unwrap();
        assert_eq!(place(one) + 1, place(other));
        let request = UpdateWorkspaceRequest {
            r#ref: Some(by_id(one)),
            workspace: Some(Workspace {
                name: Some("Ünser Projekt".to_owned()),
                ..Default::default()
            }),
            etag: order[place(one)].etag.clone(),
            ..Default::default()
        };
        self.client.update_workspace(request).await.unwrap();
        let info = self.compozy(&["workspace", "info", "üNSER pROJEKT"]);
        assert_eq!(info["workspace"]["id"], one);
    }

    /// The registration goes; the directory stays as it is, to the last file.
    async fn remove_a_project(&self, project: &Path, id: &str) {
        let (total, files) = (self.total().await, fingerprint(project));
        let request = RemoveWorkspaceRequest {
            r#ref: Some(by_id(id)),
            ..Default::default()
        };
        assert_eq!(self.client.remove_workspace(request).await.unwrap().id, id);
        assert_eq!(self.total().await, total - 1);
        assert_eq!(fingerprint(project), files);
        let error = Run::compozy(self.environment, &["workspace", "info", id])
            .done()
            .error(66);
        assert_eq!(error["reason"], "WORKSPACE_NOT_FOUND");
    }
}

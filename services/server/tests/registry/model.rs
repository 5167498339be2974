//! A plain model beside the real thing: the same operations give the same pages, orders and changes on every
//! engine, one after another and many at once (cases sections 7 and 11).

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::time::Duration;

use compozy_domain::ChangeReason;
use compozy_proto::workspace::v1 as pb;
use compozy_store::conformance::Seeded;

use crate::requests::{moved, named, prune, register, relink, remove, titled, update};
use crate::world::{World, workspace_of};

/// What the model knows of a workspace.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    id: String,
    name: String,
    title: String,
    root: String,
}

/// The catalog as it should be: rows in their order, and the reasons of all changes.
#[derive(Debug, Default)]
struct Model {
    rows: Vec<Row>,
    changes: Vec<(String, ChangeReason)>,
    directories: u32,
}

cases! {
    a_sequence_of_everything_equals_a_model,
    w205_moves_at_random_and_to_one_spot,
    w299_many_callers_at_random,
}

async fn a_sequence_of_everything_equals_a_model(mut world: World) {
    let mut random = Seeded::new(seed());
    let mut model = Model::default();
    for round in 0..250 {
        model.step(&world, &mut random).await;
        if round % 25 == 0 {
            model.check(&world).await;
        }
    }
    model.check(&world).await;
    world.restart(|_| {}).await;
    model.check(&world).await;
}

async fn w205_moves_at_random_and_to_one_spot(world: World) {
    let (rows, moves) = if world.is_postgres() {
        (60, 300)
    } else {
        (250, 2_000)
    };
    let mut random = Seeded::new(seed());
    let mut order = Vec::new();
    for at in 0..rows {
        order.insert(0, world.reg_new(&format!("w{at}")).await.id);
    }
    for round in 0..moves {
        let id = order.remove(random.below(order.len()));
        // Every third move goes to the same spot.
        let spot = if round % 3 == 0 {
            rows / 2
        } else {
            random.below(order.len() + 1)
        };
        let before = order.get(spot).map(String::as_str);
        world.daemon.api.move_workspace(moved(&id, before)).await.unwrap();
        order.insert(spot.min(order.len()), id);
    }
    let listed: Vec<_> = world.rows().await.into_iter().map(|row| row.id).collect();
    assert_eq!(listed, order);
}

async fn w299_many_callers_at_random(mut world: World) {
    let rounds = if world.is_postgres() { 6 } else { 15 };
    let seed = seed();
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..64_u64 {
        let api = world.daemon.api.clone();
        let parent = world.mkdir(&format!("c{caller}"));
        let mut random = Seeded::new(seed ^ (caller << 32));
        callers.spawn(async move {
            // Nobody else touches this caller's workspaces, so it knows how each must end; places are shared.
            let mut own: BTreeMap<String, (String, String, String)> = BTreeMap::new();
            for round in 0..rounds {
                let one = own.keys().nth(random.below(own.len().max(1))).cloned();
                match (random.below(6), one) {
                    (1, Some(id)) => {
                        let anchor = own.keys().nth(random.below(own.len())).cloned();
                        api.move_workspace(moved(&id, anchor.as_deref())).await.unwrap();
                    }
                    (2, Some(id)) => {
                        let title = format!("t{round}");
                        api.update(update(&id, &["title"], titled(&title))).await.unwrap();
                        own.get_mut(&id).unwrap().1 = title;
                    }
                    (3, Some(id)) => {
                        let name = format!("renamed-{caller}-{round}");
                        let renamed = pb::Workspace {
                            name: Some(name.clone()),
                            ..Default::default()
                        };
                        api.update(update(&id, &["name"], renamed)).await.unwrap();
                        own.get_mut(&id).unwrap().0 = name;
                    }
                    (4, Some(id)) => {
                        api.remove(remove(&id)).await.unwrap();
                        own.remove(&id);
                    }
                    _ => {
                        let root = format!("{parent}/d{round}");
                        fs::create_dir(&root).unwrap();
                        let row = api.register(register(&root)).await.unwrap().workspace.unwrap();
                        own.insert(row.id, (row.name.unwrap(), row.title.unwrap(), root));
                    }
                }
            }
            own
        });
    }
    let mut expected = BTreeMap::new();
    for own in callers.join_all().await {
        expected.extend(own);
    }
    for _ in 0..2 {
        let rows = world.rows().await;
        let names: HashSet<_> = rows.iter().map(|row| row.name.clone().unwrap()).collect();
        assert_eq!(names.len(), rows.len(), "names are unique");
        assert_eq!(world.total().await, i64::try_from(expected.len()).unwrap());
        let found: BTreeMap<_, _> = rows
            .into_iter()
            .map(|row| (row.id, (row.name.unwrap(), row.title.unwrap(), row.root_dir)))
            .collect();
        assert_eq!(found, expected);
        let order = world.order().await;
        world.restart(|_| {}).await;
        assert_eq!(world.order().await, order);
    }
    let changes = world.changes().await;
    assert!(
        changes
            .iter()
            .enumerate()
            .all(|(at, entry)| entry.position == at as i64 + 1),
        "no gap"
    );
    check_versions(&changes);
}

impl Model {
    /// One operation on both. They are told apart by numbers, so that a seed gives the same sequence again.
    async fn step(&mut self, world: &World, random: &mut Seeded) {
        world.clock.advance(Duration::from_secs(1));
        let one = random.below(self.rows.len().max(1));
        let kind = if self.rows.len() < 4 { 0 } else { random.below(10) };
        match kind {
            0 | 1 => self.register(world, None).await,
            2 => self.rename(world, one).await,
            3 => self.retitle(world, one, random).await,
            4 | 5 => self.change_place(world, one, random).await,
            6 => self.carry_away(world, one, random).await,
            7 => self.remove(world, one).await,
            8 => self.lose_and_prune(world, one).await,
            _ => self.clash(world, one).await,
        }
    }

    async fn register(&mut self, world: &World, name: Option<&str>) {
        let root = self.new_directory(world);
        fs::create_dir_all(&root).unwrap();
        let request = name.map_or_else(|| register(&root), |name| named(&root, name));
        let answer = world.daemon.api.register(request).await.unwrap();
        assert!(answer.created);
        let row = answer.workspace.unwrap();
        let base = root.rsplit('/').next().unwrap();
        let name = name.map_or_else(|| self.free_name(base), str::to_owned);
        assert_eq!(row.name.as_deref(), Some(name.as_str()));
        self.changes.push((row.id.clone(), ChangeReason::Created));
        self.rows.insert(
            0,
            Row {
                id: row.id,
                name,
                title: base.to_owned(),
                root,
            },
        );
    }

    async fn rename(&mut self, world: &World, at: usize) {
        let name = format!("renamed {}", self.changes.len());
        let renamed = pb::Workspace {
            name: Some(name.clone()),
            ..Default::default()
        };
        world
            .daemon
            .api
            .update(update(&self.rows[at].id, &["name"], renamed))
            .await
            .unwrap();
        self.rows[at].name = name;
        self.changes
            .push((self.rows[at].id.clone(), ChangeReason::Renamed));
    }

    async fn retitle(&mut self, world: &World, at: usize, random: &mut Seeded) {
        let title = format!("title {}", random.below(3));
        world
            .daemon
            .api
            .update(update(&self.rows[at].id, &["title"], titled(&title)))
            .await
            .unwrap();
        if self.rows[at].title != title {
            self.rows[at].title = title;
            self.changes
                .push((self.rows[at].id.clone(), ChangeReason::Updated));
        }
    }

    async fn change_place(&mut self, world: &World, at: usize, random: &mut Seeded) {
        let row = self.rows.remove(at);
        let spot = random.below(self.rows.len() + 1);
        let before = self.rows.get(spot).map(|row| row.id.clone());
        let answer = world
            .daemon
            .api
            .move_workspace(moved(&row.id, before.as_deref()))
            .await
            .unwrap();
        assert_eq!(answer.moved, spot != at);
        if answer.moved {
            self.changes.push((row.id.clone(), ChangeReason::Moved));
        }
        self.rows.insert(spot, row);
    }

    /// The directory goes elsewhere, and its workspace after it: by registering it there, or by relinking.
    async fn carry_away(&mut self, world: &World, at: usize, random: &mut Seeded) {
        let root = self.new_directory(world);
        fs::create_dir_all(root.rsplit_once('/').unwrap().0).unwrap();
        fs::rename(&self.rows[at].root, &root).unwrap();
        let id = self.rows[at].id.clone();
        if random.below(2) == 0 {
            let answer = world.daemon.api.register(register(&root)).await.unwrap();
            assert_eq!(answer.relinked_from.as_ref(), Some(&self.rows[at].root));
            assert_eq!(answer.workspace.unwrap().id, id);
        } else {
            world.daemon.api.relink(relink(&id, &root)).await.unwrap();
        }
        self.rows[at].root = root;
        self.changes.push((id, ChangeReason::Relinked));
    }

    async fn remove(&mut self, world: &World, at: usize) {
        let row = self.rows.remove(at);
        world.daemon.api.remove(remove(&row.id)).await.unwrap();
        self.changes.push((row.id, ChangeReason::RemovedSessionsKept));
    }

    /// A directory is lost for a month, and its workspace is pruned.
    async fn lose_and_prune(&mut self, world: &World, at: usize) {
        let row = self.rows.remove(at);
        fs::remove_dir_all(&row.root).unwrap();
        for _ in 0..2 {
            assert!(world.daemon.registry.observe_round(Duration::ZERO).await.unwrap());
            world.clock.advance(Duration::from_secs(31 * 86_400));
        }
        let pruned = world.daemon.api.prune(prune(30, false)).await.unwrap().workspaces;
        assert_eq!(
            pruned.iter().map(|pruned| &pruned.id).collect::<Vec<_>>(),
            [&row.id]
        );
        self.changes.push((row.id.clone(), ChangeReason::Status));
        self.changes.push((row.id, ChangeReason::RemovedSessionsKept));
    }

    /// What must be refused changes neither.
    async fn clash(&mut self, world: &World, at: usize) {
        let root = self.new_directory(world);
        fs::create_dir_all(&root).unwrap();
        let taken = world
            .daemon
            .api
            .register(named(&root, &self.rows[at].name.to_uppercase()))
            .await;
        assert_eq!(taken.unwrap_err().reason, "WORKSPACE_NAME_CONFLICT");
        let again = world
            .daemon
            .api
            .register(register(&self.rows[at].root))
            .await
            .unwrap();
        assert_eq!(
            (again.created, again.workspace.unwrap().id),
            (false, self.rows[at].id.clone())
        );
    }

    async fn check(&self, world: &World) {
        let rows = world.rows().await;
        let found: Vec<_> = rows
            .iter()
            .map(|row| {
                (
                    row.id.as_str(),
                    row.name.as_deref(),
                    row.title.as_deref(),
                    row.root_dir.as_str(),
                )
            })
            .collect();
        let expected: Vec<_> = self
            .rows
            .iter()
            .map(|row| {
                (
                    row.id.as_str(),
                    Some(row.name.as_str()),
                    Some(row.title.as_str()),
                    row.root.as_str(),
                )
            })
            .collect();
        assert_eq!(found, expected);
        let changes = world.changes().await;
        let reasons: Vec<_> = changes
            .iter()
            .map(|entry| (workspace_of(&entry.change), entry.change.reason))
            .collect();
        assert_eq!(reasons, self.changes);
        check_versions(&changes);
    }

    /// A new path; its base name is one of a few, so that derived names clash.
    fn new_directory(&mut self, world: &World) -> String {
        self.directories += 1;
        world.path(&format!(
            "{}/{}",
            self.directories,
            ["api", "web", "Api"][self.directories as usize % 3]
        ))
    }

    fn free_name(&self, base: &str) -> String {
        let is_free = |name: &str| {
            !self
                .rows
                .iter()
                .any(|row| row.name.to_lowercase() == name.to_lowercase())
        };
        let numbered = (2..).map(|number| format!("{base}-{number}"));
        std::iter::once(base.to_owned())
            .chain(numbered)
            .find(|name| is_free(name))
            .unwrap()
    }
}

/// Each record's versions grow by one with every entry about the record itself.
fn check_versions(changes: &[compozy_domain::ChangeEntry]) {
    let mut versions: BTreeMap<String, i64> = BTreeMap::new();
    for entry in changes {
        let change = &entry.change;
        if change.kind == compozy_domain::ChangeKind::WorkspaceOrder {
            continue;
        }
        let before = versions.insert(workspace_of(change), change.version).unwrap_or(0);
        assert_eq!(change.version, before + 1, "{change:?}");
    }
}

/// Another one for each run, unless `COMPOZY_TEST_SEED` repeats one.
fn seed() -> u64 {
    let given = std::env::var("COMPOZY_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or_else(|| {
        let mut bytes = [0; 8];
        compozy_domain::Random::fill(&compozy_server::random::SystemRandom, &mut bytes).unwrap();
        u64::from_le_bytes(bytes)
    });
    eprintln!("COMPOZY_TEST_SEED={seed}");
    seed
}

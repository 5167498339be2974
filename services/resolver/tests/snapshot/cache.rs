//! What is kept, and what is not.

use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use compozy_domain::{Clock, Timestamp, WorkspaceId};
use compozy_resolver::cache::{Bounds, Cache, Key};
use compozy_resolver::files::faulty::Operation;
use compozy_resolver::snapshot::{Request, ResolveFault, Snapshot};
use compozy_resolver::testing::drop_file_privileges;

use crate::support::{FILE, ID1, NOW, file};
use crate::world::{LONG, World, agents, content, skills};

const MINUTE: Duration = Duration::from_secs(60);
const CONFIG: &str = "r/.compozy/config.toml";

#[derive(Debug)]
struct Hand(Mutex<Timestamp>);

impl Hand {
    fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(NOW)))
    }

    fn turn(&self, span: Duration) {
        let mut now = self.0.lock().unwrap();
        *now = now.plus(span);
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

struct Cached {
    world: World,
    clock: Arc<Hand>,
    cache: Cache,
}

impl Cached {
    fn of(world: World, bounds: Bounds) -> Self {
        let clock = Hand::new();
        let cache = Cache::new(Arc::clone(&clock) as Arc<dyn Clock>, bounds);
        Self { world, clock, cache }
    }

    /// A world with something in every layer, none of it recent.
    fn new() -> Self {
        let mut world = World::new();
        world.write("h/config.toml", "[defaults]\nprovider = \"x\"\n");
        world.agent("r/.compozy", "a", "prompt");
        world.skill("r/.compozy/skills/g/h/i", "s", "text");
        world.skill("h/skills", "t", "text");
        world.place.make("r/.compozy/skills/empty/group");
        world.agent("x/.compozy", "x", "prompt");
        world.request.additional_dirs = vec![world.at("x")];
        world.files.age(LONG);
        Self::of(world, Bounds::default())
    }

    fn try_get(&self) -> Result<Arc<Snapshot>, ResolveFault> {
        self.get_for(&key(1), &self.world.request)
    }

    fn get(&self) -> Arc<Snapshot> {
        self.try_get().unwrap()
    }

    fn get_for(&self, key: &Key, request: &Request) -> Result<Arc<Snapshot>, ResolveFault> {
        self.clock.turn(Duration::from_millis(1));
        let answer = self.cache.resolve(&self.world.files, key, request, false, &|| {});
        self.check_counts();
        answer
    }

    fn check_counts(&self) {
        let counts = self.cache.counts();
        assert_eq!(counts.entries == 0, counts.bytes == 0);
    }
}

fn key(number: u32) -> Key {
    Key {
        workspace_id: WorkspaceId::parse(&format!("ws_{number:016x}")).unwrap(),
        profile: None,
        is_restricted: false,
    }
}

/// That after this change the answer is another one, and just what a fresh one would be.
fn sees(change: impl FnOnce(&World)) -> Arc<Snapshot> {
    let cached = Cached::new();
    let before = cached.get();
    change(&cached.world);
    let after = cached.get();
    assert_ne!(content(&before), content(&after));
    assert_ne!(before.fingerprint, after.fingerprint);
    assert_eq!(content(&after), content(&cached.world.resolve()));
    after
}

#[test]
fn r198_the_same_answer_without_opening_anything() {
    let cached = Cached::new();
    let first = cached.get();
    cached.world.files.forget_calls();
    let second = cached.get();
    assert!(Arc::ptr_eq(&first, &second));
    assert_eq!(first.resolved_at, second.resolved_at);
    let files = &cached.world.files;
    for operation in [
        Operation::Open,
        Operation::Enter,
        Operation::Names,
        Operation::ReadFile,
        Operation::Read,
    ] {
        assert_eq!(
            files.calls(operation),
            0,
            "{operation:?} {:?}",
            files.paths(operation)
        );
    }
    assert_eq!((cached.cache.counts().hits, cached.cache.counts().misses), (1, 1));
}

#[test]
fn r199_an_edit_of_the_user_s_file_is_seen_in_every_workspace() {
    let cached = Cached::new();
    let mut other = cached.world.request.clone();
    cached.world.place.make_with("other", file(ID1));
    other.root_dir = cached.world.at("other");
    let requests = [(key(1), &cached.world.request), (key(2), &other)];
    let before = requests
        .clone()
        .map(|(key, request)| cached.get_for(&key, request).unwrap());
    cached
        .world
        .write("h/config.toml", "[defaults]\nprovider = \"y\"\n");
    for ((key, request), before) in requests.into_iter().zip(before) {
        let after = cached.get_for(&key, request).unwrap();
        assert_eq!(after.config.text("defaults.provider"), Some("y"));
        assert_ne!(before.fingerprint, after.fingerprint);
    }
}

#[test]
fn r200_what_comes_where_nothing_was_is_seen() {
    sees(|world| {
        world.write(
            "r/.compozy/mcp.json",
            "{\"mcpServers\": {\"s\": {\"command\": \"c\"}}}",
        );
    });
    sees(|world| world.skill("r/.agents/skills", "first", "text"));
    sees(|world| world.skill("x/.compozy/skills", "first", "text"));
    sees(|world| world.skill("o/.agents/skills", "first", "text"));
    sees(|world| world.agent("h", "first", "prompt"));
    sees(|world| world.write("r/.env", "COMPOZY_HOME=/nowhere\n"));
    sees(|world| world.write("h/profiles/ghost/config.toml", ""));
}

#[test]
fn r201_r205_r206_agents_and_skills_that_come_go_and_move_are_seen() {
    sees(|world| world.remove("r/.compozy/agents/a/AGENT.md"));
    sees(|world| {
        world.write(
            "r/.compozy/agents/a/mcp.json",
            "{\"mcpServers\": {\"s\": {\"command\": \"c\"}}}",
        );
    });
    sees(|world| std::fs::rename(world.at("r/.compozy/agents/a"), world.at("r/.compozy/agents/b")).unwrap());
    sees(|world| world.skill("r/.compozy/skills/g/h/i", "s", "other"));
    sees(|world| world.skill("r/.compozy/skills/empty/group", "first", "text"));
    sees(|world| world.remove(&format!("r/{FILE}")));
}

#[test]
fn r201_an_agent_s_own_skill_is_seen() {
    let cached = Cached::new();
    let before = cached.get();
    cached.world.skill("r/.compozy/agents/a/skills", "own", "text");
    let after = cached.get();
    assert_eq!(after.for_agent("a").unwrap().skills.len(), 3);
    assert_eq!(before.fingerprint, after.fingerprint, "nobody else sees it");
    assert_ne!(
        before.for_agent("a").unwrap().fingerprint,
        after.for_agent("a").unwrap().fingerprint
    );
}

#[test]
fn r202_a_skill_that_may_not_be_read_any_more_is_told() {
    drop_file_privileges();
    let after = sees(|world| {
        let path = world.at("r/.compozy/skills/g/h/i/s/SKILL.md");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).unwrap();
    });
    assert!(
        after
            .diagnostics
            .iter()
            .any(|one| one.path.ends_with("/s/SKILL.md"))
    );
    assert!(
        after
            .skills
            .iter()
            .any(|skill| skill.path.ends_with("/s/SKILL.md") && !skill.usable)
    );
}

#[test]
fn r203_r204_an_edit_of_equal_size_is_seen() {
    sees(|world| {
        let path = world.at("h/config.toml");
        let old = std::fs::metadata(&path).unwrap().modified().unwrap();
        world.write("new", "[defaults]\nprovider = \"y\"\n");
        let new = std::fs::File::options()
            .write(true)
            .open(world.at("new"))
            .unwrap();
        new.set_modified(old).unwrap();
        std::fs::rename(world.at("new"), path).unwrap();
    });
    // Just written, and written again at once: as often as not within one tick.
    for _ in 0..50 {
        let world = World::new();
        let cached = Cached::of(world, Bounds::default());
        for provider in ["a", "b", "c"] {
            cached
                .world
                .write(CONFIG, &format!("[defaults]\nprovider = \"{provider}\"\n"));
            assert_eq!(cached.get().config.text("defaults.provider"), Some(provider));
        }
    }
}

#[test]
fn r207_what_gives_nothing_is_not_looked_at() {
    let cached = Cached::new();
    let before = cached.get();
    cached.world.write("x/.compozy/config.toml", "[broken");
    cached.world.write("r/src/main.rs", "fn main() {}");
    cached.world.write("h/sessions/one/meta.json", "{}");
    assert!(Arc::ptr_eq(&before, &cached.get()));
}

#[test]
fn r208_the_record_counts_as_it_is_now() {
    let mut cached = Cached::new();
    assert_eq!(agents(&cached.get()), ["a", "x"]);
    cached.world.request.default_agent = "a".to_owned();
    assert_eq!(cached.get().config.text("defaults.agent"), Some("a"));
    cached.world.request.additional_dirs.clear();
    assert_eq!(agents(&cached.get()), ["a"]);
    assert_eq!(cached.cache.counts().misses, 3);
}

#[test]
fn r209_ten_minutes_without_use_are_the_end() {
    let cached = Cached::new();
    let first = cached.get();
    cached.clock.turn(9 * MINUTE);
    assert!(Arc::ptr_eq(&first, &cached.get()));
    cached.clock.turn(9 * MINUTE);
    assert!(Arc::ptr_eq(&first, &cached.get()), "minute 18");
    cached.clock.turn(10 * MINUTE);
    let anew = cached.get();
    assert!(!Arc::ptr_eq(&first, &anew));
    assert_eq!(first.fingerprint, anew.fingerprint);
    cached.clock.turn(10 * MINUTE);
    assert_eq!(cached.cache.counts().entries, 1);
    cached.cache.sweep();
    assert_eq!(
        (cached.cache.counts().entries, cached.cache.counts().bytes),
        (0, 0)
    );
}

#[test]
fn r210_a_bypass_reads_everything_again() {
    let cached = Cached::new();
    let first = cached.get();
    cached.clock.turn(MINUTE);
    let request = &cached.world.request;
    let forced = cached
        .cache
        .resolve(&cached.world.files, &key(1), request, true, &|| {})
        .unwrap();
    assert!(forced.resolved_at > first.resolved_at);
    assert_eq!(content(&forced), content(&first));
    assert_eq!(forced.fingerprint, first.fingerprint);
    assert!(Arc::ptr_eq(&forced, &cached.get()), "it is kept");
}

#[test]
fn r211_many_at_once_are_one_piece_of_work() {
    let alone = Cached::new();
    alone.get();
    let work = alone.world.files.calls(Operation::ReadFile);
    let cached = Cached::new();
    let start = Barrier::new(64);
    let answers: Vec<Arc<Snapshot>> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..64)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    cached.get()
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| Arc::ptr_eq(answer, &answers[0])));
    assert_eq!(cached.world.files.calls(Operation::ReadFile), work);
    assert_eq!(
        (cached.cache.counts().hits, cached.cache.counts().misses),
        (63, 1)
    );
}

#[test]
fn r212_a_changed_answer_changes_no_other() {
    let cached = Cached::new();
    let mut mine = Snapshot::clone(&cached.get());
    mine.agents.clear();
    mine.diagnostics.clear();
    assert_eq!(agents(&cached.get()), ["a", "x"]);
}

#[test]
fn r215_a_failure_is_not_kept() {
    let cached = Cached::new();
    cached.get();
    cached.world.write(CONFIG, "[broken");
    assert!(matches!(cached.try_get(), Err(ResolveFault::Config(_))));
    assert!(matches!(cached.try_get(), Err(ResolveFault::Config(_))));
    cached.world.write(CONFIG, "");
    assert_eq!(agents(&cached.get()), ["a", "x"]);
}

#[test]
fn r216_more_than_fits_is_answered_all_the_same() {
    let world = World::new();
    let mut requests = Vec::new();
    for number in 1..=10 {
        let root = format!("w{number}");
        world.place.make_with(&root, file(ID1));
        world.agent(&format!("{root}/.compozy"), &root, "prompt");
        let mut request = world.request.clone();
        request.root_dir = world.at(&root);
        requests.push((key(number), root, request));
    }
    world.files.age(LONG);
    let one = Cached::of(world, Bounds::default());
    one.get_for(&requests[0].0, &requests[0].2).unwrap();
    let weight = one.cache.counts().bytes;
    let few = Bounds {
        entries: 3,
        ..Bounds::default()
    };
    let small = Bounds {
        bytes: weight * 3 + weight / 2,
        ..Bounds::default()
    };
    let nothing = Bounds {
        bytes: 1,
        ..Bounds::default()
    };
    let mut cached = one;
    for (bounds, most) in [(few, 3), (small, 3), (nothing, 0)] {
        cached = Cached::of(cached.world, bounds);
        for (key, name, request) in requests.iter().cycle().take(35) {
            assert_eq!(agents(&cached.get_for(key, request).unwrap()), [name]);
            let counts = cached.cache.counts();
            assert!(
                counts.entries <= most && counts.bytes <= bounds.bytes.max(1),
                "{counts:?}"
            );
        }
        assert_eq!(cached.cache.counts().entries, most);
        let hits = cached.cache.counts().hits;
        let (key, _, request) = &requests[4];
        cached.get_for(key, request).unwrap();
        assert_eq!(
            cached.cache.counts().hits > hits,
            most > 0,
            "the last one is kept"
        );
    }
}

#[test]
fn r217_a_workspace_that_was_forgotten_is_read_anew() {
    let cached = Cached::new();
    let first = cached.get();
    let other = cached.get_for(&key(2), &cached.world.request).unwrap();
    cached.cache.forget(&key(1).workspace_id);
    assert_eq!(cached.cache.counts().entries, 1);
    assert!(!Arc::ptr_eq(&first, &cached.get()));
    let kept = cached.get_for(&key(2), &cached.world.request).unwrap();
    assert!(Arc::ptr_eq(&other, &kept));
}

#[test]
fn r217_what_is_made_while_its_workspace_is_forgotten_is_not_kept() {
    let cached = Cached::new();
    let cache = Arc::new(cached.cache);
    let forgetting = Arc::clone(&cache);
    cached
        .world
        .files
        .before(Operation::Names, move || forgetting.forget(&key(1).workspace_id));
    cache
        .resolve(&cached.world.files, &key(1), &cached.world.request, false, &|| {})
        .unwrap();
    assert_eq!(cache.counts().entries, 0);
    cache
        .resolve(&cached.world.files, &key(1), &cached.world.request, false, &|| {})
        .unwrap();
    assert_eq!(cache.counts().entries, 1);
}

#[test]
fn r218_after_a_relink_only_the_new_root_is_read() {
    let mut cached = Cached::new();
    assert_eq!(agents(&cached.get()), ["a", "x"]);
    cached.world.place.make_with("n", file(ID1));
    cached.world.agent("n/.compozy", "n", "prompt");
    cached.world.request.root_dir = cached.world.at("n");
    cached.world.files.forget_calls();
    assert_eq!(agents(&cached.get()), ["n", "x"]);
    let old = format!("{}/", cached.world.at("r"));
    for operation in [Operation::Open, Operation::Stamp, Operation::ReadFile] {
        let paths = cached.world.files.paths(operation);
        assert!(paths.iter().all(|path| !path.starts_with(&old)), "{paths:?}");
    }
}

#[test]
fn r120_profiles_and_callers_have_snapshots_of_their_own() {
    let mut cached = Cached::new();
    for profile in ["p", "q"] {
        let base = format!("h/profiles/{profile}/skills");
        cached.world.skill(&base, profile, "text");
    }
    cached.world.request.profile_names = vec!["p".to_owned(), "q".to_owned()];
    let of = |profile: &str| {
        let request = Request {
            profile: Some(profile.to_owned()),
            ..cached.world.request.clone()
        };
        let key = Key {
            profile: request.profile.clone(),
            ..key(1)
        };
        cached.get_for(&key, &request).unwrap()
    };
    for _ in 0..3 {
        assert_eq!(skills(&of("p")), ["p", "s", "t"]);
        assert_eq!(skills(&of("q")), ["q", "s", "t"]);
    }
    assert_eq!(cached.cache.counts().misses, 2);
}

#[test]
fn the_seal_comes_before_the_last_look_of_every_answer() {
    let cached = Cached::new();
    cached.world.write(CONFIG, "[defaults]\nprovider = \"a\"\n");
    cached.get();
    let sealed = std::cell::Cell::new(false);
    let seal = || {
        if !sealed.replace(true) {
            cached.world.write(CONFIG, "[defaults]\nprovider = \"b\"\n");
        }
    };
    let answer = cached
        .cache
        .resolve(&cached.world.files, &key(1), &cached.world.request, false, &seal);
    assert_eq!(answer.unwrap().config.text("defaults.provider"), Some("b"));
}

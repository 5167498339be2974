//! Sessions and filters at random, and what a filter means, in plain words.

use std::time::Duration;

use compozy_domain::session::filter::{
    Archive, Place, SessionFilter, SessionPlace, SessionSort, SessionSortKey,
};
use compozy_domain::session::health::Badge;
use compozy_domain::session::{
    AttachLease, AttentionClass, Failure, FailureKind, Lease, Live, RuntimeState, Stop,
};
use compozy_domain::text::fold_for_search;
use compozy_domain::{
    LeaseHash, ProfileId, Session, SessionState, SessionType, Timestamp, Visibility, Workspace,
};

use super::numbers::Seeded;
use super::session_fixture::STALE_AFTER;
use super::session_list_planted::{active_at, after_start, numbered, plain};

const AGENTS: [&str; 4] = ["general", "coder", "reviewer", "x"];
const PROVIDERS: [&str; 3] = ["", "claude", "codex"];
const ORIGINS: [&str; 3] = ["native", "native", "other-tool"];
const NAMES: [&str; 8] = [
    "",
    "Release Plan",
    "100% done",
    "1000 done",
    "a_b",
    "Stra\u{df}e",
    "\u{65b0}\u{8a08}\u{753b}",
    "x*y \"q\" OR z",
];
const LABELS: [(&str, &str); 4] = [("env", "prod"), ("env", "production"), ("a", "1"), ("b", "")];
const QUERIES: [&str; 16] = [
    "e",
    "re",
    "release",
    "ase pl",
    "100%",
    "a_b",
    "strasse",
    "\u{65b0}",
    "\u{65b0}\u{8a08}\u{753b}",
    "\"q\"",
    "or z",
    "*",
    "claude",
    "general",
    "sess-",
    "beta",
];
const BADGES: [Badge; 10] = [
    Badge::Failed,
    Badge::WaitingForAuth,
    Badge::WaitingForInput,
    Badge::Stopped,
    Badge::Hung,
    Badge::Unhealthy,
    Badge::Running,
    Badge::Done,
    Badge::Idle,
    Badge::Unknown,
];
const TYPES: [SessionType; 5] = [
    SessionType::User,
    SessionType::System,
    SessionType::Coordinator,
    SessionType::Spawned,
    SessionType::Dream,
];
const RUNTIMES: [RuntimeState; 3] = [RuntimeState::None, RuntimeState::Bound, RuntimeState::Lost];
const FAILURES: [FailureKind; 12] = [
    FailureKind::StartupFailure,
    FailureKind::HandshakeFailure,
    FailureKind::LoadSessionFailure,
    FailureKind::ProtocolFailure,
    FailureKind::PromptFailure,
    FailureKind::Cancellation,
    FailureKind::PermissionFailure,
    FailureKind::ProviderAuthFailure,
    FailureKind::ProcessExit,
    FailureKind::TransportFailure,
    FailureKind::Timeout,
    FailureKind::UnknownFailure,
];

/// The span in which everything random happens.
pub(crate) const SPAN: i64 = 600;

/// A number of chance.
pub(crate) struct Dice(pub(crate) Seeded);

impl Dice {
    pub(crate) fn one_in(&mut self, chances: usize) -> bool {
        self.0.below(chances) == 0
    }

    pub(crate) fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.0.below(all.len())].clone()
    }

    /// An instant of few, so that many are equal.
    fn nanos(&mut self) -> i64 {
        let second = i64::try_from(self.0.below(usize::try_from(SPAN).unwrap())).unwrap();
        second * 1_000_000_000 + i64::try_from(self.0.below(2)).unwrap()
    }

    fn text(&mut self, all: &[&str]) -> String {
        self.of(all).to_owned()
    }

    fn some<T: Clone>(&mut self, all: &[T]) -> Vec<T> {
        let count = 1 + self.0.below(2);
        (0..count).map(|_| self.of(all)).collect()
    }

    /// A session with any facts together, also those that no calls lead to.
    pub(crate) fn session(&mut self, number: u64, workspaces: &[Workspace]) -> Session {
        let place = self.0.below(workspaces.len() + 1);
        let nanos = self.nanos();
        let mut session = plain(number, workspaces.get(place), nanos);
        session.state = self.of(&SessionState::ALL);
        session.runtime = self.of(&RUNTIMES);
        session.session_type = if self.one_in(2) {
            SessionType::User
        } else {
            self.of(&TYPES)
        };
        session.agent = self.text(&AGENTS);
        session.provider = self.text(&PROVIDERS);
        session.origin.tool = self.text(&ORIGINS);
        session.name = self.text(&NAMES);
        if self.one_in(3) {
            session.profile_id = ProfileId::from_stored("01HXJ9YR4QZ0V7M3T5B8N2C6KD".to_owned());
        }
        if self.one_in(8) {
            session.lineage.spawn_role = "Auto-Title".to_owned();
        }
        if self.one_in(3) {
            let parent = numbered(1 + self.0.below(20) as u64);
            session.lineage.root = if self.one_in(2) {
                parent.clone()
            } else {
                numbered(1)
            };
            session.lineage.parent = Some(parent);
        }
        for (key, value) in LABELS {
            if self.one_in(4) {
                session.labels.insert(key.to_owned(), value.to_owned());
            }
        }
        if self.one_in(4) {
            session.archived_at = Some(after_start(self.nanos()));
        }
        if self.one_in(2) {
            session.activity = active_at(self.nanos());
        }
        session.stop = self.stop();
        session.live = self.live(&session);
        session.updated_at = after_start(self.nanos());
        session.attention.class = self.of(&[
            AttentionClass::NeedsYou,
            AttentionClass::Finished,
            AttentionClass::Rest,
        ]);
        session.attention.at = after_start(self.nanos());
        session
    }

    fn stop(&mut self) -> Option<Stop> {
        if self.one_in(2) {
            return None;
        }
        let failure = (!self.one_in(3)).then(|| Failure {
            kind: self.of(&FAILURES),
            summary: String::new(),
        });
        Some(Stop {
            failure,
            ..Stop::default()
        })
    }

    fn live(&mut self, session: &Session) -> Option<Live> {
        if self.one_in(4) {
            return None;
        }
        let bound_at = after_start(self.nanos());
        let heartbeat_at = self.one_in(2).then(|| after_start(self.nanos()));
        let mut hash = [0_u8; 32];
        hash[..21].copy_from_slice(session.id.as_str().as_bytes());
        let lease = (!self.one_in(3)).then(|| Lease {
            hash: LeaseHash(hash),
            ttl: Duration::from_secs(30),
            expires_at: bound_at.plus(Duration::from_secs(30)),
            bound_at,
            heartbeat_at,
        });
        let attach = self.one_in(3).then(|| AttachLease {
            holder: "somebody".to_owned(),
            expires_at: after_start(self.nanos()),
        });
        Some(Live {
            lease,
            prompting: self.one_in(3),
            stalled: self.one_in(4),
            waiting_for_auth: self.one_in(8),
            waiting_for_input: self.one_in(8),
            settled_at: self.one_in(3).then_some(bound_at),
            attach,
            announced: None,
        })
    }

    /// A filter of few conditions, as a rule.
    pub(crate) fn filter(&mut self, workspaces: &[Workspace]) -> SessionFilter {
        let rare = 7;
        let mut filter = SessionFilter {
            archive: self.of(&[Archive::Exclude, Archive::Include, Archive::Only]),
            include_internal: self.one_in(2),
            ..SessionFilter::default()
        };
        if self.one_in(2) {
            let workspace = self.of(workspaces).id;
            filter.place = self.of(&[
                Place::Ungrouped,
                Place::Workspace(workspace.clone()),
                Place::Workspace(workspace),
            ]);
        }
        if self.one_in(rare) {
            filter.agents = self.some(&AGENTS).into_iter().map(str::to_owned).collect();
        }
        if self.one_in(rare) {
            filter.states = self.some(&SessionState::ALL);
        }
        if self.one_in(rare) {
            filter.types = self.some(&TYPES);
        }
        if self.one_in(rare) {
            filter.providers = self.some(&PROVIDERS).into_iter().map(str::to_owned).collect();
        }
        if self.one_in(rare) {
            filter.badges = self.some(&BADGES);
        }
        if self.one_in(rare) {
            filter.runtimes = self.some(&RUNTIMES);
        }
        if self.one_in(rare) {
            filter.parent = Some(numbered(1 + self.0.below(20) as u64).to_string());
        }
        if self.one_in(rare) {
            filter.root = Some(numbered(1 + self.0.below(20) as u64).to_string());
        }
        if self.one_in(rare) {
            let (key, value) = self.of(&LABELS);
            filter.labels.insert(key.to_owned(), value.to_owned());
        }
        if self.one_in(rare) {
            filter.origin = Some(self.text(&ORIGINS));
        }
        if self.one_in(rare) {
            filter.profile = Some(ProfileId::from_stored("default".to_owned()));
        }
        if self.one_in(rare) {
            filter.resumable = Some(self.one_in(2));
        }
        if self.one_in(rare) {
            filter.attachable = Some(self.one_in(2));
        }
        if self.one_in(3) {
            filter.query = Some(self.text(&QUERIES));
        }
        for at in [
            &mut filter.created_after,
            &mut filter.created_before,
            &mut filter.active_after,
            &mut filter.active_before,
        ] {
            if self.one_in(2 * rare) {
                *at = Some(after_start(self.nanos()));
            }
        }
        filter
    }
}

/// A session, and the texts that queries look into, folded.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) session: Session,
    pub(crate) folded: String,
}

impl Known {
    pub(crate) fn new(session: Session) -> Self {
        let name = session
            .workspace
            .as_ref()
            .map_or("", |workspace| workspace.name.as_str());
        let texts = [
            session.id.as_str(),
            &session.name,
            &session.agent,
            &session.provider,
            name,
        ];
        let folded: Vec<String> = texts.iter().map(|text| fold_for_search(text)).collect();
        let folded = folded.join("\n");
        Self { session, folded }
    }
}

/// What a filter means.
pub(crate) fn holds(filter: &SessionFilter, model: &Known, visibility: &Visibility, at: Timestamp) -> bool {
    let session = &model.session;
    let view = session.view(at, STALE_AFTER);
    let any = |texts: &[String], text: &str| texts.is_empty() || texts.iter().any(|wanted| wanted == text);
    let visible = match visibility {
        Visibility::All => true,
        Visibility::Only(ids) => session.workspace_id().is_some_and(|id| ids.contains(id)),
    };
    let in_place = match &filter.place {
        Place::Anywhere => true,
        Place::Ungrouped => session.workspace.is_none(),
        Place::Workspace(id) => session.workspace_id() == Some(id),
    };
    let in_archive = match filter.archive {
        Archive::Exclude => session.archived_at.is_none(),
        Archive::Only => session.archived_at.is_some(),
        Archive::Include => true,
    };
    visible
        && in_place
        && in_archive
        && filter
            .query
            .as_ref()
            .is_none_or(|query| model.folded.contains(query.as_str()))
        && (filter.include_internal || !session.is_internal())
        && any(&filter.agents, &session.agent)
        && any(&filter.providers, &session.provider)
        && (filter.states.is_empty() || filter.states.contains(&session.state))
        && (filter.types.is_empty() || filter.types.contains(&session.session_type))
        && (filter.badges.is_empty() || filter.badges.contains(&view.badge))
        && (filter.runtimes.is_empty() || filter.runtimes.contains(&session.runtime))
        && filter.parent.as_ref().is_none_or(|parent| {
            session
                .lineage
                .parent
                .as_ref()
                .is_some_and(|own| own.as_str() == parent)
        })
        && filter
            .root
            .as_ref()
            .is_none_or(|root| session.lineage.root.as_str() == root)
        && filter
            .labels
            .iter()
            .all(|(key, value)| session.labels.get(key) == Some(value))
        && filter
            .origin
            .as_ref()
            .is_none_or(|tool| session.origin.tool == *tool)
        && filter
            .profile
            .as_ref()
            .is_none_or(|profile| session.profile_id == *profile)
        && filter.resumable.is_none_or(|wanted| wanted == view.resumable)
        && filter.attachable.is_none_or(|wanted| wanted == view.attachable)
        && filter
            .created_after
            .is_none_or(|after| session.created_at >= after)
        && filter
            .created_before
            .is_none_or(|before| session.created_at < before)
        && filter
            .active_after
            .is_none_or(|after| session.active_at() >= after)
        && filter
            .active_before
            .is_none_or(|before| session.active_at() < before)
}

/// Which of two sessions comes first.
pub(crate) fn in_order(sort: SessionSort, one: &Session, other: &Session) -> std::cmp::Ordering {
    let (one, other): (SessionPlace, SessionPlace) = (one.place(sort), other.place(sort));
    let later_id_first = other.id.cmp(&one.id);
    match (one.key, other.key) {
        (SessionSortKey::Rank(rank), SessionSortKey::Rank(than)) => {
            rank.cmp(&than).then(later_id_first.reverse())
        }
        (SessionSortKey::Times(at, created_at), SessionSortKey::Times(than, created_than)) => {
            (than, created_than).cmp(&(at, created_at)).then(later_id_first)
        }
        (SessionSortKey::Attention(class, at), SessionSortKey::Attention(than, at_than)) => {
            class.cmp(&than).then(at_than.cmp(&at)).then(later_id_first)
        }
        keys => panic!("places of two orders: {keys:?}"),
    }
}

//! Which sessions a filter holds, in SQL: the places and sections of the lists that it admits, and what is asked of
//! each row besides.

use std::time::Duration;

use compozy_domain::session::RuntimeState;
use compozy_domain::session::filter::{Archive, Place, SessionFilter};
use compozy_domain::session::health::Badge;
use compozy_domain::{ProfileId, SessionState, SessionType, Timestamp, Visibility, WorkspaceId};

use crate::sql::dialect::Dialect;
use crate::sql::select::Conditions;
use crate::sql::session_counts::{Cells, CellsOf};
use crate::sql::session_search as search;
use crate::sql::session_view as view;

/// Bits of the column `hidden`.
const ARCHIVED: i64 = 1;
const INTERNAL: i64 = 2;

const STATES: [&str; 5] = ["starting", "active", "stopping", "stopped", "orphaned"];
const TYPES: [&str; 5] = ["user", "system", "coordinator", "spawned", "dream"];
const RUNTIMES: [&str; 3] = ["none", "bound", "lost"];

/// What a list or a total asks for, on behalf of a caller, at an instant.
#[derive(Debug)]
pub(crate) struct Wanted<'q> {
    pub(crate) filter: &'q SessionFilter,
    pub(crate) places: Places,
    /// The sections that may hold matches, by `hidden`.
    pub(crate) sections: Vec<Section>,
    pub(crate) at: Timestamp,
    pub(crate) stale_after: Duration,
}

/// On which accounts to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Places {
    /// On all, and on none.
    All,
    /// On those of these workspaces; an empty id stands for none.
    Each(Vec<String>),
}

/// A section of every list: the indexes begin with it. Rows of a state that this release does not know are read as
/// stopped ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) hidden: i64,
    pub(crate) state: SessionState,
}

/// What is asked of a row of a section.
#[derive(Debug)]
pub(crate) struct Asked {
    /// Conditions, which are joined by AND.
    pub(crate) parts: Vec<String>,
    /// Whether they look at `session_live l`, too.
    pub(crate) looks_at_live: bool,
}

impl<'q> Wanted<'q> {
    pub(crate) fn new(
        filter: &'q SessionFilter,
        visibility: &Visibility,
        at: Timestamp,
        stale_after: Duration,
    ) -> Self {
        Self {
            filter,
            places: places(&filter.place, visibility),
            sections: sections(filter),
            at,
            stale_after,
        }
    }

    /// Whether no row can match. Texts that no row holds are among the reasons: Postgres does not take a NUL at all.
    pub(crate) fn is_nothing(&self) -> bool {
        let filter = self.filter;
        let texts = filter
            .parent
            .iter()
            .chain(&filter.root)
            .chain(&filter.origin)
            .chain(filter.labels.keys())
            .chain(filter.labels.values());
        let profile = filter.profile.as_ref().map(ProfileId::as_str);
        let without_any = |words: &[String]| !words.is_empty() && !words.iter().any(|word| storable(word));
        self.sections.is_empty()
            || self.places == Places::Each(Vec::new())
            || texts.into_iter().any(|text| !storable(text))
            || profile.is_some_and(|profile| !storable(profile))
            || without_any(&filter.agents)
            || without_any(&filter.providers)
            || filter.query.as_deref().is_some_and(search::finds_nothing)
    }

    /// Whether it asks for a text that an index finds.
    pub(crate) fn is_text(&self) -> bool {
        let query = self.filter.query.as_deref();
        query.is_some_and(crate::sql::session_search::has_trigrams) && !self.is_nothing()
    }

    /// Whether the numbers that are kept tell how many match.
    pub(crate) fn is_kept(&self) -> bool {
        let SessionFilter {
            place: _,
            agents: _,
            states: _,
            types: _,
            providers,
            badges,
            runtimes,
            parent,
            root,
            labels,
            origin,
            profile,
            resumable: _,
            attachable,
            archive: _,
            query,
            created_after,
            created_before,
            active_after,
            active_before,
            include_internal: _,
        } = self.filter;
        providers.is_empty()
            && badges.is_empty()
            && runtimes.is_empty()
            && labels.is_empty()
            && [parent, root, origin, query].iter().all(|text| text.is_none())
            && profile.is_none()
            && attachable.is_none()
            && [created_after, created_before, active_after, active_before]
                .iter()
                .all(|at| at.is_none())
    }

    /// Whether all rows of its sections match.
    pub(crate) fn is_sections(&self) -> bool {
        self.is_kept() && self.filter.agents.is_empty() && self.filter.types.is_empty()
    }

    /// The kept numbers that add up to what it asks for, each with 1 or -1 to multiply it by; apart for each place, if
    /// that is wanted. Those of whole sections with `whole`, whatever the types and agents.
    pub(crate) fn cells(&self, apart: bool, whole: bool) -> Vec<(i64, Cells<'_>)> {
        let mut all = Vec::new();
        for (hidden, states) in self.groups() {
            let words = |states: &[SessionState]| states.iter().map(|state| state.as_str()).collect();
            if !states.contains(&SessionState::Stopped) {
                all.push((1, self.cells_of(&hidden, words(&states), apart, whole)));
                continue;
            }
            // Those in states that this release does not know are kept under their own words: all but the others.
            all.push((1, self.cells_of(&hidden, Vec::new(), apart, whole)));
            let mut others = SessionState::ALL.to_vec();
            others.retain(|state| !states.contains(state));
            if !others.is_empty() {
                all.push((-1, self.cells_of(&hidden, words(&others), apart, whole)));
            }
        }
        all
    }

    fn cells_of<'c>(&'c self, hidden: &[i64], states: Vec<&'c str>, apart: bool, whole: bool) -> Cells<'c> {
        let of = match &self.places {
            Places::All if apart => CellsOf::Each,
            Places::All => CellsOf::All,
            Places::Each(ids) => CellsOf::Workspaces(ids.iter().map(String::as_str).collect()),
        };
        let mut cells = Cells {
            of,
            hidden: hidden.to_vec(),
            states,
            ..Cells::default()
        };
        if !whole {
            cells.types = self.filter.types.iter().map(|word| word.as_str()).collect();
            cells.agents = storable_of(&self.filter.agents).collect();
        }
        cells
    }

    /// Whether the sections hold live sessions only.
    pub(crate) fn is_live(&self) -> bool {
        self.sections.iter().all(|section| section.state.is_live())
    }

    /// The sections as one condition.
    pub(crate) fn in_sections(&self) -> String {
        let groups: Vec<String> = self
            .groups()
            .iter()
            .map(|(hidden, states)| {
                let hidden: Vec<String> = hidden.iter().map(ToString::to_string).collect();
                let hidden = format!("s.hidden IN ({})", hidden.join(", "));
                let words: Vec<&str> = states.iter().map(|state| state.as_str()).collect();
                match one_of("s.state", &words, &STATES, SessionState::Stopped.as_str()) {
                    Some(states) => format!("{hidden} AND {states}"),
                    None => hidden,
                }
            })
            .collect();
        match &groups[..] {
            [one] => one.clone(),
            several => format!("(({}))", several.join(") OR (")),
        }
    }

    /// The places as a condition; `None` for all.
    pub(crate) fn in_places(&self, binds: &mut Conditions) -> Option<String> {
        let Places::Each(ids) = &self.places else {
            return None;
        };
        let ids = binds.bind_all(ids.iter().map(String::as_str));
        Some(format!("s.workspace_id IN ({ids})"))
    }

    /// What is asked of a row besides section and place, and besides the query if that is looked up elsewhere.
    pub(crate) fn asked(&self, dialect: Dialect, binds: &mut Conditions, with_query: bool) -> Asked {
        let filter = self.filter;
        let mut parts: Vec<String> = Vec::new();
        for (column, texts) in [("s.agent", &filter.agents), ("s.provider", &filter.providers)] {
            if !texts.is_empty() {
                let texts = binds.bind_all(storable_of(texts));
                parts.push(format!("{column} IN ({texts})"));
            }
        }
        if !filter.types.is_empty() {
            let words: Vec<&str> = filter.types.iter().map(|word| word.as_str()).collect();
            parts.extend(one_of("s.type", &words, &TYPES, SessionType::System.as_str()));
            if !filter.types.contains(&SessionType::User) {
                parts.push("s.type <> 'user'".to_owned());
            }
        }
        if !filter.runtimes.is_empty() {
            let words: Vec<&str> = filter.runtimes.iter().map(|word| word.as_str()).collect();
            parts.extend(one_of(
                "s.runtime",
                &words,
                &RUNTIMES,
                RuntimeState::None.as_str(),
            ));
            if !filter.runtimes.contains(&RuntimeState::None) {
                parts.push("s.runtime <> 'none'".to_owned());
            }
        }
        self.ask_for_relations(binds, &mut parts);
        self.ask_for_times(binds, &mut parts);
        let looks_at_live = self.ask_for_view(binds, &mut parts);
        if let (Some(query), true) = (&filter.query, with_query) {
            parts.push(search::holds(dialect, binds, query));
        }
        Asked { parts, looks_at_live }
    }

    fn ask_for_relations(&self, binds: &mut Conditions, parts: &mut Vec<String>) {
        let filter = self.filter;
        if let Some(parent) = &filter.parent {
            let parent = binds.bind(parent.as_str());
            parts.push(format!("s.parent_id = {parent}"));
        }
        if let Some(root) = &filter.root {
            let root = binds.bind(root.as_str());
            parts.push(format!("s.root_id = {root}"));
        }
        for (key, value) in &filter.labels {
            let (key, value) = (binds.bind(key.as_str()), binds.bind(value.as_str()));
            parts.push(format!(
                "EXISTS (SELECT 1 FROM session_label d \
                 WHERE d.session_id = s.id AND d.key = {key} AND d.value = {value})"
            ));
        }
        if let Some(origin) = &filter.origin {
            let bound = binds.bind(origin.as_str());
            parts.push(format!("s.origin = {bound}"));
            if !is_native(origin) {
                parts.push("s.origin <> 'native'".to_owned());
            }
        }
        if let Some(profile) = &filter.profile {
            let profile = binds.bind(profile.as_str());
            parts.push(format!("s.profile_id = {profile}"));
        }
    }

    fn ask_for_times(&self, binds: &mut Conditions, parts: &mut Vec<String>) {
        let filter = self.filter;
        for (column, comparison, at) in [
            ("s.created_at", ">=", filter.created_after),
            ("s.created_at", "<", filter.created_before),
            ("s.active_at", ">=", filter.active_after),
            ("s.active_at", "<", filter.active_before),
        ] {
            if let Some(at) = at {
                let at = binds.bind(at);
                parts.push(format!("{column} {comparison} {at}"));
            }
        }
    }

    /// Says whether `session_live l` is needed.
    fn ask_for_view(&self, binds: &mut Conditions, parts: &mut Vec<String>) -> bool {
        let filter = self.filter;
        if self.is_of_failed() {
            parts.push("s.failure <> ''".to_owned());
        }
        if !filter.badges.is_empty() {
            let silent_since = binds.bind(self.at.minus(self.stale_after));
            let words: Vec<String> = filter
                .badges
                .iter()
                .map(|badge| format!("'{}'", badge.as_str()))
                .collect();
            parts.push(format!(
                "{} IN ({})",
                view::badge(&silent_since),
                words.join(", ")
            ));
        }
        if let Some(attachable) = filter.attachable {
            let at = binds.bind(self.at);
            let condition = view::attachable(&at);
            parts.push(if attachable {
                condition
            } else {
                format!("NOT {condition}")
            });
        }
        !filter.badges.is_empty() || filter.attachable.is_some()
    }

    /// Whether only sessions that failed match.
    pub(crate) fn is_of_failed(&self) -> bool {
        self.filter.badges.iter().all(|badge| *badge == Badge::Failed) && !self.filter.badges.is_empty()
    }

    /// The sections, those with equal states together: by `hidden`, and in which states.
    fn groups(&self) -> Vec<(Vec<i64>, Vec<SessionState>)> {
        let mut groups: Vec<(Vec<i64>, Vec<SessionState>)> = Vec::new();
        for hidden in 0..4 {
            let of_hidden = self.sections.iter().filter(|section| section.hidden == hidden);
            let states: Vec<SessionState> = of_hidden.map(|section| section.state).collect();
            if states.is_empty() {
                continue;
            }
            match groups.iter_mut().find(|(_, others)| *others == states) {
                Some((same, _)) => same.push(hidden),
                None => groups.push((vec![hidden], states)),
            }
        }
        groups
    }
}

impl Section {
    /// The rows of the section that this release understands.
    pub(crate) fn condition(self) -> String {
        format!(
            "s.hidden = {} AND s.state = '{}'",
            self.hidden,
            self.state.as_str()
        )
    }

    /// Those that it shows in the section although it does not understand them. The index `session_unknown` holds no
    /// others.
    pub(crate) fn unknown(self) -> Option<String> {
        let words: Vec<String> = STATES.iter().map(|state| format!("'{state}'")).collect();
        (self.state == SessionState::Stopped).then(|| {
            format!(
                "s.hidden = {} AND s.state NOT IN ({})",
                self.hidden,
                words.join(", ")
            )
        })
    }
}

pub(crate) fn is_native(origin: &str) -> bool {
    origin == compozy_domain::session::Origin::NATIVE
}

/// Whether a row can hold a text.
pub(crate) fn storable(text: &str) -> bool {
    !text.contains('\0')
}

fn storable_of(texts: &[String]) -> impl Iterator<Item = &str> {
    texts.iter().map(String::as_str).filter(|text| storable(text))
}

fn places(place: &Place, visibility: &Visibility) -> Places {
    match (place, visibility) {
        (Place::Anywhere, Visibility::All) => Places::All,
        (Place::Anywhere, Visibility::Only(ids)) => {
            let mut ids: Vec<String> = ids.iter().map(WorkspaceId::to_string).collect();
            ids.sort_unstable();
            ids.dedup();
            ids.retain(|id| storable(id));
            Places::Each(ids)
        }
        (Place::Ungrouped, Visibility::All) => Places::Each(vec![String::new()]),
        (Place::Workspace(id), _) if visibility.includes(id) && storable(id.as_str()) => {
            Places::Each(vec![id.to_string()])
        }
        // Without a workspace, or in one that does not exist for the caller.
        (Place::Ungrouped | Place::Workspace(_), _) => Places::Each(Vec::new()),
    }
}

fn sections(filter: &SessionFilter) -> Vec<Section> {
    let mut sections = Vec::new();
    for hidden in 0..4 {
        let (archived, internal) = (hidden & ARCHIVED != 0, hidden & INTERNAL != 0);
        let in_archive = match filter.archive {
            Archive::Exclude => !archived,
            Archive::Only => archived,
            Archive::Include => true,
        };
        if !in_archive || (internal && !filter.include_internal) {
            continue;
        }
        for state in SessionState::ALL {
            let resumable = state == SessionState::Stopped && hidden == 0;
            let enterable = state == SessionState::Active && !archived;
            let admitted = (filter.states.is_empty() || filter.states.contains(&state))
                && filter.resumable.is_none_or(|wanted| wanted == resumable)
                && (filter.attachable != Some(true) || enterable)
                && (filter.badges.is_empty() || filter.badges.iter().any(|badge| may_show(state, *badge)));
            if admitted {
                sections.push(Section { hidden, state });
            }
        }
    }
    sections
}

/// Whether a session in this state can have this badge.
fn may_show(state: SessionState, badge: Badge) -> bool {
    match badge {
        Badge::Failed | Badge::Stopped => !state.is_live(),
        Badge::Done | Badge::Idle | Badge::Unknown => state == SessionState::Active,
        Badge::WaitingForAuth | Badge::WaitingForInput | Badge::Hung | Badge::Unhealthy | Badge::Running => {
            state.is_live()
        }
    }
}

/// That a column holds one of some words, or, if `otherwise` is among them, one that this release does not know; `None`
/// if every word will do.
fn one_of(column: &str, wanted: &[&str], all: &[&str], otherwise: &str) -> Option<String> {
    let listed = |words: &mut dyn Iterator<Item = &&str>| {
        words
            .map(|word| format!("'{word}'"))
            .collect::<Vec<String>>()
            .join(", ")
    };
    if !wanted.contains(&otherwise) {
        return Some(format!("{column} IN ({})", listed(&mut wanted.iter())));
    }
    let others = listed(&mut all.iter().filter(|word| !wanted.contains(word)));
    (!others.is_empty()).then(|| format!("{column} NOT IN ({others})"))
}

//! Whether everything that was looked at is as it was.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::seen::{Moment, Seen};
use super::{Lead, NAMES_MAX, is_same_place};
use crate::files::{ContentHash, Files, Kind, Names, Stamp};

/// What an allocation costs besides what is in it.
const ALLOCATION: usize = 24;

/// Everything that a [`Reader`](super::Reader) looked at, by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watched {
    /// Sorted, so that neighbours on the disk are looked at one after the other.
    seen: Vec<(Box<str>, Seen)>,
    leads: Vec<(Box<str>, Lead)>,
}

impl Watched {
    pub(super) fn of(seen: BTreeMap<String, Seen>, leads: BTreeMap<String, Lead>) -> Self {
        Self {
            seen: seen.into_iter().map(|(path, seen)| (path.into(), seen)).collect(),
            leads: leads
                .into_iter()
                .map(|(path, lead)| (path.into(), lead))
                .collect(),
        }
    }

    /// Both: what either looked at. A path that they saw in two states is never the same again.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut seen: BTreeMap<String, Seen> = BTreeMap::new();
        for (path, look) in self.seen.into_iter().chain(other.seen) {
            match seen.entry(path.into()) {
                Entry::Occupied(mut before) => before.get_mut().join(look),
                Entry::Vacant(new) => {
                    new.insert(look);
                }
            }
        }
        let mut leads: BTreeMap<String, Lead> = BTreeMap::new();
        for (path, lead) in self.leads.into_iter().chain(other.leads) {
            leads.entry(path.into()).or_insert(lead);
        }
        Self::of(seen, leads)
    }

    /// How many paths are watched.
    #[must_use]
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether nothing is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// The paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.seen.iter().map(|(path, _)| &**path)
    }

    /// Whether everything is as it was: one look at each path, and another read of what was recent or failed. What
    /// has come to rest meanwhile is not read again next time.
    pub fn is_unchanged(&mut self, files: &dyn Files) -> bool {
        let now = Moment::now(files);
        for (path, seen) in &mut self.seen {
            if !seen.is_unchanged(files, path) {
                return false;
            }
            seen.settle(now);
        }
        self.leads
            .iter()
            .all(|(path, lead)| lead.is_unchanged(files, path))
    }

    /// Whether something has to be read again to be compared.
    #[must_use]
    pub fn has_recent(&self) -> bool {
        self.seen.iter().any(|(_, seen)| matches!(seen, Seen::Recent(_)))
    }

    /// Bytes that it occupies, roughly.
    #[must_use]
    pub fn weight(&self) -> usize {
        let seen = self.seen.iter().map(|(path, seen)| {
            let recent = if matches!(seen, Seen::Recent(_)) { 96 } else { 0 };
            path.len() + ALLOCATION + size_of::<(Box<str>, Seen)>() + recent
        });
        let leads = self
            .leads
            .iter()
            .map(|(path, _)| path.len() + ALLOCATION + size_of::<(Box<str>, Lead)>());
        seen.sum::<usize>() + leads.sum::<usize>()
    }
}

impl Seen {
    fn is_unchanged(&self, files: &dyn Files, path: &str) -> bool {
        match (self, files.stamp(path)) {
            (Self::Absent, Ok(None)) | (Self::Unknown, Err(_)) => true,
            (Self::Way, Ok(Some(now))) => now.kind == Kind::Directory,
            (Self::Place { file, mode }, Ok(Some(now))) => is_same_place(&now, *file, *mode),
            (Self::Settled(then), Ok(Some(now))) => *then == now,
            (Self::Recent(recent), Ok(Some(now))) => {
                recent.0 == now && hash_at(files, path, &now) == Some(recent.1)
            }
            (Self::Failing(Some(then)), Ok(Some(now))) => {
                *then == now && hash_at(files, path, &now).is_none()
            }
            (Self::Failing(None), Err(_)) => true,
            _ => false,
        }
    }

    /// Content that was just found to be the same needs no comparing any more once a change would show.
    fn settle(&mut self, now: Moment) {
        if let Self::Recent(recent) = self
            && !now.is_recent(&recent.0)
        {
            *self = Self::Settled(recent.0);
        }
    }
}

/// The hash of what a path holds: a file's bytes, a directory's names. `None` if it can't be read.
fn hash_at(files: &dyn Files, path: &str, stamp: &Stamp) -> Option<ContentHash> {
    if stamp.kind == Kind::Directory {
        let names = files.open(path).ok()?.names(NAMES_MAX).ok()?;
        return Some(hash_of(&names));
    }
    let (directory, name) = path.rsplit_once('/')?;
    let directory = if directory.is_empty() { "/" } else { directory };
    // One that grew has changed, however large it is by now.
    let limit = usize::try_from(stamp.size).ok()?;
    let content = files.open(directory).ok()?.read(name, limit).ok()??;
    Some(ContentHash::of(&content.bytes))
}

pub(super) fn hash_of(names: &Names) -> ContentHash {
    let mut text = vec![u8::from(names.truncated)];
    for entry in &names.entries {
        text.extend_from_slice(entry.name.as_bytes());
        text.extend_from_slice(match entry.kind {
            Kind::Regular => b"/f",
            Kind::Directory => b"/d",
            Kind::Link => b"/l",
            Kind::Special => b"/s",
        });
    }
    for name in &names.unprintable {
        text.extend_from_slice(name.as_bytes());
        text.extend_from_slice(b"/u");
    }
    ContentHash::of(&text)
}

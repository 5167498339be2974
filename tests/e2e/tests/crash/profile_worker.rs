//! A caller with profiles and one workspace of its own. It has a few names, so that it comes back to each again and
//! again, and it knows what has to be there: rows, the selection, and of every name whether there is a directory and
//! what lies in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use compozy_e2e::{Draw, mode};

use crate::profile_held::{Held, ProfileRow};
use crate::profile_operation::{ProfileAnswer, ProfileOperation, What};

/// Names of one worker: more than profiles, so that there is mostly a free one.
const NAMES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];
/// What a person keeps in the directory of a profile: here its id.
const MARKER: &str = "marker";

#[derive(Debug)]
pub(crate) struct ProfileWorker {
    prefix: String,
    pub(crate) draw: Draw,
    /// Where the personal directories are.
    folder: PathBuf,
    pub(crate) workspace: String,
    pub(crate) held: Held,
    /// Directories without a profile, by name, with what lies in them.
    pub(crate) orphans: BTreeMap<String, String>,
    /// Asked and not answered.
    pub(crate) pending: Option<ProfileOperation>,
    pub(crate) answered_count: u64,
    /// The last one that was answered.
    pub(crate) answered: Option<(ProfileOperation, ProfileAnswer)>,
}

impl ProfileWorker {
    pub(crate) fn new(number: usize, draw: Draw, home: &Path, workspace: String) -> Self {
        Self {
            prefix: format!("w{number}-"),
            draw,
            folder: home.join("profiles"),
            workspace,
            held: Held::default(),
            orphans: BTreeMap::new(),
            pending: None,
            answered_count: 0,
            answered: None,
        }
    }

    pub(crate) fn owns(&self, name: &str) -> bool {
        name.starts_with(&self.prefix)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        NAMES
            .iter()
            .map(|name| format!("{}{name}", self.prefix))
            .collect()
    }

    pub(crate) fn is_taken(&self, name: &str) -> bool {
        self.held.rows.iter().any(|row| row.name == name)
    }

    /// Takes an answer into the model, and does what a person does then: puts something into a new directory.
    pub(crate) fn settle(&mut self, operation: ProfileOperation, answer: ProfileAnswer) {
        assert_eq!(operation.refusal, None, "{operation:?}: {answer:?}");
        let mut new = None;
        match (&operation.what, &answer) {
            (What::Create { name, .. }, ProfileAnswer::Created(answer)) => {
                let row = ProfileRow::of(answer.profile.as_ref().unwrap());
                assert_eq!(row.name, *name);
                let was_there = self.orphans.remove(name).is_some();
                assert!(answer.adopted_directory || !was_there, "{answer:?}");
                fs::write(self.folder.join(name).join(MARKER), &row.id).unwrap();
                new = Some(row);
            }
            (What::Rename { id, to, .. }, ProfileAnswer::Renamed(answer)) => {
                let row = ProfileRow::of(answer.profile.as_ref().unwrap());
                assert_eq!((&row.id, &row.name), (id, to), "{answer:?}");
            }
            (What::Delete { id, .. }, ProfileAnswer::Deleted(answer)) => {
                assert_eq!(answer.id, *id);
                let row = self.held.rows.iter().find(|row| row.id == *id).unwrap();
                self.orphans.insert(row.name.clone(), id.clone());
            }
            (What::Select { id, .. }, ProfileAnswer::Selected(answer)) => {
                assert_eq!(answer.profile.as_ref().map(|profile| &profile.id), id.as_ref());
            }
            (What::Update { .. }, ProfileAnswer::Updated(_))
            | (What::Archive { .. }, ProfileAnswer::Archived(_))
            | (What::Unarchive { .. }, ProfileAnswer::Unarchived(_)) => {}
            _ => panic!("{operation:?} was answered with {answer:?}"),
        }
        self.held = self.held.after(&operation, new);
        self.pending = None;
        self.answered_count += 1;
        self.answered = Some((operation, answer));
    }

    /// A refusal that is part of the game changes nothing.
    pub(crate) fn settle_refused(&mut self) {
        self.pending = None;
    }

    /// Whether the kill came between the two halves of a rename, as far as the disk tells.
    pub(crate) fn has_moved_directory(&self) -> bool {
        let Some(What::Rename { from, to, .. }) = self.pending.as_ref().map(|operation| &operation.what)
        else {
            return false;
        };
        from != to && !self.folder.join(from).exists() && self.folder.join(to).exists()
    }

    /// R106: of each profile there is exactly its own directory, under the name that it has, with all that was in it;
    /// and no name has a directory besides, but those that a deletion has left. `held` is what the catalog holds.
    pub(crate) fn assert_directories(&self, held: &Held) {
        if let Err(difference) = self.compare_directories(held) {
            panic!("after {:?}: {difference}", self.pending);
        }
    }

    pub(crate) fn compare_directories(&self, held: &Held) -> Result<(), String> {
        let pending = self.pending.as_ref().map(|operation| &operation.what);
        for name in self.names() {
            let row = held.rows.iter().find(|row| row.name == name);
            let known = row.is_some_and(|row| self.held.rows.iter().any(|known| known.id == row.id));
            let orphan = self.orphans.get(&name);
            let is_being_made = matches!(pending, Some(What::Create { name: made, .. }) if *made == name);
            let left_by_deletion = match pending {
                Some(What::Delete { id, .. }) => self
                    .held
                    .rows
                    .iter()
                    .find(|row| row.id == *id && row.name == name),
                _ => None,
            };
            let expected = match row {
                Some(row) if known => Some(row.id.clone()),
                // Its directory was there before it, or is empty.
                Some(_) => Some(orphan.cloned().unwrap_or_default()),
                None => orphan.or(left_by_deletion.map(|row| &row.id)).cloned(),
            };
            let found = self.directory(&name);
            let is_made_for_nothing = is_being_made && found.as_deref() == Some("");
            if found != expected && !(expected.is_none() && is_made_for_nothing) {
                return Err(format!(
                    "the directory {name} holds {found:?}, expected {expected:?}; profiles {held:#?}"
                ));
            }
        }
        Ok(())
    }

    /// What lies in the directory of a name, if there is one: nothing, or the id that was put there.
    fn directory(&self, name: &str) -> Option<String> {
        let path = self.folder.join(name);
        if !path.exists() {
            return None;
        }
        assert_eq!(mode(&path), 0o700, "{}", path.display());
        Some(fs::read_to_string(path.join(MARKER)).unwrap_or_default())
    }
}

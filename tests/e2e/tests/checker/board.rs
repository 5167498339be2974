//! What writers and watchers know in common while a lap runs.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Instant;

use compozy_e2e::Draw;

use crate::catalog::State;
use crate::entry::Record;

/// Answers that are remembered for watchers to begin from.
const ANSWERS_KEPT: usize = 32;
/// Answered choices that may be made again.
const CHOICES_RECENT: usize = 64;

/// Shared by all; every lock is held for a moment only.
#[derive(Debug, Default)]
pub(crate) struct Board {
    state: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    workspaces: Vec<Known>,
    /// Ids of profiles that were made and not deleted, as far as was answered.
    profiles: Vec<String>,
    /// Choices that somebody made, answered or not.
    made: HashSet<Choice>,
    /// Those that were answered.
    answered: Vec<Choice>,
    answers: Vec<Answer>,
}

/// A workspace that was registered and not removed, as far as was answered.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) id: String,
    pub(crate) name: String,
}

/// An answer from which a watch may begin.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) record: Record,
    pub(crate) state: State,
    pub(crate) revision: String,
}

/// A profile for a workspace; of an empty one for everything else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Choice {
    pub(crate) workspace: String,
    pub(crate) profile: String,
}

/// What a lap is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Everything happens.
    Traffic,
    /// Nothing is written any more, since this instant, and every server serves.
    Quiet(Instant),
}

impl Board {
    pub(crate) fn count(&self) -> usize {
        self.state.lock().unwrap().workspaces.len()
    }

    /// One of the workspaces.
    pub(crate) fn choose(&self, draw: &mut Draw) -> Option<Known> {
        draw.choose(&self.state.lock().unwrap().workspaces).cloned()
    }

    pub(crate) fn add(&self, known: Known) {
        self.state.lock().unwrap().workspaces.push(known);
    }

    pub(crate) fn rename(&self, id: &str, name: &str) {
        for known in &mut self.state.lock().unwrap().workspaces {
            if known.id == id {
                name.clone_into(&mut known.name);
            }
        }
    }

    pub(crate) fn remove(&self, id: &str) {
        self.state
            .lock()
            .unwrap()
            .workspaces
            .retain(|known| known.id != id);
    }

    pub(crate) fn profile_count(&self) -> usize {
        self.state.lock().unwrap().profiles.len()
    }

    pub(crate) fn choose_profile(&self, draw: &mut Draw) -> Option<String> {
        draw.choose(&self.state.lock().unwrap().profiles).cloned()
    }

    pub(crate) fn add_profile(&self, id: String) {
        self.state.lock().unwrap().profiles.push(id);
    }

    pub(crate) fn remove_profile(&self, id: &str) {
        self.state.lock().unwrap().profiles.retain(|known| known != id);
    }

    /// Whether nobody has made this choice before. From now on somebody has.
    pub(crate) fn is_new(&self, choice: &Choice) -> bool {
        self.state.lock().unwrap().made.insert(choice.clone())
    }

    pub(crate) fn chosen(&self, choice: Choice) {
        self.state.lock().unwrap().answered.push(choice);
    }

    /// One of the choices that were answered.
    pub(crate) fn choose_again(&self, draw: &mut Draw) -> Option<Choice> {
        let answered = &self.state.lock().unwrap().answered;
        // What was chosen long ago is gone by now.
        let recent = answered.len().saturating_sub(CHOICES_RECENT);
        draw.choose(&answered[recent..]).cloned()
    }

    pub(crate) fn remember(&self, answer: Answer) {
        let answers = &mut self.state.lock().unwrap().answers;
        if answers.len() == ANSWERS_KEPT {
            answers.remove(0);
        }
        answers.push(answer);
    }

    pub(crate) fn answer(&self, draw: &mut Draw) -> Option<Answer> {
        draw.choose(&self.state.lock().unwrap().answers).cloned()
    }
}

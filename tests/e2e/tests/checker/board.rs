//! What writers and watchers know in common while a lap runs.

use std::sync::Mutex;
use std::time::Instant;

use compozy_e2e::Draw;

/// Answers that are remembered for watchers to begin from.
const ANSWERS_KEPT: usize = 32;

/// Shared by all; every lock is held for a moment only.
#[derive(Debug, Default)]
pub(crate) struct Board {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    workspaces: Vec<Known>,
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
    pub(crate) workspace: String,
    pub(crate) version: i64,
    pub(crate) revision: String,
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

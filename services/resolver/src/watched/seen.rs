//! What is remembered of one path.

use compozy_domain::FileIdentity;

use super::is_same_place;
use crate::files::{ContentHash, Files, Kind, Stamp};

/// Nanoseconds between two ticks of a kernel's clock at most.
const TICK: i64 = 10_000_000;
/// The same for file systems that keep whole seconds, the coarsest of them every other one.
const COARSE_TICK: i64 = 2_000_000_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    /// In two states, or in one that does not fit what was done: never the same again.
    Torn,
    /// It could not even be told whether there is anything.
    Unknown,
    /// Nothing was there.
    Absent,
    /// A directory on the way to another one. That it is no link is all that counts.
    Way,
    /// A directory that was passed through.
    Place { file: FileIdentity, mode: u32 },
    /// Its state says everything.
    Settled(Stamp),
    /// It had changed so shortly before that another change might carry the same time: its content counts, too.
    Recent(Box<(Stamp, ContentHash)>),
    /// It could not be read although its state does not say why: another try counts, too.
    Failing(Option<Stamp>),
}

/// A time of the file system's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment(i64);

impl Moment {
    pub(super) fn now(files: &dyn Files) -> Self {
        Self(files.clock())
    }

    /// Whether what has this state may change after this moment without getting another one.
    ///
    /// The time of the last change of the inode decides: nobody can set it. The modification only counts where a
    /// file system keeps no better time, and not when somebody has put it into the future.
    pub(super) fn is_recent(self, stamp: &Stamp) -> bool {
        let is_coarse = |time: i64| time % 1_000_000_000 == 0;
        let tick = if is_coarse(stamp.changed) && is_coarse(stamp.modified) {
            COARSE_TICK
        } else {
            TICK
        };
        let settled_before = self.0.saturating_sub(2 * tick);
        stamp.changed >= settled_before || (settled_before..=self.0).contains(&stamp.modified)
    }
}

impl Seen {
    pub(super) fn recent(stamp: Stamp, hash: ContentHash) -> Self {
        Self::Recent(Box::new((stamp, hash)))
    }

    /// Puts two looks at one path together: the one that says more stays, two that differ are a mixture.
    pub(super) fn join(&mut self, other: Self) {
        if *self == other || self.covers(&other) {
            return;
        }
        *self = if other.covers(self) { other } else { Self::Torn };
    }

    /// Whether this look says everything that the other one says.
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Torn, _) => true,
            (Self::Recent(recent), Self::Settled(stamp)) => recent.0 == *stamp,
            (Self::Failing(Some(failing)), Self::Settled(stamp)) => failing == stamp,
            (Self::Failing(None), Self::Unknown) | (Self::Place { .. }, Self::Way) => true,
            (more, Self::Way) => more.stamp().is_some_and(|stamp| stamp.kind == Kind::Directory),
            (more, Self::Place { file, mode }) => more
                .stamp()
                .is_some_and(|stamp| is_same_place(stamp, *file, *mode)),
            _ => false,
        }
    }

    fn stamp(&self) -> Option<&Stamp> {
        match self {
            Self::Settled(stamp) | Self::Failing(Some(stamp)) => Some(stamp),
            Self::Recent(recent) => Some(&recent.0),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn stamp(modified: i64, changed: i64) -> Stamp {
        Stamp {
            kind: Kind::Directory,
            file: FileIdentity { device: 1, inode: 7 },
            size: 3,
            mode: 0o755,
            modified,
            changed,
        }
    }

    #[test]
    fn r204_what_changed_within_two_ticks_is_recent() {
        let now = Moment(100 * SECOND + 1);
        let fresh = 100 * SECOND - TICK;
        assert!(now.is_recent(&stamp(fresh, fresh)));
        assert!(
            now.is_recent(&stamp(1, fresh)),
            "somebody set the modification back"
        );
        assert!(now.is_recent(&stamp(fresh, 1)), "no time of change is kept");
        assert!(!now.is_recent(&stamp(fresh - 2 * TICK, fresh - 2 * TICK)));
        assert!(
            !now.is_recent(&stamp(200 * SECOND + 1, 7)),
            "a file of the future"
        );
        assert!(
            now.is_recent(&stamp(97 * SECOND, 97 * SECOND)),
            "whole seconds only"
        );
        assert!(!now.is_recent(&stamp(95 * SECOND, 95 * SECOND)));
    }

    #[test]
    fn two_looks_that_differ_are_a_mixture_and_stay_one() {
        let mut seen = Seen::Settled(stamp(1, 1));
        seen.join(Seen::Settled(stamp(1, 1)));
        assert_eq!(seen, Seen::Settled(stamp(1, 1)));
        seen.join(Seen::Absent);
        assert_eq!(seen, Seen::Torn);
        seen.join(Seen::Absent);
        assert_eq!(seen, Seen::Torn);
    }

    #[test]
    fn the_look_that_says_more_stays_whichever_came_first() {
        let place = Seen::Place {
            file: stamp(1, 1).file,
            mode: 0o755,
        };
        let recent = Seen::recent(stamp(1, 1), ContentHash::of(b"x"));
        let rising = [Seen::Way, place, Seen::Settled(stamp(1, 1)), recent];
        for (at, less) in rising.iter().enumerate() {
            for more in &rising[at..] {
                let (mut one, mut other) = (less.clone(), more.clone());
                one.join(more.clone());
                other.join(less.clone());
                assert_eq!((&one, &other), (more, more));
            }
        }
    }
}

//! What is listed against what the workers know.

use std::collections::BTreeSet;

use compozy_proto::workspace::v1::Workspace;

use crate::operation::Operation;
use crate::worker::{Row, Worker};

/// Whether a write that was not answered is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Applied,
    Absent,
    /// It makes no difference, as a move to the place that a row has.
    Unknown,
}

/// Ids, names and roots are unique, and every row is somebody's.
pub(crate) fn assert_sound(listed: &[Workspace], workers: &[&Worker]) {
    let distinct = |of: fn(&Workspace) -> String| listed.iter().map(of).collect::<BTreeSet<_>>().len();
    assert_eq!(distinct(|row| row.id.clone()), listed.len());
    assert_eq!(distinct(|row| row.root_dir.clone()), listed.len());
    assert_eq!(distinct(|row| row.name().to_lowercase()), listed.len());
    for row in listed {
        assert!(row.defect.is_none(), "{row:?}");
        assert!(
            workers.iter().any(|worker| worker.owns(&row.root_dir)),
            "nobody registered {row:?}"
        );
    }
}

/// What is listed of one worker, in the listed order.
pub(crate) fn rows_of(listed: &[Workspace], worker: &Worker) -> Vec<Row> {
    listed
        .iter()
        .filter(|row| worker.owns(&row.root_dir))
        .map(Row::of)
        .collect()
}

/// The worker's rows are exactly those that it knows of, its unanswered write wholly there or not at all.
pub(crate) fn compare(listed: &[Workspace], worker: &Worker) -> Found {
    let rows = rows_of(listed, worker);
    let Some(operation) = &worker.pending else {
        assert_eq!(rows, worker.rows);
        return Found::Unknown;
    };
    let applied = has_applied(operation, &rows, worker);
    match (rows == worker.rows, applied) {
        (true, true) => Found::Unknown,
        (true, false) => Found::Absent,
        (false, true) => Found::Applied,
        (false, false) => panic!(
            "half a write, or a lost one: after {operation:?}\nlisted {rows:#?}\nknown {:#?}",
            worker.rows
        ),
    }
}

fn has_applied(operation: &Operation, rows: &[Row], worker: &Worker) -> bool {
    let new = match operation {
        Operation::Register { root, .. } => match rows.first() {
            // Id and name of a new row are the daemon's to choose.
            Some(first) if first.root == *root => Some(first.clone()),
            _ => return false,
        },
        _ => None,
    };
    worker.rows_after(operation, new) == rows
}

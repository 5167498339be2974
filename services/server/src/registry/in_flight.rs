//! Requests that are being carried out, by caller, method and request id: a second one waits for the first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use compozy_domain::RequestId;
use tokio::sync::OwnedMutexGuard;

/// Names a request: principal, method, request id.
pub(super) type RequestKey = (String, &'static str, RequestId);

type Gates = Arc<Mutex<HashMap<RequestKey, Arc<tokio::sync::Mutex<()>>>>>;

/// The requests in flight. Holds an entry only while somebody has or waits for the turn.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    gates: Gates,
}

/// The turn of one request; the next one may go when it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _guard: OwnedMutexGuard<()>,
    _entry: Entry,
}

/// Somebody who has or waits for a turn. The last one takes the gate away.
#[derive(Debug)]
struct Entry {
    gates: Gates,
    key: RequestKey,
}

impl InFlight {
    /// Waits until no other request of this key is in flight.
    pub(super) async fn wait(&self, key: RequestKey) -> Turn {
        let gate = {
            let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(gates.entry(key.clone()).or_default())
        };
        let entry = Entry {
            gates: Arc::clone(&self.gates),
            key,
        };
        Turn {
            _guard: gate.lock_owned().await,
            _entry: entry,
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody but the map has the gate once the last turn is over. While others wait they hold it too.
        if gates
            .get(&self.key)
            .is_some_and(|gate| Arc::strong_count(gate) == 1)
        {
            gates.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn key() -> RequestKey {
        ("local".into(), "m", RequestId::from_stored("r".into()))
    }

    #[tokio::test]
    async fn w321_the_second_of_two_waits_and_nothing_is_left() {
        let requests = InFlight::default();
        let first = requests.wait(key()).await;
        let second = requests.wait(key());
        tokio::pin!(second);
        assert!(futures::poll!(&mut second).is_pending());
        drop(first);
        drop(second.await);
        assert!(requests.gates.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn one_who_stops_waiting_leaves_nothing() {
        let requests = InFlight::default();
        let first = requests.wait(key()).await;
        {
            let second = requests.wait(key());
            tokio::pin!(second);
            assert!(futures::poll!(&mut second).is_pending());
        }
        drop(first);
        assert!(requests.gates.lock().unwrap().is_empty());
    }
}

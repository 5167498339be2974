//! How many watches are open at once. The socket has a share of its own: nobody on the network can shut the daemon's
//! user out.

use std::sync::Arc;

use compozy_domain::CatalogError;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The seats.
#[derive(Debug)]
pub struct Seats {
    socket: Arc<Semaphore>,
    network: Arc<Semaphore>,
    taken: Gauge,
}

/// A seat that is taken until it is dropped.
#[derive(Debug)]
pub struct Seat {
    taken: Gauge,
    _permit: OwnedSemaphorePermit,
}

impl Seats {
    /// So many for the socket and as many for the network; `taken` counts both.
    #[must_use]
    pub fn new(count: usize, taken: Gauge) -> Self {
        Self {
            socket: Arc::new(Semaphore::new(count)),
            network: Arc::new(Semaphore::new(count)),
            taken,
        }
    }

    /// Takes one.
    ///
    /// # Errors
    /// [`CatalogError::TooManyWatchers`].
    pub fn take(&self, on_socket: bool) -> Result<Seat, CatalogError> {
        let share = if on_socket { &self.socket } else { &self.network };
        let permit = Arc::clone(share)
            .try_acquire_owned()
            .map_err(|_| CatalogError::TooManyWatchers)?;
        self.taken.inc();
        Ok(Seat {
            taken: self.taken.clone(),
            _permit: permit,
        })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.taken.dec();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn n139_a_seat_is_free_again_when_its_watch_ends() {
        let seats = Seats::new(1, Gauge::default());
        let seat = seats.take(true).unwrap();
        assert_eq!(seats.take(true).unwrap_err(), CatalogError::TooManyWatchers);
        let other = seats.take(false).unwrap();
        assert_eq!(seats.taken.get(), 2);
        drop((seat, other));
        assert_eq!(seats.taken.get(), 0);
        assert!(seats.take(true).is_ok());
    }
}

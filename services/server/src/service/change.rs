//! `compozy.change.v1.CatalogChangeService`: let in, open, and hand out one message after the other.

use std::pin::Pin;
use std::sync::Arc;

use compozy_domain::{CatalogError, Scope};
use compozy_proto::change::v1 as pb;
use compozy_proto::change::v1::catalog_change_service_server::CatalogChangeService;
use futures::Stream;
use tonic::{Request, Response, Status};

use super::caller;
use crate::accept::{ConnectionEnd, Peer};
use crate::convert::change::wanted;
use crate::layer::Standing;
use crate::shutdown::Shutdown;
use crate::status::status;
use crate::watch::{Ending, LookAgain, Opening, Parts, Seats, Watcher};

/// The service.
#[derive(Debug, Clone)]
pub struct ChangeApi {
    parts: Arc<Parts>,
    seats: Arc<Seats>,
    shutdown: Shutdown,
}

/// What a watch tells.
type Messages = Pin<Box<dyn Stream<Item = Result<pb::WatchCatalogResponse, Status>> + Send>>;

/// How far a stream has got. The parts lie on the heap, so that a step moves a pointer.
enum Step {
    Opening(Box<Opening>),
    Open(Box<Watcher>),
    Over,
}

impl ChangeApi {
    /// The service over what all watches work with.
    #[must_use]
    pub fn new(parts: Arc<Parts>, shutdown: Shutdown) -> Self {
        let seats = Seats::new(parts.settings.watchers, parts.metrics.watchers.clone());
        Self {
            parts,
            seats: Arc::new(seats),
            shutdown,
        }
    }

    fn let_in(&self, request: Request<pb::WatchCatalogRequest>) -> Result<Opening, CatalogError> {
        let caller = caller(&request, Scope::Read)?;
        let extensions = request.extensions();
        let on_socket = matches!(extensions.get::<Peer>(), Some(Peer::Socket { .. }));
        let connection = extensions.get::<ConnectionEnd>().cloned().unwrap_or_default();
        let look_again = look_again(extensions.get::<Standing>().cloned())?;
        let wanted = wanted(request.into_inner())?;
        Ok(Opening {
            parts: Arc::clone(&self.parts),
            wanted,
            caller,
            look_again,
            ending: ending(&self.shutdown, connection),
            seat: self.seats.take(on_socket)?,
        })
    }
}

#[tonic::async_trait]
impl CatalogChangeService for ChangeApi {
    type WatchCatalogStream = Messages;

    async fn watch_catalog(
        &self,
        request: Request<pb::WatchCatalogRequest>,
    ) -> Result<Response<Messages>, Status> {
        let opening = self.let_in(request).map_err(status)?;
        let first = Step::Opening(Box::new(opening));
        Ok(Response::new(Box::pin(futures::stream::unfold(first, advance))))
    }
}

/// The next message, and the step behind it.
async fn advance(step: Step) -> Option<(Result<pb::WatchCatalogResponse, Status>, Step)> {
    let mut watcher = match step {
        Step::Opening(opening) => match Box::pin(opening.open()).await {
            Ok(watcher) => Box::new(watcher),
            Err(error) => return Some((Err(status(error)), Step::Over)),
        },
        Step::Open(watcher) => watcher,
        Step::Over => return None,
    };
    let message = watcher.next().await?;
    Some(match message {
        Ok(message) => (Ok(message), Step::Open(watcher)),
        Err(error) => (Err(status(error)), Step::Over),
    })
}

fn look_again(standing: Option<Standing>) -> Result<LookAgain, CatalogError> {
    let standing = standing.ok_or_else(|| CatalogError::Defect {
        detail: "a stream came without its caller's standing".to_owned(),
    })?;
    Ok(Box::new(move || standing.look_again()))
}

/// Ends when the server drains or the connection is old.
fn ending(shutdown: &Shutdown, connection: ConnectionEnd) -> Ending {
    let parting = shutdown.parting();
    Box::pin(async move {
        tokio::select! {
            () = parting.cancelled() => {}
            () = connection.0.cancelled() => {}
        }
        if parting.is_cancelled() {
            pb::GoingAwayReason::Draining
        } else {
            pb::GoingAwayReason::ConnectionAge
        }
    })
}

//! Ids that the daemon gives (cases section 2).

use std::collections::HashSet;

use compozy_domain::SessionId;
use compozy_proto::session::v1 as pb;
use tonic::Code;

use crate::asked::{delete, new, ungrouped};
use crate::world::World;

/// Ids that are drawn as the daemon draws them.
const DRAWN: usize = 100_000;
/// Sessions that are really made.
const MADE: usize = 200;

cases! {
    s052_no_id_is_given_twice,
}

async fn s052_no_id_is_given_twice(world: World) {
    let a = world.only_a().await;
    let mut given = HashSet::new();
    let mut deleted = Vec::new();
    for number in 0..MADE {
        let id = world.create(new(&a.id)).await.id;
        if number % 2 == 0 {
            let request = pb::DeleteSessionRequest {
                force: true,
                ..delete(&id)
            };
            world.daemon.api.delete_session(request).await.unwrap();
            deleted.push(id.clone());
        }
        assert!(given.insert(id), "an id was given twice");
    }
    for _ in given.len()..DRAWN {
        let id = SessionId::generate(world.random.as_ref()).unwrap();
        assert!(given.insert(id.to_string()), "{id} was drawn twice");
    }
    assert_eq!(given.len(), DRAWN);
    // Even who asks for the id of a deleted session does not get it.
    for id in deleted.into_iter().step_by(10) {
        let again = pb::CreateSessionRequest {
            id,
            ..ungrouped(&a.root_dir)
        };
        let call = world.daemon.api.create_session(again);
        world
            .refused(Code::AlreadyExists, "SESSION_ID_CONFLICT", call)
            .await;
    }
}

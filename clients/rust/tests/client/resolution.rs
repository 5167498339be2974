//! Profiles, snapshots and the daemon's settings: what is repeated, and under which request id.

use compozy_client::proto::admin::v1::SetConfigRequest;
use compozy_client::proto::page::v1::PageInfo;
use compozy_client::proto::profile::v1::*;
use compozy_client::proto::workspace::v1::{
    GetDefinitionRequest, GetDefinitionResponse, ResolveWorkspaceRequest, ResolveWorkspaceResponse,
};
use compozy_client::{Client, Error};
use futures::TryStreamExt;

use crate::server::{Answer, Scripted, Seen, message, unavailable};

/// Fails the first time, then answers a message without fields, which every method may answer.
fn second_time(number: usize) -> Answer {
    match number {
        0 => unavailable(None),
        _ => Answer::Message(Vec::new()),
    }
}

/// The methods and messages of both attempts of one call.
async fn attempts<A>(call: impl AsyncFnOnce(Client) -> Result<A, Error>) -> Vec<Seen> {
    let server = Scripted::on_socket(|number, _| second_time(number));
    call(server.client()).await.map(drop).unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 2, "{}", seen[0].path);
    assert_eq!(
        (&seen[0].path, &seen[0].message),
        (&seen[1].path, &seen[1].message)
    );
    seen
}

#[tokio::test]
async fn reads_are_repeated() {
    let request = ResolveWorkspaceRequest::default();
    let read = attempts(async |client| client.resolve_workspace(request).await).await;
    assert!(read[0].path.ends_with("WorkspaceService/ResolveWorkspace"));
    let read = attempts(async |client| client.get_definition(GetDefinitionRequest::default()).await).await;
    assert!(read[0].path.ends_with("WorkspaceService/GetDefinition"));
    let read = attempts(async |client| client.get_profile(GetProfileRequest::default()).await).await;
    assert!(read[0].path.ends_with("ProfileService/GetProfile"));
    let request = GetActiveProfileRequest::default();
    let read = attempts(async |client| client.get_active_profile(request).await).await;
    assert!(read[0].path.ends_with("ProfileService/GetActiveProfile"));
    let read = attempts(async |client| client.get_config().await).await;
    assert!(read[0].path.ends_with("AdminService/GetConfig"));
}

#[tokio::test]
async fn every_write_of_a_profile_keeps_its_request_id_over_its_retries() {
    let seen = attempts(async |client| client.create_profile(CreateProfileRequest::default()).await).await;
    assert_eq!(seen[0].decode::<CreateProfileRequest>().request_id.len(), 26);
    let seen = attempts(async |client| client.update_profile(UpdateProfileRequest::default()).await).await;
    assert_eq!(seen[0].decode::<UpdateProfileRequest>().request_id.len(), 26);
    let seen = attempts(async |client| client.rename_profile(RenameProfileRequest::default()).await).await;
    assert_eq!(seen[0].decode::<RenameProfileRequest>().request_id.len(), 26);
    let seen = attempts(async |client| client.archive_profile(ArchiveProfileRequest::default()).await).await;
    assert_eq!(seen[0].decode::<ArchiveProfileRequest>().request_id.len(), 26);
    let request = UnarchiveProfileRequest::default();
    let seen = attempts(async |client| client.unarchive_profile(request).await).await;
    assert_eq!(seen[0].decode::<UnarchiveProfileRequest>().request_id.len(), 26);
    let seen = attempts(async |client| client.delete_profile(DeleteProfileRequest::default()).await).await;
    assert_eq!(seen[0].decode::<DeleteProfileRequest>().request_id.len(), 26);
    let seen = attempts(async |client| client.select_profile(SelectProfileRequest::default()).await).await;
    assert_eq!(seen[0].decode::<SelectProfileRequest>().request_id.len(), 26);

    let own = SelectProfileRequest {
        request_id: "own".to_owned(),
        ..Default::default()
    };
    let seen = attempts(async |client| client.select_profile(own).await).await;
    assert_eq!(seen[0].decode::<SelectProfileRequest>().request_id, "own");
}

#[tokio::test]
async fn a_setting_is_sent_once() {
    let server = Scripted::on_socket(|_, _| unavailable(None));
    let request = SetConfigRequest::default();
    server.client().set_config(request).await.unwrap_err();
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn what_is_unchanged_comes_without_a_snapshot() {
    let server = Scripted::on_socket(|_, seen| {
        let request: ResolveWorkspaceRequest = seen.decode();
        message(&ResolveWorkspaceResponse {
            not_modified: request.if_fingerprint() == "f1",
            snapshot: None,
        })
    });
    let request = ResolveWorkspaceRequest {
        if_fingerprint: Some("f1".to_owned()),
        ..Default::default()
    };
    assert!(
        server
            .client()
            .resolve_workspace(request)
            .await
            .unwrap()
            .not_modified
    );
}

#[tokio::test]
async fn the_text_of_a_definition_comes_byte_for_byte() {
    let text = "Prompt\r\n\twith tabs\n\n".to_owned() + &"x".repeat(1 << 20);
    let answered = text.clone();
    let server = Scripted::on_socket(move |_, _| {
        message(&GetDefinitionResponse {
            text: answered.clone(),
            ..Default::default()
        })
    });
    let answer = server
        .client()
        .get_definition(GetDefinitionRequest::default())
        .await;
    assert_eq!(answer.unwrap().text, text);
}

#[tokio::test]
async fn all_profiles_come_page_after_page() {
    let server = Scripted::on_socket(|_, seen| {
        let request: ListProfilesRequest = seen.decode();
        let start: usize = request.cursor.parse().unwrap_or(0);
        let profile = Profile {
            name: format!("p{start}"),
            ..Default::default()
        };
        let page = PageInfo {
            total: 3,
            limit: 1,
            has_more: start < 2,
            next_cursor: (start < 2).then(|| (start + 1).to_string()),
            revision: "r9".to_owned(),
        };
        message(&ListProfilesResponse {
            profiles: vec![profile],
            page: Some(page),
        })
    });
    let mut rows = server.client().profile_rows(ListProfilesRequest::default());
    let mut names = Vec::new();
    while let Some(profile) = rows.try_next().await.unwrap() {
        names.push(profile.name);
    }
    assert_eq!(names, ["p0", "p1", "p2"]);
    assert_eq!(
        (rows.total(), rows.revision(), rows.cursor()),
        (Some(3), Some("r9"), None)
    );
}

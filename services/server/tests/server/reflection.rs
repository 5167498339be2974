//! Reflection, as grpcurl and buf ask for it.

use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_reflection::pb::v1::{ServerReflectionRequest, ServerReflectionResponse};
use tonic_reflection::pb::v1alpha;

use crate::running::start;

fn question(question: MessageRequest) -> ServerReflectionRequest {
    ServerReflectionRequest {
        host: String::new(),
        message_request: Some(question),
    }
}

fn services(answer: ServerReflectionResponse) -> Vec<String> {
    match answer.message_response {
        Some(MessageResponse::ListServicesResponse(list)) => {
            list.service.into_iter().map(|found| found.name).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn services_files_and_what_is_not_there_are_answered_in_one_stream() {
    let server = start("").await;
    let questions = tokio_stream::iter([
        question(MessageRequest::ListServices(String::new())),
        question(MessageRequest::FileContainingSymbol(
            "compozy.no.Thing".to_owned(),
        )),
        question(MessageRequest::FileContainingSymbol(
            "compozy.admin.v1.AdminService".to_owned(),
        )),
        question(MessageRequest::FileByFilename(
            "google/protobuf/timestamp.proto".to_owned(),
        )),
    ]);
    let mut client = ServerReflectionClient::new(server.channel().await);
    let mut answers = client
        .server_reflection_info(questions)
        .await
        .unwrap()
        .into_inner();
    let named = services(answers.message().await.unwrap().unwrap());
    for name in [
        "compozy.admin.v1.AdminService",
        "compozy.workspace.v1.WorkspaceService",
        "grpc.health.v1.Health",
    ] {
        assert!(named.iter().any(|found| found == name), "{name} is missing");
    }
    let missing = answers.message().await.unwrap().unwrap().message_response;
    assert!(matches!(missing, Some(MessageResponse::ErrorResponse(error)) if error.error_code == 5));
    for _ in 0..2 {
        let file = answers.message().await.unwrap().unwrap().message_response;
        assert!(matches!(file, Some(MessageResponse::FileDescriptorResponse(_))));
    }
    assert_eq!(answers.message().await.unwrap(), None);
}

#[tokio::test]
async fn older_tools_ask_under_the_older_name() {
    use v1alpha::server_reflection_client::ServerReflectionClient;
    let server = start("").await;
    let list = v1alpha::server_reflection_request::MessageRequest::ListServices(String::new());
    let question = v1alpha::ServerReflectionRequest {
        host: String::new(),
        message_request: Some(list),
    };
    let mut client = ServerReflectionClient::new(server.channel().await);
    let answers = client
        .server_reflection_info(tokio_stream::once(question))
        .await
        .unwrap();
    let answer = answers.into_inner().message().await.unwrap().unwrap();
    assert!(matches!(
        answer.message_response,
        Some(v1alpha::server_reflection_response::MessageResponse::ListServicesResponse(_))
    ));
}

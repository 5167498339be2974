//! Reflection, as grpcurl and buf ask for it.

use std::collections::BTreeSet;

use compozy_server::catalog::SERVICE_NAMES;
use prost::Message as _;
use prost_types::{DescriptorProto, FileDescriptorProto};
use tonic::Status;
use tonic::transport::Channel;
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

/// Asks for one thing.
async fn ask(channel: &Channel, message: MessageRequest) -> Result<ServerReflectionResponse, Status> {
    let questions = tokio_stream::once(question(message));
    let mut client = ServerReflectionClient::new(channel.clone());
    let mut answers = client.server_reflection_info(questions).await?.into_inner();
    Ok(answers.message().await?.expect("a question has an answer"))
}

/// The names of all services.
pub async fn services_of(channel: &Channel) -> Result<Vec<String>, Status> {
    let list = MessageRequest::ListServices(String::new());
    Ok(services(ask(channel, list).await?))
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

/// The file that a question leads to.
async fn file(channel: &Channel, message: MessageRequest) -> FileDescriptorProto {
    let answer = ask(channel, message.clone()).await.unwrap().message_response;
    let Some(MessageResponse::FileDescriptorResponse(found)) = answer else {
        panic!("{message:?} led to {answer:?}");
    };
    FileDescriptorProto::decode(found.file_descriptor_proto[0].as_slice()).unwrap()
}

/// Every type that a message type's fields and nested types need, and the names that it defines.
fn types(message: &DescriptorProto, path: &str, needed: &mut BTreeSet<String>, known: &mut BTreeSet<String>) {
    let path = format!("{path}.{}", message.name());
    let named = message.field.iter().filter_map(|field| field.type_name.clone());
    needed.extend(named);
    for nested in &message.nested_type {
        types(nested, &path, needed, known);
    }
    known.extend(
        message
            .enum_type
            .iter()
            .map(|found| format!("{path}.{}", found.name())),
    );
    known.insert(path);
}

#[tokio::test]
async fn n174_every_service_can_be_described_down_to_its_last_type() {
    let server = start("").await;
    let channel = server.channel().await;
    let named = services_of(&channel).await.unwrap();
    for name in SERVICE_NAMES.into_iter().chain(["grpc.health.v1.Health"]) {
        assert!(named.iter().any(|found| found == name), "{name} is missing");
    }
    let (mut needed, mut known) = (BTreeSet::new(), BTreeSet::new());
    let mut files = BTreeSet::new();
    let mut wanted: Vec<_> = named
        .into_iter()
        .map(MessageRequest::FileContainingSymbol)
        .collect();
    while let Some(question) = wanted.pop() {
        let file = file(&channel, question).await;
        if !files.insert(file.name().to_owned()) {
            continue;
        }
        let package = format!(".{}", file.package());
        for method in file.service.iter().flat_map(|service| &service.method) {
            needed.extend([method.input_type().to_owned(), method.output_type().to_owned()]);
        }
        for message in &file.message_type {
            types(message, &package, &mut needed, &mut known);
        }
        known.extend(
            file.enum_type
                .iter()
                .map(|found| format!("{package}.{}", found.name())),
        );
        wanted.extend(file.dependency.into_iter().map(MessageRequest::FileByFilename));
    }
    let unresolved: Vec<_> = needed.difference(&known).collect();
    assert!(unresolved.is_empty() && !needed.is_empty(), "{unresolved:?}");
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

//! Server reflection, v1 and v1alpha, whose messages are the same on the wire. What is not there is an
//! `error_response` and the stream goes on, as the protocol says.

mod index;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::stream::{Stream, StreamExt};
use http::{Request, Response, Uri};
use prost_types::FileDescriptorSet;
use tonic::body::Body;
use tonic::server::NamedService;
use tonic::{Code, Status, Streaming};
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_reflection::pb::v1::server_reflection_server::{ServerReflection, ServerReflectionServer};
use tonic_reflection::pb::v1::{
    ErrorResponse, ExtensionNumberResponse, FileDescriptorResponse, ListServiceResponse,
    ServerReflectionRequest, ServerReflectionResponse, ServiceResponse,
};
use tower::Service;

use self::index::Index;

type Answers = Pin<Box<dyn Stream<Item = Result<ServerReflectionResponse, Status>> + Send>>;

/// Answers questions about the served files.
#[derive(Debug)]
pub struct Reflection {
    index: Arc<Index>,
}

/// The service under its current name.
#[must_use]
pub fn service(descriptors: &FileDescriptorSet) -> ServerReflectionServer<Reflection> {
    ServerReflectionServer::new(Reflection {
        index: Arc::new(Index::of(descriptors)),
    })
}

#[tonic::async_trait]
impl ServerReflection for Reflection {
    type ServerReflectionInfoStream = Answers;

    async fn server_reflection_info(
        &self,
        request: tonic::Request<Streaming<ServerReflectionRequest>>,
    ) -> Result<tonic::Response<Answers>, Status> {
        let index = Arc::clone(&self.index);
        let answers = request
            .into_inner()
            .map(move |question| question.map(|question| answer(&index, question)));
        Ok(tonic::Response::new(Box::pin(answers)))
    }
}

fn answer(index: &Index, question: ServerReflectionRequest) -> ServerReflectionResponse {
    let found = match &question.message_request {
        Some(MessageRequest::FileByFilename(name)) => index.file(name).map(files),
        Some(MessageRequest::FileContainingSymbol(name)) => index.symbol(name).map(files),
        Some(MessageRequest::AllExtensionNumbersOfType(name)) if index.symbol(name).is_some() => Some(
            MessageResponse::AllExtensionNumbersResponse(ExtensionNumberResponse {
                base_type_name: name.clone(),
                extension_number: Vec::new(),
            }),
        ),
        Some(MessageRequest::ListServices(_)) => {
            let service = index
                .services()
                .map(|name| ServiceResponse {
                    name: name.to_owned(),
                })
                .collect();
            Some(MessageResponse::ListServicesResponse(ListServiceResponse {
                service,
            }))
        }
        // The contract has no extensions.
        Some(MessageRequest::FileContainingExtension(_) | MessageRequest::AllExtensionNumbersOfType(_))
        | None => None,
    };
    let not_found = || {
        MessageResponse::ErrorResponse(ErrorResponse {
            error_code: Code::NotFound as i32,
            error_message: "this server has no such file, symbol or extension".to_owned(),
        })
    };
    ServerReflectionResponse {
        valid_host: question.host.clone(),
        message_response: Some(found.unwrap_or_else(not_found)),
        original_request: Some(question),
    }
}

fn files(encoded: &[u8]) -> MessageResponse {
    MessageResponse::FileDescriptorResponse(FileDescriptorResponse {
        file_descriptor_proto: vec![encoded.to_vec()],
    })
}

/// The same service under the name that older tools ask for.
#[derive(Debug, Clone)]
pub struct Alpha(pub ServerReflectionServer<Reflection>);

impl NamedService for Alpha {
    const NAME: &'static str = "grpc.reflection.v1alpha.ServerReflection";
}

impl Service<Request<Body>> for Alpha {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = <ServerReflectionServer<Reflection> as Service<Request<Body>>>::Future;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let renamed = request
            .uri()
            .path()
            .replace("grpc.reflection.v1alpha.", "grpc.reflection.v1.");
        // A path stays a path when a word in it is replaced.
        if let Ok(uri) = renamed.parse::<Uri>() {
            *request.uri_mut() = uri;
        }
        self.0.call(request)
    }
}

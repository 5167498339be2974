//! A server that does what a test says with each request: below tonic, so that it can also answer
//! what no gRPC server would.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use compozy_client::{Client, Endpoint};
use futures::StreamExt;
use futures::stream::BoxStream;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use tokio::net::{TcpListener, UnixListener};
use tonic_types::{ErrorDetails, StatusExt};

/// What to do with a request.
pub enum Answer {
    /// An answer of gRPC.
    Message(Vec<u8>),
    /// A failure of gRPC.
    Status(tonic::Status),
    /// A web page with this HTTP status.
    Page(u16),
    /// Never answer.
    Silence,
    /// End the connection in the middle of the call.
    Cut,
    /// Headers, then this. Where it ends, so does the call, without trailers if it has sent none.
    Stream(BoxStream<'static, Beat>),
}

/// What a stream does next.
pub enum Beat {
    /// Sends these bytes.
    Bytes(Bytes),
    /// Ends the call.
    End(tonic::Status),
    /// Ends the connection.
    Cut,
    /// Takes no further call on this connection.
    GoAway,
}

/// What becomes of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Open,
    Leaving,
    Cut,
}

/// A request as it came.
#[derive(Clone)]
pub struct Seen {
    pub authority: String,
    pub path: String,
    pub headers: HeaderMap,
    pub message: Bytes,
    /// Which of the server's connections it came on, from 0.
    pub connection: usize,
}

impl Seen {
    /// The message of the request.
    pub fn decode<M: Message + Default>(&self) -> M {
        // Five bytes of frame come first.
        M::decode(&self.message[5..]).unwrap()
    }
}

/// A running server.
pub struct Scripted {
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Connections that are open.
    open: Arc<AtomicUsize>,
    pub address: String,
    directory: Option<tempfile::TempDir>,
}

type Script = Arc<dyn Fn(usize, &Seen) -> Answer + Send + Sync>;

impl Scripted {
    /// On a socket; the script gets the number of the request, from 0.
    pub fn on_socket(script: impl Fn(usize, &Seen) -> Answer + Send + Sync + 'static) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s.sock");
        let address = format!("unix://{}", path.display());
        let listener = UnixListener::bind(path).unwrap();
        let (seen, open) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let (script, remembered, counted): (Script, _, _) = (Arc::new(script), seen.clone(), open.clone());
        tokio::spawn(async move {
            for number in 0.. {
                let Ok((stream, _)) = listener.accept().await else {
                    return;
                };
                let (script, remembered, counted) = (script.clone(), remembered.clone(), counted.clone());
                tokio::spawn(async move {
                    counted.fetch_add(1, Ordering::SeqCst);
                    connection(TokioIo::new(stream), number, script, remembered).await;
                    counted.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self {
            seen,
            open,
            address,
            directory: Some(directory),
        }
    }

    /// On a port of this machine.
    pub async fn on_port(script: impl Fn(usize, &Seen) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (seen, open) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let (script, remembered, counted): (Script, _, _) = (Arc::new(script), seen.clone(), open.clone());
        tokio::spawn(async move {
            for number in 0.. {
                let Ok((stream, _)) = listener.accept().await else {
                    return;
                };
                let (script, remembered, counted) = (script.clone(), remembered.clone(), counted.clone());
                tokio::spawn(async move {
                    counted.fetch_add(1, Ordering::SeqCst);
                    connection(TokioIo::new(stream), number, script, remembered).await;
                    counted.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self {
            seen,
            open,
            address,
            directory: None,
        }
    }

    pub fn client(&self) -> Client {
        let _kept = &self.directory;
        Client::builder()
            .endpoint(Endpoint::parse(&self.address).unwrap())
            .token("secret")
            .build()
            .unwrap()
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// How many connections are open.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

async fn connection<S>(stream: TokioIo<S>, connection: usize, script: Script, seen: Arc<Mutex<Vec<Seen>>>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (fate, mut decided) = tokio::sync::watch::channel(Fate::Open);
    let fate = Arc::new(fate);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let (script, seen, fate) = (script.clone(), seen.clone(), fate.clone());
        async move {
            let (parts, body) = request.into_parts();
            let message = body.collect().await.unwrap().to_bytes();
            let authority = parts.uri.authority().map(ToString::to_string).unwrap_or_default();
            let one = Seen {
                authority,
                path: parts.uri.path().to_owned(),
                headers: parts.headers,
                message,
                connection,
            };
            let number = {
                let mut seen = seen.lock().unwrap();
                seen.push(one.clone());
                seen.len() - 1
            };
            match script(number, &one) {
                Answer::Message(message) => Ok(message_response(&message)),
                Answer::Status(status) => Ok(response(200, status_headers(&status), Vec::new())),
                Answer::Page(code) => {
                    let page = Frame::data(Bytes::from_static(b"<html></html>"));
                    let html = [(http::header::CONTENT_TYPE, HeaderValue::from_static("text/html"))];
                    Ok(response(code, html.into_iter().collect(), vec![page]))
                }
                Answer::Silence => std::future::pending().await,
                Answer::Cut => {
                    fate.send_replace(Fate::Cut);
                    std::future::pending::<Result<_, Infallible>>().await
                }
                Answer::Stream(beats) => Ok(stream_response(beats, fate)),
            }
        }
    });
    let serving =
        hyper::server::conn::http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service);
    let mut serving = pin!(serving);
    loop {
        tokio::select! {
            _ = serving.as_mut() => return,
            Ok(()) = decided.changed() => match *decided.borrow_and_update() {
                Fate::Open => {}
                Fate::Leaving => serving.as_mut().graceful_shutdown(),
                Fate::Cut => return,
            },
        }
    }
}

type Frames = UnsyncBoxBody<Bytes, Infallible>;

fn stream_response(
    beats: BoxStream<'static, Beat>,
    fate: Arc<tokio::sync::watch::Sender<Fate>>,
) -> Response<Frames> {
    let frames = beats.filter_map(move |beat| {
        let frame = match beat {
            Beat::Bytes(bytes) => Some(Frame::data(bytes)),
            Beat::End(status) => {
                let mut trailers = HeaderMap::new();
                status.add_header(&mut trailers).unwrap();
                Some(Frame::trailers(trailers))
            }
            Beat::Cut => {
                fate.send_replace(Fate::Cut);
                None
            }
            Beat::GoAway => {
                fate.send_replace(Fate::Leaving);
                None
            }
        };
        async move { frame.map(Ok) }
    });
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    response.headers_mut().insert(
        http::header::CONTENT_TYPE,
        HeaderValue::from_static("application/grpc"),
    );
    response
}

fn response(status: u16, headers: HeaderMap, frames: Vec<Frame<Bytes>>) -> Response<Frames> {
    let frames = futures::stream::iter(frames.into_iter().map(Ok));
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap();
    *response.headers_mut() = headers;
    response
}

/// A message as gRPC frames it.
pub fn framed(message: &[u8]) -> Bytes {
    let mut framed = BytesMut::new();
    framed.put_u8(0);
    framed.put_u32(u32::try_from(message.len()).unwrap());
    framed.put_slice(message);
    framed.freeze()
}

fn message_response(message: &[u8]) -> Response<Frames> {
    let ok = [(
        HeaderName::from_static("grpc-status"),
        HeaderValue::from_static("0"),
    )];
    let frames = vec![
        Frame::data(framed(message)),
        Frame::trailers(ok.into_iter().collect()),
    ];
    let kind = [(
        http::header::CONTENT_TYPE,
        HeaderValue::from_static("application/grpc"),
    )];
    response(200, kind.into_iter().collect(), frames)
}

fn status_headers(status: &tonic::Status) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(
        http::header::CONTENT_TYPE,
        HeaderValue::from_static("application/grpc"),
    );
    status.add_header(&mut headers).unwrap();
    headers
}

/// A message as an answer.
pub fn message(message: &impl Message) -> Answer {
    Answer::Message(message.encode_to_vec())
}

/// UNAVAILABLE, as a server without its store says it.
pub fn unavailable(retry_after: Option<Duration>) -> Answer {
    let mut details = ErrorDetails::with_error_info(
        "STORE_UNAVAILABLE",
        "compozy.dev",
        std::collections::HashMap::new(),
    );
    if let Some(delay) = retry_after {
        details.set_retry_info(Some(delay));
    }
    Answer::Status(tonic::Status::with_error_details(
        tonic::Code::Unavailable,
        "The store is away.",
        details,
    ))
}

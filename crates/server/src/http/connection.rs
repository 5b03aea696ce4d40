//! One connection: requests in, answers out, until the client or the server has had enough.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::http::body::{Body, Incoming};
use crate::http::cork::Cork;
use crate::http::message::{Head, Peer, Response};

/// limit: how long the head of a request may take to arrive, a connection that is kept open and silent included.
pub const HEAD_PATIENCE: Duration = Duration::from_secs(75);
/// limit: bytes of the head of a request.
pub const HEAD_BYTES_MAX: usize = 128 * 1024;

/// limit: bytes of what a request keeps while it is answered.
const ANSWER_BYTES_MAX: usize = 4096;

/// What answers requests.
pub trait Answer: Clone + 'static {
    /// The answer to one request.
    fn answer(&self, head: Head, body: Incoming) -> impl Future<Output = Response>;
}

/// Serves a connection. When `draining` changes, the request in flight is answered and the connection closed.
pub async fn serve_connection(stream: TcpStream, answer: impl Answer, mut draining: watch::Receiver<bool>) {
    // Without this, a small answer would wait for the acknowledgement of the one before.
    stream.set_nodelay(true).ok();
    let peer = peer_of(&stream);
    let cork = Cork::new(stream);
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let (answer, peer) = (answer.clone(), Rc::clone(&peer));
        let answered = async move {
            let (parts, body) = request.into_parts();
            let response = answer.answer(Head::new(parts, peer, false), Incoming::new(body)).await;
            Ok::<_, Infallible>(native(response))
        };
        // speed: hyper moves this future for each request; what is large and rare is boxed where it begins.
        debug_assert!(size_of_val(&answered) <= ANSWER_BYTES_MAX, "{} bytes", size_of_val(&answered));
        answered
    });
    let connection = http1().serve_connection(TokioIo::new(cork.clone()), service);
    let mut connection = pin!(connection);
    let mut drain = pin!(draining.changed());
    let mut is_draining = false;
    let served = poll_fn(|context| {
        if !is_draining && drain.as_mut().poll(context).is_ready() {
            is_draining = true;
            connection.as_mut().graceful_shutdown();
        }
        let served = connection.as_mut().poll(context);
        // That the client has gone is seen by the connection, too.
        drop(cork.poll_send(context));
        served
    });
    let result = served.await;
    if let Err(error) = result {
        // The client's doing, as a rule: it went away, or it does not speak HTTP.
        tracing::debug!(%error, "a connection ended early");
    }
}

/// The other end.
pub fn peer_of(stream: &TcpStream) -> Rc<Peer> {
    Peer::new(stream.peer_addr().ok().map(|peer| peer.ip()))
}

/// What speaks HTTP/1.1, with its bounds.
pub fn http1() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE).max_buf_size(HEAD_BYTES_MAX);
    builder
}

/// A response in the type of the library.
pub fn native(response: Response) -> hyper::Response<Body> {
    let mut native = hyper::Response::new(response.body);
    *native.status_mut() = response.status;
    *native.headers_mut() = response.headers;
    native
}

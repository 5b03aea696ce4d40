//! One encrypted connection: the handshake, then HTTP/1.1 or HTTP/2 as the client chose.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, header};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::rt::Executor;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_rustls::server::TlsStream;
use treeql::error::Error;

use crate::http::body::{Body, Incoming};
use crate::http::connection::{Answer, HEAD_BYTES_MAX, HEAD_PATIENCE, http1, native, peer_of};
use crate::http::message::{Head, Peer};
use crate::http::tls::Tls;

/// limit: requests of one connection that are under way.
const STREAMS_MAX: u32 = 128;
/// limit: bytes of answers that wait in one stream for its client.
const SEND_BYTES_MAX: usize = 64 * 1024;
/// limit: how long a client has for taking the rest when the server has ended the connection.
const LINGER: Duration = Duration::from_secs(5);
/// How often a silent client of HTTP/2 is asked whether it is still there.
const PING_INTERVAL: Duration = Duration::from_secs(20);

/// Shakes hands and serves, as [`crate::http::serve_connection`] does.
pub async fn serve_encrypted(
    stream: TcpStream,
    tls: &Tls,
    answer: impl Answer,
    mut draining: watch::Receiver<bool>,
) {
    stream.set_nodelay(true).ok();
    let peer = peer_of(&stream);
    let stream = match tokio::time::timeout(tls.patience(), tls.acceptor().accept(stream)).await {
        Ok(Ok(stream)) => stream,
        // The client's doing: it does not speak TLS, or does not trust us.
        Ok(Err(error)) => return tracing::debug!(%error, "a handshake failed"),
        Err(_elapsed) => return tracing::debug!("a handshake took too long"),
    };
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        return serve_http2(stream, peer, answer, draining).await;
    }
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let (answer, peer) = (answer.clone(), Rc::clone(&peer));
        async move {
            let (parts, body) = request.into_parts();
            let response = answer.answer(Head::new(parts, peer, true), Incoming::new(body)).await;
            Ok::<_, Infallible>(native(response))
        }
    });
    let mut connection = pin!(http1().serve_connection(TokioIo::new(stream), service));
    let served = tokio::select! {
        served = connection.as_mut() => served,
        _ = draining.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// How much is going on in a connection of HTTP/2.
#[derive(Default)]
struct Activity {
    open: Cell<usize>,
    last: Cell<Option<Instant>>,
}

/// One request, until its answer has left.
struct Busy(Rc<Activity>);

impl Busy {
    fn new(activity: &Rc<Activity>) -> Busy {
        activity.open.set(activity.open.get() + 1);
        Busy(Rc::clone(activity))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.open.set(self.0.open.get() - 1);
        self.0.last.set(Some(Instant::now()));
    }
}

async fn serve_http2(
    stream: TlsStream<TcpStream>,
    peer: Rc<Peer>,
    answer: impl Answer,
    mut draining: watch::Receiver<bool>,
) {
    let activity = Rc::new(Activity::default());
    let requests = Rc::clone(&activity);
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let (answer, peer, busy) = (answer.clone(), Rc::clone(&peer), Busy::new(&requests));
        async move {
            let (mut parts, body) = request.into_parts();
            // What HTTP/1.1 says in Host is a part of the URI here (RFC 9113, 8.3.1).
            if let Some(host) =
                parts.uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok())
            {
                parts.headers.entry(header::HOST).or_insert(host);
            }
            let response = answer.answer(Head::new(parts, peer, true), Incoming::new(body)).await;
            Ok::<_, Infallible>(native(response).map(|body| Counted::new(body, busy)))
        }
    });
    let kept = Kept(Rc::new(RefCell::new(stream)));
    let connection = http2::Builder::new(Local)
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEAD_BYTES_MAX as u32)
        .max_send_buf_size(SEND_BYTES_MAX)
        .keep_alive_interval(PING_INTERVAL)
        .serve_connection(TokioIo::new(kept.clone()), service);
    let mut connection = pin!(connection);
    let mut drain = pin!(draining.changed());
    let mut silence = pin!(tokio::time::sleep(HEAD_PATIENCE));
    let mut is_ending = false;
    let served = poll_fn(|context| {
        if !is_ending && drain.as_mut().poll(context).is_ready() {
            is_ending = true;
            connection.as_mut().graceful_shutdown();
        }
        while silence.as_mut().poll(context).is_ready() {
            let idle_since = activity.last.get().filter(|_| activity.open.get() == 0);
            let next = match (activity.open.get(), idle_since) {
                (0, Some(last)) if last + HEAD_PATIENCE > Instant::now() => last + HEAD_PATIENCE,
                // It was asked to end, and has not.
                (0, _) if is_ending => return Poll::Ready(Ok(())),
                (0, _) => {
                    is_ending = true;
                    connection.as_mut().graceful_shutdown();
                    Instant::now() + PING_INTERVAL
                }
                _ => Instant::now() + HEAD_PATIENCE,
            };
            silence.as_mut().reset(next);
        }
        connection.as_mut().poll(context)
    });
    match served.await {
        Ok(()) if is_ending => drop(tokio::time::timeout(LINGER, kept.linger()).await),
        Ok(()) => {}
        Err(error) => tracing::debug!(%error, "a connection ended early"),
    }
}

/// A stream that is still there when the library has done with it; clones are the same stream.
#[derive(Clone)]
struct Kept(Rc<RefCell<TlsStream<TcpStream>>>);

impl Kept {
    /// Reads until the client closes. It goes on sending what HTTP/2 asks for (windows, pings) until it has seen the end; a
    /// socket that is closed before would be reset, and the client would lose what it has not read yet.
    async fn linger(&self) {
        let mut stream = self.clone();
        stream.shutdown().await.ok();
        let mut ignored = [0; 1024];
        while stream.read(&mut ignored).await.is_ok_and(|count| count > 0) {}
    }
}

impl AsyncRead for Kept {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_read(context, buffer)
    }
}

impl AsyncWrite for Kept {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.borrow().is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.borrow_mut()).poll_shutdown(context)
    }
}

/// Runs the requests of a connection on its worker.
#[derive(Clone)]
struct Local;

impl<F: Future<Output: 'static> + 'static> Executor<F> for Local {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

/// A body that keeps its connection busy as long as it streams. A whole one does not: its client may never take it.
struct Counted {
    body: Body,
    _busy: Option<Busy>,
}

impl Counted {
    fn new(body: Body, busy: Busy) -> Counted {
        let is_stream = matches!(body, Body::Stream(..));
        Counted { body, _busy: is_stream.then_some(busy) }
    }
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

//! A bare hyper server, built as Rowcast's is: one runtime of one thread per core, on one port.

use std::convert::Infallible;
use std::io::Write;
use std::net::SocketAddr;
use std::rc::Rc;

use anyhow::Context;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use socket2::{Domain, Socket, Type};
use tokio::task::LocalSet;

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

/// Serves for ever; prints its address. `make` is called on each worker and gives what answers a target and a body.
pub fn serve<M, A, F>(make: M) -> anyhow::Result<()>
where
    M: Fn() -> A + Send + Clone + 'static,
    A: Fn(String, Bytes) -> F + 'static,
    F: Future<Output = anyhow::Result<Bytes>> + 'static,
{
    let first = listen("127.0.0.1:0".parse()?)?;
    let address = first.local_addr()?.as_socket().context("an address")?;
    let mut sockets = vec![first];
    for _ in 1..std::thread::available_parallelism()?.get() {
        sockets.push(listen(address)?);
    }
    let start = |socket: Socket| {
        let make = make.clone();
        std::thread::spawn(move || worker(socket, make))
    };
    let workers: Vec<_> = sockets.into_iter().map(start).collect();
    writeln!(std::io::stdout(), "http://{address}/")?;
    for worker in workers {
        worker.join().map_err(|_panic| anyhow::anyhow!("a worker failed"))??;
    }
    Ok(())
}

fn listen(address: SocketAddr) -> anyhow::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(4096)?;
    Ok(socket)
}

fn worker<M, A, F>(socket: Socket, make: M) -> anyhow::Result<()>
where
    M: Fn() -> A,
    A: Fn(String, Bytes) -> F + 'static,
    F: Future<Output = anyhow::Result<Bytes>> + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        let answer = Rc::new(make());
        let listener = tokio::net::TcpListener::from_std(socket.into())?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let answer = Rc::clone(&answer);
            tokio::task::spawn_local(async move {
                let service = service_fn(move |request| respond(request, Rc::clone(&answer)));
                // The client has gone, as a rule.
                http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.ok();
            });
        }
    })
}

async fn respond<A, F>(request: Request<Incoming>, answer: Rc<A>) -> Result<Response<Full<Bytes>>, Infallible>
where
    A: Fn(String, Bytes) -> F,
    F: Future<Output = anyhow::Result<Bytes>>,
{
    let (parts, body) = request.into_parts();
    let target = parts.uri.path().to_owned();
    let body = match parts.method {
        hyper::Method::POST => body.collect().await.map(|body| body.to_bytes()).unwrap_or_default(),
        _ => Bytes::new(),
    };
    let mut response = match answer(target, body).await {
        Ok(bytes) => Response::new(Full::new(bytes)),
        Err(error) => {
            let mut response = Response::new(Full::new(error.to_string().into()));
            *response.status_mut() = hyper::StatusCode::INTERNAL_SERVER_ERROR;
            response
        }
    };
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    Ok(response)
}

//! Connections: so many at a time, each with little time for its headers.

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use prometheus_client::metrics::gauge::Gauge;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt;

/// A client that has not sent its headers by then is slow or idle.
const HEADERS_WITHIN: Duration = Duration::from_secs(15);
/// What headers may take in all, in bytes.
const HEADER_BYTES: usize = 64 << 10;
/// How long requests that are being answered may go on when the server is asked to stop.
const FAREWELL: Duration = Duration::from_secs(10);

/// Accepts connections until it is asked to stop, then finishes what was begun.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    most: usize,
    open: Gauge,
    mut stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(most));
    loop {
        let place = tokio::select! {
            place = places.clone().acquire_owned() => place.map_err(io::Error::other)?,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Too many open files, or a client that has gone: neither is a reason to end.
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            router.clone().oneshot(request.map(axum::body::Body::new))
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADERS_WITHIN)
            .max_buf_size(HEADER_BYTES)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        let open = open.clone();
        open.inc();
        tokio::spawn(async move {
            let _place = place;
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            open.dec();
        });
    }
    drop(listener);
    if tokio::time::timeout(FAREWELL, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were not finished");
    }
    Ok(())
}

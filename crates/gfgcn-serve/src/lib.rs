//! An HTTP server for a model and its graph, and a page to explore them.
//!
//! Readers see one version of model and graph; a single writer makes the next one (`versions.rs`), from changes that are in a journal before
//! anybody is told of them (`journal.rs`). Beside a small JSON API (`/v1`, described by `/openapi.json`) there is the Open Inference Protocol
//! (`/v2`). Who may ask (`guard.rs`), how much (`body.rs`), how many at a time (`work.rs`) and how slowly (`listen.rs`) is limited.

mod api;
mod body;
mod change;
mod desk;
mod explore;
mod guard;
mod inference;
mod journal;
mod listen;
mod metrics;
mod nodes;
mod problem;
mod versions;
mod work;
mod world;

pub use problem::Problem;

use axum::Router;
use axum::http::{HeaderValue, Method, StatusCode, header};
use body::Bodies;
use change::Change;
use explore::Map;
use gfgcn::context::Context;
use gfgcn::data::Dataset;
use gfgcn::split::Split;
use gfgcn::{Classifier, Error, Model, Result, hex};
use guard::Guard;
use journal::Origin;
use metrics::Metrics;
use sha2::{Digest, Sha256};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};
use versions::{Version, Versions};
use work::Work;
use world::World;

/// The shortest token, in bytes.
pub const SHORTEST_TOKEN: usize = 16;

/// Where and how requests are answered.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the model is called in the Open Inference Protocol.
    pub name: String,
    /// Where to listen. An address other than loopback needs a token.
    pub host: IpAddr,
    /// 0 for any that is free.
    pub port: u16,
    /// What requests must show.
    pub token: Option<String>,
    /// Origins from which pages of browsers may ask.
    pub origins: Vec<String>,
    /// Where changes are written down before they are acknowledged.
    pub journal: Option<PathBuf>,
    /// The largest request, in bytes.
    pub body_bytes: usize,
    /// The longest that a request may take.
    pub time: Duration,
    /// Requests that are computed at a time.
    pub at_once: usize,
    /// Connections at a time.
    pub connections: usize,
}

impl Options {
    /// On loopback, without a journal.
    pub fn new(name: impl Into<String>) -> Self {
        Options {
            name: name.into(),
            host: IpAddr::from([127, 0, 0, 1]),
            port: 8080,
            token: None,
            origins: Vec::new(),
            journal: None,
            body_bytes: 16 << 20,
            time: Duration::from_secs(30),
            at_once: rayon::current_num_threads(),
            connections: 2048,
        }
    }

    fn check(&self) -> Result<()> {
        if !self.host.is_loopback() && self.token.is_none() {
            return Err(Error::parameter(
                "--host",
                self.host,
                "a loopback address (127.0.0.1, ::1) unless --token-file names a file with a token",
            ));
        }
        if self.token.as_ref().is_some_and(|token| token.len() < SHORTEST_TOKEN) {
            let expected = format!(
                "{SHORTEST_TOKEN} characters or more, such as those of: openssl rand -hex 32"
            );
            return Err(Error::parameter("the token", "shorter", expected));
        }
        for origin in &self.origins {
            let scheme = ["http://", "https://"].iter().find_map(|s| origin.strip_prefix(s));
            if !scheme.is_some_and(|rest| !rest.is_empty() && !rest.contains('/')) {
                let expected = "a scheme and a host, such as https://example.org";
                return Err(Error::parameter("--allow-origin", origin, expected));
            }
        }
        Ok(())
    }
}

/// What all requests share.
pub(crate) struct App {
    pub(crate) name: String,
    pub(crate) versions: Arc<Versions>,
    pub(crate) work: Work,
    pub(crate) guard: Guard,
    pub(crate) bodies: Bodies,
    pub(crate) metrics: Metrics,
    /// Where explorers draw nodes.
    pub(crate) map: Option<Arc<Map>>,
}

impl App {
    /// Makes a change, within the time that a request has.
    pub(crate) async fn change(
        &self,
        change: Change,
    ) -> std::result::Result<Arc<Version>, Problem> {
        let made = tokio::time::timeout(self.work.limit(), self.versions.change(change)).await;
        let version = made.map_err(|_| {
            Problem::new(
                StatusCode::GATEWAY_TIMEOUT,
                "the change takes longer than a request may, and was given up unless /v1/versions has it",
            )
        })??;
        self.metrics.changes.inc();
        self.metrics.version.set(self.versions.current().number as i64);
        Ok(version)
    }
}

/// A server that listens, and is ready to answer.
pub struct Server {
    app: Arc<App>,
    router: Router,
    runtime: tokio::runtime::Runtime,
    listener: tokio::net::TcpListener,
    address: SocketAddr,
    connections: usize,
    stop: watch::Sender<bool>,
    notes: Vec<String>,
}

/// Asks a server to stop, from any thread.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// Has the server finish what it has begun, and end.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Serves a model on its graph. Changes need a model that [keeps its training](gfgcn::training).
    ///
    /// # Errors
    /// Options that are not safe, an address that cannot be had, data that the model cannot predict, or a journal of something else.
    pub fn of_model(
        model: Model,
        dataset: Dataset,
        options: &Options,
        context: &Context,
    ) -> Result<Self> {
        options.check()?;
        let model_hash = hex(&Sha256::digest(model.to_bytes()));
        let origin = Origin { model: Some(model_hash), data: dataset.source_fingerprint() };
        let world = World::served(dataset, model)?;
        Server::new(world, origin, api::router(), None, options, context)
    }

    /// Serves data with a page to explore them: a model that is trained on some nodes, or on none yet.
    ///
    /// # Errors
    /// As [`Server::of_model`], or whatever training refuses.
    pub fn of_data(
        dataset: Dataset,
        classifier: Classifier,
        split: Option<&Split>,
        options: &Options,
        context: &Context,
    ) -> Result<Self> {
        options.check()?;
        let origin = Origin { model: None, data: dataset.fingerprint() };
        let world = World::explored(dataset, classifier, split, context)?;
        let map = Map::of(&world, context)?;
        let routes = api::router().merge(explore::router());
        Server::new(world, origin, routes, Some(Arc::new(map)), options, context)
    }

    fn new(
        world: World,
        origin: Origin,
        routes: Router<Arc<App>>,
        map: Option<Arc<Map>>,
        options: &Options,
        context: &Context,
    ) -> Result<Self> {
        let threads =
            |source: std::io::Error| Error::Threads { threads: 2, problem: source.to_string() };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(options.at_once + 8)
            .thread_name("http")
            .enable_all()
            .build()
            .map_err(threads)?;
        let wanted = SocketAddr::new(options.host, options.port);
        let listener = runtime.block_on(tokio::net::TcpListener::bind(wanted));
        let in_use = |source: std::io::Error| {
            Error::Data(format!(
                "cannot listen on {wanted}: {source}; choose another with --port or --host"
            ))
        };
        let listener = listener.map_err(in_use)?;
        let address = listener.local_addr().map_err(in_use)?;
        let journal = options.journal.as_deref().map(|path| (path, origin));
        let (versions, recovered) = Versions::start(world, journal, context)?;
        let mut notes = Vec::new();
        if recovered.changes > 0 {
            let changes = if recovered.changes == 1 { "change was" } else { "changes were" };
            notes.push(format!("{} {changes} found in the journal", recovered.changes));
        }
        if recovered.torn > 0 {
            notes.push(format!(
                "the last {} bytes of the journal were a change that was never acknowledged, and were dropped",
                recovered.torn
            ));
        }
        let metrics = Metrics::new();
        metrics.version.set(versions.current().number as i64);
        let app = Arc::new(App {
            name: options.name.clone(),
            versions,
            work: Work::new(options.at_once, options.time, context.clone()),
            guard: Guard::new(options.host, options.token.as_deref(), &options.origins),
            bodies: Bodies { most: options.body_bytes },
            metrics,
            map,
        });
        let mut router = routes
            .merge(inference::router())
            .fallback(|| async {
                Problem::not_found(
                    "there is nothing at this address; /v1/info says what is served, and /openapi.json what can be asked",
                )
            })
            .method_not_allowed_fallback(|| async {
                Problem::new(
                    StatusCode::METHOD_NOT_ALLOWED,
                    "this address takes another method, GET or POST; see /openapi.json",
                )
            })
            .layer(axum::middleware::from_fn_with_state(app.clone(), guard::watch));
        if !options.origins.is_empty() {
            let origins =
                options.origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok());
            let cors = CorsLayer::new()
                .allow_origin(AllowOrigin::list(origins))
                .allow_methods([Method::GET, Method::POST])
                .allow_headers([header::CONTENT_TYPE, header::AUTHORIZATION]);
            router = router.layer(cors);
        }
        let panicked = |_: Box<dyn std::any::Any + Send>| {
            tracing::error!("a request panicked");
            axum::response::IntoResponse::into_response(Problem::internal())
        };
        let router = router.layer(CatchPanicLayer::custom(panicked)).with_state(app.clone());
        let (stop, _) = watch::channel(false);
        let connections = options.connections;
        Ok(Server { app, router, runtime, listener, address, connections, stop, notes })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a person should know about how it started.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What asks it to stop.
    pub fn stop(&self) -> Stop {
        Stop(self.stop.clone())
    }

    /// Answers requests until it is asked to stop; then finishes those that were begun, and the changes that were asked for.
    ///
    /// # Errors
    /// If it cannot go on.
    pub fn run(self) -> Result<()> {
        let Server { app, router, runtime, listener, connections, stop, .. } = self;
        let open = app.metrics.connections.clone();
        let served = listen::serve(listener, router, connections, open, stop.subscribe());
        let ended = runtime.block_on(served);
        app.versions.stop();
        // Work that nobody waits for any more was told to give up.
        runtime.shutdown_timeout(Duration::from_secs(5));
        ended.map_err(Error::Read)
    }
}

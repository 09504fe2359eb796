//! Counts and times for Prometheus.

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::time::Duration;

/// Upper ends of the intervals in which times are counted, in seconds.
const TIMES: [f64; 12] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answer {
    method: String,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

/// What is counted.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Answer, Counter>,
    times: Family<Route, Histogram, fn() -> Histogram>,
    /// Changes that were acknowledged.
    pub(crate) changes: Counter,
    /// The newest version.
    pub(crate) version: Gauge,
    /// Open ones.
    pub(crate) connections: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("gfgcn");
        let requests = Family::<Answer, Counter>::default();
        let times: Family<Route, Histogram, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(TIMES));
        let (changes, version, connections) =
            (Counter::default(), Gauge::default(), Gauge::default());
        registry.register("requests", "Requests that were answered", requests.clone());
        registry.register("request_seconds", "Time to answer a request", times.clone());
        registry.register("changes", "Changes that were acknowledged", changes.clone());
        registry.register("version", "The newest version of the model", version.clone());
        registry.register("connections", "Open connections", connections.clone());
        Metrics { registry, requests, times, changes, version, connections }
    }

    pub(crate) fn answered(&self, method: &str, route: &str, status: u16, time: Duration) {
        let (method, route) = (method.to_owned(), route.to_owned());
        self.times.get_or_create(&Route { route: route.clone() }).observe(time.as_secs_f64());
        self.requests.get_or_create(&Answer { method, route, status }).inc();
    }

    /// In the text form of OpenMetrics.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        text::encode(&mut text, &self.registry).expect("a string takes everything");
        text
    }
}

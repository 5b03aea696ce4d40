//! exposition: everything that is counted, as text for Prometheus (OpenMetrics 1.0, SPEC 17.3).

use std::fmt;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::database::Database;
use engine::driver::measure::{self, BOUNDS_MICROS, Counted};
use engine::driver::retry;
use http::{HeaderValue, StatusCode, header};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use crate::http::{Body, Response};
use crate::middleware::metrics::{CLASSES, Metrics, OPERATIONS};

const TEXT: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
/// Ticks of the clock in /proc, which Linux fixes for programs.
const TICKS_PER_SECOND: f64 = 100.0;

/// The answer to whoever collects metrics.
pub fn answer(metrics: &Arc<Metrics>, database: &Database) -> Response {
    let plans = database.snapshot().plan_count();
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Page { metrics: Arc::clone(metrics), plans }));
    let mut text = String::new();
    // Writing to a string does not fail.
    encode(&mut text, &registry).ok();
    let mut response = Response::with_status(StatusCode::OK, Body::Whole(text.into()));
    response.headers.insert(header::CONTENT_TYPE, TEXT);
    response
}

#[derive(Debug)]
struct Page {
    metrics: Arc<Metrics>,
    plans: usize,
}

impl Collector for Page {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        let mut build = encoder.encode_descriptor("rowcast_build", "The program", None, MetricType::Info)?;
        build.encode_info(&version)?;
        requests(&mut encoder, &self.metrics)?;
        engine(&mut encoder, self.plans)?;
        process(&mut encoder)
    }
}

fn requests(encoder: &mut DescriptorEncoder<'_>, metrics: &Metrics) -> fmt::Result {
    let totals = metrics.totals();
    let help = "Requests that were answered, by operation, table and class of status";
    let mut family = encoder.encode_descriptor("rowcast_requests", help, None, MetricType::Counter)?;
    for (table, series) in &totals.requests {
        for (number, count) in series.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (operation, class) = (OPERATIONS[number / CLASSES.len()], CLASSES[number % CLASSES.len()]);
            let labels = [("operation", operation), ("table", &**table), ("status", class)];
            counter(&mut family.encode_family(&labels)?, *count)?;
        }
    }
    let help = "Time from the head of a request to the head of its answer";
    let seconds = Some(&Unit::Seconds);
    let mut family =
        encoder.encode_descriptor("rowcast_request_duration", help, seconds, MetricType::Histogram)?;
    for (operation, counted) in OPERATIONS.iter().zip(&totals.latencies) {
        histogram(&mut family.encode_family(&[("operation", *operation)])?, counted)?;
    }
    Ok(())
}

fn engine(encoder: &mut DescriptorEncoder<'_>, plans: usize) -> fmt::Result {
    let (mut hits, mut misses, mut in_use, mut waiting) = (0, 0, 0, 0);
    let mut statements = Counted::default();
    measure::each(|measures| {
        hits += measures.plan_hits.load(Ordering::Relaxed);
        misses += measures.plan_misses.load(Ordering::Relaxed);
        in_use += measures.pool_in_use.load(Ordering::Relaxed);
        waiting += measures.pool_waiting.load(Ordering::Relaxed);
        measures.statements.add_to(&mut statements);
    });
    let help = "Time from the start of a statement until its last row was taken";
    let seconds = Some(&Unit::Seconds);
    let name = "rowcast_statement_duration";
    histogram(&mut encoder.encode_descriptor(name, help, seconds, MetricType::Histogram)?, &statements)?;
    let help = "Requests whose plan was known, or was not";
    let mut family = encoder.encode_descriptor("rowcast_plans", help, None, MetricType::Counter)?;
    counter(&mut family.encode_family(&[("result", "hit")])?, hits)?;
    counter(&mut family.encode_family(&[("result", "miss")])?, misses)?;
    let kept = i64::try_from(plans).unwrap_or(i64::MAX);
    gauge(encoder, "rowcast_plans_kept", "Plans in the cache", kept)?;
    gauge(encoder, "rowcast_pool_in_use", "Connections of the pool that are on loan", in_use)?;
    gauge(encoder, "rowcast_pool_waiting", "Requests that wait for a connection", waiting)?;
    let help = "What was run again: writes in conflict, reads on a lost connection";
    let mut family = encoder.encode_descriptor("rowcast_retries", help, None, MetricType::Counter)?;
    counter(&mut family.encode_family(&[("class", "conflict")])?, retry::count())?;
    counter(&mut family.encode_family(&[("class", "lost")])?, retry::reconnect_count())
}

/// Memory and processor, as /proc of Linux has them; what is not there is left out.
fn process(encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
    if let Some(kilobytes) = resident.and_then(|number| number.trim().parse::<i64>().ok()) {
        gauge(encoder, "process_resident_memory_bytes", "Memory of the process", kilobytes * 1024)?;
    }
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks: Vec<u32> =
        fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    if let [user, system] = ticks[..] {
        let seconds = (f64::from(user) + f64::from(system)) / TICKS_PER_SECOND;
        let help = "Time of processors that the process has used";
        let unit = Some(&Unit::Seconds);
        let mut metric = encoder.encode_descriptor("process_cpu", help, unit, MetricType::Counter)?;
        metric.encode_counter::<NoLabelSet, f64, f64>(&seconds, None)?;
    }
    Ok(())
}

fn counter(metric: &mut MetricEncoder<'_>, count: u64) -> fmt::Result {
    metric.encode_counter::<NoLabelSet, u64, f64>(&count, None)
}

fn gauge(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: i64) -> fmt::Result {
    encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)
}

fn histogram(metric: &mut MetricEncoder<'_>, counted: &Counted) -> fmt::Result {
    let bounds = BOUNDS_MICROS.iter().map(|micros| Duration::from_micros(*micros).as_secs_f64());
    let buckets: Vec<(f64, u64)> = bounds.chain([f64::INFINITY]).zip(counted.buckets).collect();
    let count = counted.buckets.iter().sum();
    metric.encode_histogram::<NoLabelSet>(counted.seconds, count, &buckets, None)
}

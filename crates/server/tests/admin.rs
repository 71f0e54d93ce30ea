//! The admin interface, asked as anybody may ask it who is let in.

mod common;

#[path = "admin/ask.rs"]
mod ask;
#[path = "admin/bounds.rs"]
mod bounds;
#[path = "admin/capture.rs"]
mod capture;
#[path = "admin/capture_nfs4.rs"]
mod capture_nfs4;
#[path = "admin/counts.rs"]
mod counts;
#[path = "admin/documented.rs"]
mod documented;
#[path = "admin/hung.rs"]
mod hung;
#[path = "admin/knobs.rs"]
mod knobs;
#[path = "admin/metrics.rs"]
mod metrics;
#[path = "admin/monitoring.rs"]
mod monitoring;
#[path = "admin/openapi.rs"]
mod openapi;
#[path = "admin/remote.rs"]
mod remote;
#[path = "admin/samples.rs"]
mod samples;

//! `/metrics`: what a monitor such as Prometheus collects, as OpenMetrics or in Prometheus' own older form.

mod answer;
mod caps;
mod connections;
mod facts;
mod families;
mod form;
mod host;
mod kerberos;
mod settings;
mod text;
mod tls;
mod uplinks;

pub use answer::metrics;
pub use settings::MetricsSettings;

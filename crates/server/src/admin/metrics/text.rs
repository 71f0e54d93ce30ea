//! Families of metrics as text: names, units, help, labels, values.

use std::fmt::{Display, Write};

use super::form::MetricsForm;

/// What kind of figures a family has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It is what it is now.
    Gauge,
    /// Counters by upper bounds.
    Histogram,
}

/// A text that grows by one family after the other.
pub struct MetricsText {
    form: MetricsForm,
    text: String,
    /// The family's name and kind.
    name: &'static str,
    kind: Kind,
}

impl MetricsText {
    /// Nothing yet.
    pub fn new(form: MetricsForm) -> Self {
        Self { form, text: String::new(), name: "", kind: Kind::Gauge }
    }

    /// A family follows. A name with a unit ends with it.
    pub fn family(&mut self, name: &'static str, kind: Kind, unit: Option<&str>, help: &str) {
        (self.name, self.kind) = (name, kind);
        let word = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        // Prometheus' form names a counter by its samples.
        let suffix = match (self.form, kind) {
            (MetricsForm::Prometheus, Kind::Counter) => "_total",
            _ => "",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "# HELP {name}{suffix} {help}\n# TYPE {name}{suffix} {word}");
        if let (MetricsForm::OpenMetrics, Some(unit)) = (self.form, unit) {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
    }

    /// A figure of a counter or gauge.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.line(if self.kind == Kind::Counter { "_total" } else { "" }, labels, value);
    }

    /// A histogram: how many were at most so much, for each bound in growing order, then their number and sum.
    pub fn histogram(&mut self, labels: &[(&str, &str)], bounds: &[(f64, u64)], count: u64, sum: f64) {
        let bounds = bounds.iter().map(|(bound, calls)| (bound.to_string(), *calls));
        for (bound, calls) in bounds.chain([("+Inf".to_owned(), count)]) {
            let labels: Vec<(&str, &str)> = labels.iter().copied().chain([("le", bound.as_str())]).collect();
            self.line("_bucket", &labels, calls);
        }
        self.line("_count", labels, count);
        self.line("_sum", labels, sum);
    }

    /// All of it.
    pub fn finish(mut self) -> String {
        if self.form == MetricsForm::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        self.text
    }

    fn line(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        let _ = write!(self.text, "{}{suffix}", self.name);
        for (at, (name, value)) in labels.iter().enumerate() {
            let _ = write!(self.text, "{}{name}=\"", if at == 0 { '{' } else { ',' });
            self.escape(value);
            self.text.push('"');
        }
        let _ = writeln!(self.text, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    /// Backslash, quote and line feed are the three that must not stand in a label as they are.
    fn escape(&mut self, value: &str) {
        for letter in value.chars() {
            match letter {
                '\\' => self.text.push_str("\\\\"),
                '"' => self.text.push_str("\\\""),
                '\n' => self.text.push_str("\\n"),
                letter => self.text.push(letter),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(form: MetricsForm) -> String {
        let mut text = MetricsText::new(form);
        text.family("a_bytes", Kind::Counter, Some("bytes"), "Sent.");
        text.sample(&[("name", "a \"b\\\n"), ("x", "1")], 5);
        text.family("b_seconds", Kind::Histogram, Some("seconds"), "Times.");
        text.histogram(&[], &[(0.5, 1), (1.0, 2)], 3, 4.25);
        text.finish()
    }

    #[test]
    fn both_forms_are_as_they_are_specified() {
        let open = written(MetricsForm::OpenMetrics);
        let samples = "b_seconds_bucket{le=\"0.5\"} 1\nb_seconds_bucket{le=\"1\"} 2\n\
                       b_seconds_bucket{le=\"+Inf\"} 3\nb_seconds_count 3\nb_seconds_sum 4.25\n";
        assert_eq!(
            open,
            format!(
                "# HELP a_bytes Sent.\n# TYPE a_bytes counter\n# UNIT a_bytes bytes\n\
                 a_bytes_total{{name=\"a \\\"b\\\\\\n\",x=\"1\"}} 5\n\
                 # HELP b_seconds Times.\n# TYPE b_seconds histogram\n# UNIT b_seconds seconds\n{samples}# EOF\n"
            )
        );
        let older = written(MetricsForm::Prometheus);
        assert!(
            older.starts_with("# HELP a_bytes_total Sent.\n# TYPE a_bytes_total counter\na_bytes_total{")
        );
        assert!(older.ends_with(samples) && !older.contains("UNIT"), "{older}");
    }
}

//! What was seen, over time, as one figure: all that is judged, and the replies that the server keeps.

use howdah_lab::record::unit;
use howdah_lab::report::{Trace, svg_over_time};

use super::record::Sample;
use super::verdict::{FIGURES, Figure};

/// The figure, as SVG.
pub fn draw(samples: &[Sample]) -> String {
    let judged = |figure: &Figure| Trace {
        name: figure.name.to_owned(),
        axis: figure.axis,
        unit: figure.unit,
        points: samples.iter().filter_map(|sample| Some((sample.at, (figure.of)(sample)?))).collect(),
    };
    let kept = Trace {
        name: "server: replies kept".to_owned(),
        axis: "Replies that the server keeps for repetitions",
        unit: unit::BYTES,
        points: samples.iter().map(|sample| (sample.at, sample.kept_replies as f64)).collect(),
    };
    let traces: Vec<Trace> = FIGURES.iter().map(judged).chain([kept]).collect();
    svg_over_time("A server and its clients over time, on a nasty path", "Time since the beginning", &traces)
}

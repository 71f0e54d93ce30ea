//! `ping`: round trips of small packets, or that the path takes packets of a size (`-M do -s SIZE`).

use anyhow::{Result, bail};

use super::contract::{Client, run_one, spec};
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::{Measured, Place, Scene};

/// ping as the client.
pub struct Ping {
    /// Its name in the plan.
    pub name: String,
}

impl Client for Ping {
    fn commands(&self, cell: &Cell, place: &Place) -> Result<Vec<CommandRecord>> {
        let client = spec(cell, &self.name)?;
        let mut command = vec!["ping".to_owned(), "-n".to_owned()];
        command.extend(client.options.iter().cloned());
        command.push(place.server_address(cell, &self.name)?.to_string());
        Ok(vec![CommandRecord { host: client.host.clone(), name: self.name.clone(), command }])
    }

    fn work(&mut self, scene: &Scene<'_>) -> Result<Measured> {
        measured(&run_one(self, scene)?)
    }
}

/// From the lines of replies, and the count of what was sent.
fn measured(text: &str) -> Result<Measured> {
    let after = |line: &str, mark: &str| -> Option<f64> {
        line.split_once(mark)?.1.split_whitespace().next()?.parse().ok()
    };
    let times: Vec<f64> = text.lines().filter_map(|line| after(line, "time=")).map(|ms| ms / 1e3).collect();
    let sent = text.lines().find(|line| line.contains(" packets transmitted"));
    let sent = sent.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0);
    match times.is_empty() || sent == 0.0 {
        true => bail!("no reply"),
        false => Ok(Measured::of_replies(times, sent)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_counted_and_sorted() {
        let text = "\
            1480 bytes from 10.77.0.1: icmp_seq=1 ttl=64 time=30.2 ms\n\
            1480 bytes from 10.77.0.1: icmp_seq=2 ttl=64 time=30.1 ms\n\
            4 packets transmitted, 2 received, 50% packet loss, time 3004ms\n";
        let measured = measured(text).expect("replies");
        let figure = |name: &str| measured.figures[name].value;
        assert_eq!(figure("replies"), 0.5);
        assert!(
            (figure("worst") - 0.0302).abs() < 1e-9 && (figure("p50") - 0.0301).abs() < 1e-9,
            "{measured:?}"
        );
        assert!(super::measured("1 packets transmitted, 0 received").is_err());
    }
}

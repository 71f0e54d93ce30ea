//! A line that is down at times.

use std::time::Duration;

use howdah_link::{Outages, Path};

use crate::load::Sent;
use crate::run::{numbers, prompt};

#[test]
fn down_2_s_every_30_s() {
    let load: Vec<_> = (0..90).map(|_| Sent::frame(Duration::from_secs(1))).collect();
    let path = Path::new().then(Outages::new(Duration::from_secs(2), Duration::from_secs(30)));
    // The first packet is packet 0, whenever it comes.
    let expected: Vec<_> = (0..90).filter(|second| second % 30 < 28).collect();
    assert_eq!(numbers(&prompt(path, &load)), expected);
}

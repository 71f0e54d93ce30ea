//! How likely something is.

use std::fmt;
use std::str::FromStr;

use super::{NotA, as_text};

/// From "0%" to "100%". The sign is needed: whether a bare 1 is all or one in a hundred, readers disagree.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Probability {
    percent: f64,
}

impl Probability {
    pub(crate) const ALLOWED: &str = "a probability: a number from 0 to 100 with %, such as \"0.01%\"";

    /// So many in a hundred; `None` beyond 0 to 100.
    pub fn percent(percent: f64) -> Option<Self> {
        (0.0..=100.0).contains(&percent).then_some(Self { percent })
    }

    /// From 0 to 1.
    pub fn fraction(self) -> f64 {
        self.percent / 100.0
    }
}

impl FromStr for Probability {
    type Err = NotA;

    fn from_str(text: &str) -> Result<Self, NotA> {
        let number = text.trim().strip_suffix('%').and_then(|number| number.trim_end().parse().ok());
        number.and_then(Self::percent).ok_or_else(|| NotA::new(text, Self::ALLOWED))
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}%", self.percent)
    }
}

as_text!(Probability);

//! One limit, as the manual shows it.

use super::Amount;

/// A limit.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// The constant.
    pub name: &'static str,
    /// The module that it stands in.
    pub module: &'static str,
    /// How much.
    pub amount: Amount,
    /// What it bounds, and why there: the constant's documentation.
    pub why: &'static [&'static str],
    /// What happens beyond it.
    pub beyond: &'static str,
    /// The test that goes one past it: `FILE::NAME`, below `crates/` and without `.rs`.
    pub test: &'static str,
}

impl Limit {
    /// [`Limit::why`] as one text for a table: without marks of links, which lead nowhere there.
    pub fn explanation(&self) -> String {
        let text = self.why.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        text.replace("[`", "`").replace("`]", "`").replace('|', "\\|")
    }
}

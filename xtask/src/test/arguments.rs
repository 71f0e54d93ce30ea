//! What can be typed after `cargo xtask test`.

/// Run every test: units, properties, conformance, corpora, and clients that nobody here wrote
///
/// Installs the Debian packages it needs, as root or through sudo; without either it says what it skips and why.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Shorter interop: smaller files, fewer entries, less time
    #[arg(long)]
    pub quick: bool,

    /// Only this step; may be given several times: packages, build, tests, interop, lab, trust, unprivileged
    #[arg(long, value_name = "STEP", value_parser = ["packages", "build", "tests", "interop", "lab", "trust", "unprivileged"])]
    pub only: Vec<String>,
}

impl Arguments {
    /// Whether this step was asked for.
    pub fn chooses(&self, step: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == step)
    }
}

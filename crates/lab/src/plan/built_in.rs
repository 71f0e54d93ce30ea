//! The plans of this repository, so that they can be run wherever the program is.

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../lab/plans/", $name, ".toml")))),*]
    };
}

/// Each by its name, as `lab/plans/NAME.toml` has it.
pub const BUILT_IN: &[(&str, &str)] = built_in!(
    "bdp-article",
    "buffers-2008",
    "copies",
    "durable-names",
    "fairness",
    "far-names",
    "heads",
    "kernel-advice",
    "kernel-client",
    "ladder-2010",
    "latency-under-load",
    "local-and-remote",
    "long-directory",
    "mount",
    "netem-check",
    "nfs4-far",
    "noisy-neighbour",
    "pass-through",
    "peers",
    "quic",
    "random-loss",
    "relay",
    "self-sizing",
    "small-beside-bulk",
    "sockets-2004",
    "udp-2003",
    "unprivileged",
    "verdicts",
    "versions",
);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::plan::Plan;

    #[test]
    fn every_plan_of_the_repository_is_built_in_and_right() {
        let plans = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/plans");
        let files =
            std::fs::read_dir(plans).expect("there are plans").map(|entry| entry.expect("readable").path());
        let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
        let names: BTreeSet<String> =
            files.map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned()).collect();
        assert_eq!(names, BUILT_IN.iter().map(|(name, _)| (*name).to_owned()).collect());
        for (name, text) in BUILT_IN {
            let plan = Plan::parse(&format!("lab/plans/{name}.toml"), text)
                .unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(plan.name, *name);
            assert!(plan.takes(false).is_some(), "{name}: how long does it take?");
            let short =
                plan.takes(true).unwrap_or_else(|| panic!("{name}: how long does its short form take?"));
            assert!(short.0 < Duration::from_secs(120), "{name}: its short form takes {:?}", short.0);
        }
    }
}

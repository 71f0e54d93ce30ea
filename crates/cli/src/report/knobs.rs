//! Knobs, as people read them.

use howdah_server::tuning::Knob;

/// A paragraph for each.
pub fn knobs(knobs: &[Knob]) -> String {
    knobs
        .iter()
        .map(|knob| format!("{:<15} {}\n    {}\n{}", knob.name, knob.set, knob.help, standing(knob)))
        .collect()
}

/// What came of setting one, for how long, and how it would last. `typed` is what it was set to.
pub fn knob_set(knob: &Knob, before: Option<&str>, typed: &str) -> String {
    let Knob { name, set, .. } = knob;
    let before =
        before.filter(|before| before != set).map_or(String::new(), |before| format!(" (was {before})"));
    if let Some((rule, rate)) = name.strip_prefix("limit.").and_then(|rest| rest.rsplit_once('.')) {
        return format!(
            "{name} is {set}{before}\n{}It applies from the next call on. It lasts until the server stops or reloads its configuration file. To make it \
             permanent, put this line into the [[limit]] section named \"{rule}\":\n    {rate} = \"{typed}\"\n",
            standing(knob)
        );
    }
    let lasting = match set.as_str() {
        "auto" => format!("remove {name} from its configuration file, if it is there\n"),
        _ => format!(
            "put this line above the first [[export]] of its configuration file:\n    {name} = \"{typed}\"\n"
        ),
    };
    format!(
        "{name} is {set}{before}\n{}It applies to new connections at once, to existing ones as far as the kernel allows: howdah why shows the effect.\nIt lasts until the server stops. To make it permanent, {lasting}",
        standing(knob)
    )
}

fn standing(knob: &Knob) -> String {
    format!("    in effect:  {}\n    bounded by: {}\n", knob.in_force, knob.bounded_by)
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn knob(set: &str) -> Knob {
        Knob {
            name: "tcp_rcvbuf".to_owned(),
            help: "receive buffer of each connection, in bytes".to_owned(),
            set: set.to_owned(),
            in_force: "what the path uses".to_owned(),
            bounded_by: "the memory".to_owned(),
        }
    }

    #[test]
    fn a_knob_says_what_holds_and_why_not_more() {
        assert_data_eq!(
            knobs(&[knob("auto")]),
            str![[r#"
tcp_rcvbuf      auto
    receive buffer of each connection, in bytes
    in effect:  what the path uses
    bounded by: the memory

"#]]
        );
    }

    #[test]
    fn what_is_set_says_how_to_make_it_last() {
        assert_data_eq!(
            knob_set(&knob("16777216"), Some("auto"), "16M"),
            str![[r#"
tcp_rcvbuf is 16777216 (was auto)
    in effect:  what the path uses
    bounded by: the memory
It applies to new connections at once, to existing ones as far as the kernel allows: howdah why shows the effect.
It lasts until the server stops. To make it permanent, put this line above the first [[export]] of its configuration file:
    tcp_rcvbuf = "16M"

"#]]
        );
        assert!(knob_set(&knob("auto"), Some("auto"), "0").contains("remove tcp_rcvbuf from"));
    }
}

//! What knobs say of themselves.

use howdah_tune::host::{Host, SizingMode};
use howdah_tune::sizes::SEND_MAX;
use howdah_tune::{Setting, Settings};
use howdah_units::power_of_two;

/// What was set, what holds, and what bounds it.
pub struct Words {
    pub set: String,
    pub in_force: String,
    pub bounded_by: String,
}

pub fn send_buffer(settings: &Settings) -> Words {
    let (host, budget) = (&settings.host, settings.budget);
    let in_force = match (settings.send_buffer, host.mode()) {
        (Setting::Fixed(bytes), SizingMode::Forced) => {
            format!("{} for every connection", power_of_two(bytes))
        }
        (Setting::Fixed(bytes), SizingMode::Unprivileged) => {
            format!("{} for every connection", power_of_two(bytes.min(host.send_unforced_most)))
        }
        (Setting::Auto, SizingMode::Forced) => format!(
            "to other hosts at most {} each, shared by the clients that transfer data; to this host the kernel's own",
            power_of_two(budget.for_sending().min(SEND_MAX))
        ),
        (Setting::Auto, SizingMode::Unprivileged) => {
            format!("the kernel's own, at most {}", power_of_two(host.send_most()))
        }
    };
    let bounded_by = match host.mode() {
        SizingMode::Forced => format!("half of memory_budget ({})", power_of_two(budget.for_sending())),
        SizingMode::Unprivileged => unprivileged(host),
    };
    Words { set: set(settings.send_buffer), in_force, bounded_by }
}

pub fn receive_buffer(settings: &Settings) -> Words {
    let (host, budget) = (&settings.host, settings.budget);
    let in_force = match (settings.receive_buffer, host.mode()) {
        (Setting::Fixed(bytes), SizingMode::Forced) => {
            format!("{} for every connection, a window of {}", power_of_two(bytes), power_of_two(bytes / 2))
        }
        (Setting::Auto, SizingMode::Forced) => format!(
            "the kernel's own up to {}, beyond that what the path uses",
            power_of_two(host.receive_autotuned_most)
        ),
        (_, SizingMode::Unprivileged) => {
            format!("the kernel's own, at most {}", power_of_two(host.receive_autotuned_most))
        }
    };
    let bounded_by = match host.mode() {
        SizingMode::Forced => format!(
            "half of memory_budget for the windows of all clients ({}), and the window scale agreed on with each client",
            power_of_two(budget.for_receiving())
        ),
        SizingMode::Unprivileged => {
            "CAP_NET_ADMIN is missing: receive buffers stay as the kernel makes them, up to the max of net.ipv4.tcp_rmem"
                .to_owned()
        }
    };
    Words { set: set(settings.receive_buffer), in_force, bounded_by }
}

pub fn congestion(settings: &Settings) -> Words {
    let to_others = if settings.host.has_bbr { "bbr" } else { "the host's own" };
    let available = howdah_net::congestion_controls().join(", ");
    Words {
        set: set(settings.congestion),
        in_force: match settings.congestion {
            Setting::Fixed(name) => format!("{name} for every connection"),
            Setting::Auto => format!("{to_others} to other hosts, cubic to this one"),
        },
        bounded_by: format!("what this host has: {available}; a connection that began with bbr stays paced"),
    }
}

pub fn memory_budget(settings: &Settings) -> Words {
    let setting = settings.budget.setting();
    let memory = &settings.memory;
    let group = memory.group.map_or("no limit".to_owned(), limit);
    Words {
        set: set(setting),
        in_force: format!("{}, half to send, half to receive", power_of_two(settings.budget.total())),
        bounded_by: match setting {
            Setting::Fixed(_) => "what was set".to_owned(),
            Setting::Auto => format!(
                "the smallest of an eighth of the memory ({}), half of the first value of net.ipv4.tcp_mem ({}), a quarter of \
                 the control group's limit ({group})",
                power_of_two(memory.total),
                limit(memory.tcp[0])
            ),
        },
    }
}

/// What the kernel writes where there is no limit is no size.
fn limit(bytes: u64) -> String {
    if bytes >= u64::MAX / 4 { "no limit".to_owned() } else { power_of_two(bytes) }
}

fn unprivileged(host: &Host) -> String {
    format!(
        "CAP_NET_ADMIN is missing: at most {} if set (twice net.core.wmem_max), {} if the kernel sizes it (max of net.ipv4.tcp_wmem)",
        power_of_two(host.send_unforced_most),
        power_of_two(host.send_autotuned_most)
    )
}

fn set<T: ToString>(setting: Setting<T>) -> String {
    match setting {
        Setting::Auto => "auto".to_owned(),
        Setting::Fixed(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_limit_is_not_shown_as_a_size() {
        assert_eq!(limit(i64::MAX as u64), "no limit");
        assert_eq!(limit(u64::MAX / 2), "no limit");
        assert_eq!(limit(3 << 30), "3 GiB");
    }
}

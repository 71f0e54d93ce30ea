//! What knobs say of themselves.

use howdah_tune::host::{Host, Mode};
use howdah_tune::sizes::SEND_MAX;
use howdah_tune::{Setting, Settings};

/// What was set, what holds, and what bounds it.
pub struct Words {
    pub set: String,
    pub in_force: String,
    pub bounded_by: String,
}

pub fn send_buffer(settings: &Settings) -> Words {
    let (host, budget) = (&settings.host, settings.budget);
    let in_force = match (settings.send_buffer, host.mode()) {
        (Setting::Fixed(bytes), Mode::Forced) => format!("{bytes} bytes for every connection"),
        (Setting::Fixed(bytes), Mode::Unprivileged) => {
            format!("{} bytes for every connection", bytes.min(host.send_unforced_most))
        }
        (Setting::Auto, Mode::Forced) => format!(
            "to other hosts at most {} bytes each, divided among the clients that move something; to this host the \
             kernel's own",
            budget.for_sending().min(SEND_MAX)
        ),
        (Setting::Auto, Mode::Unprivileged) => {
            format!("the kernel's own, at most {} bytes", host.send_most())
        }
    };
    let bounded_by = match host.mode() {
        Mode::Forced => format!("half of memory_budget ({} bytes)", budget.for_sending()),
        Mode::Unprivileged => unprivileged(host),
    };
    Words { set: set(settings.send_buffer), in_force, bounded_by }
}

pub fn receive_buffer(settings: &Settings) -> Words {
    let (host, budget) = (&settings.host, settings.budget);
    let in_force = match (settings.receive_buffer, host.mode()) {
        (Setting::Fixed(bytes), Mode::Forced) => {
            format!("{bytes} bytes for every connection, a window of {} bytes", bytes / 2)
        }
        (Setting::Auto, Mode::Forced) => format!(
            "the kernel's own up to {} bytes, beyond that what the path uses",
            host.receive_autotuned_most
        ),
        (_, Mode::Unprivileged) => format!("the kernel's own, at most {} bytes", host.receive_autotuned_most),
    };
    let bounded_by = match host.mode() {
        Mode::Forced => format!(
            "half of memory_budget for all promises ({} bytes), and the window scale agreed on with each client",
            budget.for_receiving()
        ),
        Mode::Unprivileged => {
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
    let group = memory.group.map_or("no limit".to_owned(), |limit| format!("{limit} bytes"));
    Words {
        set: set(setting),
        in_force: format!("{} bytes, half to send, half to receive", settings.budget.total()),
        bounded_by: match setting {
            Setting::Fixed(_) => "what was set".to_owned(),
            Setting::Auto => format!(
                "the least of an eighth of the memory ({} bytes), half of the first figure of net.ipv4.tcp_mem ({} \
                 bytes), a quarter of the control group's limit ({group})",
                memory.total, memory.tcp[0]
            ),
        },
    }
}

fn unprivileged(host: &Host) -> String {
    format!(
        "CAP_NET_ADMIN is missing: {} bytes by hand (twice net.core.wmem_max), {} bytes grown by the kernel (max of net.ipv4.tcp_wmem)",
        host.send_unforced_most, host.send_autotuned_most
    )
}

fn set<T: ToString>(setting: Setting<T>) -> String {
    match setting {
        Setting::Auto => "auto".to_owned(),
        Setting::Fixed(value) => value.to_string(),
    }
}

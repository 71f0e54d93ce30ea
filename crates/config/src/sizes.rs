//! The sizes of connections, for those who want to set them: automatic unless somebody says otherwise.

use howdah_server::Tuning;
use howdah_tune::{Algorithm, Setting};

/// What is said of sizes, by flags or by the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sizes {
    /// The send buffer of each connection.
    pub tcp_sndbuf: Option<Setting>,
    /// The receive buffer of each connection.
    pub tcp_rcvbuf: Option<Setting>,
    /// By what each connection sends; automatic: by what suits its peer.
    pub tcp_congestion: Option<Setting<Algorithm>>,
    /// The memory of all connections in the kernel; `auto`: what the host makes of it.
    pub memory_budget: Option<Setting>,
    /// Whether connections are looked at and sized at all.
    pub tuning: Option<bool>,
}

impl Sizes {
    /// What these do not say, the others do.
    pub fn or(self, others: Self) -> Self {
        Self {
            tcp_sndbuf: self.tcp_sndbuf.or(others.tcp_sndbuf),
            tcp_rcvbuf: self.tcp_rcvbuf.or(others.tcp_rcvbuf),
            tcp_congestion: self.tcp_congestion.or(others.tcp_congestion),
            memory_budget: self.memory_budget.or(others.memory_budget),
            tuning: self.tuning.or(others.tuning),
        }
    }

    /// What they mean.
    pub fn decide(self) -> Tuning {
        Tuning {
            enabled: self.tuning.unwrap_or(true),
            send_buffer: self.tcp_sndbuf.unwrap_or_default(),
            receive_buffer: self.tcp_rcvbuf.unwrap_or_default(),
            congestion: self.tcp_congestion.unwrap_or_default(),
            memory_budget: self.memory_budget.unwrap_or_default(),
            networks: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_win_over_the_file() {
        let file =
            Sizes { tcp_sndbuf: Some(Setting::Fixed(4 << 20)), tuning: Some(false), ..Sizes::default() };
        let flags = Sizes {
            tcp_sndbuf: Some(Setting::Auto),
            memory_budget: Some(Setting::Fixed(64 << 20)),
            ..Sizes::default()
        };
        let decided = flags.or(file).decide();
        assert_eq!((decided.enabled, decided.send_buffer), (false, Setting::Auto));
        assert_eq!(
            (decided.receive_buffer, decided.memory_budget),
            (Setting::Auto, Setting::Fixed(64 << 20))
        );
    }
}

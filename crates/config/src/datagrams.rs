//! How many sockets UDP has, for those who want to say it.

use howdah_server::UdpSettings;
use howdah_server::limits::UDP_GROUP_MAX;

/// What is said of UDP's sockets, by flags or by the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Datagrams {
    /// Sockets that share an address.
    pub sockets: Option<UdpSockets>,
    /// Whether each interface has some of its own.
    pub per_interface: Option<bool>,
}

/// How many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UdpSockets {
    /// As many as there are processors.
    Auto,
    /// So many.
    Fixed(usize),
}

impl Datagrams {
    /// What these do not say, the others do.
    pub fn or(self, others: Self) -> Self {
        Self {
            sockets: self.sockets.or(others.sockets),
            per_interface: self.per_interface.or(others.per_interface),
        }
    }

    /// What they mean.
    pub fn decide(self) -> UdpSettings {
        let sockets = match self.sockets {
            None | Some(UdpSockets::Auto) => None,
            Some(UdpSockets::Fixed(count)) => Some(count),
        };
        UdpSettings { sockets, per_interface: self.per_interface.unwrap_or(false) }
    }
}

/// A number of sockets.
pub fn parse_udp_sockets(text: &str) -> Result<UdpSockets, String> {
    let expected = || format!("expected \"auto\" or a number from 1 to {UDP_GROUP_MAX}");
    match text {
        "auto" => Ok(UdpSockets::Auto),
        number => match number.parse() {
            Ok(count) if (1..=UDP_GROUP_MAX).contains(&count) => Ok(UdpSockets::Fixed(count)),
            _ => Err(expected()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_sockets_are_bounded_and_automatic_unless_said() {
        assert_eq!(parse_udp_sockets("auto"), Ok(UdpSockets::Auto));
        assert_eq!(parse_udp_sockets("16"), Ok(UdpSockets::Fixed(16)));
        for wrong in ["0", "17", "-1", "many"] {
            let refused = parse_udp_sockets(wrong).expect_err(wrong);
            assert!(refused.contains("from 1 to 16"), "{refused}");
        }
        assert_eq!(Datagrams::default().decide(), UdpSettings::default());
    }

    #[test]
    fn flags_win_over_the_file() {
        let file = Datagrams { sockets: Some(UdpSockets::Fixed(4)), per_interface: Some(true) };
        let flags = Datagrams { sockets: Some(UdpSockets::Auto), per_interface: None };
        assert_eq!(flags.or(file).decide(), UdpSettings { sockets: None, per_interface: true });
    }
}

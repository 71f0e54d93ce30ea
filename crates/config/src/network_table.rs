//! One `[[network]]` of the file: sizes of connections for the clients of some networks.

use howdah_server::exports::Clients;
use howdah_server::tuning::{NetworkSizes, parse_congestion, parse_receive_buffer, parse_send_buffer};
use howdah_tune::Own;
use toml::Spanned;
use toml::de::DeValue;

use super::section::{Section, kind, size, text};
use super::{ClientPattern, Problem};

/// Reads one; an entry for each network that it names. Whatever is wrong is among the problems.
pub fn network(value: &Spanned<DeValue<'_>>, problems: &mut Vec<Problem>) -> Vec<NetworkSizes> {
    let DeValue::Table(table) = value.get_ref() else {
        let what = format!("`network`: expected [[network]], found {}", kind(value.get_ref()));
        problems.push(Problem { place: Some(value.span()), what, help: None });
        return Vec::new();
    };
    let mut section = Section::new("[[network]]", table, value.span(), problems);
    let clients = section.required("clients", "clients = \"10.0.0.0/8\"", clients);
    let own = Own {
        send_buffer: section.setting("tcp_sndbuf", size(parse_send_buffer)).map(Spanned::into_inner),
        receive_buffer: section.setting("tcp_rcvbuf", size(parse_receive_buffer)).map(Spanned::into_inner),
        congestion: section
            .setting("tcp_congestion", |value| parse_congestion(text(value)?))
            .map(Spanned::into_inner),
    };
    section.finish();
    let clients = clients.map(Spanned::into_inner).unwrap_or_default();
    clients.into_iter().map(|clients| NetworkSizes { clients, own }).collect()
}

/// A network, or a list of them.
pub fn clients(value: &DeValue<'_>) -> Result<Vec<Clients>, String> {
    match value {
        DeValue::Array(items) if items.is_empty() => Err("an empty list: it would be for nobody".to_owned()),
        DeValue::Array(items) => items.iter().map(|item| one(item.get_ref())).collect(),
        value => Ok(vec![one(value)?]),
    }
}

/// No names: these hold from when a connection is accepted, and names are not looked up for that.
fn one(value: &DeValue<'_>) -> Result<Clients, String> {
    match text(value)?.parse()? {
        ClientPattern::Everyone => Ok(Clients::Any),
        ClientPattern::Network(network) => {
            Ok(Clients::Network { address: network.addr(), prefix: network.prefix_len() })
        }
        ClientPattern::Certificate(pattern) => Err(format!(
            "{pattern} means certificates; expected an address, or a network like 10.0.0.0/8: this holds before TLS begins"
        )),
        name @ (ClientPattern::Host(_) | ClientPattern::Hosts(_) | ClientPattern::Netgroup(_)) => {
            Err(format!("{name} is a name; expected an address, or a network like 10.0.0.0/8"))
        }
    }
}

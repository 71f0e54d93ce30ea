//! A factor's key, `cell.hosts.server.sysctls."net.ipv4.tcp_rmem"`, and the table that sets it to a value.

use toml::{Table, Value};

/// The table in which the key has this value; none if it is no key of TOML.
pub fn setting(key: &str, value: &Value) -> Option<Table> {
    // TOML's own reader knows dots and quotes.
    let mut table: Table = toml::from_str(&format!("{key} = 0")).ok()?;
    *innermost(&mut table)? = value.clone();
    Some(table)
}

/// What a value is called as a level.
pub fn label(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn innermost(table: &mut Table) -> Option<&mut Value> {
    match table.iter_mut().next()?.1 {
        Value::Table(inner) => innermost(inner),
        value => Some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_may_be_quoted() {
        let value = Value::from("30ms");
        for (key, wanted) in [
            ("cell.path.rtt", "cell.path.rtt = '30ms'"),
            (
                "cell.hosts.server.sysctls.\"net.ipv4.tcp_rmem\"",
                "[cell.hosts.server.sysctls]\n'net.ipv4.tcp_rmem' = '30ms'",
            ),
        ] {
            assert_eq!(setting(key, &value), Some(toml::from_str(wanted).expect("TOML")), "{key}");
        }
        for key in ["", "cell..rtt", "a = 1\nb"] {
            assert!(setting(key, &value).is_none_or(|table| table.len() > 1), "{key}");
        }
    }

    #[test]
    fn values_are_their_own_labels() {
        for (value, wanted) in
            [(Value::from("30ms"), "30ms"), (Value::from(16), "16"), (Value::from(true), "true")]
        {
            assert_eq!(label(&value), wanted);
        }
    }
}

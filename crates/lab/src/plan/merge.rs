//! One table laid over another.

use toml::{Table, Value};

/// Lays `over` over `under`: tables are merged key by key at every depth, anything else is replaced.
pub fn merge(under: &mut Table, over: &Table) {
    for (key, value) in over {
        match (under.get_mut(key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => merge(below, above),
            _ => {
                under.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_merge_and_the_rest_is_replaced() {
        let table = |text: &str| toml::from_str::<Table>(text).expect("TOML");
        for (under, over, wanted) in [
            ("a = 1", "b = 2", "a = 1\nb = 2"),
            ("a = 1", "a = 2", "a = 2"),
            ("[p]\nrtt = '30ms'\nrate = '1Gbit'", "p.rtt = '0ms'", "[p]\nrtt = '0ms'\nrate = '1Gbit'"),
            ("l = [1, 2]", "l = [3]", "l = [3]"),
            ("a = 1", "[a]\nb = 1", "[a]\nb = 1"),
            ("[a]\nb = 1", "a = 1", "a = 1"),
            (
                "[h.s.sysctls]\n'net.x' = '1'",
                "h.s.sysctls.'net.y' = '2'",
                "h.s.sysctls = {'net.x'='1', 'net.y'='2'}",
            ),
            ("", "", ""),
        ] {
            let mut merged = table(under);
            merge(&mut merged, &table(over));
            assert_eq!(merged, table(wanted), "{over:?} over {under:?}");
        }
    }
}

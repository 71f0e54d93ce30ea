//! Kerberos: contexts, and what calls by them came to.

use super::text::{Kind, MetricsText};
use crate::gss::GssReport;

/// Writes them, where an export takes Kerberos.
pub fn kerberos(text: &mut MetricsText, facts: Option<&(usize, GssReport)>) {
    let Some((contexts, counts)) = facts else { return };
    text.family("howdah_kerberos_contexts", Kind::Gauge, None, "Kerberos contexts of clients.");
    text.sample(&[], *contexts);
    let help = "Kerberos contexts that were asked for, by what became of them.";
    text.family("howdah_kerberos_contexts_asked", Kind::Counter, None, help);
    text.sample(&[("end", "established")], counts.established);
    text.sample(&[("end", "refused")], counts.refused);
    text.sample(&[("end", "busy")], counts.busy);
    let help = "Calls with Kerberos that were refused, by reason.";
    text.family("howdah_kerberos_refused_calls", Kind::Counter, None, help);
    text.sample(&[("reason", "unknown_context")], counts.unknown);
    text.sample(&[("reason", "forged")], counts.forged);
    text.sample(&[("reason", "repeated")], counts.repeated);
    text.sample(&[("reason", "damaged")], counts.damaged);
}

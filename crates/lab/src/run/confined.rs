//! A command as a host's programs run: without what they may not do, and giving way.

use crate::plan::CellSpec;

/// The command within `setpriv` and `nice`, as far as the plan wants them for that host. Of root's programs only the bounding
/// set decides (capabilities(7)).
pub fn confined(cell: &CellSpec, host: &str, words: &[String]) -> Vec<String> {
    let mut confined = Vec::new();
    if let Some(host) = cell.hosts.get(host) {
        if host.nice > 0 {
            confined.extend(["nice".to_owned(), "-n".to_owned(), host.nice.to_string()]);
        }
        if !host.without.is_empty() {
            let set: Vec<String> = host.without.iter().map(|capability| format!("-{capability}")).collect();
            let set = format!("--bounding-set={}", set.join(","));
            confined.extend(["setpriv".to_owned(), set, "--".to_owned()]);
        }
    }
    confined.extend_from_slice(words);
    confined
}

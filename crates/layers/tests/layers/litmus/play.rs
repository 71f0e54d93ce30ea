//! Plays a case, and judges the states that the server has had.

use super::case::{Case, Condition, Ends, Line, Operation, Who};
use super::server::LitmusServer;

/// Runs operations of programs through the client under test.
pub trait Programs {
    /// Why it was refused.
    fn run(&mut self, who: Who, operation: &Operation) -> Result<(), String>;
    /// Waits until all that was answered is over.
    fn settle(&mut self);
}

/// Which of a case's conditions count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Each state of the server may be its last.
    EveryCut,
    /// How it ends.
    End,
}

/// What must hold, from which state of the server on.
struct Rule<'c> {
    since: usize,
    condition: &'c Condition,
    is_forbidden: bool,
}

/// Plays a case. `client` makes the programs when what was there before is there.
///
/// # Errors
/// What went otherwise.
pub fn play<P: Programs>(
    case: &Case,
    server: &LitmusServer,
    scope: Scope,
    client: impl FnOnce() -> P,
) -> Result<(), String> {
    let is_before = |line: &&Line| matches!(line, Line::Before(_));
    for line in case.lines.iter().filter(is_before) {
        let Line::Before(operation) = line else { continue };
        server.run(operation).map_err(|error| format!("{operation:?}: {error}"))?;
    }
    let mut programs = client();
    let (mut rules, mut ends) = (Vec::new(), Vec::new());
    for line in &case.lines {
        let mut rule = |condition, is_forbidden| {
            rules.push(Rule { since: server.moment(), condition, is_forbidden });
        };
        match line {
            Line::Before(_) => {}
            Line::Program { who, ends, operation } => {
                let outcome = programs.run(*who, operation);
                match (ends, &outcome) {
                    (Ends::Well, Ok(())) | (Ends::Refused, Err(_)) | (Ends::Anyhow, _) => {}
                    _ => return Err(format!("{operation:?}: {outcome:?}")),
                }
            }
            Line::Stranger(operation) => {
                server.run(operation).map_err(|error| format!("stranger {operation:?}: {error}"))?;
            }
            Line::Server(word) => server.hear(word),
            Line::Settle => programs.settle(),
            Line::Never(condition) => rule(condition, true),
            Line::Always(condition) => rule(condition, false),
            Line::End(condition) => ends.push(condition),
        }
    }
    programs.settle();
    drop(programs);
    let (last, states) = (server.moment(), server.states());
    rules.retain(|_| scope == Scope::EveryCut);
    rules.extend(ends.into_iter().map(|condition| Rule { since: last, condition, is_forbidden: false }));
    for Rule { since, condition, is_forbidden } in rules {
        for (number, state) in states.iter().enumerate().skip(since) {
            if condition.holds(state) == is_forbidden {
                let word = if is_forbidden { "never" } else { "always" };
                return Err(format!("{word} {}, but after {number} of {last}: {state:?}", condition.text));
            }
        }
    }
    Ok(())
}

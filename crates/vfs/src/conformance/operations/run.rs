//! Runs a list on the model and the subject in step, and shrinks a list that shows a difference.

use std::sync::Arc;

use super::alike::refusals_alike;
use super::operation::Operation;
use super::player::{Played, Player};
use super::seen::{Seen, SeenEntry};
use super::tree::{open_directories, tree};
use super::{Difference, from_bytes};
use crate::conformance::{Abilities, Subject};
use crate::memory::{MemoryFileSystem, MemoryOptions};
use howdah_random::Random;

/// Runs `count` operations that follow from `seed` on the model and on the subject that `make` makes, and shrinks
/// the list if they differ.
pub fn run_operations(seed: u64, count: usize, make: &dyn Fn() -> Subject) -> Result<(), Difference> {
    let mut random = Random::new(seed);
    let bytes: Vec<u8> = (0..count).flat_map(|_| random.number().to_le_bytes()).collect();
    match compare(&from_bytes(&bytes), &make()) {
        Ok(()) => Ok(()),
        Err(difference) => Err(Difference { seed: Some(seed), ..shrink(difference, make) }),
    }
}

/// Runs operations on the model and on the subject; returns the first difference.
pub fn compare(operations: &[Operation], subject: &Subject) -> Result<(), Difference> {
    let options = MemoryOptions { root_mode: 0o777, ..MemoryOptions::default() };
    let model = Subject::new(Arc::new(MemoryFileSystem::with_options(options)), subject.abilities.clone());
    let start = |subject| Player::new(subject).map_err(|why| differ(&[], "a home directory".to_owned(), why));
    let (mut model, mut player) = (start(&model)?, start(subject)?);
    let played = play(operations, &mut model, &mut player, &subject.abilities);
    open_directories(&player.actor(0), &player.home());
    played
}

fn play(
    operations: &[Operation],
    model: &mut Player<'_>,
    player: &mut Player<'_>,
    abilities: &Abilities,
) -> Result<(), Difference> {
    for (number, operation) in operations.iter().enumerate() {
        if model.objection(operation, abilities).is_some() {
            continue;
        }
        let (wanted, seen) = (model.play(number, operation), player.play(number, operation));
        if !alike(operation, &wanted, &seen) {
            return Err(differ(&operations[..=number], format!("{wanted:?}"), format!("{seen:?}")));
        }
    }
    let (wanted, seen) = (lines(model), lines(player));
    match wanted.iter().zip(&seen).find(|(wanted, seen)| wanted != seen) {
        Some((wanted, seen)) => Err(differ(operations, wanted.clone(), seen.clone())),
        None if wanted.len() != seen.len() => {
            Err(differ(operations, format!("{wanted:?}"), format!("{seen:?}")))
        }
        None => Ok(()),
    }
}

fn differ(operations: &[Operation], model: String, subject: String) -> Difference {
    Difference { seed: None, operations: operations.to_vec(), model, subject }
}

fn lines(player: &Player<'_>) -> Vec<String> {
    tree(&player.actor(0), &player.home()).unwrap_or_else(|error| vec![format!("listing all: {error}")])
}

fn alike(operation: &Operation, model: &Played, subject: &Played) -> bool {
    match (model, subject) {
        (Err(model), Err(subject)) => refusals_alike(&operation.act, *model, *subject),
        (Ok(Seen::Entries(model)), Ok(Seen::Entries(subject))) => entries_alike(model, subject),
        _ => model == subject,
    }
}

/// Names must be the same; nodes where both have them.
fn entries_alike(model: &[SeenEntry], subject: &[SeenEntry]) -> bool {
    let entry_alike = |(model, subject): (&SeenEntry, &SeenEntry)| {
        model.0 == subject.0 && (model.1 == subject.1 || model.1.is_none() || subject.1.is_none())
    };
    model.len() == subject.len() && model.iter().zip(subject).all(entry_alike)
}

/// Leaves out ever smaller runs of operations as long as the lists still differ somehow.
fn shrink(mut difference: Difference, make: &dyn Fn() -> Subject) -> Difference {
    let mut run = difference.operations.len() / 2;
    while run > 0 {
        let mut start = 0;
        while start < difference.operations.len() {
            let mut fewer = difference.operations.clone();
            fewer.drain(start..(start + run).min(fewer.len()));
            match compare(&fewer, &make()) {
                Err(smaller) => difference = smaller,
                Ok(()) => start += run,
            }
        }
        run /= 2;
    }
    difference
}

//! `GET /v1/procedures`, `GET /v1/exports` and `GET /v1/workers`: what was asked, how long it took, and who works at it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;

use super::asked::Asked;
use super::counted::{
    Capacity, Export, Exports, Latency, Procedure, Procedures, ReplyCache, Unheard, Workers,
};
use super::space::ExportSpace;
use crate::counts::{Ledger, OfExport, Row};

/// Exports beyond those with a row of their own, and none.
const OTHERS: &str = "(others)";
const NONE: &str = "(none)";

/// Answers with the counts of each procedure.
pub async fn procedures(State(asked): State<Arc<Asked>>) -> Json<Procedures> {
    let counts = &asked.shared.service.dispatcher.counts;
    let unheard = counts.unheard();
    Json(Procedures {
        seconds: asked.shared.started.elapsed().as_secs_f64(),
        procedures: together(counts.rows()).iter().map(procedure).collect(),
        unheard: Unheard {
            malformed: unheard.malformed,
            authentication: unheard.authentication,
            unavailable: unheard.unavailable,
        },
    })
}

/// The same by export.
pub async fn exports(State(asked): State<Arc<Asked>>) -> Json<Exports> {
    Json(Exports {
        seconds: asked.shared.started.elapsed().as_secs_f64(),
        exports: by_export(&asked.shared.service.dispatcher.counts, &asked.space.look(&asked.shared).await),
    })
}

/// Answers with what workers do now.
pub async fn workers(State(asked): State<Arc<Asked>>) -> Json<Workers> {
    let service = &asked.shared.service;
    let now = service.dispatcher.counts.workers();
    let (calls, bytes) = service.dispatcher.replies.size();
    let replayed = service.dispatcher.counts.rows().iter().map(|row| row.figures.replayed).sum();
    Json(Workers {
        workers: now.waiting + now.running + now.in_storage,
        waiting: now.waiting,
        running: now.running,
        in_storage: now.in_storage,
        calls_in_line: asked.shared.gates.waiting(),
        reply_cache: ReplyCache { calls, bytes, replayed },
    })
}

/// What an export is called.
pub fn export_name(export: &OfExport) -> &str {
    match export {
        OfExport::Named { name, .. } => name,
        OfExport::Others => OTHERS,
        OfExport::Nothing => NONE,
    }
}

/// Rows of one procedure, whatever their exports are, as one; in the tables' order.
pub fn together(rows: Vec<Row>) -> Vec<Row> {
    sums(rows, |row| row.place)
}

/// Rows of one procedure and one name as one: two exports may have had the name, one after the other.
pub fn by_name(rows: Vec<Row>) -> Vec<Row> {
    sums(rows, |row| (export_name(&row.export).to_owned(), row.place))
}

fn sums<K: Ord>(rows: Vec<Row>, key: impl Fn(&Row) -> K) -> Vec<Row> {
    let mut sums: BTreeMap<K, Row> = BTreeMap::new();
    for row in rows {
        match sums.entry(key(&row)) {
            Entry::Occupied(mut sum) => sum.get_mut().figures.add(&row.figures),
            Entry::Vacant(place) => {
                place.insert(row);
            }
        }
    }
    sums.into_values().collect()
}

fn by_export(counts: &Ledger, space: &[ExportSpace]) -> Vec<Export> {
    let rows = counts.rows();
    let exports = counts.exports().into_iter().filter_map(|export| {
        let procedures = rows.iter().filter(|row| row.export == export).map(procedure);
        let procedures: Vec<Procedure> = procedures.collect();
        let id = match export {
            OfExport::Named { id, .. } => Some(id),
            OfExport::Others | OfExport::Nothing => None,
        };
        let is_told = id.is_some() || !procedures.is_empty();
        let space = space.iter().find(|space| Some(space.id) == id);
        let (statistics, gone) = space.map_or((None, None), |space| (space.statistics, space.gone.clone()));
        let capacity = statistics.map(|sizes| Capacity {
            total_bytes: sizes.total_bytes,
            free_bytes: sizes.free_bytes,
            available_bytes: sizes.available_bytes,
            total_files: sizes.total_files,
            free_files: sizes.free_files,
        });
        is_told.then(|| Export { export: export_name(&export).to_owned(), id, gone, capacity, procedures })
    });
    exports.collect()
}

fn procedure(row: &Row) -> Procedure {
    let figures = &row.figures;
    Procedure {
        program: row.program.to_owned(),
        version: row.version,
        procedure: row.procedure.to_owned(),
        calls: figures.calls,
        replayed: figures.replayed,
        unanswered: figures.unanswered,
        errors: figures.named_errors().map(|(name, count)| (name.to_owned(), count)).collect(),
        received: figures.received,
        sent: figures.sent,
        storage_seconds: Duration::from_nanos(figures.storage).as_secs_f64(),
        latency: Latency::of(&figures.latency),
    }
}

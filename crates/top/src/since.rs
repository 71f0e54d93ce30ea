//! What was counted between two looks.

use howdah_server::admin::{Export, Procedure};

/// What was counted since earlier figures, of what was called in between.
pub fn since(now: &[Procedure], before: Option<&[Procedure]>) -> Vec<Procedure> {
    let none = Procedure::default();
    let since = now.iter().map(|procedure| {
        let earlier = before.unwrap_or_default().iter().find(|earlier| is_same(earlier, procedure));
        procedure.since(earlier.unwrap_or(&none))
    });
    since.filter(|procedure| procedure.calls > 0).collect()
}

/// The same by export, one of each name: two may have had it, one after the other, and only their ids differ.
pub fn exports_since(now: &[Export], before: &[Export]) -> Vec<Export> {
    let same =
        |one: &Export, other: &Export| one.id == other.id && (one.id.is_some() || one.export == other.export);
    let mut exports: Vec<Export> = Vec::new();
    for export in now {
        let earlier = before.iter().find(|earlier| same(earlier, export));
        let procedures = since(&export.procedures, earlier.map(|earlier| &earlier.procedures[..]));
        match exports.iter_mut().find(|known| known.export == export.export) {
            Some(known) => {
                known.id = export.id;
                add(&mut known.procedures, procedures);
            }
            None => exports.push(Export { procedures, ..export.clone() }),
        }
    }
    exports
}

fn add(sums: &mut Vec<Procedure>, procedures: Vec<Procedure>) {
    for procedure in procedures {
        match sums.iter_mut().find(|sum| is_same(sum, &procedure)) {
            Some(sum) => sum.add(&procedure),
            None => sums.push(procedure),
        }
    }
}

fn is_same(one: &Procedure, other: &Procedure) -> bool {
    (&one.program, one.version, &one.procedure) == (&other.program, other.version, &other.procedure)
}

//! The programs that are served together, and all their procedures in one list.

use std::sync::Arc;

use howdah_wire::rpc::{Accepted, AuthStatus, CallHeader, Credentials, Denied};

use crate::gss::SecuredCall;
use crate::program::{Position, Procedure, Program, Refusal};
use crate::{Reply, Request, Transport};

/// Programs that are served on the same sockets.
pub struct Programs {
    list: Vec<Box<dyn Program>>,
    versions: Vec<Version>,
    procedures: Arc<[Listed]>,
}

/// A version of a program.
struct Version {
    /// The program, its place among them, and the version's place in it.
    program: u32,
    place: usize,
    position: usize,
    number: u32,
    takes_datagrams: bool,
    /// Where its procedures begin in the list, and how many there are.
    first: usize,
    count: usize,
}

/// A version of a program that is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// The program.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// Whether it is served in datagrams too.
    pub takes_datagrams: bool,
}

impl Served {
    /// The versions of a program.
    pub fn by(program: &dyn Program) -> impl Iterator<Item = Self> {
        program.versions().into_iter().map(|(version, _)| Self {
            program: program.number(),
            version,
            takes_datagrams: program.takes_datagrams(version),
        })
    }
}

/// A procedure in the list of all, or an operation that calls of it are counted as.
#[derive(Clone, Copy)]
pub struct Listed {
    /// The program's name in `/etc/rpc`.
    pub program: &'static str,
    /// The program's version.
    pub version: u32,
    /// What is known of it.
    pub procedure: &'static Procedure,
}

/// The procedure that a call asks for.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// The place of its program.
    program: usize,
    /// Where it stands there.
    position: Position,
    /// What is known of it.
    pub procedure: &'static Procedure,
    /// Its place in the list of all.
    pub place: u16,
    /// Where the operations of its version begin there.
    pub operations: u16,
}

impl Programs {
    /// These.
    pub fn new(list: Vec<Box<dyn Program>>) -> Self {
        let (mut versions, mut procedures) = (Vec::new(), Vec::new());
        for (place, program) in list.iter().enumerate() {
            for (position, (number, table)) in program.versions().into_iter().enumerate() {
                let (first, count) = (procedures.len(), table.len());
                let takes_datagrams = program.takes_datagrams(number);
                let program_number = program.number();
                versions.push(Version {
                    program: program_number,
                    place,
                    position,
                    number,
                    takes_datagrams,
                    first,
                    count,
                });
                let listed = |procedure| Listed { program: program.name(), version: number, procedure };
                procedures.extend(table.into_iter().map(listed));
                procedures.extend(program.operations(number).iter().map(listed));
            }
        }
        Self { list, versions, procedures: procedures.into() }
    }

    /// All procedures, each at its place.
    pub fn procedures(&self) -> Arc<[Listed]> {
        Arc::clone(&self.procedures)
    }

    /// Every program and version.
    pub fn served(&self) -> impl Iterator<Item = Served> {
        self.versions.iter().map(|version| Served {
            program: version.program,
            version: version.number,
            takes_datagrams: version.takes_datagrams,
        })
    }

    /// Answers a call.
    ///
    /// # Errors
    /// Why it gets no result.
    pub fn run(
        &self,
        wanted: Wanted,
        request: &mut Request<'_, '_>,
        reply: &mut Reply,
    ) -> Result<(), Refusal> {
        self.list[wanted.program].run(wanted.position, request, reply)
    }

    /// The procedure that a call asks for, or why it is refused. `secured`: its context, if it came by one, has signed it.
    pub fn find(
        &self,
        header: &CallHeader<'_>,
        secured: Option<&SecuredCall>,
        transport: Transport,
    ) -> Result<Wanted, Result<Accepted, Denied>> {
        let is_served = |version: &&Version| {
            version.program == header.program && (version.takes_datagrams || !transport.is_datagrams())
        };
        let mut of_program = self.versions.iter().filter(is_served);
        let version = of_program.clone().find(|version| version.number == header.version);
        let Some(version) = version else {
            // Names the versions there are, so that a client which tried another one falls back by itself.
            let low = of_program.next().ok_or(Ok(Accepted::ProgramUnavailable))?.number;
            let high = of_program.next_back().map_or(low, |version| version.number);
            return Err(Ok(Accepted::ProgramMismatch { low, high }));
        };
        match header.credentials {
            Credentials::None | Credentials::Sys(_) => {}
            Credentials::Gss(_) if secured.is_some() => {}
            Credentials::Gss(_) | Credentials::Tls(_) | Credentials::Other(_) => {
                return Err(Err(Denied::Authentication(AuthStatus::TooWeak)));
            }
            Credentials::Malformed(_) => return Err(Err(Denied::Authentication(AuthStatus::BadCredentials))),
        }
        let procedure = header.procedure as usize;
        if procedure >= version.count {
            return Err(Ok(Accepted::ProcedureUnavailable));
        }
        let place = version.first + procedure;
        Ok(Wanted {
            program: version.place,
            position: Position { version: version.position, procedure },
            procedure: self.procedures[place].procedure,
            place: place as u16,
            operations: (version.first + version.count) as u16,
        })
    }
}

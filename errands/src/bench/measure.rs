//! Measures a row: the server and each floor in turn, again and again, so that what disturbs the machine for a while
//! disturbs all of them.

use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};

use super::cores::Cores;
use super::export::Export;
use super::floor::{Floor, Job};
use super::generator::{self, Shape, Slice};
use super::load::{Load, Scene};
use super::row::Row;
use super::server::Server;
use super::session::Session;

/// How long the load runs before it is measured, or half as long as it is if that is less.
const WARM: Duration = Duration::from_millis(300);
/// Calls per second of a load that is ended by its number of calls.
const CALLS_PER_SECOND: f64 = 20_000.0;

/// How to measure.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// How often.
    pub runs: usize,
    /// How long each time.
    pub seconds: f64,
    /// Whether the load has its data thrown away in the kernel.
    pub discard: bool,
    /// Connections at once, where two servers are compared.
    pub connections: usize,
    /// Calls in flight on each, if not as many as the row says.
    pub in_flight: Option<u32>,
}

/// What was measured of one row.
#[derive(Debug)]
pub struct Measured {
    /// The row.
    pub row: &'static Row,
    /// The server, once per run; none if there was no server.
    pub server: Vec<Slice>,
    /// Each floor, once per run.
    pub floors: Vec<(Job, Vec<Slice>)>,
    /// Congestion control of server, load and floors.
    pub congestion: [String; 3],
}

/// Measures a row.
pub fn measure(
    row: &'static Row,
    plan: Plan,
    export: &Export,
    server: Option<&Server>,
    cores: Cores,
) -> anyhow::Result<Measured> {
    // The load prepares the export, and the floors open what is in it.
    let mut scene = Scene { export, session: None, calls: 0 };
    row.kind.load(&mut scene).context("preparing the export")?;
    let start =
        |&job| super::cores::while_on(cores.server, || Floor::start(job, export.path(), cores.server));
    let floors = row.floors.iter().map(start).collect::<Result<Vec<_>, _>>()?;
    let floor_congestion = floors.first().map_or_else(|| "-".to_owned(), |floor| floor.congestion.clone());
    let mut measured = Measured {
        row,
        server: Vec::new(),
        floors: floors.iter().map(|floor| (floor.job, Vec::new())).collect(),
        congestion: ["-".to_owned(), "-".to_owned(), floor_congestion],
    };
    for _ in 0..plan.runs {
        if let Some(server) = server {
            measured.server.push(measure_server(&mut measured.congestion, row, plan, export, server)?);
        }
        for (floor, (_, slices)) in floors.iter().zip(&mut measured.floors) {
            let step = || format!("measuring the floor {}", floor.job.name());
            let (stream, congestion) = generator::connect(floor.address).with_context(step)?;
            measured.congestion[1] = congestion;
            let mut load = row.kind.load(&mut Scene { export, session: None, calls: plan.calls() })?;
            let slice =
                generator::drive(&stream, &mut *load, plan.shape(row), floor.clock).with_context(step)?;
            slices.push(slice);
        }
    }
    Ok(measured)
}

/// Measures the server once.
pub fn measure_server(
    congestion: &mut [String; 3],
    row: &Row,
    plan: Plan,
    export: &Export,
    server: &Server,
) -> anyhow::Result<Slice> {
    let mut lane = Lane::open(row, plan, export, server)?;
    let slice = lane.drive(row, plan, server)?;
    congestion[1] = lane.congestion;
    if congestion[0] == "-" {
        congestion[0] = congestion_of_peer(server.address.port(), lane.stream.local_addr()?.port());
    }
    Ok(slice)
}

/// Measures the server over all the plan's connections at once, each with a thread.
pub fn measure_together(
    row: &Row,
    plan: Plan,
    export: &Export,
    server: &Server,
) -> anyhow::Result<Vec<Slice>> {
    let open = |_| Lane::open(row, plan, export, server);
    let mut lanes = (0..plan.connections).map(open).collect::<Result<Vec<_>, _>>()?;
    thread::scope(|scope| {
        let start = |lane| scope.spawn(|| Lane::drive(lane, row, plan, server));
        let driving: Vec<_> = lanes.iter_mut().map(start).collect();
        driving.into_iter().map(|lane| lane.join().map_err(|_| anyhow!("a load panicked"))?).collect()
    })
}

/// A connection to the server, and what goes over it.
struct Lane {
    stream: TcpStream,
    congestion: String,
    load: Box<dyn Load>,
}

impl Lane {
    fn open(row: &Row, plan: Plan, export: &Export, server: &Server) -> anyhow::Result<Self> {
        let mut session = Session::mount(server.address, &server.export)?;
        let load = row.kind.load(&mut Scene { export, session: Some(&mut session), calls: plan.calls() })?;
        let (stream, congestion) = generator::connect(server.address)?;
        Ok(Self { stream, congestion, load })
    }

    fn drive(&mut self, row: &Row, plan: Plan, server: &Server) -> anyhow::Result<Slice> {
        generator::drive(&self.stream, &mut *self.load, plan.shape(row), server.clock)
            .context("measuring the server")
    }
}

/// The congestion control of the other end, as `ss` shows it, where there is one.
fn congestion_of_peer(server: u16, load: u16) -> String {
    let filter = format!("sport = :{server} and dport = :{load}");
    let output = Command::new("ss").args(["-tinH", &filter]).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let second =
        text.lines().nth(1).and_then(|line| line.split_whitespace().find(|word| !word.contains(':')));
    second.unwrap_or("unknown").to_owned()
}

impl Plan {
    /// So often so long, over one connection at a time.
    pub fn new(runs: usize, seconds: f64) -> Self {
        Self { runs, seconds, discard: false, connections: 1, in_flight: None }
    }

    fn shape(&self, row: &Row) -> Shape {
        let measure = Duration::from_secs_f64(self.seconds);
        Shape {
            in_flight: self.in_flight.unwrap_or(row.in_flight),
            alone: row.alone,
            warm: WARM.min(measure / 2),
            measure,
            discard: self.discard,
        }
    }

    fn calls(&self) -> u64 {
        (self.seconds * CALLS_PER_SECOND) as u64
    }
}

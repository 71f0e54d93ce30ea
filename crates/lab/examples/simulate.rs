//! Runs the simulation of a client over UDP: options as in `crates/lab/src/simulation/options.rs`, one line per figure.
#![allow(clippy::print_stdout)] // Figures are what it is for.

fn main() -> anyhow::Result<()> {
    let options: Vec<String> = std::env::args().skip(1).collect();
    for (name, figure) in howdah_lab::simulation::run(&options)?.figures {
        println!("{name:<20} {:>16.6} {}", figure.value, figure.unit);
    }
    Ok(())
}

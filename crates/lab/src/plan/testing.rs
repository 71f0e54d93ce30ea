//! A plan for tests.

use super::Plan;

/// Two factors, a quick form, a figure of each kind of naming, a claim of each kind.
pub const TEXT: &str = r#"name = "buffers"
title = "A fixed receive buffer against a long path"
origin = "A, 2008"
asks = "How much?"
seed = 2008
repetitions = 3

[cell]
limit = "50s"
[cell.path]
rtt = "30ms"
rate = "1Gbit"
[cell.clients.main]
kind = "howdah"
workload = "write"
options = ["--size", "500M"]

[[factor]]
name = "rtt"
key = "cell.path.rtt"
values = ["0ms", "30ms", "100ms"]
[[factor]]
name = "buffer"
[[factor.level]]
label = "fixed"
set.cell.hosts.server.sysctls."net.ipv4.tcp_rmem" = "4096 3158016 3158016"
[[factor.level]]
label = "the kernel's"

[quick]
repetitions = 1
cell.clients.main.options = ["--size", "50M"]
factors.rtt = ["30ms"]

[[origin_figure]]
where = { rtt = "30ms", buffer = "fixed" }
figure = "throughput"
value = 43.3
unit = "MB/s"
source = "2008"

[[figure]]
kind = "swept"
x = "rtt"
y = "throughput"
by = "buffer"
caption = "It falls."

[[claim]]
says = "Half at most."
figure = "throughput"
where = { rtt = "30ms", buffer = "fixed" }
at_most = 0.5
of = "line rate"
[[claim]]
says = "The kernel does better."
figure = "throughput"
where = { rtt = "30ms", buffer = "the kernel's" }
at_least = 1.5
of = { figure = "throughput", where = { buffer = "fixed" } }
"#;

/// The same, read.
pub fn plan() -> Plan {
    Plan::parse("plan.toml", TEXT).expect("it is right")
}

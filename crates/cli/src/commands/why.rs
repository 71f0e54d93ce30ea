//! `howdah why`.

use std::process::ExitCode;
use std::thread::sleep;

use howdah_relay::RelayReport;
use howdah_server::admin::{Client, Clients, ExportUplink, Group, Kerberos, KerberosRefusal, Uplinks};
use serde_json::{Value, json};

use super::Failure;
use crate::admin::{AskedServer, ClientName, find_servers};
use crate::arguments::WhyArguments;
use crate::report;

/// The client that was named is not there.
const NOT_CONNECTED: u8 = 3;

/// Says what limits clients, once or again and again.
pub fn run(arguments: &WhyArguments) -> Result<(), Failure> {
    loop {
        let servers = find_servers(arguments.asked.server.as_ref(), arguments.asked.state.as_deref())?;
        let (relays, servers) = apart(servers)?;
        let answers = servers.iter().map(|server| ask(server, arguments.client));
        let answers: Vec<(&AskedServer, Answer)> =
            servers.iter().zip(answers.collect::<anyhow::Result<Vec<_>>>()?).collect();
        match arguments.json {
            true => report::print(&printed(&as_json(&answers, &relays), arguments.watch.is_some())),
            false => {
                relays.iter().for_each(|relay| report::print(&report::relay(relay)));
                if relays.is_empty() || !answers.is_empty() {
                    report::print(&text(arguments, &answers));
                }
            }
        }
        let Some(interval) = arguments.watch else {
            return found(arguments.client, &answers);
        };
        if report::is_unread() {
            return Ok(());
        }
        sleep(interval);
    }
}

/// What relays that pass calls through say, and the servers, which are asked about clients.
fn apart(all: Vec<AskedServer>) -> anyhow::Result<(Vec<RelayReport>, Vec<AskedServer>)> {
    let (mut relays, mut servers) = (Vec::new(), Vec::new());
    for server in all {
        match server.offers("/v1/relay") {
            true => relays.push(server.get("/v1/relay")?),
            false => servers.push(server),
        }
    }
    Ok((relays, servers))
}

/// What a server says.
struct Answer {
    clients: Clients,
    uplinks: Vec<ExportUplink>,
    /// Kerberos contexts that were refused.
    refusals: Vec<KerberosRefusal>,
}

/// What a server says, of all clients or of one, and of the far side of its exports.
fn ask(server: &AskedServer, client: Option<ClientName>) -> anyhow::Result<Answer> {
    let mut clients: Clients = server.get("/v1/clients")?;
    if clients.mode == "off" {
        anyhow::bail!(
            "{} does not look at its connections: it was started with --no-tuning, or tuning = false in its file",
            server.name()
        );
    }
    if let Some(name) = client {
        clients.clients = clients.clients.into_iter().filter_map(|client| only(client, name)).collect();
        clients.gone.retain(|address, _| matches!(name, ClientName::Address(named) if named == *address));
    }
    let uplinks: Uplinks = server.get("/v1/uplinks")?;
    Ok(Answer { clients, uplinks: uplinks.uplinks, refusals: refusals(server, client)? })
}

/// Kerberos contexts that a server refused, to all clients or to one. Who is refused may have no connection.
fn refusals(server: &AskedServer, client: Option<ClientName>) -> anyhow::Result<Vec<KerberosRefusal>> {
    if !server.offers("/v1/kerberos") {
        return Ok(Vec::new());
    }
    let mut refusals = server.get::<Kerberos>("/v1/kerberos")?.refusals;
    refusals.retain(|refusal| match client {
        None => true,
        Some(ClientName::Address(named)) => named == refusal.client,
        Some(ClientName::Connection(_)) => false,
    });
    Ok(refusals)
}

/// The connections of a client that are meant, if there are any.
fn only(mut client: Client, name: ClientName) -> Option<Client> {
    for group in &mut client.groups {
        group.connections.retain(|lane| name.means(lane.client));
        if let ([lane], ClientName::Connection(_)) = (&group.connections[..], name) {
            group.recent = lane.recent.clone();
            (group.sent_per_second, group.received_per_second) =
                (lane.sent_per_second, lane.received_per_second);
        }
    }
    client.groups.retain(|group: &Group| !group.connections.is_empty());
    client.connections = client.groups.iter().map(|group| group.connections.len()).sum();
    (!client.groups.is_empty()).then_some(client)
}

fn text(arguments: &WhyArguments, answers: &[(&AskedServer, Answer)]) -> String {
    let each = arguments.all || arguments.client.is_some();
    let mut text = String::new();
    if let (Some(name), true) = (arguments.client, arguments.watch.is_some() && nobody(answers)) {
        text.push_str(&format!("{name} is not connected over TCP\n"));
    }
    for (server, Answer { clients, uplinks, refusals }) in answers {
        text.push_str(&report::unwritable(clients.unwritable.as_deref()));
        text.push_str(&report::refused_contexts(refusals));
        // That the named client is not connected is said once for all servers.
        if arguments.client.is_some() && clients.clients.is_empty() && clients.gone.is_empty() {
            continue;
        }
        if answers.len() > 1 {
            text.push_str(&format!("{}\n", server.name()));
        }
        text.push_str(&report::why(&clients.clients, &clients.gone, each, arguments.all));
        uplinks.iter().for_each(|uplink| text.push_str(&report::far_side(uplink)));
    }
    if arguments.watch.is_some() {
        text = format!("{}\n{text}\n", jiff::Zoned::now().strftime("%H:%M:%S"));
    }
    text
}

fn found(client: Option<ClientName>, answers: &[(&AskedServer, Answer)]) -> Result<(), Failure> {
    match client {
        Some(name) if nobody(answers) => {
            report::complain(&format!(
                "howdah: {name} is not connected over TCP; howdah why --all shows who is"
            ));
            Err(Failure::Ended(ExitCode::from(NOT_CONNECTED)))
        }
        _ => Ok(()),
    }
}

fn nobody(answers: &[(&AskedServer, Answer)]) -> bool {
    answers.iter().all(|(_, answer)| answer.clients.clients.is_empty())
}

fn as_json(answers: &[(&AskedServer, Answer)], relays: &[RelayReport]) -> Value {
    let server = |(server, Answer { clients, uplinks, .. }): &(&AskedServer, Answer)| {
        json!({
            "server": server.name(), "process": server.process(), "mode": clients.mode, "clients": clients.clients,
            "gone": clients.gone, "uplinks": uplinks, "unwritable": clients.unwritable,
        })
    };
    let mut value = json!({ "servers": answers.iter().map(server).collect::<Vec<_>>() });
    if !relays.is_empty() {
        value["relays"] = json!(relays);
    }
    value
}

fn printed(value: &Value, on_one_line: bool) -> String {
    if on_one_line { format!("{value}\n") } else { format!("{value:#}\n") }
}

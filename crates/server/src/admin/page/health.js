// Whether all is well, who is slow, and why. Pure: answers in, words out.

import { fullness } from './space.js';
import { bytes, count as number, many, rate, time, verdict } from './words.js';

// Statuses that say that something here is broken, and not that a client asked for what is not there.
const BROKEN = ['IO', 'SERVERFAULT', 'NOSPC', 'DQUOT', 'NXIO'];
const HEADLINES = { NOSPC: 'No space is left', DQUOT: 'A quota is used up' };

// What limits a client: the word for the last seconds, since of one moment it says little, with the last sentence that went with it.
export class Limits {
  constructor() {
    this.sentences = new Map();
  }

  of(client, word) {
    const said = this.sentences.get(client.client) ?? new Map();
    this.sentences.set(client.client, said);
    client.groups.forEach((group) => said.set(group.verdict, group.sentence));
    const busiest = client.groups[0]?.verdict ?? 'idle';
    const known = word && said.has(word) ? word : busiest;
    return { verdict: known, sentence: said.get(known) ?? '' };
  }

  forgetAllBut(names) {
    for (const name of this.sentences.keys()) if (!names.has(name)) this.sentences.delete(name);
  }
}

// `good`, `slow` or `bad`, a headline, and what is behind it: the worst first.
export function judge({ clients, memory, workers, errors, exports, latency, unwritable = null }) {
  const bad = [...ofState(unwritable), ...ofExports(exports), ...ofMemory(memory), ...ofWorkers(workers), ...ofErrors(errors)];
  const slow = clients
    .filter(({ limit }) => verdict(limit.verdict).held)
    .map(({ client, limit }) => ({ client, text: limit.sentence }));
  const moved = `${rate(sum(clients, 'sent_per_second'))} read, ${rate(sum(clients, 'received_per_second'))} written`;
  const busy = clients.filter((client) => client.sent_per_second + client.received_per_second >= 1000).length;
  if (bad.length) {
    return { level: 'bad', headline: bad[0].headline, moved, reasons: [...bad, ...slow] };
  }
  if (slow.length) {
    const who = many(slow.length, 'client', 'clients');
    return { level: 'slow', headline: `${who} could be faster`, moved, reasons: slow };
  }
  const headline = busy ? 'All is well' : 'All is well, and quiet';
  const waits = latency == null ? '' : `; p99 latency ${time(latency)}`;
  const about = `${many(clients.length, 'client', 'clients')}, ${busy} of them busy${waits}`;
  return { level: 'good', headline, moved, reasons: [{ text: clients.length ? `${about}.` : 'No client is connected.' }] };
}

function sum(clients, field) {
  return clients.reduce((sum, client) => sum + client[field], 0);
}

function ofState(unwritable) {
  if (!unwritable) return [];
  const text = `Records of clients cannot be written (${unwritable}): recorded ones continue. Make room in the state directory.`;
  return [{ headline: 'New NFSv4 clients wait', text }];
}

function ofExports(exports) {
  const gone = exports.filter((told) => told.gone);
  return [
    ...gone.map((told) => ({ headline: `Export ${told.export} is gone`, text: `It cannot be mounted: ${told.gone}.` })),
    ...['full', 'nearly full'].flatMap((level) => exports.filter((told) => fullness(told.capacity) === level).map((told) => ofSpace(told, level))),
  ];
}

function ofSpace({ export: name, capacity }, level) {
  const inodes = capacity.total_files ? `, ${number(capacity.free_files)} inodes` : '';
  return {
    headline: `Export ${name} is ${level}`,
    text: `${bytes(capacity.available_bytes)}${inodes} free on ${name}: free some space, or make its file system larger.`,
  };
}

function ofMemory(memory) {
  const held = `${bytes(memory.used.sending + memory.used.unread)} of ${bytes(memory.budget_bytes)}`;
  const advice = 'raise memory_budget, or find clients that do not read their replies';
  switch (memory.pressure) {
    case 'refuse':
      return [{ headline: 'New connections are refused', text: `Connection memory is used up (${held}): ${advice}.` }];
    case 'take-back':
      return [{ headline: 'Memory is short', text: `Connections hold ${held}, and the server shrinks windows: ${advice}.` }];
    default:
      return [];
  }
}

function ofWorkers(workers) {
  if (workers.calls_in_line === 0) return [];
  const text = `${workers.calls_in_line} calls are queued: the storage of an export is slow or hangs.`;
  return [{ headline: 'Storage delays calls', text }];
}

function ofErrors(errors) {
  const broken = Object.entries(errors).filter(([name, each]) => BROKEN.includes(name) && each > 0);
  return broken.map(([name, each]) => ({
    headline: HEADLINES[name] ?? 'Storage reports errors',
    text: `${each < 10 ? each.toFixed(1) : Math.round(each)} calls per second fail with ${name}; the log says more with --log debug.`,
  }));
}

// What was called between two answers of /v1/procedures: calls and errors a second, the quantiles of all.
export function between(before, after) {
  const seconds = after.seconds - before.seconds;
  if (!(seconds > 0)) return null;
  const known = new Map(before.procedures.map((procedure) => [name(procedure), procedure]));
  const errors = {};
  const buckets = new Map();
  let calls = 0;
  for (const procedure of after.procedures) {
    const old = known.get(name(procedure));
    calls += procedure.calls - (old?.calls ?? 0);
    for (const [status, number] of Object.entries(procedure.errors)) {
      errors[status] = (errors[status] ?? 0) + (number - (old?.errors[status] ?? 0)) / seconds;
    }
    count(buckets, procedure.latency.buckets, 1);
    count(buckets, old?.latency.buckets ?? [], -1);
  }
  return { calls: calls / seconds, errors, p50: quantile(buckets, 0.5), p99: quantile(buckets, 0.99) };
}

function name(procedure) {
  return `${procedure.program} ${procedure.version} ${procedure.procedure}`;
}

function count(buckets, told, sign) {
  for (const { below_seconds: below, calls } of told) {
    const end = below ?? Infinity;
    buckets.set(end, (buckets.get(end) ?? 0) + sign * calls);
  }
}

function quantile(buckets, part) {
  const ends = [...buckets].filter(([, calls]) => calls > 0).sort(([one], [two]) => one - two);
  const all = ends.reduce((sum, [, calls]) => sum + calls, 0);
  let below = 0;
  for (const [end, calls] of ends) {
    below += calls;
    if (below >= part * all) return end;
  }
  return null;
}

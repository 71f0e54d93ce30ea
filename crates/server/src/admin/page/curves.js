// What is known of each connection over the last two minutes: samples as they come, put behind what is there.

// Who is not looked at for so long moves nothing.
const RESTED = 2.6;

export class Curves {
  constructor() {
    this.now = 0;
    this.span = 120;
    this.byEnds = new Map();
    this.received = performance.now();
  }

  // An answer of /v1/samples.
  add(told) {
    if (told.now < this.now) this.byEnds.clear(); // the server was restarted
    this.now = told.now;
    this.span = told.span_seconds;
    this.received = performance.now();
    for (const connection of told.connections) {
      const key = `${connection.client} ${connection.server}`;
      const known = this.byEnds.get(key);
      if (known) append(known, connection);
      else this.byEnds.set(key, connection);
    }
    const oldest = this.now - this.span;
    for (const [key, connection] of this.byEnds) {
      forget(connection.samples, oldest);
      if (connection.samples.at.length === 0) this.byEnds.delete(key);
    }
  }

  // The server's clock, between two answers as well.
  clock() {
    return this.now + (performance.now() - this.received) / 1000;
  }

  // Those of a client, whatever its ports are, and those that are gone.
  of(hosts) {
    return [...this.byEnds.values()].filter((connection) => hosts.has(host(connection.client)));
  }

  all() {
    return [...this.byEnds.values()];
  }
}

// An address without its port.
export function host(address) {
  return address.slice(0, address.lastIndexOf(':'));
}

function append(known, more) {
  known.is_open = more.is_open;
  const last = known.samples.at.at(-1);
  const from = more.samples.at.findIndex((at) => at > last);
  if (from < 0) return;
  for (const name of Object.keys(known.samples)) known.samples[name].push(...more.samples[name].slice(from));
}

function forget(samples, oldest) {
  const first = samples.at.findIndex((at) => at >= oldest);
  const gone = first < 0 ? samples.at.length : first;
  // Some at a time: to cut arrays for each sample would cost more than to draw it.
  if (gone > 20 || gone === samples.at.length) {
    for (const column of Object.values(samples)) column.splice(0, gone);
  }
}

// The last figure, if it is of now.
export function latest(connection, column, now) {
  const { at } = connection.samples;
  return at.length && now - at.at(-1) < RESTED ? connection.samples[column].at(-1) : null;
}

// Sums of a column over connections, in slots of so many seconds that end at `now`; a rest is nothing.
export function summed(connections, column, now, span, slots) {
  const sums = new Float64Array(slots);
  const length = span / slots;
  for (const { samples } of connections) {
    const values = samples[column];
    for (let place = 0; place < samples.at.length; place += 1) {
      const end = samples.at[place];
      const rested = place === 0 || end - samples.at[place - 1] > RESTED;
      const begin = rested ? end - 0.5 : samples.at[place - 1];
      spread(sums, (begin - now + span) / length, (end - now + span) / length, values[place] ?? 0);
    }
  }
  return sums;
}

// Adds a value to the slots from `begin` to `end`, to the first and last as far as it covers them.
function spread(sums, begin, end, value) {
  for (let slot = Math.max(0, Math.floor(begin)); slot < Math.min(sums.length, Math.ceil(end)); slot += 1) {
    sums[slot] += value * (Math.min(end, slot + 1) - Math.max(begin, slot));
  }
}

// What limited connections for most of the last seconds, weighed by what they moved; null if nothing moved.
export function limited(connections, now, span) {
  const weights = new Map();
  for (const { samples } of connections) {
    for (let place = samples.at.findLastIndex((at) => at < now - span) + 1; place < samples.at.length; place += 1) {
      const moved = samples.sent_per_second[place] + samples.received_per_second[place];
      const word = samples.verdict[place];
      if (word && moved >= 1000) weights.set(word, (weights.get(word) ?? 0) + moved);
    }
  }
  return [...weights].reduce((most, next) => (most && most[1] >= next[1] ? most : next), null)?.[0] ?? null;
}

// Pieces of time under one verdict: [begin, end, word], of one connection or of whichever moved most.
export function ribbon(connections, now, span) {
  const slots = 120;
  const most = new Float64Array(slots).fill(-1);
  const words = new Array(slots).fill(null);
  const length = span / slots;
  for (const { samples } of connections) {
    for (let place = 0; place < samples.at.length; place += 1) {
      const end = (samples.at[place] - now + span) / length;
      const since = place ? samples.at[place] - samples.at[place - 1] : 0.5;
      const begin = end - Math.min(since, RESTED) / length;
      const moved = samples.sent_per_second[place] + samples.received_per_second[place];
      for (let slot = Math.max(0, Math.round(begin)); slot < Math.min(slots, Math.round(end)); slot += 1) {
        if (moved > most[slot]) {
          most[slot] = moved;
          words[slot] = moved < 1000 ? 'idle' : samples.verdict[place];
        }
      }
    }
  }
  const pieces = [];
  words.forEach((word, slot) => {
    const last = pieces.at(-1);
    if (last && last[2] === word) last[1] = slot + 1;
    else pieces.push([slot, slot + 1, word]);
  });
  return pieces.map(([begin, end, word]) => [begin / slots, end / slots, word]);
}

// All heads of a cluster: which ones are up, the addresses that each serves, and what limits its clients.

import { by, make } from './make.js';
import { count, rate, verdict } from './words.js';

const STATES = { up: 'up', stopped: 'stopped', down: 'down', unknown: 'unknown yet' };
const SHOWN_MAX = 8;

export function showHeads(list, { heads, is_current: isCurrent }) {
  by('heads-section').hidden = !heads.length;
  by('heads-old').hidden = isCurrent;
  list.replaceChildren(...heads.map(row));
}

function row(head) {
  const name = `${head.host ?? head.head}${head.is_this ? ' (this server)' : ''}`;
  const title = make('p', {},
    make('span', { class: 'name' }, name),
    make('span', { class: head.state === 'down' ? 'bad' : 'quiet' }, ` ${STATES[head.state] ?? head.state}`));
  return make('li', {}, title,
    make('p', { class: 'quiet' }, addresses(head)),
    ...head.clients.slice(0, SHOWN_MAX).map((client) => make('p', {}, line(client))),
    ...more(head));
}

function addresses({ state, addresses: all }) {
  if (!all.length) return 'serves no address';
  const lost = state === 'down' || state === 'stopped';
  return `${lost ? 'no head has taken over' : 'serves'} ${all.join(', ')}`;
}

function line({ client, server, connections, sent_per_second: read, received_per_second: written, verdict: word }) {
  const moves = word === 'idle' ? 'idle' : `${rate(read)} read, ${rate(written)} written, limited by ${verdict(word).label}`;
  return `${client} at ${server}: ${count(connections)} ${connections === 1 ? 'connection' : 'connections'}, ${moves}`;
}

function more({ clients, more_clients: unnamed }) {
  const hidden = Math.max(0, clients.length - SHOWN_MAX) + unnamed;
  return hidden ? [make('p', { class: 'quiet' }, `and ${count(hidden)} more clients`)] : [];
}

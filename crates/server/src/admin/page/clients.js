// The list of clients: who is slow comes first, each with its curve and what limited it. Who is opened tells more.

import { drawRibbon, drawSpark } from './charts.js';
import { host, latest, limited, ribbon, summed } from './curves.js';
import { Detail } from './detail.js';
import { Limits } from './health.js';
import { by, key, make, say } from './make.js';
import { many, rate, time, verdict } from './words.js';

// Rows that change places while somebody reads them cannot be read.
const ORDERED_EVERY = 5000;
const SLOTS = 60;
// What limits a client is said of so many seconds.
const STEADY = 6;

export class Clients {
  constructor() {
    this.list = by('clients');
    this.rows = new Map();
    this.limits = new Limits();
    this.orderedAt = -Infinity;
    this.seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) target.isSeen = isIntersecting;
    }, { rootMargin: '200px' });
    by('find').addEventListener('input', () => this.order(true));
    by('order').addEventListener('change', () => this.order(true));
  }

  // Clients as they are told; each is given what limits it.
  update(clients, curves) {
    const there = new Set(clients.map(({ client }) => client));
    this.limits.forgetAllBut(there);
    for (const [name, row] of this.rows) {
      if (there.has(name)) continue;
      this.seen.unobserve(row.item);
      row.item.remove();
      this.rows.delete(name);
    }
    for (const client of clients) {
      client.hosts = new Set(client.groups.flatMap((group) => group.connections.map((lane) => host(lane.client))));
      client.limit = this.limits.of(client, limited(curves.of(client.hosts), curves.now, STEADY));
      let row = this.rows.get(client.client);
      if (!row) {
        row = new Row(client);
        this.rows.set(client.client, row);
        this.list.append(row.item);
        this.seen.observe(row.item);
        this.orderedAt = -Infinity;
      }
      row.update(client);
    }
    this.order(false);
    this.sayNobody();
  }

  draw(curves) {
    for (const row of this.rows.values()) if (row.item.isSeen && !row.item.hidden) row.draw(curves);
  }

  open(name) {
    const row = this.rows.get(name);
    if (!row) return;
    row.toggle(true);
    row.button.focus();
    row.item.scrollIntoView({ block: 'nearest' });
  }

  order(now) {
    const wanted = by('find').value.trim().toLowerCase();
    for (const [name, row] of this.rows) row.item.hidden = !name.toLowerCase().includes(wanted);
    const busy = this.list.matches(':hover') || this.list.contains(document.activeElement);
    if (!now && (busy || performance.now() - this.orderedAt < ORDERED_EVERY)) return;
    this.orderedAt = performance.now();
    const rows = [...this.rows.values()].sort(ORDERS[by('order').value]);
    rows.forEach((row, place) => {
      if (this.list.children[place] !== row.item) this.list.insertBefore(row.item, this.list.children[place] ?? null);
    });
    this.sayNobody();
  }

  sayNobody() {
    const shown = [...this.rows.values()].some((row) => !row.item.hidden);
    by('nobody').hidden = shown;
    say(by('nobody'), this.rows.size ? 'No client matches.' : 'No client is connected over TCP.');
  }
}

const moved = ({ client }) => client.sent_per_second + client.received_per_second;
const slow = ({ client }) => Number(verdict(client.limit.verdict).held);
const byName = (one, two) => one.client.client.localeCompare(two.client.client, 'en', { numeric: true });
const byRate = (one, two) => moved(two) - moved(one) || byName(one, two);
const ORDERS = {
  trouble: (one, two) => slow(two) - slow(one) || byRate(one, two),
  rate: byRate,
  name: byName,
};

class Row {
  constructor(client) {
    this.client = client;
    this.lanes = make('small');
    this.limit = make('span', { class: 'limit' });
    this.read = make('span', { class: 'figure' });
    this.written = make('span', { class: 'figure' });
    this.rtt = make('span', { class: 'figure' });
    this.spark = make('canvas', { class: 'spark', 'aria-hidden': 'true' });
    this.ribbon = make('canvas', { class: 'ribbon', 'aria-hidden': 'true' });
    this.button = make('button', { type: 'button', 'aria-expanded': 'false', on: { click: () => this.toggle() } },
      make('span', { class: 'name' }, client.client, this.lanes), this.limit, this.read, this.written, this.rtt,
      make('span', { class: 'shape' }, this.spark, this.ribbon));
    this.item = make('li', { class: 'client' }, this.button);
    this.item.isSeen = true;
  }

  update(client) {
    this.client = client;
    const word = client.limit.verdict;
    if (this.said !== word) {
      this.said = word;
      this.limit.replaceChildren(key(`verdict-${word}`), verdict(word).label);
    }
    const here = client.is_local ? 'this host, ' : '';
    say(this.lanes, here + many(client.connections, 'connection', 'connections'));
    figure(this.read, 'read', rate(client.sent_per_second));
    figure(this.written, 'written', rate(client.received_per_second));
    this.detail?.update(client);
  }

  draw(curves) {
    const connections = curves.of(this.client.hosts);
    const now = curves.clock();
    const open = connections.filter((connection) => connection.is_open);
    const rtts = open.map((connection) => latest(connection, 'rtt_seconds', curves.now)).filter((rtt) => rtt != null);
    figure(this.rtt, 'round trip', rtts.length ? time(Math.max(...rtts)) : '–');
    drawSpark(this.spark, [
      { name: 'read', values: summed(connections, 'sent_per_second', now, curves.span, SLOTS) },
      { name: 'written', values: summed(connections, 'received_per_second', now, curves.span, SLOTS) },
    ]);
    drawRibbon(this.ribbon, ribbon(connections, now, curves.span));
    this.detail?.draw(curves, connections, now);
  }

  toggle(open = !this.detail) {
    this.button.setAttribute('aria-expanded', String(open));
    if (open && !this.detail) {
      this.detail = new Detail(this.client);
      this.item.append(this.detail.element);
    } else if (!open) {
      this.detail?.element.remove();
      this.detail = null;
    }
  }
}

function figure(element, name, text) {
  if (!element.firstChild) element.append(make('small', {}, name), make('span'));
  say(element.lastChild, text);
}

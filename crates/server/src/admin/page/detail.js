// One client, opened: what limits it and what to do, its connections, and of the chosen one all that is known over time.

import { drawChart, drawRibbon } from './charts.js';
import { latest, ribbon } from './curves.js';
import { key, make, say } from './make.js';
import { bytes, count, rate, time } from './words.js';

const RESTED = 2.6;

const CHARTS = [
  { title: 'Rate', write: rate, least: 1e3, lines: [['read', 'read', 'sent_per_second'], ['written', 'written', 'received_per_second']] },
  { title: 'Round trip', write: time, least: 1e-5, lines: [['now', 'second', 'rtt_seconds'], ['shortest', 'fourth', 'min_rtt_seconds', [4, 3]]] },
  {
    title: 'Sending', write: bytes, least: 1e3,
    lines: [['in flight', 'read', 'in_flight'], ['congestion window', 'second', 'congestion_window', [6, 3]],
      ["client's window", 'third', 'peer_window', [2, 2]], ['send buffer', 'fourth', 'send_buffer', [4, 3]], ['unsent', 'written', 'unsent']],
  },
  {
    title: 'Receiving', write: bytes, least: 1e3,
    lines: [['our window', 'read', 'window', [6, 3]], ['receive buffer', 'fourth', 'receive_buffer', [4, 3]], ['unread', 'written', 'unread']],
  },
  { title: 'Calls not answered yet', write: count, least: 2, lines: [['calls', 'third', 'outstanding']] },
];

export class Detail {
  constructor(client) {
    this.said = make('div', { class: 'said' });
    this.lanes = make('div', { class: 'lanes', role: 'group', 'aria-label': 'Choose a connection' });
    this.title = make('h3');
    this.when = make('output');
    this.slider = make('input', { type: 'range', min: '0', max: '240', value: '240', on: { input: () => this.redraw?.() } });
    const moment = make('label', { class: 'moment' }, 'Look at', this.slider, this.when);
    this.charts = CHARTS.map((chart) => new Chart(chart));
    this.element = make('div', { class: 'detail' }, this.said, this.lanes, this.title, moment,
      make('div', { class: 'charts' }, ...this.charts.map((chart) => chart.figure)));
    this.buttons = new Map();
    this.update(client);
  }

  update(client) {
    // Connections with another bottleneck are named, too.
    const others = client.groups.length > 1 ? client.groups.filter(({ verdict: word }) => word !== client.limit.verdict) : [];
    const lines = [client.limit, ...others].map((group) => [group.verdict, group.sentence]);
    if (JSON.stringify(lines) !== this.lines) {
      this.lines = JSON.stringify(lines);
      this.said.replaceChildren(...lines.map(([word, sentence]) => make('p', {}, key(`verdict-${word}`), sentence)));
    }
  }

  draw(curves, connections, now) {
    this.redraw = () => this.draw(curves, connections, now);
    this.chooseAmong(connections, curves, now);
    const chosen = connections.find((connection) => connection.client === this.chosen);
    const cursor = Number(this.slider.value) / Number(this.slider.max);
    const ago = (1 - cursor) * curves.span;
    say(this.when, ago < 0.25 ? 'now' : `${ago.toFixed(1)} s ago`);
    this.slider.setAttribute('aria-valuetext', this.when.textContent);
    say(this.title, chosen ? `Connection ${chosen.client}` : 'No connection of this client has carried data in the last two minutes');
    for (const chart of this.charts) chart.draw(chosen?.samples, now, curves.span, cursor);
  }

  chooseAmong(connections, curves, now) {
    const there = new Set(connections.map((connection) => connection.client));
    for (const [name, lane] of this.buttons) {
      if (there.has(name)) continue;
      lane.button.remove();
      this.buttons.delete(name);
    }
    for (const connection of connections) {
      if (!this.buttons.has(connection.client)) this.buttons.set(connection.client, this.lane(connection.client));
      const lane = this.buttons.get(connection.client);
      lane.draw(connection, curves, now);
      this.putWhereItBelongs(lane, connection.is_open);
    }
    // The busiest is shown until somebody chooses one.
    const chosen = connections.find((connection) => connection.client === this.chosen);
    if (!chosen || (!this.wasChosen && !moves(chosen, curves.now))) this.choose(busiest(connections, curves.now)?.client);
  }

  // Those that are gone stand behind those that are there.
  putWhereItBelongs(lane, open) {
    if (lane.open === open || lane.button.matches(':focus')) return;
    lane.open = open;
    const firstGone = [...this.buttons.values()].find((other) => other.open === false && other !== lane);
    if (!open) this.lanes.append(lane.button);
    else if (firstGone) this.lanes.insertBefore(lane.button, this.lanes.querySelector('.gone'));
    lane.button.classList.toggle('gone', !open);
  }

  lane(name) {
    const lane = new Lane(name, () => {
      this.wasChosen = true;
      this.choose(name);
      this.redraw?.();
    });
    this.lanes.append(lane.button);
    return lane;
  }

  choose(name) {
    this.chosen = name;
    for (const [other, lane] of this.buttons) lane.button.setAttribute('aria-pressed', String(other === name));
  }
}

// Bytes per second that an open connection moves now.
function moves(connection, now) {
  if (!connection.is_open) return 0;
  return (latest(connection, 'sent_per_second', now) ?? 0) + (latest(connection, 'received_per_second', now) ?? 0);
}

function busiest(connections, now) {
  const weight = (connection) => moves(connection, now) + (connection.is_open ? 1 : 0);
  return connections.reduce((most, next) => (!most || weight(next) > weight(most) ? next : most), null);
}

// A connection among those of its client.
class Lane {
  constructor(name, choose) {
    this.name = make('span', { class: 'name' }, name);
    this.rates = make('span', { class: 'figure' });
    this.rtt = make('span', { class: 'figure' });
    this.canvas = make('canvas', { 'aria-hidden': 'true' });
    this.button = make('button', { type: 'button', 'aria-pressed': 'false', on: { click: choose } },
      this.name, this.rates, this.rtt, this.canvas);
  }

  draw(connection, curves, now) {
    const [sent, received] = ['sent_per_second', 'received_per_second'].map((name) => latest(connection, name, curves.now) ?? 0);
    const gone = connection.is_open ? '' : 'closed';
    say(this.rates, gone || rate(Math.max(sent, received)));
    say(this.rtt, time(latest(connection, 'rtt_seconds', curves.now)));
    drawRibbon(this.canvas, ribbon([connection], now, curves.span));
  }
}

// One chart of the chosen connection, and its figures at the moment that is looked at.
class Chart {
  constructor({ title, write, least, lines }) {
    this.least = least;
    this.write = write;
    this.lines = lines;
    this.canvas = make('canvas', { role: 'img', 'aria-label': `${title} over the last two minutes; the figures are below` });
    this.figures = lines.map(([label, name]) => ({ label, text: make('span'), name }));
    this.figure = make('figure', {}, this.canvas, make('figcaption', {}, make('strong', {}, title),
      ...this.figures.map(({ label, text, name }) => make('span', {}, key(name), `${label} `, text))));
  }

  draw(samples, now, span, cursor) {
    const at = samples?.at ?? [];
    const place = (when) => 1 - (now - when) / span;
    const drawn = this.lines.map(([, name, column, dash]) => {
      const points = [];
      at.forEach((when, index) => {
        if (index && when - at[index - 1] > RESTED) points.push([place(at[index - 1]), null]);
        if (when >= now - span) points.push([place(when), samples[column][index]]);
      });
      return { name, points, dash };
    });
    drawChart(this.canvas, drawn, this.least, this.write, cursor, span);
    // What was seen last before that moment.
    const moment = now - (1 - cursor) * span;
    const index = at.findLastIndex((when) => when <= moment + 0.25);
    const fresh = index >= 0 && moment - at[index] < RESTED;
    this.lines.forEach(([, , column], line) => {
      say(this.figures[line].text, fresh ? this.write(samples[column][index]) : '–');
    });
  }
}

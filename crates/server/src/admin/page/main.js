// Asks twice a second, and shows what is answered.

import { NeedsToken, ask, dropToken, hadToken, keepToken, takeToken } from './ask.js';
import { drawSpark } from './charts.js';
import { Clients } from './clients.js';
import { Curves, summed } from './curves.js';
import { showExports } from './exports.js';
import { showHeads } from './heads.js';
import { between, judge } from './health.js';
import { by, key, make, say } from './make.js';
import { showUplinks } from './uplinks.js';
import { VERDICTS, age, bytes, count, rate, time } from './words.js';

const STEP = 500;
// What changes slowly is asked for less often: every so many steps.
const SLOWLY = 2;
const RARELY = 4;
const SELDOM = 20;

const curves = new Curves();
const clients = new Clients();
const known = { clients: [], exports: [], between: null };
let steps = 0;
let paused = false;
let lost = 0;

async function look() {
  const slowly = steps % SLOWLY === 0;
  const rarely = steps % RARELY === 0;
  // All that was before the page was opened comes with the first answer.
  const since = steps ? `?since=${curves.now}` : '';
  const [samples, list, memory, workers, uplinks, heads, procedures, exports] = await Promise.all([
    ask(`/v1/samples${since}`),
    slowly ? ask('/v1/clients') : null,
    slowly ? ask('/v1/memory') : null,
    slowly ? ask('/v1/workers') : null,
    slowly ? ask('/v1/uplinks') : null,
    slowly ? ask('/v1/heads') : null,
    rarely ? ask('/v1/procedures') : null,
    steps % SELDOM === 0 ? ask('/v1/exports') : null,
  ]);
  if (!known.index) known.index = await ask('/v1');
  if (samples.now < curves.now) known.procedures = null;
  curves.add(samples);
  Object.assign(known, memory && { memory }, workers && { workers }, list && { clients: list.clients, mode: list.mode, unwritable: list.unwritable });
  if (procedures) {
    if (known.procedures) known.between = between(known.procedures, procedures) ?? known.between;
    known.procedures = procedures;
  }
  if (list) clients.update(list.clients, curves);
  if (uplinks) showUplinks(by('uplinks'), uplinks.uplinks);
  if (heads) showHeads(by('heads'), heads);
  if (exports) {
    known.exports = exports.exports;
    showExports(by('exports'), known.exports);
  }
  steps += 1;
}

function show() {
  const { clients: list, memory, workers, between: calls, index } = known;
  const health = judge({ clients: list, memory, workers, errors: calls?.errors ?? {}, exports: known.exports, latency: calls?.p99, unwritable: known.unwritable });
  if (known.mode === 'off') health.reasons = [{ text: 'Connections are not measured (--no-tuning), so their bottlenecks are unknown.' }];
  showHealth(health);
  const place = (address) => address.replace(/^(\[::\]|0\.0\.0\.0):(\d+)$/, 'port $2 of every address');
  const listening = index.listening.map(place).join(', ');
  say(by('about'), `${index.howdah} on ${listening}, process ${index.process}, up ${age(curves.now)}`);
  tiles([
    ['calls', calls ? `${count(calls.calls)}/s` : '…'],
    ['p50 latency', calls ? time(calls.p50) : '…'],
    ['p99 latency', calls ? time(calls.p99) : '…'],
    ['workers in storage', `${workers.in_storage} of ${workers.workers}`],
    ['memory held', bytes(memory.used.sending + memory.used.unread)],
    ['connections', count(list.reduce((sum, client) => sum + client.connections, 0))],
  ]);
  draw();
}

function draw() {
  const now = curves.clock();
  const [read, written] = ['sent_per_second', 'received_per_second'].map((column) => summed(curves.all(), column, now, curves.span, 240));
  drawSpark(by('whole'), [{ name: 'read', values: read }, { name: 'written', values: written }], curves.span);
  say(by('most'), `at most ${rate(Math.max(...read, ...written))}`);
  clients.draw(curves);
}

function showHealth({ level, headline, moved, reasons }) {
  by('health').dataset.level = level;
  say(by('headline'), headline);
  say(by('moved'), moved);
  document.title = level === 'good' ? 'howdah' : `${headline} – howdah`;
  // A person who is at one of these keeps it.
  const text = JSON.stringify(reasons);
  if (text === known.reasons || by('reasons').contains(document.activeElement)) return;
  known.reasons = text;
  by('reasons').replaceChildren(...reasons.map(({ client, text }) => {
    if (!client) return make('li', {}, text);
    const go = (event) => {
      event.preventDefault();
      clients.open(client);
    };
    return make('li', {}, make('a', { href: '#clients', on: { click: go } }, client), `: ${text}`);
  }));
}

function tiles(all) {
  const list = by('tiles');
  if (!list.firstChild) list.append(...all.map(([name]) => make('div', {}, make('dt', {}, name), make('dd'))));
  all.forEach(([, text], place) => say(list.children[place].lastChild, text));
}

async function turn() {
  const began = performance.now();
  try {
    if (!paused && !document.hidden) {
      await look();
      lost = 0;
      by('all').hidden = false;
      by('logout').hidden = !hadToken();
      show();
    }
  } catch (error) {
    if (error instanceof NeedsToken) return login();
    lost += 1;
    // One that is missed is no news.
    if (lost > 2) noContact(error);
  }
  setTimeout(turn, Math.max(50, STEP * Math.min(lost + 1, 10) - (performance.now() - began)));
}

function noContact(error) {
  by('all').hidden = false;
  showHealth({ level: 'lost', headline: 'The server does not answer', moved: 'The figures are out of date.', reasons: [{ text: String(error.message) }] });
}

function login() {
  by('logout').hidden = true;
  by('all').hidden = true;
  by('login').hidden = false;
  say(by('login-why'), hadToken() ? 'That is not the token of this server.' : '');
  by('token').focus();
}

by('login').addEventListener('submit', (event) => {
  event.preventDefault();
  keepToken(by('token').value);
  by('token').value = '';
  by('login').hidden = true;
  turn();
});

by('logout').addEventListener('click', () => {
  dropToken();
  // Nothing of what was shown is left in the tab.
  location.reload();
});

by('pause').addEventListener('click', () => {
  paused = !paused;
  by('pause').setAttribute('aria-pressed', String(paused));
  say(by('pause'), paused ? 'Resume' : 'Pause');
});

by('words').append(...Object.entries(VERDICTS).map(([word, { label }]) =>
  make('li', {}, key(`verdict-${word}`), make('strong', {}, word), `: limited by ${label}`)));
addEventListener('resize', () => steps && draw());
addEventListener('hashchange', () => {
  if (location.hash.includes('token=')) location.reload();
});
takeToken();
turn();

// The far side of exports of other servers: what limits each, the path, and the caches before it.

import { by, make } from './make.js';
import { bytes, count, rate, time } from './words.js';

const SIDES = { near: 'limited by the clients', relay: 'limited by this host', far: 'limited by the far side', none: 'idle' };

export function showUplinks(list, uplinks) {
  by('uplinks-section').hidden = !uplinks.length;
  list.replaceChildren(...uplinks.map(row));
}

function row(told) {
  const head = make('p', {},
    make('span', { class: 'name' }, `${told.export}: ${told.url}`),
    make('span', { class: told.is_up ? 'quiet' : 'bad' }, ` ${told.is_up ? SIDES[told.limited_by] : 'does not answer'}`));
  return make('li', {}, head,
    make('p', {}, told.sentence),
    make('p', { class: 'quiet' }, [...path(told), ...caches(told.cache), ...disk(told.disk)].join(', ')));
}

function path(told) {
  return [
    `${rate(told.read_per_second)} read`,
    `${rate(told.written_per_second)} written`,
    `${count(told.connections)} connections`,
    told.rtt_seconds == null ? null : `round trip ${time(told.rtt_seconds)}`,
    `${count(told.calls_in_flight)} of ${count(told.calls_in_flight_max)} calls in flight`,
  ].filter(Boolean);
}

function caches(cache) {
  if (!cache) return [];
  const hits = (good, bad, what) => (good + bad ? `${Math.round((100 * good) / (good + bad))} % of ${what} from memory` : null);
  return [
    hits(cache.attribute_hits, cache.attribute_misses, 'attributes'),
    hits(cache.data_hits, cache.data_misses, 'reads'),
    `${bytes(cache.dirty_bytes)} of ${bytes(cache.dirty_bytes_max)} dirty`,
  ].filter(Boolean);
}

function disk(disk) {
  return disk ? [disk.sentence] : [];
}

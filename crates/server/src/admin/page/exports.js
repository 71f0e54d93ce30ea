// The list of exports: how full each is. Those that are gone come first, then full ones, each by name: file systems change by the second,
// and a list in the order of their bytes would never stand still.

import { make } from './make.js';
import { fullness, used } from './space.js';
import { bytes, count } from './words.js';

const SHOWN_MAX = 200;

export function showExports(list, exports) {
  const served = exports.filter(({ id }) => id != null);
  const trouble = ({ gone, capacity }) => (gone ? 2 : 0) + (fullness(capacity) ? 1 : 0);
  const order = (one, two) => trouble(two) - trouble(one) || one.export.localeCompare(two.export);
  const rows = served.sort(order).slice(0, SHOWN_MAX);
  list.replaceChildren(...rows.map(row));
}

function row(told) {
  const { capacity } = told;
  const name = make('span', { class: 'name' }, told.export);
  if (told.gone) return make('li', { class: 'export' }, name, make('span', {}, `gone: ${told.gone}`));
  if (!capacity) return make('li', { class: 'export' }, name, make('span', { class: 'quiet' }, 'not served, or its storage does not answer'));
  const percent = Math.round(used(capacity) * 100);
  const inodes = capacity.total_files ? `, ${count(capacity.free_files)} of ${count(capacity.total_files)} inodes free` : '';
  return make('li', { class: 'export' }, name,
    make('meter', { min: '0', max: '100', high: '90', optimum: '0', value: String(percent), 'aria-label': `${percent} % used` }),
    make('span', {}, `${bytes(capacity.available_bytes)} free of ${bytes(capacity.total_bytes)} (${percent} % used)${inodes}`));
}

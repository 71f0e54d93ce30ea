// The list of exports: how full each is. Those that are gone come first, then the fullest.

import { make } from './make.js';
import { bytes, count } from './words.js';

const SHOWN_MAX = 200;

export function showExports(list, exports) {
  const served = exports.filter(({ id }) => id != null);
  const rows = served.sort((one, two) => !!two.gone - !!one.gone || used(two) - used(one) || one.export.localeCompare(two.export)).slice(0, SHOWN_MAX);
  list.replaceChildren(...rows.map(row));
}

// The part that users other than root cannot have any more.
function used({ capacity }) {
  return capacity?.total_bytes ? 1 - capacity.available_bytes / capacity.total_bytes : 0;
}

function row(told) {
  const { capacity } = told;
  const name = make('span', { class: 'name' }, told.export);
  if (told.gone) return make('li', { class: 'export' }, name, make('span', {}, `gone: ${told.gone}`));
  if (!capacity) return make('li', { class: 'export' }, name, make('span', { class: 'quiet' }, 'not served, or its storage does not answer'));
  const percent = Math.round(used(told) * 100);
  const inodes = capacity.total_files ? `, ${count(capacity.free_files)} of ${count(capacity.total_files)} inodes free` : '';
  return make('li', { class: 'export' }, name,
    make('meter', { min: '0', max: '100', high: '90', optimum: '0', value: String(percent), 'aria-label': `${percent} % used` }),
    make('span', {}, `${bytes(capacity.available_bytes)} of ${bytes(capacity.total_bytes)} free (${percent} % used)${inodes}`));
}

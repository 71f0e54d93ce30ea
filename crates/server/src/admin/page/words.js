// What figures and verdicts are called. Pure: text in, text out.

// Word: what people read, which side it is on, whether a faster answer was wanted.
export const VERDICTS = {
  'idle': { label: 'the client itself', side: 'nobody', held: false },
  'path-full': { label: 'the network (full)', side: 'nobody', held: false },
  'ramping': { label: 'connection start-up', side: 'nobody', held: false },
  'client-slots': { label: 'too few client calls in flight', side: 'client', held: true },
  'client-send-buffer': { label: "the client's send buffer", side: 'client', held: true },
  'peer-window': { label: "the client's window", side: 'client', held: true },
  'send-buffer': { label: "the server's send buffer", side: 'server', held: true },
  'our-window': { label: "the server's window", side: 'server', held: true },
  'storage': { label: 'storage', side: 'server', held: true },
  'processor': { label: 'the server CPU', side: 'server', held: true },
  'capped': { label: 'a [limit] rule of the server', side: 'server', held: true },
  'encrypting': { label: 'the server CPU (TLS)', side: 'server', held: true },
  'loss': { label: 'packet loss', side: 'network', held: true },
};

const UNKNOWN = { label: 'not measured yet', side: 'nobody', held: false };

export function verdict(word) {
  return VERDICTS[word] ?? (word ? { label: word, side: 'server', held: true } : UNKNOWN);
}

function scaled(value, base, units) {
  let place = 0;
  while (Math.abs(value) >= base && place < units.length - 1) {
    value /= base;
    place += 1;
  }
  const digits = place === 0 || Math.abs(value) >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[place]}`;
}

export function bytes(value) {
  return value == null ? '–' : scaled(value, 1000, ['B', 'kB', 'MB', 'GB', 'TB', 'PB']);
}

export function rate(value) {
  return value == null ? '–' : `${bytes(value)}/s`;
}

export function count(value) {
  return value == null ? '–' : scaled(value, 1000, ['', 'k', 'M', 'G']).trim();
}

export function time(seconds) {
  if (seconds == null || !Number.isFinite(seconds)) return '–';
  if (seconds === 0) return '0';
  if (seconds < 1e-3) return `${(seconds * 1e6).toFixed(0)} µs`;
  if (seconds < 1) return `${(seconds * 1e3).toFixed(seconds < 0.1 ? 1 : 0)} ms`;
  return `${seconds.toFixed(1)} s`;
}

export function age(seconds) {
  const units = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]];
  const [unit, length] = units.find(([, length]) => seconds >= length) ?? units[3];
  return `${Math.floor(seconds / length)} ${unit}`;
}

export function many(number, one, several) {
  return `${number} ${number === 1 ? one : several}`;
}

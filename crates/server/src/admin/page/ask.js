// Asks the server. The token comes behind `#token=`, which browsers send to nobody, or by the form; it is kept for this tab alone.

const KEY = 'howdah-token';

export class NeedsToken extends Error {}

export function takeToken() {
  const said = new URLSearchParams(location.hash.slice(1)).get('token');
  if (said) {
    keepToken(said);
    // Not in the history, nor in a link that somebody copies.
    history.replaceState(null, '', location.pathname);
  }
}

export function keepToken(token) {
  sessionStorage.setItem(KEY, token.trim());
}

export function dropToken() {
  sessionStorage.removeItem(KEY);
}

export function hadToken() {
  return sessionStorage.getItem(KEY) !== null;
}

export async function ask(path) {
  const token = sessionStorage.getItem(KEY);
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch(path, { headers, cache: 'no-store', signal: AbortSignal.timeout(10_000) });
  if (answer.status === 401) throw new NeedsToken(path);
  if (!answer.ok) {
    const said = await answer.json().catch(() => ({}));
    throw new Error(said.error ?? `${path}: ${answer.status}`);
  }
  return answer.json();
}

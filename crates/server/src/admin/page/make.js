// Makes elements. What clients are called is text here, never markup.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'on') Object.entries(value).forEach(([event, run]) => element.addEventListener(event, run));
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// Says it, unless it is said already: who listens to a page hears of changes alone.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function key(name) {
  return make('span', { class: `key ${name}`, 'aria-hidden': 'true' });
}

export function by(id) {
  return document.getElementById(id);
}

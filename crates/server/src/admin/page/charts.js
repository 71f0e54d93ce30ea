// Draws curves and ribbons on canvases, in the colours of the style sheet.

const colours = new Map();

// The colours change with the light: they are asked for again then.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => colours.clear());

export function colour(name) {
  if (!colours.has(name)) {
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return colours.get(name);
}

// The canvas at the size and sharpness that it is shown with, empty; null if it is not shown.
function fresh(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  if (!width || !height) return null;
  const sharp = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * sharp) || canvas.height !== Math.round(height * sharp)) {
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
  }
  const pen = canvas.getContext('2d');
  pen.setTransform(sharp, 0, 0, sharp, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
}

// Pieces of time, each in the colour of its verdict.
export function drawRibbon(canvas, pieces, cursor = null) {
  const place = fresh(canvas);
  if (!place) return;
  const { pen, width, height } = place;
  pen.fillStyle = colour('rest');
  pen.fillRect(0, 0, width, height);
  for (const [begin, end, word] of pieces) {
    if (!word) continue;
    pen.fillStyle = colour(`verdict-${word}`) || colour('ink');
    pen.fillRect(begin * width, 0, (end - begin) * width + 0.5, height);
  }
  drawCursor(pen, cursor, width, height);
}

// A filled curve: what moved. With a span, the time is written below it.
export function drawSpark(canvas, series, span = null) {
  const place = fresh(canvas);
  if (!place) return;
  const { pen, width } = place;
  let { height } = place;
  if (span) {
    const size = fontSize(height);
    pen.font = `${size}px system-ui, sans-serif`;
    drawTimes(pen, width, height, span);
    height -= size + 2;
  }
  const most = Math.max(1, ...series.map(({ values }) => values.reduce((most, value) => Math.max(most, value), 0)));
  for (const { values, name } of series) {
    const step = width / values.length;
    pen.beginPath();
    pen.moveTo(0, height);
    values.forEach((value, slot) => {
      const y = height - (value / most) * (height - 2);
      pen.lineTo(slot * step, y);
      pen.lineTo((slot + 1) * step, y);
    });
    pen.lineTo(width, height);
    pen.globalAlpha = 0.35;
    pen.fillStyle = colour(name);
    pen.fill();
    pen.globalAlpha = 1;
    pen.strokeStyle = colour(name);
    pen.stroke();
  }
}

// When it was, below a chart that ends now and is `span` seconds long.
function drawTimes(pen, width, height, span) {
  pen.fillStyle = colour('quiet');
  pen.strokeStyle = colour('grid');
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const x = part * width;
    if (part > 0 && part < 1) {
      pen.beginPath();
      pen.moveTo(x, 0);
      pen.lineTo(x, height);
      pen.stroke();
    }
    pen.textAlign = part === 0 ? 'left' : part === 1 ? 'right' : 'center';
    pen.fillText(part === 1 ? 'now' : `−${Math.round((1 - part) * span)} s`, x, height - 2);
  }
  pen.textAlign = 'left';
}

// Lines over time with an axis that reaches `least` at least: `lines` are {name, points: [[part of the time, value]…], dash}.
export function drawChart(canvas, lines, least, write, cursor, span) {
  const place = fresh(canvas);
  if (!place) return;
  const { pen, width } = place;
  const size = fontSize(place.height);
  const height = place.height - size - 2;
  pen.font = `${size}px system-ui, sans-serif`;
  drawTimes(pen, width, place.height, span);
  const most = nice(Math.max(least, ...lines.flatMap(({ points }) => points.map(([, value]) => value ?? 0))));
  const y = (value) => height - 4 - (value / most) * (height - 20);
  for (const part of [0, 0.5, 1]) {
    pen.strokeStyle = colour('grid');
    pen.beginPath();
    pen.moveTo(0, y(part * most));
    pen.lineTo(width, y(part * most));
    pen.stroke();
    pen.fillStyle = colour('quiet');
    if (part) pen.fillText(write(part * most), 2, y(part * most) - 3);
  }
  for (const { name, points, dash } of lines) {
    pen.strokeStyle = colour(name);
    pen.lineWidth = 1.75;
    pen.setLineDash(dash ?? []);
    pen.beginPath();
    let drawing = false;
    for (const [at, value] of points) {
      if (value == null) drawing = false;
      else if (drawing) pen.lineTo(at * width, y(value));
      else pen.moveTo(at * width, y(value));
      drawing = value != null;
    }
    pen.stroke();
  }
  pen.setLineDash([]);
  pen.lineWidth = 1;
  drawCursor(pen, cursor, width, height);
}

function drawCursor(pen, cursor, width, height) {
  if (cursor == null || cursor >= 1) return;
  pen.strokeStyle = colour('ink');
  pen.beginPath();
  pen.moveTo(cursor * width, 0);
  pen.lineTo(cursor * width, height);
  pen.stroke();
}

function fontSize(height) {
  return Math.max(11, height / 11);
}

// The next of 1, 2, 5, 10… above.
function nice(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value);
}

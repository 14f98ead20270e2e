// SPDX-License-Identifier: BSD-3-Clause
// The page of a view: arrays, camera, controls. Drawn by view_gl.js, made by view.py.

const get = id => document.getElementById(id), scene = JSON.parse(get("scene").textContent);
const longest = Math.max(...scene.size), size = scene.size.map(x => x / longest), reach = scene.reach.map(x => x / longest);
const thin = size.findIndex(x => x < 0.03);  // axis of a plane flow, or -1
const tight = thin < 0 && scene.porosity < 0.3;  // few pores are met by a slice: what can be seen is behind the solid
const state = {}, cache = new Map();
let drawing, shown = {}, asked = 0, playing = 0;

function bytes(text) {
  const characters = atob(text), out = new Uint8Array(characters.length);
  for (let n = 0; n < out.length; ++n) out[n] = characters.charCodeAt(n);
  return out;
}

/// Array `number` of integers of `width` bytes, as scene.py packed them.
async function unpacked(number, width) {
  const stream = new Blob([bytes(get("array" + number).textContent)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer()), n = planes.length / width;
  const out = new {1: Uint8Array, 2: Uint16Array, 4: Uint32Array}[width](n);
  for (let k = 0, value = 0; k < n; ++k) {
    let code = 0;
    for (let b = 0; b < width; ++b) code |= planes[b * n + k] << (8 * b);
    out[k] = value += (code >>> 1) ^ -(code & 1);
  }
  return out;
}

/// What `make` returns for a key, made once.
function once(key, make) {
  if (!cache.has(key)) cache.set(key, make());
  return cache.get(key);
}

const volume = number => once("volume" + number, () => unpacked(number, 1));

/// Coordinates of all points, x, y, z of each.
async function pointsOf(number) {
  const planes = await unpacked(number, 2), n = planes.length / 3, out = new Uint16Array(3 * n);
  for (let d = 0; d < 3; ++d) for (let k = 0; k < n; ++k) out[3 * k + d] = planes[d * n + k];
  return out;
}

const wallOf = wall => once("wall" + wall.points, async () => drawing.wallOf(await pointsOf(wall.points), await unpacked(wall.corners, 4), reach));

const linesOf = lines => once("lines" + lines.points, async () => {
  const points = await pointsOf(lines.points), counts = await unpacked(lines.counts, 4);
  const segments = new Uint16Array(6 * (points.length / 3 - counts.length));
  let at = 0, first = 0;
  for (const count of counts) {
    for (let k = first; k < first + count - 1; ++k, at += 6) segments.set(points.subarray(3 * k, 3 * k + 6), at);
    first += count;
  }
  return drawing.linesOf(segments);
});

/// A number with three digits, in a unit with a prefix where that is common.
function text(value, unit) {
  const prefixes = {"-3": "n", "-2": "µ", "-1": "m", 0: "", 1: "k", 2: "M"};
  const power = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)) / 3 + 1e-9);
  if (["m/s", "m", "s", "Pa"].includes(unit) && prefixes[power] !== undefined && !(unit === "s" && power > 0))
    return `${+(value / 1000 ** power).toPrecision(3)} ${prefixes[power]}${unit}`;
  const plain = value === 0 || Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5 ? `${+value.toPrecision(3)}` : value.toExponential(2);
  return unit === "1" || unit === "" ? plain : `${plain} ${unit}`;
}

// The camera: a direction to look from, a distance, and what is in the middle.
const initial = () => ({azimuth: thin === 1 || thin < 0 ? -52 : thin === 0 ? 0 : -90, height: thin === 2 ? 90 : thin < 0 ? 28 : 0, zoom: 1, middle: size.map(x => x / 2)});
const NARROW = 0.28;  // tangent of half the angle of view of the smaller side
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/// Right, up, and towards the eye.
function axes() {
  const a = state.camera.azimuth * Math.PI / 180, h = state.camera.height * Math.PI / 180;
  return [[-Math.sin(a), Math.cos(a), 0], [-Math.sin(h) * Math.cos(a), -Math.sin(h) * Math.sin(a), Math.cos(h)],
    [Math.cos(h) * Math.cos(a), Math.cos(h) * Math.sin(a), Math.sin(h)]];
}

/// Matrix, distance of the eye, and zoom of x and y; the sample fits at zoom 1, below the title.
function eyeOf(width, height) {
  const [right, up, towards] = axes(), {zoom, middle} = state.camera, tangent = [NARROW * Math.max(width / height, 1), NARROW * Math.max(height / width, 1)];
  let distance = 0;
  for (let corner = 0; corner < 8; ++corner) {
    const p = size.map((x, d) => ((corner >> d & 1) - 0.5) * x);
    distance = Math.max(distance, dot(p, towards) + (thin < 0 ? 1.12 : 1.2) * Math.max(Math.abs(dot(p, right)) / tangent[0], Math.abs(dot(p, up)) / tangent[1]));
  }
  distance /= zoom;
  const scale = [1 / tangent[0], 1 / tangent[1]], near = Math.max(distance - 2, 0.01 * distance), far = distance + 4;
  const [A, B] = [(far + near) / (near - far), 2 * far * near / (near - far)];
  const eye = new Float32Array(16);
  for (let d = 0; d < 3; ++d) {
    eye[4 * d] = scale[0] * right[d];
    eye[4 * d + 1] = scale[1] * up[d];
    eye[4 * d + 2] = A * towards[d];
    eye[4 * d + 3] = -towards[d];
  }
  const z = -dot(middle, towards) - distance;  // of the origin, in front of the eye: negative
  eye[12] = -scale[0] * dot(middle, right);
  eye[13] = -scale[1] * dot(middle, up) - 0.05 * distance;
  eye[14] = A * z + B;
  eye[15] = -z;
  return {eye, distance, zoom: scale, towards};
}

function place(eye, p, width, height) {
  const row = k => eye[k] * p[0] + eye[4 + k] * p[1] + eye[8 + k] * p[2] + eye[12 + k], w = row(3);
  return [(row(0) / w + 1) / 2 * width, (1 - row(1) / w) / 2 * height];
}

/// Lengths of the edges, beside them.
function showLengths(eye, width, height) {
  const [x, y, z] = size, out = 0.06;
  const ends = [[x / 2, -out, thin === 2 ? 0 : -out], [x + out, y / 2, thin === 2 ? 0 : -out], [-out / 2, -out / 2, z / 2]];
  [...get("labels").children].forEach((label, d) => {
    const [left, top] = place(eye, ends[d], width, height);
    const half = label.offsetWidth / 2 + 4;
    label.style.left = `${Math.min(Math.max(left, half), width - half)}px`;
    label.style.top = `${Math.min(Math.max(top, 12), height - 12)}px`;
  });
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    const {canvas} = drawing, ratio = Math.min(devicePixelRatio || 1, 2), {clientWidth: w, clientHeight: h} = canvas;
    if (canvas.width !== Math.round(w * ratio)) canvas.width = Math.round(w * ratio);
    if (canvas.height !== Math.round(h * ratio)) canvas.height = Math.round(h * ratio);
    const {eye, zoom, towards} = eyeOf(w, h), field = scene.fields[state.field], slices = state.slices.map(Boolean);
    drawing.draw({eye, zoom, light: towards, size, reach, cut: state.places.map((t, d) => t * size[d]), slices, solid: state.solid,
      radius: thin < 0 ? 0.0028 : 0.0012, flat: thin >= 0,
      cutOn: slices.map(on => on && state.cut ? 1 : 0), top: field ? Math.max(state.tops[state.field], 1) / 255 : 1, hasField: !!shown.field,
      wall: state.wall && shown.wall, fieldOnWall: state.onwall && !!field && !field.speed, lines: state.lines && shown.lines});
    showLengths(eye, w, h);
    document.body.dataset.drawn = (+document.body.dataset.drawn || 0) + 1;
  });
}

/// Loads what the state asks for and draws it; a later call wins.
async function load() {
  const turn = ++asked, frame = scene.frames[state.frame], field = scene.fields[state.field];
  const lines = field && frame.lines[field.velocity];
  const [wallField, values, wall, tubes] = await Promise.all([volume(frame.wall.volume), field && volume(frame.fields[state.field]),
    frame.wall.triangles ? wallOf(frame.wall) : null, lines ? linesOf(lines) : null]);
  if (turn !== asked) return;
  if (shown.wallField !== wallField) drawing.texture(0, wallField, scene.cells);
  if (shown.field !== values) drawing.texture(1, values || new Uint8Array(1), values ? scene.cells : [1, 1, 1]);
  shown = {wallField, field: values, wall, lines: tubes};
  redraw();
}

function showValues() {
  const field = scene.fields[state.field], range = field && field.high - field.low;
  for (const name of ["wall", "solid", "lines", "cut", "onwall"]) get(name).checked = state[name];
  state.slices.forEach((on, d) => {
    get("slice" + d).checked = on;
    get("at" + d).value = 1000 * state.places[d];
    get("place" + d).textContent = text(state.places[d] * scene.size[d], "m");
  });
  get("onwall").parentElement.hidden = !field || field.speed;
  if (field) {
    get("field").value = state.field;
    get("top").value = state.tops[state.field];
    const top = field.low + range * state.tops[state.field] / 255, ends = [field.low, (field.low + top) / 2, top];
    [...get("numbers").children].forEach((label, n) => label.textContent = (n === 2 && top < field.high ? "≥ " : "") + text(ends[n], field.unit));
  }
  get("frame").value = state.frame;
  get("clock").querySelector("output").textContent = text(scene.frames[state.frame].time, "s");
  redraw();
}

function change(values) {
  Object.assign(state, values);
  showValues();
  load().catch(fail);
}

function reset() {
  change({camera: initial(), field: 0, frame: scene.start, wall: true, solid: !tight, lines: true, cut: thin < 0, onwall: false,
    slices: [0, 1, 2].map(d => thin < 0 ? !tight : thin === d), places: [0.5, 0.5, 0.5],
    tops: scene.fields.map(f => f.high > f.low ? Math.max(1, Math.ceil(255 * (f.top - f.low) / (f.high - f.low))) : 255)});
}

const SIDES = [[0, 0], [-90, 0], [-90, 90], [-52, 28]];
let side = -1;
function nextSide() {
  side = (side + 1) % SIDES.length;
  [state.camera.azimuth, state.camera.height] = SIDES[side];
  redraw();
}

function turn(dx, dy) {
  state.camera.azimuth -= dx;
  state.camera.height = Math.min(90, Math.max(-90, state.camera.height + dy));
  redraw();
}

const zoomBy = factor => (state.camera.zoom = Math.min(30, Math.max(0.3, state.camera.zoom * factor)), redraw());

/// Moves by pixels.
function move(dx, dy) {
  const {clientWidth: w, clientHeight: h} = drawing.canvas, {distance} = eyeOf(w, h), [right, up] = axes();
  const length = 2 * NARROW * distance / Math.min(w, h);
  state.camera.middle = state.camera.middle.map((x, d) => x - right[d] * dx * length + up[d] * dy * length);
  redraw();
}

function play() {
  if (playing) clearInterval(playing);
  playing = playing ? 0 : setInterval(() => change({frame: (state.frame + 1) % scene.frames.length}), 500);
  get("play").textContent = playing ? "❚❚" : "▶";
  get("play").setAttribute("aria-label", playing ? "Pause" : "Play");
}

function listenToPicture() {
  const fingers = new Map(), {canvas} = drawing;
  const middle = () => [...fingers.values()].reduce((sum, [x, y]) => [sum[0] + x / fingers.size, sum[1] + y / fingers.size], [0, 0]);
  const spread = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
  canvas.addEventListener("pointerdown", e => { fingers.set(e.pointerId, [e.clientX, e.clientY]); canvas.setPointerCapture(e.pointerId); });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, e => fingers.delete(e.pointerId));
  canvas.addEventListener("pointermove", e => {
    if (!fingers.has(e.pointerId)) return;
    const before = middle(), wide = fingers.size === 2 ? spread() : 0;
    fingers.set(e.pointerId, [e.clientX, e.clientY]);
    const now = middle(), dx = now[0] - before[0], dy = now[1] - before[1];
    if (fingers.size === 2) {
      move(dx, dy);
      if (wide > 0) zoomBy(spread() / wide);
    } else if (e.buttons & 6 || e.shiftKey) move(dx, dy);
    else turn(0.4 * dx, 0.4 * dy);
  });
  canvas.addEventListener("contextmenu", e => e.preventDefault());
  canvas.addEventListener("wheel", e => { e.preventDefault(); zoomBy(Math.exp(-0.0012 * e.deltaY)); }, {passive: false});
}

function listenToKeys() {
  const toggle = name => () => change({[name]: !state[name]}), slice = d => () => change({slices: state.slices.map((on, k) => on !== (k === d))});
  const keys = {ArrowLeft: () => turn(-6, 0), ArrowRight: () => turn(6, 0), ArrowUp: () => turn(0, 6), ArrowDown: () => turn(0, -6), "+": () => zoomBy(1.15),
    "=": () => zoomBy(1.15), "-": () => zoomBy(1 / 1.15), w: toggle("wall"), d: toggle("solid"), s: toggle("lines"), c: toggle("cut"), x: slice(0), y: slice(1),
    z: slice(2), v: nextSide, r: reset, f: () => scene.fields.length && change({field: (state.field + 1) % scene.fields.length}),
    " ": () => scene.frames.length > 1 && play()};
  document.addEventListener("keydown", e => {
    const act = keys[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!act || e.ctrlKey || e.metaKey || e.altKey || (/^(Arrow|[ ]$)/.test(e.key) && /^(INPUT|SELECT|BUTTON)$/.test(e.target.tagName))) return;
    e.preventDefault();
    act();
  });
}

function makeControls() {
  scene.size.forEach((length, d) => {
    const label = document.createElement("div");
    label.textContent = `${"xyz"[d]}  ${text(length, "m")}`;
    label.hidden = d === thin;
    get("labels").append(label);
    const row = document.createElement("div");
    row.className = "row";
    row.innerHTML = `<label><input type="checkbox" id="slice${d}"> ${"xyz"[d]}</label><input type="range" id="at${d}" min="0" max="1000"
aria-label="Place of the slice across ${"xyz"[d]}"><output id="place${d}"></output>`;
    get("slices").append(row);
    get("slice" + d).onchange = e => change({slices: state.slices.map((on, k) => k === d ? e.target.checked : on)});
    get("at" + d).oninput = e => change({places: state.places.map((x, k) => k === d ? e.target.value / 1000 : x), slices: state.slices.map((on, k) => on || k === d)});
  });
  get("field").append(...scene.fields.map((field, n) => new Option(field.unit === "1" ? field.label : `${field.label} [${field.unit}]`, n)));
  get("field").onchange = e => change({field: +e.target.value});
  get("bar").hidden = get("topmost").hidden = scene.fields.length === 0;
  get("lines").parentElement.hidden = !scene.frames.some(frame => Object.keys(frame.lines).length);
  get("top").oninput = e => change({tops: state.tops.map((top, k) => k === state.field ? +e.target.value : top)});
  for (const name of ["wall", "solid", "lines", "cut", "onwall"]) get(name).onchange = e => change({[name]: e.target.checked});
  get("cut").parentElement.hidden = thin >= 0;
  get("frame").max = scene.frames.length - 1;
  get("frame").oninput = e => change({frame: +e.target.value});
  get("clock").hidden = scene.frames.length < 2;
  get("play").onclick = play;
  get("reset").onclick = reset;
  get("above").onclick = nextSide;
  get("fold").onclick = e => e.target.setAttribute("aria-expanded", !document.body.classList.toggle("folded"));
}

function fail(problem) {
  get("message").textContent = typeof DecompressionStream === "undefined" ? "This browser is too old for this page: it needs one of 2023 or later." : problem.message;
  get("message").hidden = false;
  get("picture").hidden = true;
}

async function start() {
  drawing = new Drawing(get("picture"));
  const colours = bytes(scene.colours), bar = get("scale").getContext("2d"), row = bar.createImageData(256, 1);
  for (let n = 0; n < 256; ++n) row.data.set([...colours.subarray(3 * n, 3 * n + 3), 255], 4 * n);
  bar.putImageData(row, 0, 0);
  drawing.texture(2, colours);
  makeControls();
  listenToPicture();
  listenToKeys();
  new ResizeObserver(redraw).observe(drawing.canvas);
  reset();
}

start().catch(fail);

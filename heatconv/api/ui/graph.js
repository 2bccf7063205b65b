// SPDX-License-Identifier: Apache-2.0
// Drawing a picture of a stack, as the service has placed it: boxes in columns, and what needs what.

import { h, put, short, svg, button } from "./dom.js";
import { KINDS, inWords, kindOf, shape } from "./states.js";
import { words } from "./words.js";

const COLUMN = 250;
const ROW = 58;
const WIDTH = 196;
const HEIGHT = 44;
const MARGIN = 30;
const LETTERS = 19;
const READABLE = 0.75; // pixels for one of a drawing
const [LOW, HIGH] = [240, 560]; // of a drawing, in pixels

const x = (column) => column * COLUMN;
const y = (row) => row * ROW;

/** Return a curve through points, that leaves and arrives level. */
function curve(points) {
  const [[startX, startY], ...rest] = points;
  let [atX, atY] = [startX, startY];
  let path = `M${startX} ${startY}`;
  for (const [toX, toY] of rest) {
    const middle = (atX + toX) / 2;
    path += `C${middle} ${atY} ${middle} ${toY} ${toX} ${toY}`;
    [atX, atY] = [toX, toY];
  }
  return path;
}

/**
 * A drawing in an element; `open` is called with the mark that somebody chooses.
 *
 * By keyboard: one mark is in the order of tabs, and arrow keys go to its neighbours.
 */
export class Graph {
  constructor({ open }) {
    this.open = open;
    this.marks = new Map();
    this.picture = null;
    this.view = null;
    this.whole = null;
    this.note = h("p", { class: "quiet note" });
    this.drawing = svg("svg", { class: "graph", role: "group", "aria-label": words.graph, tabindex: -1 });
    this.drawing.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.drawing.addEventListener("pointerdown", (event) => this.drag(event));
    this.drawing.addEventListener("keydown", (event) => this.key(event));
    this.element = h("div", { class: "canvas" }, this.drawing);
    this.controls = h("div", { class: "zoom" },
      button("+", () => this.zoom(0.75), { "aria-label": words.zoomIn, title: words.zoomIn }),
      button("−", () => this.zoom(1.33), { "aria-label": words.zoomOut, title: words.zoomOut }),
      button("⤢", () => this.all(), { "aria-label": words.zoomAll, title: words.zoomAll }));
  }

  /** Draw a picture; what was looked at stays in place if the picture is of the same size. */
  draw(picture) {
    const focused = document.activeElement?.dataset?.key;
    const sameSize = this.picture && this.picture.marks.length === picture.marks.length;
    this.picture = picture;
    this.marks = new Map();
    const edges = svg("g", { class: "edges", "aria-hidden": "true" },
      picture.edges.map((edge) => this.edge(edge)));
    const boxes = picture.marks.map((mark) => this.box(mark));
    put(this.drawing, edges, ...boxes);
    this.note.textContent = picture.left_out ? words.leftOut(picture.left_out) : "";
    this.measure();
    if (!this.view || !sameSize) this.begin();
    const first = this.marks.get(focused) ?? this.marks.values().next().value;
    if (first) first.element.setAttribute("tabindex", 0);
    if (this.marks.has(focused)) first.element.focus({ preventScroll: true });
  }

  edge([required, by, lanes]) {
    const [from, to] = [this.picture.marks[required], this.picture.marks[by]];
    const points = [[x(from.column) + WIDTH, y(from.row)]];
    lanes.forEach((lane, place) => {
      const at = x(from.column + place + 1);
      points.push([at, y(lane)], [at + WIDTH, y(lane)]);
    });
    points.push([x(to.column), y(to.row)]);
    const isOpen = !["done", "to-none"].includes(from.kind);
    const named = { "data-required": from.key, "data-by": to.key };
    return svg("path", { d: curve(points), class: `edge ${isOpen ? "open" : ""}`, ...named });
  }

  box(mark) {
    const many = mark.count > 1;
    const name = svg("text", { class: "name", x: 34, y: -3 });
    const state = svg("text", { class: "state", x: 34, y: 13 });
    const title = svg("title");
    const glyph = svg("g", { class: "glyph", transform: "translate(10 -8)" });
    const element = svg("g", {
      class: `box ${mark.kind}`, transform: `translate(${x(mark.column)} ${y(mark.row)})`,
      role: "button", tabindex: -1, click: () => this.open(mark), "data-key": mark.key,
    },
      title,
      many ? svg("rect", { class: "behind", x: 5, y: -HEIGHT / 2 - 4, width: WIDTH, height: HEIGHT, rx: 8 }) : null,
      svg("rect", { class: "front", y: -HEIGHT / 2, width: WIDTH, height: HEIGHT, rx: 8 }),
      glyph, name, state,
      mark.nested ? svg("path", { class: "more", d: `M${WIDTH - 18} -13l6 5-6 5` }) : null);
    const shown = { mark, element, name, state, title, glyph };
    this.marks.set(mark.key, shown);
    this.label(shown);
    return element;
  }

  label({ mark, element, name, state, title, glyph }) {
    const many = mark.count > 1;
    const status = mark.says ?? inWords(`${mark.action}_${mark.status}`);
    const type = mark.type.split("::").pop();
    const first = many ? words.alike(mark.count, type) : mark.name;
    const second = mark.says ? `${mark.says} · ${type}` : many
      ? words.kinds[mark.kind]
      : `${mark.kind === "drifted" ? words.kinds.drifted.toLowerCase() : status} · ${type}`;
    name.textContent = short(first, LETTERS);
    state.textContent = short(second, LETTERS + 5);
    title.textContent = `${first}\n${mark.type}\n${second}`;
    element.setAttribute("class", `box ${mark.kind}`);
    element.setAttribute("aria-label", `${first}, ${mark.type}, ${mark.says ?? (many ? second : words.kinds[mark.kind])}`);
    put(glyph, shape(mark.kind));
  }

  /** Return what is drawn of a resource alone; what is being removed is known by its name if no other has that. */
  find(name) {
    if (this.marks.has(`=${name}`)) return this.marks.get(`=${name}`);
    const same = [...this.marks.values()].filter(({ mark }) => mark.count === 1 && mark.name === name);
    return same.length === 1 ? same[0] : undefined;
  }

  /** Show a resource as it is now; return whether it has a mark of its own. */
  update(resource) {
    const shown = this.find(resource.resource_name);
    if (!shown) return false;
    const [action, ...status] = resource.resource_status.split("_");
    const mark = shown.mark;
    Object.assign(mark, { action, status: status.join("_") });
    mark.kind = kindOf(resource.resource_status, { wanted: resource.wanted });
    this.label(shown);
    return true;
  }

  /** Go to a mark, and have it looked at. */
  focus(key) {
    const shown = this.marks.get(key);
    if (!shown) return;
    for (const each of this.marks.values()) each.element.setAttribute("tabindex", -1);
    shown.element.setAttribute("tabindex", 0);
    shown.element.focus({ preventScroll: true });
    this.show(shown.mark);
  }

  /** Say which marks somebody looks for. */
  emphasize(keys) {
    this.drawing.classList.toggle("searching", keys.size > 0);
    for (const [key, { element }] of this.marks) element.classList.toggle("found", keys.has(key));
  }

  select(key) {
    for (const [each, { element }] of this.marks) element.classList.toggle("selected", each === key);
  }

  // -- what part of it is seen -----------------------------------------------------------

  measure() {
    const marks = this.picture.marks;
    const rows = marks.map((mark) => y(mark.row));
    const top = Math.min(0, ...rows) - HEIGHT;
    const bottom = Math.max(0, ...rows) + HEIGHT;
    const right = x(Math.max(0, ...marks.map((mark) => mark.column))) + WIDTH;
    this.whole = { x: -MARGIN, y: top - MARGIN / 2, width: right + 2 * MARGIN, height: bottom - top + MARGIN };
  }

  /** Show all of it, or as much as can be read: what has to be seen first, or where it begins. */
  begin() {
    this.all();
    const scale = this.drawing.clientWidth / this.view.width;
    if (scale >= READABLE || !this.picture.marks.length) return;
    const rank = (mark) => KINDS.indexOf(mark.kind);
    const first = this.picture.marks.reduce((one, other) => (rank(other) < rank(one) ? other : one));
    const begins = rank(first) > KINDS.indexOf("drifted") ? { column: 0, row: 0 } : first;
    const [width, height] = [this.view.width, this.view.height].map((each) => (each * scale) / READABLE);
    const left = Math.max(this.whole.x, x(begins.column) + WIDTH / 2 - width / 2);
    this.look({ x: left, y: y(begins.row) - height / 2, width, height });
  }

  all() {
    const width = this.drawing.clientWidth;
    const height = Math.min(Math.max(this.whole.height * Math.min(1, width / this.whole.width), LOW), HIGH);
    this.drawing.style.height = `${height}px`;
    // A small graph is not blown up.
    const grow = Math.max(1, Math.min(width / this.whole.width, height / this.whole.height) || 1);
    const extra = (grow - 1) / 2;
    this.look({
      x: this.whole.x - this.whole.width * extra, y: this.whole.y - this.whole.height * extra,
      width: this.whole.width * grow, height: this.whole.height * grow,
    });
  }

  look(view) {
    this.view = view;
    this.drawing.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  }

  zoom(factor, at = { x: this.view.x + this.view.width / 2, y: this.view.y + this.view.height / 2 }) {
    const width = Math.min(Math.max(this.view.width * factor, 2 * WIDTH), 8 * this.whole.width);
    const by = width / this.view.width;
    this.look({
      x: at.x - (at.x - this.view.x) * by, y: at.y - (at.y - this.view.y) * by,
      width, height: this.view.height * by,
    });
  }

  /** Move the view so that a mark is in it, and near enough to be read. */
  show(mark) {
    const { x: left, y: top, width, height } = this.view;
    const [centreX, centreY] = [x(mark.column) + WIDTH / 2, y(mark.row)];
    const scale = this.drawing.clientWidth / width;
    const inside = centreX > left && centreX < left + width && centreY > top && centreY < top + height;
    if (inside && scale > 0.5) return;
    const near = scale > 0.5 ? width : this.drawing.clientWidth || width;
    const tall = (near * height) / width;
    this.look({ x: centreX - near / 2, y: centreY - tall / 2, width: near, height: tall });
  }

  point(event) {
    const matrix = this.drawing.getScreenCTM();
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
  }

  wheel(event) {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return; // the page scrolls
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.15 : 0.87, this.point(event));
  }

  drag(event) {
    if (event.button !== 0 || event.target.closest(".box")) return;
    const start = { x: event.clientX, y: event.clientY };
    const view = this.view;
    const scale = 1 / this.drawing.getScreenCTM().a;
    const move = (now) =>
      this.look({ ...view, x: view.x - (now.clientX - start.x) * scale, y: view.y - (now.clientY - start.y) * scale });
    const up = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
  }

  key(event) {
    const keys = { "+": () => this.zoom(0.75), "-": () => this.zoom(1.33), 0: () => this.all() };
    const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const shown = this.marks.get(event.target.dataset?.key);
    if (keys[event.key]) keys[event.key]();
    else if (shown && directions[event.key]) this.step(shown.mark, directions[event.key]);
    else if (shown && (event.key === "Enter" || event.key === " ")) this.open(shown.mark);
    else return;
    event.preventDefault();
  }

  step(from, [across, down]) {
    let best = null;
    let least = Infinity;
    for (const { mark } of this.marks.values()) {
      const [columns, rows] = [mark.column - from.column, mark.row - from.row];
      const forward = across ? columns * across : columns === 0 ? rows * down : 0;
      const distance = Math.abs(columns) * 10 + Math.abs(rows);
      if (forward > 0 && distance < least) [best, least] = [mark, distance];
    }
    if (best) this.focus(best.key);
  }
}

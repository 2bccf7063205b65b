// SPDX-License-Identifier: Apache-2.0
// A plan on the picture of its stack: what is there stands where it does, and is drawn as what will be done to it.

import { Graph } from "./graph.js";
import { h } from "./dom.js";
import { sign } from "./states.js";
import { words } from "./words.js";

const MOST = 300;
const EDGES = 2000;

/** Of several things that are done by one name, or inside of it, the first of these is drawn. */
const RANK = ["replace", "delete", "create", "heal", "adopt", "update", "retain", "check"];

/** Return what is done to the resources of the stack itself, by name; what is done inside of one changes it. */
function doneTo(plan) {
  const found = new Map();
  for (const { path, type, action, order, requires = [] } of plan.resources) {
    const [name] = path;
    const isInside = path.length > 1;
    const each = isInside
      ? { name, type: "", action: "update", order, requires: [] }
      : { name, type, action, order, requires };
    const known = found.get(name);
    if (!known || RANK.indexOf(each.action) < RANK.indexOf(known.action)) found.set(name, each);
  }
  return found;
}

const drawn = (mark, action) => ({
  ...mark, nested: null, kind: `to-${action}`, says: action === "none" ? words.untouched : words.planActions[action][1],
});

/** Return marks for what is not there yet: a column for each step, below everything else. */
function newMarks(those, below) {
  const orders = [...new Set(those.map((each) => each.order))].sort((one, other) => one - other);
  return orders.flatMap((order, column) => {
    const together = those.filter((each) => each.order === order);
    const first = below ?? -(together.length - 1) / 2;
    return together.map(({ name, type, action }, number) =>
      drawn({ key: `=${name}`, name, type, count: 1, column, row: first + number }, action));
  });
}

/** Return the edges to what is new, and from it to what comes to depend on it: straight, for no lane is kept free. */
function newEdges(marks, done, there) {
  const number = new Map(marks.map((mark, place) => [mark.name, place]));
  const isNew = (name) => !there.has(name);
  return [...done.values()].flatMap(({ name, requires }) =>
    requires
      .filter((required) => number.has(required) && (isNew(name) || isNew(required)))
      .map((required) => [number.get(required), number.get(name), []]));
}

/** Return the picture of a plan; `picture` is that of its stack as it is, or null. Null if it is too large. */
function pictureOf(plan, picture) {
  const done = doneTo(plan);
  const isWhole = picture !== null && picture.marks.every((mark) => mark.count === 1);
  const there = isWhole ? picture.marks.map((mark) => drawn(mark, done.get(mark.name)?.action ?? "none")) : [];
  const names = new Set(there.map((mark) => mark.name));
  const below = there.length ? Math.max(...there.map((mark) => mark.row)) + 1.3 : null;
  const marks = [...there, ...newMarks([...done.values()].filter((each) => !names.has(each.name)), below)];
  const isCut = plan.links.some((each) => each.rel === "next");
  if (marks.length > MOST || isCut) return null;
  const edges = [...(isWhole ? picture.edges : []), ...newEdges(marks, done, names)];
  return { marks, edges: edges.slice(0, EDGES), left_out: edges.slice(EDGES).length };
}

/** Return the element with a plan's picture, and what draws it once it is in its place; `open` gets a name. */
export function plannedGraph(plan, picture, open) {
  const painted = pictureOf(plan, picture);
  if (painted === null || !plan.resources.length) return { element: null, draw: () => {} };
  const graph = new Graph({ open: (mark) => open(mark.name) });
  const kinds = ["create", "update", "replace", "delete", "heal", "adopt", "retain", "check", "none"];
  const seen = kinds.filter((each) => painted.marks.some((mark) => mark.kind === `to-${each}`));
  const name = (each) => (each === "none" ? words.untouched : words.planActions[each][1]);
  const legend = h("div", { class: "legend" }, seen.map((each) =>
    h("span", { class: "entry" }, sign(`to-${each}`, name(each)), name(each))));
  const element = h("div", { class: "planned-graph" },
    h("div", { class: "bar-of-tools" }, legend, graph.controls), graph.element,
    picture && painted.marks.length > picture.marks.length
      ? h("p", { class: "quiet note" }, words.newBelow) : null);
  return { element, draw: () => graph.draw(painted) };
}

// SPDX-License-Identifier: Apache-2.0
// How something is: by colour, and by shape for those who do not tell colours apart.

import { h, svg } from "./dom.js";
import { words } from "./words.js";

/** In the order of who needs to be looked at first. */
export const KINDS = ["broken", "moving", "drifted", "going", "waiting", "done"];

const SHAPES = {
  broken: "M5 1h6l4 4v6l-4 4H5l-4-4V5zM8 4v5M8 11.5v.5",
  moving: "M3 2l11 6-11 6z",
  drifted: "M8 1l7 7-7 7-7-7zM5 7h6M5 9.5h6",
  going: "M2 2h12v12H2zM5 8h6",
  waiting: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13zM8 4.5V8l2.5 1.5",
  done: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13zM5 8l2.2 2.3L11 6",
  "to-create": "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13zM8 5v6M5 8h6",
  "to-update": "M3 2l11 6-11 6z",
  "to-replace": "M8 1l7 7-7 7-7-7zM5.5 6.5h5M8 4v5M5.5 11h5",
  "to-delete": "M2 2h12v12H2zM5 5l6 6M11 5l-6 6",
  "to-retain": "M2 2h12v12H2zM5 6.5h6M5 9.5h6",
  "to-heal": "M8 1l7 7-7 7-7-7zM8 4v8M4 8h8",
  "to-adopt": "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13zM6 5l4 3-4 3",
  "to-check": "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 1 0 0-13zM8 7.5v1",
  "to-none": "M6.5 8a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0z",
};

/** Return the kind of a resource or a stack by its state, such as CREATE_FAILED. */
export function kindOf(state, { wanted = true } = {}) {
  if (state === "OBSERVE_FAILED") return "drifted";
  if (state.endsWith("_FAILED")) return "broken";
  if (state.endsWith("_IN_PROGRESS")) return "moving";
  if (!wanted) return "going";
  return state.startsWith("INIT_") ? "waiting" : "done";
}

/** Return the shape of a kind, for inside of a drawing. */
export const shape = (kind, more = {}) => svg("path", { class: "shape", d: SHAPES[kind], ...more });

const named = (label) => ({ role: "img", "aria-label": label });

/** Return the shape of a kind in a text, with a name for who does not see it. */
export const sign = (kind, name) =>
  svg("svg", { class: `mark ${kind}`, viewBox: "0 0 16 16", width: 16, height: 16, ...named(name) }, shape(kind));

/** Return the shape of how something is. */
export const mark = (kind) => sign(kind, words.kinds[kind]);

/** Return a state in words. */
export const inWords = (state) => words.states[state] ?? state.replaceAll("_", " ").toLowerCase();

/** Return a state as a badge. */
export const badge = (state, kind = kindOf(state), label = inWords(state)) =>
  h("span", { class: `badge ${kind}` }, mark(kind), label);

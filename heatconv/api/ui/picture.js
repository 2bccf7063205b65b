// SPDX-License-Identifier: Apache-2.0
// The part of a page with the picture of a stack: drawn, searched in, and kept up to date.

import { ifAllowed } from "./again.js";
import { get, path } from "./api.js";
import { h, put } from "./dom.js";
import { Graph } from "./graph.js";
import { KINDS, mark as sign } from "./states.js";
import { words } from "./words.js";

const MARKS = 300;

/**
 * The picture of a stack.
 *
 * `choose` is called with the mark that somebody chooses, `drawn` when the picture is another, `find` when it is to
 * be read because of what somebody looks for, and `again` when it is because of what has changed.
 */
export class Picture {
  constructor({ stack, signal, choose, drawn, find, again }) {
    Object.assign(this, { signal, choose, drawn, again });
    this.place = `${path("stacks", stack.name, stack.id)}/picture`;
    this.shown = { marks: [], edges: [], kinds: {}, found: [] };
    this.asked = null; // for the newest of it
    this.changes = 0; // that were drawn
    this.graph = new Graph({ open: choose });
    this.legend = h("p", { class: "legend" });
    this.matches = h("span", { class: "quiet", role: "status" });
    this.search = h("input", {
      type: "search", placeholder: words.search, "aria-label": words.search, input: find,
      keydown: (event) => event.key === "Enter" && this.open(this.shown.found[0]),
    });
    this.element = h("div", {},
      h("div", { class: "bar-of-tools" },
        h("h2", {}, words.graph), this.search, this.matches, this.legend, this.graph.controls),
      this.graph.element, this.graph.note, h("p", { class: "quiet note" }, words.graphHelp));
    this.read = ifAllowed(this.element, () => this.ask());
  }

  /** Ask for the picture, and draw it; whoever has asked for an older one is answered by the newest, too. */
  ask() {
    const find = this.search.value.trim();
    const before = this.changes;
    const asked = get(this.place, { limit: MARKS, find }, this.signal).then(
      ({ picture }) => (asked === this.asked ? this.draw(picture, find, before) : this.asked),
      (error) => (asked === this.asked ? Promise.reject(error) : this.asked));
    this.asked = asked;
    return asked;
  }

  /** Draw a picture of what somebody looks for; the changes that were drawn since it was asked for may not be in it. */
  draw(picture, find, before) {
    if (before !== this.changes) this.again();
    this.shown = picture;
    this.graph.draw(picture);
    this.drawFound(find);
    this.drawLegend();
    this.drawn();
  }

  drawFound(find) {
    const { found } = this.shown;
    this.graph.emphasize(new Set(found.map((name) => `=${name}`)));
    this.matches.textContent = find ? words.found(found.length) : "";
    if (found.length) this.graph.show(this.graph.marks.get(`=${found[0]}`).mark);
  }

  drawLegend() {
    const { kinds } = this.shown;
    const inLegend = (kind) => ` ${kinds[kind].toLocaleString()} ${words.kinds[kind].toLowerCase()}`;
    put(this.legend, KINDS.filter((kind) => kinds[kind]).map((kind) =>
      h("span", { class: "entry" }, sign(kind), inLegend(kind))));
  }

  /** Show resources of the stack as they are now. */
  seen(resources) {
    if (!resources.length) return;
    this.changes += 1;
    const drawn = resources.map((each) => !each.gone && !each.clearing && this.graph.update(each));
    if (drawn.includes(false) || this.shown.marks.some((each) => each.count > 1)) this.again();
    else this.recount();
  }

  /** Count the kinds again, as every resource has a mark. */
  recount() {
    const kinds = {};
    for (const { kind } of this.shown.marks) kinds[kind] = (kinds[kind] ?? 0) + 1;
    this.shown.kinds = kinds;
    this.drawLegend();
  }

  /** Have a resource looked at, by its name; what is rolled up is looked for first. */
  async goTo(name) {
    if (!this.graph.find(name)) {
      this.search.value = name;
      await this.read();
    }
    this.open(name);
  }

  open(name) {
    const found = this.graph.find(name);
    if (!found) return;
    this.graph.show(found.mark);
    this.choose(found.mark);
  }

  /** Tell whether a stack has come about in a mark that was drawn without one: its name ends with the mark's and an id. */
  isInside(stack) {
    const owner = stack.name.replace(/-[^-]*$/, "");
    return this.shown.marks.some((each) => each.count === 1 && !each.nested && owner.endsWith(`-${each.name}`));
  }

  /** Return what is rolled up in a mark. */
  async membersOf(key) {
    return (await get(this.place, { limit: MARKS, mark: key }, this.signal)).picture.members;
  }

  /** Return the names that a resource requires, of those that are drawn alone. */
  requiredBy(mark) {
    const { marks, edges } = this.shown;
    const number = marks.findIndex((each) => each.key === mark.key);
    const required = edges.filter(([, by]) => by === number).map(([each]) => marks[each]);
    return required.filter((each) => each.count === 1).map((each) => each.name);
  }
}

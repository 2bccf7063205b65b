// SPDX-License-Identifier: Apache-2.0
// One stack: how it is, why, what its resources are and what happens to them, as it happens.

import { notice } from "./act.js";
import { get, path } from "./api.js";
import { h, put, say, value } from "./dom.js";
import { Graph } from "./graph.js";
import { Happenings } from "./happenings.js";
import { Heading } from "./heading.js";
import { History } from "./history.js";
import { calmly, follow } from "./live.js";
import { addressOf } from "./overview.js";
import { Panel } from "./panel.js";
import { Snapshots } from "./snapshots.js";
import { KINDS, inWords, kindOf, mark as sign } from "./states.js";
import { Template } from "./template.js";
import { Why } from "./why.js";
import { words } from "./words.js";

const EVENTS = 100; // that are read to begin with
const DEPTH = 5; // of nested stacks whose events are
const MARKS = 300;
const AGAIN = 10000; // milliseconds until it is asked again why a stack is not done

/** Show a stack, and its resource `open` if that is a name, until a signal says that it is left. */
export function stackPage(main, stack, { signal, lost, failed, open = null }) {
  const page = new StackPage(stack, { signal, lost, failed });
  put(main, page.layOut());
  page.run(open).catch((error) => {
    if (signal.aborted) return;
    if (error.status === 404 && page.shown) notice(words.gone, "going");
    else failed(error);
  });
}

class StackPage {
  constructor(stack, { signal, lost, failed }) {
    Object.assign(this, { stack, signal, lost, failed });
    this.place = path("stacks", stack.name, stack.id);
    this.shown = null;
    this.picture = null;
    this.wanted = ""; // what is looked for
    const go = (name) => this.goTo(name);
    this.heading = new Heading({ stack, failed, done: () => (this.soon.stack(), this.soon.why()) });
    this.why = new Why({ stack, go });
    this.happenings = new Happenings({ stack, go });
    this.graph = new Graph({ open: (mark) => this.choose(mark) });
    this.template = new Template({ stack, failed, signal });
    this.history = new History({ stack, failed, signal });
    this.panel = new Panel({
      stack, go, failed, close: () => this.closed(), waitOf: (name) => this.why.waitOf(name),
      showInTemplate: (name) => this.template.show(name).catch(failed),
    });
    this.outputs = h("div");
    this.snapshots = new Snapshots({ stack, failed, done: () => this.soon.stack() });
    this.soon = {
      stack: calmly(this.guarded(() => this.readStack())),
      picture: calmly(this.guarded(() => this.readPicture())),
      found: calmly(this.guarded(() => this.readPicture()), { least: 200, share: 0 }),
      why: calmly(this.guarded(() => this.readWhy()), { least: 1500 }),
      panel: calmly(this.guarded(() => this.panel.refresh()), { least: 500 }),
    };
  }

  layOut() {
    this.legend = h("p", { class: "legend" });
    this.matches = h("span", { class: "quiet", role: "status" });
    this.search = h("input", {
      type: "search", placeholder: words.search, "aria-label": words.search,
      input: () => ((this.wanted = this.search.value.trim()), this.soon.found()),
      keydown: (event) => event.key === "Enter" && this.picture?.found.length && this.goTo(this.picture.found[0]),
    });
    return [
      this.heading.element, this.why.element,
      h("div", { class: "columns" },
        h("section", { class: "wide", "aria-label": words.graph },
          h("div", { class: "bar-of-tools" },
            h("h2", {}, words.graph), this.search, this.matches, this.legend, this.graph.controls),
          this.graph.element, this.graph.note, h("p", { class: "quiet note" }, words.graphHelp),
          h("section", { class: "outputs" }, h("h2", {}, words.outputs), this.outputs),
          this.snapshots.element, this.template.element, this.history.element),
        h("div", { class: "side" }, this.panel.element, this.happenings.element)),
    ];
  }

  /** Read everything, then follow what changes. */
  async run(open) {
    const { place, signal } = this;
    // What waits goes on waiting: how long it has, and what is done about it, is told anew now and then.
    const isOfInterest = () => this.shown?.stack_status.endsWith("_IN_PROGRESS") && !document.hidden;
    const timer = setInterval(() => isOfInterest() && (this.soon.why(), this.heading.draw(this.shown)), AGAIN);
    const leave = () => (clearInterval(timer), Object.values(this.soon).forEach((each) => each.stop()));
    signal.addEventListener("abort", leave, { once: true });
    // The cursor first: whatever happens while the rest is read comes by it.
    const { changes } = await get(`${place}/changes`, {}, signal);
    const before = get(`${place}/events`, { limit: EVENTS, nested_depth: DEPTH }, signal);
    const all = [this.readStack(), this.readPicture(), this.readWhy(), before];
    this.happenings.add((await Promise.all(all)).at(-1).events);
    say(`${this.stack.name}: ${words.kinds[kindOf(this.shown.stack_status)]}`);
    if (open) this.goTo(open);
    await follow(place, changes.cursor, { seen: (each) => this.seen(each), lost: this.lost, signal });
  }

  // -- reading ---------------------------------------------------------------------------

  async readStack() {
    this.shown = (await get(this.place, {}, this.signal)).stack;
    this.drawState();
    this.drawOutputs();
    if (this.shown.stack_status.startsWith("DELETE_")) return; // what it had may be gone by now
    await Promise.all([this.snapshots.read(this.signal), this.history.fold.again(), this.template.fold.again()]);
  }

  async readPicture() {
    const query = { limit: MARKS, find: this.wanted };
    this.picture = (await get(`${this.place}/picture`, query, this.signal)).picture;
    this.graph.draw(this.picture);
    this.drawFound();
    this.drawLegend();
    if (!this.panel.name) return;
    const shown = this.graph.marks.get(`=${this.panel.name}`);
    this.graph.select(`=${this.panel.name}`);
    if (shown) this.panel.drawn(shown.mark);
  }

  async readWhy() {
    const { explanation } = await get(`${this.place}/explanation`, {}, this.signal);
    this.why.draw(this.shown?.stack_status ?? explanation.stack_status, explanation);
  }

  /** Return a function whose errors are shown. */
  guarded(work) {
    return async () => {
      try {
        await work();
      } catch (error) {
        if (!this.signal.aborted) this.failed(error);
      }
    };
  }

  /** Show what is new. */
  seen(changes) {
    if (changes.missed) {
      for (const each of ["stack", "picture", "why", "panel"]) this.soon[each]();
      this.panel.inside.seen(changes);
      return;
    }
    this.happenings.add([...changes.events].reverse());
    const before = this.shown.stack_status;
    const { description, tags } = this.shown;
    this.shown = { ...this.shown, ...changes.stack, description, tags };
    const state = this.shown.stack_status;
    this.drawState();
    if (before !== state) say(`${this.stack.name}: ${inWords(state)}`);
    if (changes.events.length || before !== state) this.soon.why();
    this.seenResources(changes);
  }

  seenResources(changes) {
    const here = changes.resources.filter((each) => each.stack.id === this.stack.id);
    const drawn = here.map((each) => !each.gone && !each.clearing && this.graph.update(each));
    // A stack that has just come about in one of the marks is not known to the picture.
    const known = new Set(this.picture.marks.map((mark) => mark.nested?.id));
    const isNew = (state, stack) => state.endsWith("_IN_PROGRESS") && !known.has(stack.id);
    const isOfStack = ({ resource_name: name, resource_status: state, stack }) =>
      state.startsWith("OBSERVE") || (name === stack.name && (stack.id === this.stack.id || isNew(state, stack)));
    const ofStack = changes.events.some(isOfStack);
    if (ofStack) this.soon.stack();
    if (drawn.includes(false) || ofStack || changes.more) this.soon.picture();
    else if (here.length) this.recount();
    if (here.some((each) => each.resource_name === this.panel.name)) this.soon.panel();
    this.panel.inside.seen(changes);
  }

  /** Count the kinds again, if every resource has a mark. */
  recount() {
    if (this.picture.marks.some((each) => each.count > 1)) return this.soon.picture();
    this.picture.kinds = {};
    for (const { kind } of this.picture.marks) this.picture.kinds[kind] = (this.picture.kinds[kind] ?? 0) + 1;
    return this.drawLegend();
  }

  // -- drawing ---------------------------------------------------------------------------

  drawState() {
    this.heading.draw(this.shown);
    this.why.draw(this.shown.stack_status);
    this.snapshots.draw(this.shown.stack_status);
  }

  drawLegend() {
    const { kinds } = this.picture;
    const inLegend = (kind) => ` ${kinds[kind].toLocaleString()} ${words.kinds[kind].toLowerCase()}`;
    put(this.legend, KINDS.filter((kind) => kinds[kind]).map((kind) =>
      h("span", { class: "entry" }, sign(kind), inLegend(kind))));
  }

  drawOutputs() {
    const all = this.shown.outputs ?? [];
    const described = ({ description }) => description && description !== "No description given";
    put(this.outputs, all.length ? h("dl", { class: "facts" }, all.map((each) => [
      h("dt", {}, each.output_key, described(each) ? h("div", { class: "quiet" }, each.description) : null),
      h("dd", {}, each.output_error
        ? h("span", { class: "quiet" }, words.outputError, each.output_error)
        : value(each.output_value)),
    ])) : h("p", { class: "quiet" }, words.noOutputs));
  }

  drawFound() {
    const { found } = this.picture;
    this.graph.emphasize(new Set(found.map((name) => `=${name}`)));
    this.matches.textContent = this.wanted ? words.found(found.length) : "";
    if (found.length) this.graph.show(this.graph.marks.get(`=${found[0]}`).mark);
  }

  // -- one resource ----------------------------------------------------------------------

  /** Open a resource, by its name; what is rolled up is looked for first. */
  async goTo(name) {
    if (!this.graph.marks.has(`=${name}`)) {
      this.wanted = this.search.value = name;
      await this.guarded(() => this.readPicture())();
    }
    const found = this.graph.marks.get(`=${name}`);
    if (!found) return;
    this.graph.show(found.mark);
    this.choose(found.mark);
  }

  choose(mark) {
    this.graph.select(mark.key);
    if (mark.count > 1) {
      this.panel.many(mark, (key) => this.membersOf(key)).catch(this.failed);
      return;
    }
    history.replaceState(null, "", addressOf(this.stack, "resources", mark.name));
    this.template.mark(mark.name);
    this.panel.one(mark, this.requiredBy(mark)).catch(this.failed);
  }

  async membersOf(key) {
    return (await get(`${this.place}/picture`, { limit: MARKS, mark: key }, this.signal)).picture.members;
  }

  /** Return the names that a resource requires, of those that are drawn alone. */
  requiredBy(mark) {
    const { marks, edges } = this.picture;
    const number = marks.findIndex((each) => each.key === mark.key);
    const required = edges.filter(([, by]) => by === number).map(([each]) => marks[each]);
    return required.filter((each) => each.count === 1).map((each) => each.name);
  }

  closed() {
    this.graph.select(null);
    history.replaceState(null, "", addressOf(this.stack));
  }
}

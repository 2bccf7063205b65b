// SPDX-License-Identifier: Apache-2.0
// One stack: how it is, why, what its resources are and what happens to them, as it happens.

import { notice } from "./act.js";
import { calmly, ifAllowed, untilRead } from "./again.js";
import { get, path } from "./api.js";
import { h, put, say, value } from "./dom.js";
import { Happenings } from "./happenings.js";
import { Heading } from "./heading.js";
import { History } from "./history.js";
import { follow } from "./live.js";
import { addressOf } from "./overview.js";
import { Panel } from "./panel.js";
import { Picture } from "./picture.js";
import { Snapshots } from "./snapshots.js";
import { inWords, kindOf } from "./states.js";
import { Template } from "./template.js";
import { Why } from "./why.js";
import { words } from "./words.js";

const EVENTS = 100; // that are read to begin with
const DEPTH = 5; // of nested stacks whose events are
const AGAIN = 10000; // milliseconds until it is asked again why a stack is not done

/** Show a stack, and its resource `open` if that is a name, until a signal says that it is left. */
export function stackPage(main, stack, { open = null, ...around }) {
  const page = new StackPage(stack, around);
  put(main, page.layOut());
  page.run(open).catch((error) => {
    if (error.status === 404) notice(words.gone, page.shown ? "going" : "broken");
    else around.failed(error);
  });
}

class StackPage {
  constructor(stack, around) {
    const { signal, failed } = around;
    Object.assign(this, { stack, around });
    this.place = path("stacks", stack.name, stack.id);
    this.shown = null;
    const go = (name) => this.picture.goTo(name).catch(failed);
    this.heading = new Heading({ stack, failed, done: () => (this.soon.stack(), this.soon.why()) });
    this.why = new Why({ stack, go });
    this.happenings = new Happenings({ stack, go });
    this.picture = new Picture({
      stack, signal, choose: (mark) => this.choose(mark), drawn: () => this.drawn(),
      find: () => this.soon.found(), again: () => this.soon.picture(),
    });
    this.template = new Template({ stack, failed, signal });
    this.history = new History({ stack, failed, signal });
    this.panel = new Panel({
      stack, go, around, shown: () => this.shown, close: () => this.closed(), waitOf: (name) => this.why.waitOf(name),
      showInTemplate: (name) => this.template.show(name).catch(failed),
    });
    this.outputs = h("div");
    this.snapshots = new Snapshots({ stack, failed, done: () => this.soon.stack() });
    this.parts = {
      stack: () => this.readStack(),
      picture: this.picture.read,
      why: ifAllowed(this.why.element, () => this.readWhy()),
      events: ifAllowed(this.happenings.element, () => this.readEvents()),
    };
    this.soon = {
      stack: calmly(this.parts.stack, around),
      picture: calmly(this.parts.picture, around, { least: 300 }),
      found: calmly(this.parts.picture, around, { least: 200, share: 0 }),
      why: calmly(this.parts.why, around, { least: 1500 }),
      events: calmly(this.parts.events, around),
      panel: calmly(() => this.panel.refresh(), around, { least: 500 }),
    };
  }

  layOut() {
    return [
      this.heading.element, this.why.element,
      h("div", { class: "columns" },
        h("section", { class: "wide", "aria-label": words.graph },
          this.picture.element,
          h("section", { class: "outputs" }, h("h2", {}, words.outputs), this.outputs),
          this.snapshots.element, this.template.element, this.history.element),
        h("div", { class: "side" }, this.panel.element, this.happenings.element)),
    ];
  }

  /** Read everything, then follow what changes. */
  async run(open) {
    const { place, around } = this;
    const { signal, lost } = around;
    // What waits goes on waiting: how long it has, and what is done about it, is told anew now and then.
    const isOfInterest = () => this.shown?.stack_status.endsWith("_IN_PROGRESS") && !document.hidden;
    const timer = setInterval(() => isOfInterest() && (this.soon.why(), this.heading.draw(this.shown)), AGAIN);
    signal.addEventListener("abort", () => clearInterval(timer), { once: true });
    // The cursor first: whatever happens while the rest is read comes by it.
    const cursor = await untilRead(() => this.readCursor(), around);
    await Promise.all(Object.values(this.parts).map((read) => untilRead(read, around)));
    if (signal.aborted) return;
    say(`${this.stack.name}: ${words.kinds[kindOf(this.shown.stack_status)]}`);
    if (open) this.picture.goTo(open).catch(around.failed);
    await follow(place, cursor, { seen: (each) => this.seen(each), lost, signal });
  }

  // -- reading ---------------------------------------------------------------------------

  /** Read a part of what is known of the stack. */
  read(part, query = {}) {
    return get(this.place + part, query, this.around.signal);
  }

  async readCursor() {
    return (await this.read("/changes")).changes.cursor;
  }

  async readStack() {
    this.shown = (await this.read("")).stack;
    this.drawState();
    this.drawOutputs();
    if (this.shown.stack_status.startsWith("DELETE_")) return; // what it had may be gone by now
    const { signal } = this.around;
    await Promise.all([this.snapshots.read(signal), this.history.fold.again(), this.template.fold.again()]);
  }

  async readWhy() {
    const { explanation } = await this.read("/explanation");
    this.why.draw(this.shown?.stack_status ?? explanation.stack_status, explanation);
  }

  async readEvents() {
    this.happenings.add((await this.read("/events", { limit: EVENTS, nested_depth: DEPTH })).events);
  }

  /** Show what is new. */
  seen(changes) {
    if (changes.missed) {
      for (const part of [...Object.keys(this.parts), "panel"]) this.soon[part]();
      this.panel.inside.seen(changes);
      return;
    }
    this.happenings.add([...changes.events].reverse());
    const before = this.shown.stack_status;
    const { description, tags } = this.shown;
    this.shown = { ...this.shown, ...changes.stack, description, tags };
    const state = this.shown.stack_status;
    this.drawState();
    if (before !== state) {
      say(`${this.stack.name}: ${inWords(state)}`);
      this.soon.panel(); // other actions are offered
    }
    if (changes.events.length || before !== state) this.soon.why();
    this.seenResources(changes);
  }

  seenResources(changes) {
    const here = changes.resources.filter((each) => each.stack.id === this.stack.id);
    const ofStacks = changes.events.filter((each) => each.resource_name === each.stack.name);
    const isObserved = changes.events.some((each) => each.resource_status.startsWith("OBSERVE"));
    const isOther = isObserved || ofStacks.some((each) => each.stack.id === this.stack.id);
    if (isOther) this.soon.stack();
    const isNested = (each) => each.resource_status.endsWith("_IN_PROGRESS") && this.picture.isInside(each.stack);
    if (isOther || changes.more || ofStacks.some(isNested)) this.soon.picture();
    this.picture.seen(here);
    if (here.some((each) => each.resource_name === this.panel.name)) this.soon.panel();
    this.panel.inside.seen(changes);
  }

  // -- drawing ---------------------------------------------------------------------------

  drawState() {
    this.heading.draw(this.shown);
    this.why.draw(this.shown.stack_status);
    this.snapshots.draw(this.shown.stack_status);
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

  // -- one resource ----------------------------------------------------------------------

  /** Show the resource that is looked at as it is in another picture. */
  drawn() {
    if (!this.panel.name) return;
    const { graph } = this.picture;
    const shown = graph.find(this.panel.name);
    graph.select(shown?.mark.key);
    if (shown) this.panel.drawn(shown.mark);
  }

  choose(mark) {
    this.picture.graph.select(mark.key);
    if (mark.count > 1) {
      this.panel.many(mark, (key) => this.picture.membersOf(key));
      return;
    }
    history.replaceState(null, "", addressOf(this.stack, "resources", mark.name));
    this.template.mark(mark.name);
    this.panel.one(mark, this.picture.requiredBy(mark));
  }

  closed() {
    this.picture.graph.select(null);
    history.replaceState(null, "", addressOf(this.stack));
  }
}

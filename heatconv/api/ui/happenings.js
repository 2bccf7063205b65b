// SPDX-License-Identifier: Apache-2.0
// What happens to a stack, and in the stacks nested in it: the newest first.

import { button, h, put, short } from "./dom.js";
import { addressOf } from "./overview.js";
import { inWords, kindOf, mark } from "./states.js";
import { clock } from "./times.js";
import { words } from "./words.js";

const MOST = 100;
const LONGEST = 300; // letters of a reason

/** Return what is told of why, if that says anything. */
export const reasonOf = (event) =>
  event.resource_status_reason && event.resource_status_reason !== "state changed"
    ? h("div", { class: "why" }, short(event.resource_status_reason, LONGEST))
    : null;

/** Return the stack that an event is of. */
function stackOf(event) {
  const [name, id] = event.links.find((each) => each.rel === "stack").href.split("/").slice(-2).map(decodeURIComponent);
  return { name, id };
}

/** The list of events; `go` is called with the name of a resource that somebody follows. */
export class Happenings {
  constructor({ stack, go }) {
    Object.assign(this, { stack, go });
    this.events = [];
    this.list = h("ol", { class: "events", "aria-label": words.now });
    this.element = h("section", { class: "now" }, h("h2", {}, words.now), this.list);
  }

  /** Show events that have happened, the newest first; one that is there already is left out. */
  add(events) {
    const known = new Set(this.events.map((each) => each.id));
    const fresh = events.filter((each) => !known.has(each.id));
    if (!fresh.length && this.events.length) return;
    const newest = (one, other) => other.event_time.localeCompare(one.event_time);
    this.events = [...fresh, ...this.events].sort(newest).slice(0, MOST);
    const none = h("li", { class: "quiet" }, words.noEvents);
    put(this.list, this.events.length ? this.events.map((each) => this.line(each)) : none);
  }

  line(event) {
    const name = event.resource_name;
    const of = stackOf(event);
    const isHere = of.id === this.stack.id && name !== of.name;
    const isElsewhere = of.id !== this.stack.id && name !== of.name;
    return h("li", {},
      clock(event.event_time), " ", mark(kindOf(event.resource_status)), " ",
      isHere ? button(name, () => this.go(name), { class: "link" }) : h("strong", {}, name), " ",
      h("span", { class: "quiet" }, inWords(event.resource_status)),
      isElsewhere ? h("div", { class: "quiet" }, words.inStack, " ", h("a", { href: addressOf(of) }, of.name)) : null,
      reasonOf(event));
  }
}

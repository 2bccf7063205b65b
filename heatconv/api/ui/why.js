// SPDX-License-Identifier: Apache-2.0
// Why a stack is not done, or what went wrong, in the sentences of the service.

import { button, h, put } from "./dom.js";
import { clock } from "./times.js";
import { words } from "./words.js";

/** Return the name that the resource has in this stack of which something is; an older engine has but a path. */
const firstOf = ({ names, path }) => (names ?? path.split("."))[0];

/** The box that explains a stack; `go` is called with the name of a resource that somebody follows. */
export class Why {
  constructor({ stack, go }) {
    Object.assign(this, { stack, go });
    this.explanation = { waits: [], failures: [] };
    this.element = h("section", { class: "why-box", hidden: true });
  }

  /** Return what a resource waits for, or what waits inside of it; undefined if nothing does. */
  waitOf(name) {
    return this.explanation.waits.find((each) => firstOf(each) === name);
  }

  /** Show an explanation of a stack that is in a state; nothing, if it is of another state, which is over. */
  draw(state, explanation = this.explanation) {
    this.explanation = explanation;
    const { waits, failures, sentence, more } = explanation;
    this.element.hidden = explanation.stack_status !== state || !(waits.length || failures.length);
    if (this.element.hidden) return;
    const isBroken = failures.length > 0;
    this.element.setAttribute("class", `why-box ${isBroken ? "broken" : "moving"}`);
    put(this.element,
      h("h2", {}, isBroken ? words.whyFailed : words.why),
      h("p", {}, sentence),
      h("ul", {}, isBroken ? failures.map((each) => this.failure(each)) : waits.map((each) => this.wait(each))),
      more ? h("p", { class: "quiet" }, words.moreOfThem) : null);
  }

  /** Return where something is: the first of its names is of a resource of this stack. */
  place(each) {
    const first = firstOf(each);
    return first ? button(each.path, () => this.go(first), { class: "link" }) : h("strong", {}, this.stack.name);
  }

  failure(each) {
    const { resource_type: type, reason } = each;
    return h("li", {}, this.place(each), " ", h("span", { class: "quiet" }, type), h("div", {}, reason));
  }

  wait(each) {
    const { resource_type: type, since, sentence, next, advice } = each;
    return h("li", {},
      this.place(each), " ",
      type ? h("span", { class: "quiet" }, type) : null,
      since ? [" ", h("span", { class: "quiet" }, words.since, " "), clock(since)] : null,
      h("div", {}, sentence),
      next ? h("div", { class: "quiet" }, `${words.next}: `, next) : null,
      advice ? h("div", { class: "advice" }, `${words.advice}: `, advice) : null);
  }
}

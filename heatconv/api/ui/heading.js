// SPDX-License-Identifier: Apache-2.0
// What is above everything of a stack: where it is, how it is, and what can be done about it.

import { stackActions } from "./act.js";
import { currentProject } from "./api.js";
import { h, put } from "./dom.js";
import { addressOf, bar, tags } from "./overview.js";
import { badge, inWords, mark } from "./states.js";
import { since } from "./times.js";
import { words } from "./words.js";

/** The heading of a stack; `done` is called when an action has begun, `failed` with an error. */
export class Heading {
  constructor({ stack, done, failed }) {
    Object.assign(this, { stack, done, failed });
    this.offered = null; // the state that actions are offered in
    this.head = h("div", { class: "head" }, h("p", { class: "quiet" }, words.loading));
    this.actions = h("div", { class: "choices", role: "group", "aria-label": words.actions });
    this.element = h("div", {}, this.head, this.actions);
  }

  draw(shown) {
    const state = shown.stack_status;
    document.title = `${this.stack.name}: ${inWords(state)} · ${words.title}`;
    put(this.head,
      this.path(shown),
      h("div", { class: "title" },
        h("h1", {}, this.stack.name),
        badge(state),
        shown.drift?.status === "DRIFTED" ? badge("", "drifted", words.drifts.DRIFTED) : null,
        state.endsWith("_IN_PROGRESS") ? bar(shown) : null,
        h("span", { class: "quiet" }, words.changed, " ", since(shown.updated_time ?? shown.creation_time))),
      shown.description && shown.description !== "No description" ? h("p", {}, shown.description) : null,
      h("p", { class: "tags", hidden: !shown.tags?.length }, tags(shown)));
    this.offer(shown);
  }

  path({ parent }) {
    const home = `#/${encodeURIComponent(currentProject())}`;
    const around = `${home}/stacks-by-id/${encodeURIComponent(parent)}`;
    return h("nav", { class: "path", "aria-label": words.stacks },
      h("a", { href: home }, words.stacks), " / ",
      parent ? [h("a", { href: around }, words.around), " / "] : null,
      h("span", {}, this.stack.name));
  }

  /** Offer what can be done; buttons stay in place as long as the same can be. */
  offer(shown) {
    if (this.offered === shown.stack_status) return;
    this.offered = shown.stack_status;
    const at = document.activeElement?.dataset?.action;
    const plan = () => (location.hash = `${addressOf(this.stack)}/plan`);
    put(this.actions, stackActions(this.stack, shown, { done: this.done, failed: this.failed, plan }));
    if (at) this.actions.querySelector(`[data-action="${at}"]`)?.focus();
  }
}

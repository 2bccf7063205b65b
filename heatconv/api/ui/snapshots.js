// SPDX-License-Identifier: Apache-2.0
// The snapshots of a stack: taken, gone back to, deleted.

import { confirm, doing } from "./act.js";
import { get, may, path, post, remove } from "./api.js";
import { button, h, put } from "./dom.js";
import { canChange } from "./offers.js";
import { badge } from "./states.js";
import { clock } from "./times.js";
import { words } from "./words.js";

/** The part of a page with the snapshots of a stack. */
export class Snapshots {
  constructor({ stack, done, failed }) {
    Object.assign(this, { stack, done, failed });
    this.place = path("stacks", stack.name, stack.id, "snapshots");
    this.listed = null;
    this.state = "";
    this.list = h("div");
    this.head = h("div", { class: "bar-of-tools" });
    this.element = h("section", { class: "snapshots", hidden: !may("stacks:list_snapshots") }, this.head, this.list);
  }

  /** Read again what there is. */
  async read(signal) {
    if (this.element.hidden) return;
    const { snapshots } = await get(this.place, {}, signal);
    this.listed = snapshots;
    this.draw(this.state);
  }

  /** Show them, of a stack in a state. */
  draw(state) {
    this.state = state;
    const isAtRest = !state.endsWith("_IN_PROGRESS") && !state.startsWith("DELETE_");
    const at = document.activeElement?.dataset?.snapshot;
    put(this.head,
      h("h2", {}, words.snapshots),
      isAtRest && may("stacks:snapshot")
        ? button(words.takeSnapshot, () => this.take(), { "data-snapshot": "take" }) : null);
    if (this.listed === null) return;
    put(this.list, this.listed.length
      ? h("ul", { class: "rows" }, this.listed.map((each) => this.line(each, isAtRest)))
      : h("p", { class: "quiet" }, words.noSnapshots));
    if (at) this.element.querySelector(`[data-snapshot="${at}"]`)?.focus();
  }

  line(snapshot, isAtRest) {
    const { id, name, action, status, status_reason: reason } = snapshot;
    const label = name ?? id;
    const isWhole = action === "CREATE" && status === "COMPLETE";
    const canGoBack = isWhole && isAtRest && canChange(this.state) && may("stacks:restore_snapshot");
    const acts = (title, press, more) => button(title, press, { "aria-label": `${title} ${label}`, ...more });
    return h("li", {},
      h("strong", {}, label), badge(`${action}_${status}`), clock(snapshot.creation_time),
      status === "FAILED" ? h("span", { class: "why" }, reason) : null,
      h("span", { class: "spring" }),
      canGoBack ? acts(words.restore, () => this.restore(id, label), { "data-snapshot": `restore-${id}` }) : null,
      isAtRest && may("stacks:delete_snapshot")
        ? acts(words.erase, () => this.erase(id, label), { class: "danger", "data-snapshot": `delete-${id}` }) : null);
  }

  run(label, work) {
    const done = () => (this.read().catch(this.failed), this.done());
    return doing(label, work, { done, failed: this.failed });
  }

  async take() {
    const asked = { title: words.takeSnapshot, text: words.snapshotText, field: words.snapshotName };
    const name = await confirm(asked);
    if (name !== null) await this.run(words.takeSnapshot, () => post(this.place, name ? { name } : {}));
  }

  async restore(id, label) {
    const asked = { title: words.restoreTitle(label), text: words.restoreText };
    if ((await confirm(asked)) !== null) await this.run(words.restore, () => post(`${this.place}/${id}/restore`));
  }

  async erase(id, label) {
    const asked = { title: words.eraseTitle(label), text: words.eraseText, danger: true };
    if ((await confirm(asked)) !== null) await this.run(words.erase, () => remove(`${this.place}/${id}`));
  }
}

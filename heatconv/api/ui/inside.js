// SPDX-License-Identifier: Apache-2.0
// What is in the stack that a resource stands for: read once when it is opened, then followed with what is around it.

import { calmly, untilRead } from "./again.js";
import { get, path } from "./api.js";
import { h, put } from "./dom.js";
import { addressOf } from "./overview.js";
import { KINDS, badge, kindOf } from "./states.js";
import { words } from "./words.js";

const MARKS = 300;
const LISTED = 50; // the rest is counted

/** The list of what is in a nested stack. */
export class Inside {
  constructor(around) {
    this.around = around;
    this.stack = null;
    this.marks = [];
    this.element = h("div");
    this.again = calmly(() => this.read(), around);
  }

  /** Show a stack, or none. */
  open(stack) {
    if (this.stack?.id === stack?.id) return;
    this.stack = stack;
    put(this.element);
    if (stack) untilRead(() => this.read(), this.around).catch(this.around.failed);
  }

  async read() {
    const { stack } = this;
    if (!stack) return;
    const { picture } = await get(`${path("stacks", stack.name, stack.id)}/picture`, { limit: MARKS });
    if (this.stack !== stack) return;
    this.marks = picture.marks;
    this.draw();
  }

  /** Show what is new; what is rolled up, or was not there before, is read anew. */
  seen({ resources, missed }) {
    if (!this.stack) return;
    const here = resources.filter((each) => each.stack.id === this.stack.id);
    const alone = new Map(this.marks.filter((mark) => mark.count === 1).map((mark) => [mark.name, mark]));
    for (const { resource_name: name, resource_status: state, wanted, gone, clearing } of here) {
      if (gone || clearing || !alone.has(name)) return this.again();
      alone.get(name).kind = kindOf(state, { wanted });
    }
    if (missed) this.again();
    else if (here.length) this.draw();
  }

  draw() {
    const rank = (mark) => KINDS.indexOf(mark.kind);
    const shown = [...this.marks].sort((one, other) => rank(one) - rank(other));
    put(this.element,
      h("ul", { class: "links inside" }, shown.slice(0, LISTED).map((mark) => this.line(mark))),
      shown.length > LISTED ? h("p", { class: "quiet" }, words.moreOfThem) : null);
  }

  line(mark) {
    const name = mark.count > 1
      ? words.alike(mark.count, mark.type.split("::").pop())
      : h("a", { href: addressOf(this.stack, "resources", mark.name) }, mark.name);
    return h("li", {}, name, badge("", mark.kind, words.kinds[mark.kind]));
  }
}

// SPDX-License-Identifier: Apache-2.0
// What was done to a stack, from its events: when each action began, how long it took, and how it ended.

import { get, path } from "./api.js";
import { Fold, h, put } from "./dom.js";
import { badge, inWords } from "./states.js";
import { clock, lasting } from "./times.js";
import { words } from "./words.js";

const EVENTS = 100;

/** Return the actions that events of a stack tell of, the newest first; the events are the newest first, too. */
function actionsOf(events) {
  const found = [];
  for (const event of [...events].reverse()) {
    const [, action, status] = event.resource_status.match(/^([A-Z]+)_(.*)$/);
    const last = found.at(-1);
    if (status === "IN_PROGRESS") found.push({ action, began: event.event_time, state: event.resource_status });
    else if (last && last.action === action && !last.ended) {
      const reason = event.resource_status_reason;
      Object.assign(last, { ended: event.event_time, state: event.resource_status, reason });
    }
  }
  return found.reverse();
}

/** The part of a page that has what was done. */
export class History {
  constructor({ stack, failed, signal }) {
    this.stack = stack;
    this.list = h("ul", { class: "rows" });
    this.fold = new Fold(words.history, () => this.read(), { failed, signal });
    this.fold.body.append(this.list);
    this.element = this.fold.element;
  }

  async read() {
    const { name, id } = this.stack;
    const query = { resource_name: name, limit: EVENTS };
    const { events } = await get(`${path("stacks", name, id)}/events`, query, this.fold.signal);
    const actions = actionsOf(events.filter((each) => each.physical_resource_id === id));
    put(this.list, actions.map((each, number) => this.line(each, number === 0)));
  }

  line({ began, ended, state, reason }, isNewest) {
    const isOvertaken = !ended && !isNewest;
    return h("li", {},
      clock(began),
      isOvertaken ? badge(state, "waiting", words.overtaken(inWords(state))) : badge(state),
      ended ? h("span", { class: "quiet" }, words.took(lasting((new Date(ended) - new Date(began)) / 1000))) : null,
      state.endsWith("_FAILED") ? h("span", { class: "why" }, reason) : null);
  }
}

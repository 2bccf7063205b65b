// SPDX-License-Identifier: Apache-2.0
// For whoever runs the service: its daemons, and what is under way or has failed, and why.

import { nowAndThen } from "./again.js";
import { currentProject, get, may, path } from "./api.js";
import { h, put, short } from "./dom.js";
import { addressOf } from "./overview.js";
import { badge, kindOf } from "./states.js";
import { lasting, since } from "./times.js";
import { words } from "./words.js";

const LOOK = 10000; // milliseconds
const MOST = 50; // stacks of each kind
const EXPLAINED = 10; // of what is under way: each is a look of an engine

/** Return a moment with its zone: those of daemons come in Heat's format, without one. */
const inUtc = (text) => (text && !/(Z|[+-]\d\d:\d\d)$/.test(text) ? `${text}Z` : text);

const table = (columns, rows) =>
  h("table", { class: "stacks of-service" },
    h("thead", {}, h("tr", {}, columns.map((each) => h("th", { scope: "col" }, each)))), h("tbody", {}, rows));

/** Show the service until a signal says that it is left. */
export function servicePage(main, around) {
  const { signal } = around;
  const daemons = h("div", {}, h("p", { class: "quiet" }, words.loading));
  const work = h("dl", { class: "facts" });
  const stuck = h("div");
  const isEverywhere = may("stacks:global_index");
  put(main,
    h("h1", {}, words.service),
    h("section", {}, h("h2", {}, words.daemons), daemons),
    h("section", { hidden: !may("service:work") }, h("h2", {}, words.work), work),
    h("section", {},
      h("h2", {}, isEverywhere ? words.stuckAnywhere : words.stuckHere(currentProject())),
      isEverywhere ? null : h("p", { class: "quiet" }, words.onlyHere), stuck));

  const daemon = (each) => {
    const isAlive = each.status === "up";
    const state = badge("", isAlive ? "done" : "broken", isAlive ? words.alive : words.dead);
    return h("tr", { class: isAlive ? "done" : "broken" },
      h("th", { scope: "row" }, each.binary), h("td", {}, state), h("td", {}, each.hostname),
      h("td", {}, since(inUtc(each.created_at))), h("td", {}, since(inUtc(each.updated_at))));
  };

  /** Show how much there is to do and how late it is. */
  async function readWork() {
    if (!may("service:work")) return;
    const answer = await get("services/work", {}, signal).catch(() => null); // an older engine does not know
    const found = answer?.work ?? {};
    put(work, Object.entries(words.workOf).filter(([key]) => key in found).map(([key, label]) => [
      h("dt", {}, label),
      h("dd", {}, key === "backlog" ? found[key].toLocaleString() : found[key] ? lasting(found[key]) : words.nothing)]));
  }

  const list = (status) => {
    const query = { status, limit: MOST, global_tenant: isEverywhere ? "true" : null };
    return get("stacks", { ...query, sort_keys: "creation_time", sort_dir: "asc" }, signal);
  };

  /** Return why a stack is not done; what cannot be known is left out. */
  async function explained(stack) {
    const where = path("stacks", stack.stack_name, stack.id, "explanation");
    const found = await get(where, {}, signal, stack.project).catch(() => null);
    return found?.explanation.waits[0] ?? null;
  }

  const line = (stack, wait) =>
    h("tr", { class: kindOf(stack.stack_status) },
      h("th", { scope: "row" },
        h("a", { href: addressOf({ name: stack.stack_name, id: stack.id, project: stack.project }) }, stack.stack_name),
        isEverywhere ? h("div", { class: "quiet" }, words.project, " ", stack.project) : null),
      h("td", {}, badge(stack.stack_status)),
      h("td", {}, wait
        ? [wait.path ? h("strong", {}, `${wait.path} `) : null, wait.sentence,
            wait.advice ? h("div", { class: "advice" }, wait.advice) : null]
        : kindOf(stack.stack_status) === "broken" ? short(stack.stack_status_reason, 300) : null),
      h("td", {}, since(stack.updated_time ?? stack.creation_time)));

  async function read() {
    const [{ services }, moving, broken] = await Promise.all([
      get("services", {}, signal), list("IN_PROGRESS"), list("FAILED"), readWork()]);
    return { services, moving: moving.stacks, broken: broken.stacks };
  }

  async function show({ services, moving, broken }) {
    const rank = (each) => (each.status === "up" ? 1 : 0);
    const listed = services.sort((one, other) => rank(one) - rank(other));
    put(daemons, table([words.daemon, words.state, words.host, words.began, words.heardOf], listed.map(daemon)));
    const waits = await Promise.all(moving.slice(0, EXPLAINED).map(explained));
    const rows = [...moving.map((each, number) => line(each, waits[number])), ...broken.map((each) => line(each))];
    put(stuck, rows.length
      ? table([words.name, words.state, words.why, words.changed], rows)
      : h("p", { class: "quiet" }, words.nothingStuck));
  }

  nowAndThen({ read, show, rest: () => LOOK }, around)();
}

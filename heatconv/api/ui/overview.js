// SPDX-License-Identifier: Apache-2.0
// All stacks of the project: what has failed first, then what is under way, then the rest, a page at a time.

import { nowAndThen } from "./again.js";
import { currentProject, get, may } from "./api.js";
import { button, h, put, say, short } from "./dom.js";
import { secondsLeft } from "./left.js";
import { KINDS, badge, kindOf, mark } from "./states.js";
import { lasting, since } from "./times.js";
import { words } from "./words.js";

const PAGE = 50;
const LOOK = 4000; // milliseconds
const QUIET = 12000; // while nothing is under way, and nothing changes
const TYPING = 250; // somebody who searches

/** Return the address of a stack's page; it may name its project. */
export const addressOf = (stack, ...below) =>
  `#/${[stack.project ?? currentProject(), "stacks", stack.name, stack.id, ...below].map(encodeURIComponent).join("/")}`;

/** Return a stack's progress bar with its words, and how long it should still take; null if nothing is under way. */
export function bar(stack) {
  const { done, total } = stack.progress ?? {};
  if (!total) return null;
  const text = words.step(done, total);
  const seconds = secondsLeft(stack);
  return h("span", { class: "bar" }, h("progress", { max: total, value: done, "aria-label": text }), text,
    seconds === null ? null : h("span", { class: "quiet left" }, words.left(lasting(seconds, "short"))));
}

/** Return the tags of a stack. */
export const tags = (stack) => (stack.tags ?? []).map((each) => h("span", { class: "tag" }, each));

/** Columns, with what they are sorted by and which way first. */
const COLUMNS = [
  [words.name, "stack_name", "asc"],
  [words.state, "stack_status", "asc"],
  [words.progress],
  [words.drift],
  [words.changed, "updated_time", "desc"],
];
const SORTED = { asc: "ascending", desc: "descending" };

const createLink = () =>
  !may("plans:create", "plans:apply", "stacks:create") ? null : h("a", { class: "button primary", href: `#/${encodeURIComponent(currentProject())}/plan` }, words.create);

/** Show the stacks of the project until a signal says that they are left. */
export function overview(main, around) {
  const { signal } = around;
  let pages = 1;
  let status = "";
  let order = null; // what needs to be looked at first
  let text = "";
  let listed = { stacks: [], count: 0 };
  let known = "";
  let pause = LOOK;
  let typing = null;

  const box = h("input", { type: "search", placeholder: words.filter, "aria-label": words.filter, input: narrow });
  const choice = h("select", { "aria-label": words.state, change: choose },
    h("option", { value: "" }, words.anyState),
    h("option", { value: "FAILED" }, words.kinds.broken),
    h("option", { value: "IN_PROGRESS" }, words.kinds.moving),
    h("option", { value: "COMPLETE" }, words.kinds.done));
  const rows = h("tbody");
  const foot = h("p", { class: "foot" });
  const empty = h("div", { class: "empty" });
  const heads = COLUMNS.map((column) => head(...column));
  const table = h("table", { class: "stacks" }, h("thead", {}, h("tr", {}, heads)), rows);
  put(main,
    h("div", { class: "bar-of-tools" },
      h("h1", {}, words.stacks), box, choice, createLink()),
    table, empty, foot);

  function head(label, key, first) {
    const press = () => sort(key, first);
    return h("th", { scope: "col", "data-key": key ?? null, "aria-sort": key ? "none" : null },
      key ? button(label, press, { class: "link", title: words.sortBy(label) }) : label);
  }

  /** Sort by a column, then the other way, then no more. */
  function sort(key, first) {
    if (order?.key !== key) order = { key, dir: first };
    else order = order.dir === first ? { key, dir: first === "asc" ? "desc" : "asc" } : null;
    for (const each of heads.filter(({ dataset }) => dataset.key)) {
      each.setAttribute("aria-sort", each.dataset.key === order?.key ? SORTED[order.dir] : "none");
    }
    again();
  }

  function narrow() {
    text = box.value.trim();
    clearTimeout(typing);
    typing = setTimeout(again, TYPING);
  }

  function choose() {
    status = choice.value;
    again();
  }

  /** List anew, from the first page on. */
  function again() {
    pages = 1;
    look();
  }

  const read = (query) =>
    get("stacks", { ...query, search: text || null, with_drift: "true" }, signal);

  async function list() {
    if (status || order) {
      const sorted = order && { sort_keys: order.key, sort_dir: order.dir };
      return read({ status: status || null, ...sorted, limit: PAGE * pages, with_count: "true" });
    }
    const [urgent, moving, rest] = await Promise.all([
      read({ status: "FAILED", limit: PAGE * pages }),
      read({ status: "IN_PROGRESS", limit: PAGE * pages }),
      read({ limit: PAGE * pages, with_count: "true" }),
    ]);
    const known = new Map([...urgent.stacks, ...moving.stacks, ...rest.stacks].map((each) => [each.id, each]));
    return { stacks: [...known.values()], count: rest.count };
  }

  /** Show what is listed now. */
  function show(answer) {
    listed = answer;
    if (!known) say(words.stackCount(listed.count));
    const found = JSON.stringify(listed);
    const isQuiet = found === known && !listed.stacks.some((each) => kindOf(each.stack_status) === "moving");
    known = found;
    pause = isQuiet ? Math.min(pause + LOOK, QUIET) : LOOK;
    draw(); // be it the same, for it says how long ago things were
  }

  const rank = (stack) => KINDS.indexOf(kind(stack));
  const kind = (stack) =>
    kindOf(stack.stack_status) === "done" && stack.drift?.status === "DRIFTED" ? "drifted" : kindOf(stack.stack_status);

  function draw() {
    const shown = [...listed.stacks];
    if (!order) shown.sort((one, other) => rank(one) - rank(other));
    const at = document.activeElement?.id;
    put(rows, shown.map(row));
    if (at) document.getElementById(at)?.focus();
    table.hidden = shown.length === 0;
    put(empty, shown.length ? null : nothing());
    put(foot,
      shown.length ? words.showing(shown.length, listed.count) : null,
      listed.stacks.length < listed.count ? [" ", button(words.more, () => ((pages += 1), look()))] : null);
  }

  const nothing = () =>
    text || status
      ? h("p", {}, words.noneFits)
      : [h("p", {}, words.noStacks), createLink()];

  function row(stack) {
    const of = { name: stack.stack_name, id: stack.id };
    return h("tr", { class: kind(stack) },
      h("th", { scope: "row" },
        h("a", { href: addressOf(of), id: `stack-${stack.id}` }, stack.stack_name), stack.tags?.map(tagged) ?? null,
        stack.description ? h("div", { class: "quiet" }, short(stack.description, 120)) : null),
      h("td", {}, badge(stack.stack_status), reason(stack)),
      h("td", {}, bar(stack)),
      h("td", {}, drift(stack.drift?.status ?? "UNKNOWN")),
      h("td", {}, since(stack.updated_time ?? stack.creation_time)));
  }

  const tagged = (tag) => button(tag, () => ((box.value = tag), narrow()), { class: "tag" });

  const reason = (stack) =>
    kindOf(stack.stack_status) === "broken"
      ? h("div", { class: "why" }, short(stack.stack_status_reason, 200))
      : null;

  const drift = (found) =>
    h("span", { class: found === "UNKNOWN" ? "quiet" : null },
      found === "DRIFTED" ? [mark("drifted"), " "] : null, words.drifts[found]);

  // What is the same comes as 304, without a body.
  const look = nowAndThen({ read: list, show, rest: () => pause }, around);
  signal.addEventListener("abort", () => clearTimeout(typing), { once: true });
  put(rows, h("tr", {}, h("td", { colspan: 5, class: "quiet" }, words.loading)));
  look();
}

// SPDX-License-Identifier: Apache-2.0
// All stacks of the project: what has failed first, then what is under way, then the rest, a page at a time.

import { currentProject, get, may } from "./api.js";
import { button, h, put, say, short } from "./dom.js";
import { secondsLeft } from "./left.js";
import { KINDS, badge, kindOf, mark } from "./states.js";
import { lasting, since } from "./times.js";
import { words } from "./words.js";

const PAGE = 50;
const LOOK = 4000; // milliseconds
const QUIET = 12000; // while nothing is under way, and nothing changes

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

const createLink = () =>
  !may("plans:create", "plans:apply", "stacks:create") ? null : h("a", { class: "button primary", href: `#/${encodeURIComponent(currentProject())}/plan` }, words.create);

/** Show the stacks of the project until a signal says that they are left. */
export function overview(main, { signal, lost, failed }) {
  let pages = 1;
  let status = "";
  let text = "";
  let listed = { stacks: [], count: 0 };
  let known = "";
  let pause = LOOK;
  let timer = null;

  const box = h("input", { type: "search", placeholder: words.filter, "aria-label": words.filter, input: narrow });
  const choice = h("select", { "aria-label": words.state, change: choose },
    h("option", { value: "" }, words.anyState),
    h("option", { value: "FAILED" }, words.kinds.broken),
    h("option", { value: "IN_PROGRESS" }, words.kinds.moving),
    h("option", { value: "COMPLETE" }, words.kinds.done));
  const rows = h("tbody");
  const foot = h("p", { class: "foot" });
  const empty = h("div", { class: "empty" });
  const columns = [words.name, words.state, words.progress, words.drift, words.changed];
  const table = h("table", { class: "stacks" },
    h("thead", {}, h("tr", {}, columns.map((each) => h("th", { scope: "col" }, each)))),
    rows);
  put(main,
    h("div", { class: "bar-of-tools" },
      h("h1", {}, words.stacks), box, choice, createLink()),
    table, empty, foot);

  function narrow() {
    text = box.value.toLowerCase();
    draw();
  }

  function choose() {
    status = choice.value;
    pages = 1;
    look();
  }

  const read = (query) => get("stacks", { ...query, with_drift: "true" }, signal);

  async function list() {
    if (status) return read({ status, limit: PAGE * pages, with_count: "true" });
    const [urgent, moving, rest] = await Promise.all([
      read({ status: "FAILED", limit: PAGE * pages }),
      read({ status: "IN_PROGRESS", limit: PAGE * pages }),
      read({ limit: PAGE * pages, with_count: "true" }),
    ]);
    const known = new Map([...urgent.stacks, ...moving.stacks, ...rest.stacks].map((each) => [each.id, each]));
    return { stacks: [...known.values()], count: rest.count };
  }

  async function look() {
    clearTimeout(timer);
    try {
      listed = await list();
      lost(false);
      const found = JSON.stringify(listed);
      const isQuiet = found === known && !listed.stacks.some((each) => kindOf(each.stack_status) === "moving");
      known = found;
      pause = isQuiet ? Math.min(pause + LOOK, QUIET) : LOOK;
      draw(); // be it the same, for it says how long ago things were
    } catch (error) {
      if (signal.aborted) return;
      failed(error);
    }
    // Whoever does not look is not shown anything; what is the same comes as 304, without a body.
    if (!signal.aborted && !document.hidden) timer = setTimeout(look, pause);
  }

  const rank = (stack) => KINDS.indexOf(kind(stack));
  const kind = (stack) =>
    kindOf(stack.stack_status) === "done" && stack.drift?.status === "DRIFTED" ? "drifted" : kindOf(stack.stack_status);

  function draw() {
    const fits = (stack) =>
      [stack.stack_name, ...(stack.tags ?? [])].some((each) => each.toLowerCase().includes(text));
    const shown = listed.stacks.filter(fits).sort((one, other) => rank(one) - rank(other));
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
    listed.count
      ? h("p", {}, words.noneFits)
      : [h("p", {}, words.noStacks), createLink()];

  function row(stack) {
    const of = { name: stack.stack_name, id: stack.id };
    return h("tr", { class: kind(stack) },
      h("th", { scope: "row" },
        h("a", { href: addressOf(of), id: `stack-${stack.id}` }, stack.stack_name), tags(stack),
        stack.description ? h("div", { class: "quiet" }, short(stack.description, 120)) : null),
      h("td", {}, badge(stack.stack_status), reason(stack)),
      h("td", {}, bar(stack)),
      h("td", {}, drift(stack.drift?.status ?? "UNKNOWN")),
      h("td", {}, since(stack.updated_time ?? stack.creation_time)));
  }

  const reason = (stack) =>
    kindOf(stack.stack_status) === "broken"
      ? h("div", { class: "why" }, short(stack.stack_status_reason, 200))
      : null;

  const drift = (found) =>
    h("span", { class: found === "UNKNOWN" ? "quiet" : null },
      found === "DRIFTED" ? [mark("drifted"), " "] : null, words.drifts[found]);

  const wake = () => document.hidden || ((pause = LOOK), look());
  document.addEventListener("visibilitychange", wake, { signal });
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  put(rows, h("tr", {}, h("td", { colspan: 5, class: "quiet" }, words.loading)));
  look().then(() => say(words.stackCount(listed.count ?? 0)));
}

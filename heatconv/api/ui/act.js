// SPDX-License-Identifier: Apache-2.0
// What can be done to a stack or a resource, and being asked once more before it is.

import { may, patch, path, post, remove } from "./api.js";
import { button, h, say } from "./dom.js";
import { offersOfResource, offersOfStack } from "./offers.js";
import { words } from "./words.js";

/**
 * Ask whether something is to be done; resolve with what was entered, or null.
 *
 * `field` is the label of a text; with `exactly`, nothing is done before that is what it says. `long` is a text
 * of several lines to begin with, and `judge` says what is wrong with a text, or nothing.
 */
export function confirm(asked) {
  const { title, text, yes = words.confirm, field = null, exactly = null, danger = false } = asked;
  const { long = null, judge = () => null } = asked;
  return new Promise((answer) => {
    const entered = { id: "entry", autocomplete: "off", "aria-describedby": "wrong", input: () => look() };
    const plain = () => h("input", { type: "text", ...entered });
    const lines = () => h("textarea", { rows: 6, spellcheck: "false", ...entered }, long);
    const entry = !field ? null : long === null ? plain() : lines();
    const wrong = h("p", { class: "why", id: "wrong", role: "status" });
    const go = h("button", { type: "submit", class: danger ? "danger" : "primary" }, yes);
    const look = () => {
      wrong.textContent = entry ? judge(entry.value) : null;
      go.disabled = (exactly !== null && entry.value !== exactly) || wrong.textContent !== "";
    };
    const dialog = h("dialog", { "aria-labelledby": "dialog-title" },
      h("form", { submit: (event) => (event.preventDefault(), close(entry ? entry.value : "")) },
        h("h2", { id: "dialog-title" }, title),
        h("p", {}, text),
        entry ? h("label", { for: "entry" }, field) : null,
        entry, wrong,
        h("div", { class: "choices" }, button(words.cancel, () => close(null)), go)));
    let result = null;
    const close = (value) => {
      result = value;
      dialog.close();
    };
    dialog.addEventListener("close", () => {
      dialog.remove();
      answer(result);
    });
    document.body.append(dialog);
    look();
    dialog.showModal();
  });
}

/** What the policy has to allow for an action; of the others, the rule is named as the action is. */
const STACK_RULES = { update: ["plans:create", "plans:apply", "stacks:update"], delete: ["stacks:delete"] };
const RESOURCE_RULES = {
  healthy: ["resource:mark_unhealthy"],
  unhealthy: ["resource:mark_unhealthy"],
  release: ["resource:signal"],
};

const allowedOf = (offered, rules, noun) =>
  offered.filter(([action]) => may(...(rules[action] ?? [`${noun}:${action}`])));

/** Return what can be done as buttons; if the policy allows nothing of it, a sentence. */
function buttons(offered, rules, noun) {
  const allowed = allowedOf(offered, rules, noun);
  if (offered.length && !allowed.length) return h("p", { class: "quiet" }, words.lookOnly);
  return allowed.map(([action, press]) => actionButton(action, press));
}

/** Return the actions that a stack has, as it is shown, as buttons. */
export function stackActions(stack, shown, { done, failed, plan }) {
  const place = path("stacks", stack.name, stack.id);
  const run = async (action) => {
    const [label, text] = words.act[action];
    if ((await confirm({ title: `${label}: ${stack.name}`, text })) === null) return;
    await doing(label, () => post(`${place}/actions`, { [action]: null }), { done, failed });
  };
  const erase = async () => {
    const title = words.deleteTitle(stack.name);
    const typed = { field: words.deleteType(stack.name), exactly: stack.name };
    const asked = { title, text: words.deleteText, yes: words.deleteButton, danger: true, ...typed };
    if ((await confirm(asked)) === null) return;
    await doing(words.deleteButton, () => remove(place), { done, failed });
  };
  const press = { update: plan, delete: erase };
  const offered = offersOfStack(shown).map((action) => [action, press[action] ?? (() => run(action))]);
  return buttons(offered, STACK_RULES, "actions");
}

/** Return the actions that a resource in a state has, of a stack as it is shown, as buttons. */
export function resourceActions(stack, shown, name, state, { done, failed, wait }) {
  const place = path("stacks", stack.name, stack.id, "resources", name);
  const mark = async (unhealthy) => {
    const [label, text] = words.act[unhealthy ? "unhealthy" : "healthy"];
    const reason = await confirm({ title: `${label}: ${name}`, text, field: words.markReason });
    if (reason === null) return;
    const body = { mark_unhealthy: unhealthy, resource_status_reason: reason };
    await doing(label, () => patch(place, body), { done, failed });
  };
  const run = async (action) => {
    const [label, text] = words.act[action];
    if ((await confirm({ title: `${label}: ${name}`, text })) === null) return;
    await doing(label, () => post(`${place}/actions`, { [action]: null }), { done, failed });
  };
  const signal = async () => {
    const [label, text] = words.act.signal;
    const asked = { title: words.signalTitle(name), text, field: words.signalData, long: "{}", judge: notAnObject };
    const data = await confirm(asked);
    if (data !== null) await doing(label, () => post(`${place}/signal`, JSON.parse(data)), { done, failed });
  };
  const release = async () => {
    const [label, text] = words.act.release;
    if ((await confirm({ title: `${label}: ${name}`, text })) === null) return;
    await doing(label, () => post(`${place}/signal`, { unset_hook: wait.hook }), { done, failed });
  };
  const signals = may("resource:signal") ? [["signal", signal]] : [];
  if (wait?.hook && wait.path === name && signals.length) signals.unshift(["release", release]);
  const press = { healthy: () => mark(false), unhealthy: () => mark(true) };
  const offered = offersOfResource(shown, state).map((action) => [action, press[action] ?? (() => run(action))]);
  return buttons([...offered, ...signals], RESOURCE_RULES, "resource");
}

function actionButton(action, press) {
  const [label, title] = words.act[action];
  return button(label, press, { title, class: action === "delete" ? "danger" : null, "data-action": action });
}

/** Say what is wrong with what is to be a JSON object; nothing if it is one. */
function notAnObject(text) {
  try {
    const found = JSON.parse(text);
    return found !== null && typeof found === "object" && !Array.isArray(found) ? null : words.signalNoObject;
  } catch {
    return words.signalNoObject;
  }
}

/** Do what takes its time; say that it has begun, or what was wrong. */
export async function doing(label, work, { done, failed }) {
  try {
    await work();
    say(words.started(label));
    done(label);
  } catch (error) {
    failed(error);
  }
}

/** Show a sentence above everything until it is closed; return it, for who takes it away before. */
export function notice(text, kind = "broken") {
  const line = h("div", { class: `notice ${kind}`, role: "alert" },
    h("span", {}, text), button("×", () => line.remove(), { "aria-label": words.close }));
  const main = document.getElementById("main");
  main.querySelector(":scope > .notice")?.remove();
  main.prepend(line);
  return line;
}

/** Take the sentence away again. */
export const unnotice = () => document.querySelector("#main > .notice")?.remove();


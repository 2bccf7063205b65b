// SPDX-License-Identifier: Apache-2.0
// What can be done to a stack or a resource, and being asked once more before it is.

import { may, patch, path, post, remove } from "./api.js";
import { button, h, say } from "./dom.js";
import { words } from "./words.js";

/**
 * Ask whether something is to be done; resolve with what was entered, or null.
 *
 * `field` is the label of a text; with `exactly`, nothing is done before that is what it says.
 */
export function confirm({ title, text, yes = words.confirm, field = null, exactly = null, danger = false }) {
  return new Promise((answer) => {
    const entry = field ? h("input", { type: "text", autocomplete: "off", id: "entry", input: () => judge() }) : null;
    const go = h("button", { type: "submit", class: danger ? "danger" : "primary" }, yes);
    const judge = () => (go.disabled = exactly !== null && entry.value !== exactly);
    const dialog = h("dialog", { "aria-labelledby": "dialog-title" },
      h("form", { submit: (event) => (event.preventDefault(), close(entry ? entry.value : "")) },
        h("h2", { id: "dialog-title" }, title),
        h("p", {}, text),
        entry ? h("label", { for: "entry" }, field) : null,
        entry,
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
    judge();
    dialog.showModal();
  });
}

/** What the policy has to allow for an action; of the others, the rule is named as the action is. */
const STACK_RULES = { update: ["plans:create", "plans:apply", "stacks:update"], delete: ["stacks:delete"] };
const RESOURCE_RULES = { healthy: ["resource:mark_unhealthy"], unhealthy: ["resource:mark_unhealthy"] };

const allowedOf = (offered, rules, noun) =>
  offered.filter(([action]) => may(...(rules[action] ?? [`${noun}:${action}`])));

/** Return what can be done as buttons; if the policy allows nothing of it, a sentence. */
function buttons(offered, rules, noun) {
  const allowed = allowedOf(offered, rules, noun);
  if (offered.length && !allowed.length) return h("p", { class: "quiet" }, words.lookOnly);
  return allowed.map(([action, press]) => actionButton(action, press));
}

/** Return the actions that a stack in a state has, as buttons. */
export function stackActions(stack, state, { done, failed, plan }) {
  const place = path("stacks", stack.name, stack.id);
  const moving = state.endsWith("_IN_PROGRESS");
  const deleting = state.startsWith("DELETE_");
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
  const offered = [];
  if (!deleting) offered.push(["update", plan]);
  if (moving && state.startsWith("UPDATE_")) offered.push(["cancel_update", () => run("cancel_update")]);
  if (moving && !deleting) offered.push(["cancel_without_rollback", () => run("cancel_without_rollback")]);
  if (state.startsWith("UPDATE_") || state.endsWith("_FAILED")) offered.push(["rollback", () => run("rollback")]);
  if (!moving && !deleting) {
    for (const action of ["observe", "converge", "check"]) offered.push([action, () => run(action)]);
  }
  offered.push(["delete", erase]);
  return buttons(offered, STACK_RULES, "actions");
}

/** Return the actions that a resource has, as buttons. */
export function resourceActions(stack, name, state, { done, failed }) {
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
  if (state.endsWith("_IN_PROGRESS") || state.startsWith("INIT_")) return [];
  const health = state === "CHECK_FAILED" ? "healthy" : "unhealthy";
  const offered = [
    ["observe", () => run("observe")],
    ["converge", () => run("converge")],
    [health, () => mark(health === "unhealthy")],
  ];
  return buttons(offered, RESOURCE_RULES, "resource");
}

function actionButton(action, press) {
  const [label, title] = words.act[action];
  return button(label, press, { title, class: action === "delete" ? "danger" : null, "data-action": action });
}

async function doing(label, work, { done, failed }) {
  try {
    await work();
    say(words.started(label));
    done(label);
  } catch (error) {
    failed(error);
  }
}

/** Show a sentence above everything until it is closed. */
export function notice(text, kind = "broken") {
  const line = h("div", { class: `notice ${kind}`, role: "alert" },
    h("span", {}, text), button("×", () => line.remove(), { "aria-label": words.close }));
  const main = document.getElementById("main");
  main.querySelector(":scope > .notice")?.remove();
  main.prepend(line);
}

/** Take the sentence away again. */
export const unnotice = () => document.querySelector("#main > .notice")?.remove();


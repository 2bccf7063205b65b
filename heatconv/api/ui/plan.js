// SPDX-License-Identifier: Apache-2.0
// A plan: what a template would do, looked at before it is done.

import { get, path, post } from "./api.js";
import { button, h, put, say, value } from "./dom.js";
import { addressOf } from "./overview.js";
import { plannedGraph } from "./planned.js";
import { lasting } from "./times.js";
import { words } from "./words.js";

const LISTED = 200;
const MARKS = 300;

/** Show a form for a template, of a new stack or of one that is there, and the plan that is made of it. */
export function planPage(main, stack, { failed }) {
  const name = h("input", { type: "text", id: "stack-name", required: true, autocomplete: "off" });
  const template = h("textarea", { id: "template", rows: 16, required: true, spellcheck: "false" });
  const environment = h("textarea", { id: "environment", rows: 4, spellcheck: "false" });
  const files = h("input", { type: "file", id: "files", multiple: true });
  const overlaid = stack ? words.environmentOver : words.environment;
  const go = h("button", { type: "submit", class: "primary" }, words.plan);
  const result = h("section", { class: "plan", "aria-live": "polite" });
  const form = h("form", { class: "plan-form", submit: (event) => (event.preventDefault(), make()) },
    stack ? null : [h("label", { for: "stack-name" }, words.stackName), name],
    h("label", { for: "template" }, words.template), template, fileOf(template, words.template),
    h("label", { for: "environment" }, overlaid), environment, fileOf(environment, overlaid),
    h("label", { for: "files" }, words.files), files,
    h("div", { class: "choices" }, go));
  put(main,
    stack ? h("nav", { class: "path" }, h("a", { href: addressOf(stack) }, stack.name)) : null,
    h("h1", {}, stack ? words.planFor(stack.name) : words.planNew),
    h("p", {}, words.planHelp), h("div", { class: "planning" }, form, result));
  if (stack) {
    const place = path("stacks", stack.name, stack.id);
    get(`${place}/template`).then((found) => (template.value ||= JSON.stringify(found, null, 2)), failed);
  }

  /** Return what chooses a file for a text. */
  function fileOf(area, label) {
    const taken = () => chooser.files[0]?.text().then((text) => (area.value = text), failed);
    const chooser = h("input", { type: "file", "aria-label": words.fromFile(label), change: taken });
    return chooser;
  }

  /** Return the texts of the files that were chosen, by name. */
  const chosen = async () =>
    Object.fromEntries(await Promise.all([...files.files].map(async (each) => [each.name, await each.text()])));

  async function make() {
    go.disabled = true;
    put(result, h("p", { class: "quiet" }, words.planning));
    const body = { template: template.value };
    if (stack) body.existing = true; // what is not said stays as it is
    else body.stack_name = name.value.trim();
    if (environment.value.trim()) body.environment = environment.value;
    try {
      if (files.files.length) body.files = await chosen();
      const made = await post(stack ? `${path("stacks", stack.name, stack.id)}/plans` : "plans", body);
      draw(made.plan, stack && (await pictureOf(stack)));
    } catch (error) {
      put(result, h("p", { class: "reason broken", role: "alert" }, error.message));
    }
    go.disabled = false;
  }

  /** Return the picture of a stack as it is; null, if one may not see it. */
  const pictureOf = (of) =>
    get(`${path("stacks", of.name, of.id)}/picture`, { limit: MARKS }).then((found) => found.picture, () => null);

  /** Go to what is said of a resource. */
  function point(name) {
    const line = result.querySelector(`li[data-name="${CSS.escape(name)}"]`);
    line?.scrollIntoView({ block: "center" });
    line?.focus();
  }

  function draw(plan, picture) {
    const resources = plan.resources.slice(0, LISTED);
    const { untouched, seconds } = plan.summary;
    const press = { class: "primary", disabled: plan.guards.length > 0 };
    const graph = plannedGraph(plan, picture, point);
    put(result,
      h("h2", { tabindex: -1 }, words.planSummary),
      summary(plan),
      graph.element,
      h("p", { class: "quiet" },
        untouched ? `${words.planUntouched(untouched)} ` : null,
        seconds ? words.planSeconds(lasting(seconds)) : null),
      guards(plan),
      h("ol", { class: "planned" }, resources.map(entry)),
      resources.length < plan.resources.length ? h("p", { class: "quiet" }, words.planCut(LISTED)) : null,
      h("div", { class: "choices" }, button(words.apply, () => apply(plan), press)));
    graph.draw();
    result.querySelector("h2").focus();
  }

  function summary(plan) {
    const isThere = ([action, each]) => words.planActions[action] && each.certain + each.possible;
    const counts = Object.entries(plan.summary).filter(isThere);
    if (!counts.length) return h("p", {}, words.planNothing);
    return h("p", { class: "counts" }, counts.map(([action, { certain, possible }]) => {
      const [glyph, label] = words.planActions[action];
      const perhaps = possible ? ` (${words.possible} ${possible.toLocaleString()})` : "";
      const all = (certain + possible).toLocaleString();
      return h("span", { class: `count ${action}` }, `${glyph} ${all} ${label}${perhaps}`);
    }));
  }

  const guards = (plan) =>
    plan.guards.length
      ? h("div", { class: "reason broken" },
          h("h3", {}, words.guards), h("ul", {}, plan.guards.map((each) => h("li", {}, each.sentence))))
      : null;

  const before = (change) => change.before?.made ?? change.before?.desired ?? null;

  const entry = (each) => {
    const [glyph, label] = words.planActions[each.action] ?? ["?", each.action];
    return h("li", { class: each.action, "data-name": each.path[0], tabindex: -1 },
      h("span", { class: "glyph", "aria-hidden": "true" }, glyph), " ",
      h("strong", {}, each.path.join(".")), " ", h("span", { class: "quiet" }, each.type), " ",
      label, each.certainty === "possible" ? `, ${words.possible}` : null,
      each.problem ? h("div", { class: "why" }, words.problem, each.problem) : null,
      each.left_behind ? h("div", { class: "quiet" }, words.leftBehind, each.left_behind) : null,
      each.changes.length ? h("dl", {}, each.changes.map((change) => [
        h("dt", {}, change.path),
        h("dd", {}, before(change) === null ? null : [value(before(change)), " → "],
          change.unknown ? h("span", { class: "quiet" }, words.unknown) : value(change.after)),
      ])) : null,
      because(each.because));
  };

  const because = (reasons) =>
    reasons.length
      ? h("div", { class: "quiet" }, `${words.because} ${reasons.map((each) => each.sentence).join("; ")}`)
      : null;

  async function apply(plan) {
    try {
      const { stack: made } = await post(`${path("plans", plan.id)}/apply`, {});
      say(words.started(words.apply));
      location.hash = addressOf({ name: plan.stack.name, id: made.id });
    } catch (error) {
      failed(error);
    }
  }
}

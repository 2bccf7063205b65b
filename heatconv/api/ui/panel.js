// SPDX-License-Identifier: Apache-2.0
// Beside the graph: one resource, or what is alike in one mark.

import { get, path } from "./api.js";
import { resourceActions } from "./act.js";
import { isRefused } from "./again.js";
import { placeOf } from "./console.js";
import { button, h, put, value } from "./dom.js";
import { reasonOf } from "./happenings.js";
import { Inside } from "./inside.js";
import { addressOf } from "./overview.js";
import { badge, kindOf } from "./states.js";
import { clock } from "./times.js";
import { words } from "./words.js";

const EVENTS = 20;

/** Return what says that something could not be read, and asks for it again. */
const unread = (error, again) =>
  h("div", { class: "reason broken", role: "alert" }, h("p", {}, words.failed(error.message)), button(words.askAgain, again));

const section = (title, ...content) => h("section", {}, h("h3", {}, title), content);
const fact = (name, ...content) => [h("dt", {}, name), h("dd", {}, content)];
const facts = (all) => h("dl", {}, Object.entries(all).map(([name, each]) => fact(name, value(each))));

/**
 * The part of a page that shows a resource.
 *
 * `go` is called with the name of another that somebody follows; `shown` returns how the stack is.
 */
export class Panel {
  constructor({ stack, shown, go, close, waitOf, showInTemplate, around }) {
    Object.assign(this, { stack, shown, go, closed: close, failed: around.failed, waitOf, showInTemplate });
    this.name = null;
    this.turn = 0;
    this.withAttributes = false;
    this.title = h("h2", { tabindex: -1 });
    this.type = h("p", { class: "quiet" });
    this.body = h("div");
    this.inside = new Inside(around);
    const escape = (event) => event.key === "Escape" && this.close();
    this.element = h("aside", { class: "panel", "aria-label": words.resource, hidden: true, keydown: escape },
      h("div", { class: "panel-head" }, this.title,
        button("×", () => this.close(), { "aria-label": words.close, title: words.close })),
      this.type, this.body);
  }

  close() {
    this.turn += 1;
    this.name = null;
    this.inside.open(null);
    this.element.hidden = true;
    this.closed();
  }

  /** Begin to show something, and go there. */
  begin(title, type) {
    this.title.textContent = title;
    this.type.textContent = type;
    put(this.body, h("p", { class: "quiet" }, words.loading));
    this.element.setAttribute("aria-busy", "false");
    this.element.hidden = false;
    this.title.focus();
  }

  /** Show what is alike in a mark of several. */
  async many(mark, members) {
    const turn = (this.turn += 1);
    this.name = null;
    this.inside.open(null);
    this.begin(words.alike(mark.count, mark.type.split("::").pop()), mark.type);
    try {
      const found = await members(mark.key);
      if (turn === this.turn) this.drawMembers(found);
    } catch (error) {
      if (turn === this.turn) put(this.body, unread(error, () => this.many(mark, members)));
    }
  }

  drawMembers(found) {
    const line = ({ name, action, status, kind }) =>
      h("li", {}, button(name, () => this.go(name), { class: "link" }), badge(`${action}_${status}`, kind));
    put(this.body, section(words.members, h("ul", { class: "links" }, found.map(line))));
  }

  /** Show a resource; a mark, and the names that it requires, are what is known already. */
  async one(mark, requires) {
    if (this.name !== mark.name) this.withAttributes = false;
    this.name = mark.name;
    this.mark = mark;
    this.requires = requires;
    this.found = { resource: null, events: null, properties: null };
    this.begin(mark.name, mark.type);
    this.inside.open(mark.nested ?? null);
    this.error = null;
    this.draw();
    await this.ask();
  }

  /** Take the mark of what is shown, in a newer picture: by now there may be a stack in it. */
  drawn(mark) {
    this.mark = mark;
    if (mark.nested?.id === this.inside.stack?.id) return;
    this.inside.open(mark.nested ?? null);
    this.draw();
  }

  /** Ask for what is shown; what goes wrong is shown as well. */
  ask() {
    return this.refresh().catch(() => {});
  }

  /** Read again what is shown; what goes wrong is thrown, too, if it may be over when that is done once more. */
  async refresh() {
    if (this.name === null) return;
    const turn = (this.turn += 1);
    const stack = path("stacks", this.stack.name, this.stack.id);
    const known = async (key, reading) => {
      const found = await reading;
      // What is the same is left alone, for somebody may be about to press it.
      if (turn !== this.turn || JSON.stringify(found) === JSON.stringify(this.found[key])) return;
      this.found[key] = found;
      this.draw();
    };
    const unlessGone = (error) => (error.status === 404 ? this.found.resource : Promise.reject(error));
    const of = { resource_name: this.name, limit: EVENTS };
    this.element.setAttribute("aria-busy", "true");
    const error = await Promise.all([
      known("resource",
        get(`${stack}/${path("resources", this.name)}`, { with_detail: this.withAttributes })
          .then((answer) => answer.resource).catch(unlessGone)),
      // Not those below the resource: where nothing has happened yet, there is nothing at that address.
      known("events", get(`${stack}/events`, of).then((answer) => answer.events)),
      this.found.properties ??
        known("properties", get(`${stack}/template`).then((template) =>
          (template.resources ?? template.Resources)?.[this.name] ?? {})),
    ]).then(() => null, (problem) => problem);
    if (turn !== this.turn) return;
    this.element.setAttribute("aria-busy", "false");
    const isOther = error !== this.error;
    this.error = error;
    if (isOther) this.draw();
    if (error && !isRefused(error)) throw error;
  }

  draw() {
    const { mark } = this;
    const { resource, events, properties } = this.found;
    const state = resource?.resource_status ?? `${mark.action}_${mark.status}`;
    const drifted = resource ? Boolean(resource.drift) : mark.kind === "drifted";
    const plain = kindOf(state, { wanted: mark.kind !== "going" });
    const kind = plain === "done" && drifted ? "drifted" : plain;
    const reason = resource?.resource_status_reason ?? events?.[0]?.resource_status_reason;
    const wait = this.waitOf(this.name);
    const written = properties && (properties.properties ?? properties.Properties);
    const open = document.activeElement?.dataset?.part;
    put(this.body,
      this.error ? unread(this.error, () => this.ask()) : null,
      h("p", {}, badge(state, kind)),
      reason && reason !== "state changed" ? h("p", { class: `reason ${kind}` }, reason) : null,
      wait ? section(words.waitReason,
        h("p", {}, wait.sentence),
        wait.next ? h("p", { class: "quiet" }, wait.next) : null,
        wait.advice ? h("p", { class: "advice" }, wait.advice) : null) : null,
      mark.nested ? section(words.insideOf, this.inside.element,
        h("p", {}, h("a", { class: "button", href: addressOf(mark.nested) }, words.inside))) : null,
      h("dl", {},
        resource?.physical_resource_id ? fact(words.physicalId, this.identity(resource.physical_resource_id)) : null,
        resource?.updated_time ? fact(words.changed, clock(resource.updated_time)) : null,
        this.requires.length ? fact(words.required, this.links(this.requires)) : null,
        resource?.required_by?.length ? fact(words.requiredBy, this.links(resource.required_by)) : null),
      resource?.drift ? this.drift(resource.drift) : null,
      h("div", { class: "choices" }, this.actions(state)),
      written ? section(words.properties, facts(written),
        button(words.inTemplate, () => this.showInTemplate(this.name), { "data-part": "template" })) : null,
      section(words.attributes, this.attributes(resource)),
      section(words.events, this.happened(events)));
    if (open) this.body.querySelector(`[data-part="${open}"]`)?.focus();
  }

  /** Return an id, and the way to what it is of in the cloud's console, if that is known. */
  identity(id) {
    const href = placeOf(this.mark, id);
    const elsewhere = { href, target: "_blank", rel: "noopener noreferrer" };
    return [h("code", {}, id), href ? [" ", h("a", elsewhere, words.inConsole)] : null];
  }

  actions(state) {
    const wait = this.waitOf(this.name);
    const around = { done: () => this.ask(), failed: this.failed, wait };
    return resourceActions(this.stack, this.shown(), this.name, state, around);
  }

  drift({ reason, differences }) {
    const both = ({ wanted, observed }) => [
      h("div", {}, words.wanted, " ", value(wanted)),
      h("div", {}, words.observed, " ", value(observed)),
    ];
    const listed = h("dl", {}, differences.map((each) => fact(each.property, both(each))));
    return section(words.differences, h("p", {}, reason), listed);
  }

  happened(events) {
    if (events === null) return this.error ? null : h("p", { class: "quiet" }, words.loading);
    return h("ol", { class: "events" }, events.map((each) =>
      h("li", {}, clock(each.event_time), " ", badge(each.resource_status), reasonOf(each))));
  }

  attributes(resource) {
    if (!this.withAttributes) {
      const ask = () => ((this.withAttributes = true), this.draw(), this.ask());
      return button(words.ask, ask, { "data-part": "ask" });
    }
    const all = resource?.attributes;
    if (!all) return this.error ? null : h("p", { class: "quiet" }, words.asking);
    return Object.keys(all).length ? facts(all) : h("p", { class: "quiet" }, words.nothing);
  }

  links(names) {
    const link = (name) => button(name, () => this.go(name), { class: "link" });
    return h("ul", { class: "links" }, names.map((name) => h("li", {}, link(name))));
  }
}

// SPDX-License-Identifier: Apache-2.0
// The template of a stack as a text, with the place of a resource marked.

import { get, path } from "./api.js";
import { Fold, h, put } from "./dom.js";
import { words } from "./words.js";

const PLAIN = /^[A-Za-z_/][\w./-]*(::[\w./-]+)*$/; // what YAML takes for a text without quotes
const NOT_A_TEXT = /^(true|false|yes|no|on|off|null|y|n)$/i;

const isFilled = (value) => value !== null && typeof value === "object" && Object.keys(value).length > 0;
const scalar = (value) =>
  typeof value === "string" && PLAIN.test(value) && !NOT_A_TEXT.test(value) ? value : JSON.stringify(value);

/** Return the lines of a value as YAML; a value without anything in it is one line. */
function yaml(value) {
  if (!isFilled(value)) return [scalar(value)];
  if (Array.isArray(value)) {
    return value.flatMap((each) => yaml(each).map((line, number) => `${number ? "  " : "- "}${line}`));
  }
  return Object.entries(value).flatMap(([key, each]) => entry(key, each));
}

function entry(key, value) {
  if (!isFilled(value)) return [`${scalar(key)}: ${scalar(value)}`];
  return [`${scalar(key)}:`, ...yaml(value).map((line) => `  ${line}`)];
}

/** The part of a page that has the template. */
export class Template {
  constructor({ stack, failed, signal }) {
    this.place = `${path("stacks", stack.name, stack.id)}/template`;
    this.name = null;
    this.parts = new Map(); // of resources, by their names
    this.text = h("pre", { class: "source", tabindex: 0, role: "region", "aria-label": words.template });
    this.fold = new Fold(words.template, () => this.read(), { failed, signal });
    this.fold.body.append(this.text);
    this.element = this.fold.element;
  }

  async read() {
    const template = await get(this.place, {}, this.fold.signal);
    this.parts = new Map();
    put(this.text, Object.entries(template).map(([key, value]) =>
      key.toLowerCase() === "resources" && isFilled(value) ? this.resources(key, value) : `${entry(key, value).join("\n")}\n`));
    this.mark(this.name);
  }

  /** Return the text of the resources, each in an element of its own. */
  resources(key, all) {
    const parts = Object.entries(all).map(([name, value]) => {
      const lines = entry(name, value).map((line) => `  ${line}\n`);
      const part = h("span", { class: "part" }, lines.join(""));
      this.parts.set(name, part);
      return part;
    });
    return [`${key}:\n`, parts];
  }

  /** Mark the place of a resource; none, if the name is null. */
  mark(name) {
    this.name = name;
    for (const [each, part] of this.parts) part.classList.toggle("marked", each === name);
    const part = this.parts.get(name);
    if (part) this.text.scrollTop = part.offsetTop - this.text.offsetTop - 40;
  }

  /** Show the place of a resource. */
  async show(name) {
    await this.fold.open();
    this.mark(name);
    this.element.scrollIntoView({ block: "nearest" });
    this.text.focus({ preventScroll: true });
  }
}

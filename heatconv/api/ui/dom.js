// SPDX-License-Identifier: Apache-2.0
// Making elements. Whatever is shown becomes a text node: what a user has written is never markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined));
  return element;
}

/** Return an HTML element; an attribute that is a function listens for the event of that name. */
export const h = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

/** Return an element of a drawing. */
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** Put something in the place of what an element has. */
export function put(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((each) => each !== null && each !== undefined));
}

/** Say something to who does not look. */
export function say(text) {
  document.getElementById("status").textContent = text;
}

/** Return a button. */
export const button = (label, press, more = {}) => h("button", { type: "button", click: press, ...more }, label);

/**
 * A part of a page that is folded up until somebody opens it, and read then; `read` fills the body.
 *
 * One that cannot be read when it is opened is folded up again.
 */
export class Fold {
  constructor(title, read, { failed, signal }) {
    Object.assign(this, { read, signal });
    this.reading = null;
    this.body = h("div");
    const unread = (error) => ((this.element.open = false), failed(error));
    this.element = h("details", { toggle: () => this.again().catch(unread) }, h("summary", {}, h("h2", {}, title)), this.body);
  }

  /** Read what is shown, if it is; once for all that ask while it is read. */
  async again() {
    if (!this.element.open) return;
    this.reading ??= this.read().finally(() => (this.reading = null));
    await this.reading;
  }

  async open() {
    this.element.open = true;
    await this.again();
  }
}

/** Return a text as one line that is no longer than so many characters. */
export const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** Return what shows a value of any type, as a user would write it. */
export function value(of) {
  if (of === null || of === undefined) return h("span", { class: "quiet" }, "null");
  if (typeof of === "object") return h("pre", { tabindex: 0 }, JSON.stringify(of, null, 2));
  return h("span", { class: "value" }, String(of));
}

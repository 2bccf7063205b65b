// SPDX-License-Identifier: Apache-2.0
// One stack: how it is, why, what its resources are and what happens to them, as it happens.

import { currentProject, get, path } from "./api.js";
import { notice, stackActions } from "./act.js";
import { button, h, put, say, short, value } from "./dom.js";
import { Graph } from "./graph.js";
import { calmly, follow } from "./live.js";
import { addressOf, bar } from "./overview.js";
import { Panel } from "./panel.js";
import { KINDS, badge, inWords, kindOf, mark as sign } from "./states.js";
import { clock, since } from "./times.js";
import { words } from "./words.js";

const EVENTS = 100;
const DEPTH = 5;
const MARKS = 300;
const AGAIN = 10000; // milliseconds

export function stackPage(main, stack, { signal, lost, failed, open = null }) {
  const place = path("stacks", stack.name, stack.id);
  const home = `#/${encodeURIComponent(currentProject())}`;
  let shown = null;
  let picture = null;
  let explanation = { waits: [], failures: [], sentence: "" };
  let events = [];
  let wanted = "";

  const head = h("div", { class: "head" });
  const actions = h("div", { class: "choices", role: "group", "aria-label": words.actions });
  let offered = null; // the state that they are offered in
  const why = h("section", { class: "why-box", hidden: true });
  const legend = h("p", { class: "legend" });
  const search = h("input", { type: "search", placeholder: words.search, "aria-label": words.search, input: () => find() });
  const matches = h("span", { class: "quiet", role: "status" });
  const list = h("ol", { class: "events", "aria-label": words.now });
  const outputs = h("div");
  const graph = new Graph({ open: (mark) => choose(mark) });
  const panel = new Panel({
    stack, failed,
    go: (name) => goTo(name),
    close: () => (graph.select(null), history.replaceState(null, "", addressOf(stack))),
    waits: () => explanation.waits ?? [],
  });
  put(main, head, actions, why,
    h("div", { class: "columns" },
      h("section", { class: "wide", "aria-label": words.graph },
        h("div", { class: "bar-of-tools" }, h("h2", {}, words.graph), search, matches, legend, graph.controls),
        graph.element, graph.note, h("p", { class: "quiet note" }, words.graphHelp),
        h("section", { class: "outputs" }, h("h2", {}, words.outputs), outputs)),
      h("div", { class: "side" }, panel.element,
        h("section", { class: "now" }, h("h2", {}, words.now), list))));
  put(head, h("p", { class: "quiet" }, words.loading));

  // -- reading ---------------------------------------------------------------------------

  const readStack = async () => {
    shown = (await get(place, {}, signal)).stack;
    drawHead();
    drawWhy();
    drawOutputs();
  };
  const readPicture = async () => {
    picture = (await get(`${place}/picture`, { limit: MARKS, find: wanted }, signal)).picture;
    graph.draw(picture);
    drawFound();
    drawLegend();
    if (panel.name) graph.select(`=${panel.name}`);
  };
  const readWhy = async () => {
    explanation = (await get(`${place}/explanation`, {}, signal)).explanation;
    drawWhy();
  };
  const guard = (work) => async () => {
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) failed(error);
    }
  };
  const soon = {
    stack: calmly(guard(readStack)),
    picture: calmly(guard(readPicture)),
    why: calmly(guard(readWhy), { least: 1500 }),
    panel: calmly(guard(() => panel.refresh()), { least: 500 }),
  };
  // What waits goes on waiting: how long it has, and what is done about it, is told anew now and then.
  const timer = setInterval(() => shown?.stack_status.endsWith("_IN_PROGRESS") && !document.hidden && soon.why(), AGAIN);
  signal.addEventListener("abort", () => (clearInterval(timer), Object.values(soon).forEach((each) => each.stop())), { once: true });

  async function begin() {
    // The cursor first: whatever happens while the rest is read comes by it.
    const { changes } = await get(`${place}/changes`, {}, signal);
    const before = get(`${place}/events`, { limit: EVENTS, nested_depth: DEPTH }, signal);
    await Promise.all([readStack(), readPicture(), readWhy(), before.then((answer) => add(answer.events))]);
    say(`${stack.name}: ${words.kinds[kindOf(shown.stack_status)]}`);
    if (open) goTo(open);
    await follow(place, changes.cursor, { seen, lost, signal });
  }

  /** Show what is new. */
  function seen(changes) {
    if (changes.missed) {
      for (const each of ["stack", "picture", "why", "panel"]) soon[each]();
      return;
    }
    add([...changes.events].reverse());
    const before = shown.stack_status;
    shown = { ...shown, ...changes.stack, description: shown.description, tags: shown.tags };
    drawHead();
    if (before !== shown.stack_status) drawWhy();
    if (before !== shown.stack_status) say(`${stack.name}: ${inWords(shown.stack_status)}`);
    const here = changes.resources.filter((each) => each.stack.id === stack.id);
    const drawn = here.map((each) => !each.gone && !each.clearing && graph.update(each));
    const ofStack = changes.events.some((each) => each.resource_name === each.stack.name || each.resource_status.startsWith("OBSERVE"));
    if (drawn.includes(false) || ofStack || changes.more) soon.picture();
    else if (here.length) recount();
    if (ofStack) soon.stack();
    if (changes.events.length || before !== shown.stack_status) soon.why();
    if (here.some((each) => each.resource_name === panel.name)) soon.panel();
  }

  /** Count the kinds again, where every resource has a mark. */
  function recount() {
    if (picture.marks.some((each) => each.count > 1)) return soon.picture();
    picture.kinds = {};
    for (const each of picture.marks) picture.kinds[each.kind] = (picture.kinds[each.kind] ?? 0) + 1;
    drawLegend();
  }

  function add(more) {
    const known = new Set(events.map((each) => each.id));
    const fresh = more.filter((each) => !known.has(each.id));
    if (!fresh.length && events.length) return;
    events = [...fresh, ...events].sort((one, other) => other.event_time.localeCompare(one.event_time)).slice(0, EVENTS);
    put(list, events.length ? events.map(line) : h("li", { class: "quiet" }, words.noEvents));
  }

  const line = (event) =>
    h("li", {}, clock(event.event_time), " ", sign(kindOf(event.resource_status)), " ",
      isHere(event) ? button(event.resource_name, () => goTo(event.resource_name), { class: "link" }) : h("strong", {}, event.resource_name),
      " ", h("span", { class: "quiet" }, inWords(event.resource_status)), elsewhere(event),
      event.resource_status_reason && event.resource_status_reason !== "state changed"
        ? h("div", { class: "why" }, short(event.resource_status_reason, 300)) : null);

  /** Return the stack that an event is of. */
  const stackOf = (event) => {
    const [name, id] = event.links.find((each) => each.rel === "stack").href.split("/").slice(-2).map(decodeURIComponent);
    return { name, id };
  };
  const isHere = (event) => event.resource_name !== stack.name && stackOf(event).id === stack.id;
  const elsewhere = (event) => {
    const of = stackOf(event);
    if (of.id === stack.id || of.name === event.resource_name) return null;
    return h("div", { class: "quiet" }, words.inStack, " ", h("a", { href: addressOf(of) }, of.name));
  };

  // -- drawing ---------------------------------------------------------------------------

  function drawHead() {
    const drift = shown.drift && shown.drift.status !== "UNKNOWN" ? shown.drift : null;
    document.title = `${stack.name}: ${inWords(shown.stack_status)} · ${words.title}`;
    put(head,
      h("nav", { class: "path", "aria-label": words.stacks }, h("a", { href: home }, words.stacks), " / ",
        shown.parent ? [h("a", { href: parentAddress() }, words.around), " / "] : null, h("span", {}, stack.name)),
      h("div", { class: "title" }, h("h1", {}, stack.name), badge(shown.stack_status),
        drift?.status === "DRIFTED" ? h("span", { class: "badge drifted" }, sign("drifted"), words.drifts.DRIFTED) : null,
        shown.stack_status.endsWith("_IN_PROGRESS") ? bar(shown.progress ?? {}) : null,
        h("span", { class: "quiet" }, words.changed, " ", since(shown.updated_time ?? shown.creation_time))),
      shown.description && shown.description !== "No description" ? h("p", {}, shown.description) : null,
      shown.tags?.length ? h("p", { class: "tags" }, shown.tags.map((each) => h("span", { class: "tag" }, each))) : null);
    drawActions();
  }

  /** Offer what can be done; buttons stay in place as long as the same can be. */
  function drawActions() {
    if (offered === shown.stack_status) return;
    offered = shown.stack_status;
    const at = document.activeElement?.dataset?.action;
    put(actions, stackActions(stack, offered, {
      failed, done: () => (soon.stack(), soon.why()), plan: () => (location.hash = `${addressOf(stack)}/plan`),
    }));
    if (at) actions.querySelector(`[data-action="${at}"]`)?.focus();
  }

  const parentAddress = () => `${home}/stacks-by-id/${encodeURIComponent(shown.parent)}`;

  function drawWhy() {
    const { waits = [], failures = [], sentence = "", more } = explanation;
    // What was told of another state is over.
    why.hidden = explanation.stack_status !== shown?.stack_status || (!waits.length && !failures.length);
    if (why.hidden) return;
    const broken = failures.length > 0;
    why.setAttribute("class", `why-box ${broken ? "broken" : "moving"}`);
    put(why,
      h("h2", {}, broken ? words.whyFailed : words.why),
      h("p", {}, sentence),
      h("ul", {}, broken ? failures.map(failure) : waits.map(wait)),
      more ? h("p", { class: "quiet" }, words.moreOfThem) : null);
  }

  const pathLink = (of) => {
    const [first] = of.split(".");
    return first ? button(of, () => goTo(first), { class: "link" }) : h("strong", {}, stack.name);
  };
  const failure = (each) =>
    h("li", {}, pathLink(each.path), " ", h("span", { class: "quiet" }, each.resource_type), h("div", {}, each.reason));
  const wait = (each) =>
    h("li", {}, pathLink(each.path), " ", each.resource_type ? h("span", { class: "quiet" }, each.resource_type) : null,
      each.since ? [" ", h("span", { class: "quiet" }, words.since, " "), clock(each.since)] : null,
      h("div", {}, each.sentence),
      each.next ? h("div", { class: "quiet" }, `${words.next}: `, each.next) : null,
      each.advice ? h("div", { class: "advice" }, `${words.advice}: `, each.advice) : null);

  function drawLegend() {
    put(legend, KINDS.filter((kind) => picture.kinds[kind]).map((kind) =>
      h("span", { class: "entry" }, sign(kind), ` ${picture.kinds[kind].toLocaleString()} ${words.kinds[kind].toLowerCase()}`)));
  }

  function drawOutputs() {
    const all = shown.outputs ?? [];
    put(outputs, all.length ? h("dl", { class: "facts" }, all.map((each) => [
      h("dt", {}, each.output_key, each.description !== "No description given" ? h("div", { class: "quiet" }, each.description) : null),
      h("dd", {}, each.output_error ? h("span", { class: "quiet" }, words.outputError, each.output_error) : value(each.output_value)),
    ])) : h("p", { class: "quiet" }, words.noOutputs));
  }

  // -- looking for something -------------------------------------------------------------

  const ask = calmly(guard(readPicture), { least: 200, share: 0 });

  function find() {
    wanted = search.value.trim();
    ask();
  }

  function drawFound() {
    const keys = new Set(picture.found.map((name) => `=${name}`));
    graph.emphasize(keys);
    matches.textContent = wanted ? words.found(picture.found.length) : "";
    if (wanted && picture.found.length) graph.show(graph.marks.get(`=${picture.found[0]}`).mark);
  }

  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && picture?.found.length) goTo(picture.found[0]);
  });

  /** Open a resource, by its name; what is rolled up is looked for first. */
  async function goTo(name) {
    if (!graph.marks.has(`=${name}`)) {
      wanted = search.value = name;
      await guard(readPicture)();
    }
    const found = graph.marks.get(`=${name}`);
    if (found) {
      graph.show(found.mark);
      choose(found.mark);
    }
  }

  function choose(mark) {
    graph.select(mark.key);
    if (mark.count > 1) {
      panel.many(mark, async (key) =>
        (await get(`${place}/picture`, { limit: MARKS, mark: key }, signal)).picture.members).catch(failed);
      return;
    }
    const number = picture.marks.findIndex((each) => each.key === mark.key);
    panel.requires = picture.edges.filter(([, by]) => by === number).map(([required]) => picture.marks[required])
      .filter((each) => each.count === 1).map((each) => each.name);
    history.replaceState(null, "", addressOf(stack, "resources", mark.name));
    panel.one(mark).catch(failed);
  }

  begin().catch((error) => {
    if (signal.aborted) return;
    if (error.status === 404 && shown) notice(words.gone, "going");
    else failed(error);
  });
}

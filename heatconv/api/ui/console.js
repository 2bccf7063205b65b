// SPDX-License-Identifier: Apache-2.0
// Where OpenStack's dashboard shows what a resource stands for. Nothing is asked of it: a link leads there.

let top = null;

/** By the type of a resource, what is before its id in an address of the dashboard, and what is behind it. */
const PLACES = {
  "OS::Nova::Server": ["instances/", "/"],
  "OS::Cinder::Volume": ["volumes/", "/"],
  "OS::Neutron::Net": ["networks/", "/detail"],
  "OS::Neutron::ProviderNet": ["networks/", "/detail"],
  "OS::Neutron::Subnet": ["networks/subnets/", "/detail"],
  "OS::Neutron::Port": ["networks/ports/", "/detail"],
  "OS::Neutron::Router": ["routers/", "/"],
  "OS::Neutron::SecurityGroup": ["security_groups/", "/"],
};
const STACK = ["stacks/stack/", "/"];

/** Learn where the dashboard is; null, or what is no address of the web, if there is none. */
export function consoleAt(url) {
  const found = url && URL.canParse(url) ? new URL(url) : null;
  top = found && ["http:", "https:"].includes(found.protocol) ? `${found.origin}${found.pathname.replace(/\/*$/, "")}` : null;
}

/** Return the address of what a resource stands for; null, if it is not known. */
export function placeOf({ type, nested }, id) {
  const place = nested ? STACK : PLACES[type];
  if (!top || !place || !id || /^\.*$/.test(id)) return null;
  return `${top}/project/${place[0]}${encodeURIComponent(id)}${place[1]}`;
}

# SPDX-License-Identifier: Apache-2.0
"""heatconv makes declared infrastructure real and keeps it so.

A user posts a template; an engine turns it into a dependency graph in a
database and rings a doorbell per node on a message bus; stateless workers
converge one resource each.  ``doc/source/explanation`` tells how.

The packages, in the order in which a request meets them:

``cli`` has the commands that users type, and ``client`` sends a request over HTTP.  ``api`` accepts
it, and ``rpc`` is the bus that carries it to an engine.  ``engine`` decides what should be:
``template`` freezes what the user wrote, ``graph`` plans the traversal, ``db`` stores both.
``worker`` makes one resource so, by a plugin: ``resources`` is the contract of plugins and has the
built-in types, ``openstack`` has those of a real cloud.  ``plans`` says what will be done before it
is, ``observer`` compares what is there with what was made, and ``sinks`` delivers events.

Below all these, ``model`` is the vocabulary, ``errors`` has every error, ``conf`` the options,
``crypto`` the keys of an installation, ``signing`` the URLs that are their own permission,
``grouping`` has calls that come at the same time go together, and ``metrics`` is what a process
counts for whoever watches over it.  Above
them, ``assembly`` puts an engine or a worker together, and ``cmd`` a daemon.  ``testing`` is a
world to test all of it in.
"""

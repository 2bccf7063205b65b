# SPDX-License-Identifier: Apache-2.0
"""Make one resource so: claim it, act on it, tell its successors.

In the order of reading: ``check`` is the way a message takes; ``decide`` (pure) says what is to be
done; ``act`` takes that step, by ``comparing`` what is there with what is wanted; ``acting`` drives
the plugin through one action; ``endings`` are what comes of that.

Around acting: ``plugin_factory`` binds a plugin to its row, ``keeper`` writes what the plugin learns,
and ``nested`` has the stacks inside, which ``engines`` are asked to make.  ``attempts`` writes how
far an action is, and ``outputs`` has what a resource gives to others.  ``resume`` goes on with an
action that another worker began, and ``looks`` sees what that worker left.  ``overtaking`` says what
becomes of an action when something newer is wanted.  ``mishaps`` says what an error means, ``faults``
which errors may pass, and ``setbacks`` how an action waits or fails.  ``replacement`` gives a node to
another row, and ``handover`` what two rows could not both have.  ``deletions`` has what comes after a
deletion, and ``late`` removes what a service makes late.  ``stretches`` makes what comes after a
resource along with it.

Around the check: ``fair_queue`` has whose turn it is, by the ``trees`` that stacks are in.
``held`` keeps the rows that nobody acts on, ``waits`` the actions that wait, and ``release`` gives
rows back.  ``timer`` is how a worker comes back to them, and ``waiting`` is the waiting room, a
heap of timers.  ``engine_calls`` lets only a few calls at a time wait for an engine.  Whose threads
all that runs on is said in ``heatconv.assembly``.
"""

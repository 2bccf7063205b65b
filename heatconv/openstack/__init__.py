# SPDX-License-Identifier: Apache-2.0
"""A real cloud: the resource types of PyPI's ``openstack-heat``, run here as they are.

Heat's plugin modules hold what is known of Nova, Neutron and the others.  They are imported
unmodified.  Nothing below imports this package; without the extra ``heatconv[openstack]`` it does
nothing.

What is loaded: begin with ``adapter``, which adds the types of a cloud to a process.  ``types``
says which module has which type.  ``finder`` says what a plugin's import from Heat means, and
``stand_ins`` has modules that it may mean.  ``mends`` says where Heat's plugins err, and ``mended``
has what they do otherwise here.  ``data`` says which types hold data.  ``plugins`` has types of our
own.

Whom plugins act for: ``session`` has one user's cloud.  ``logins`` lets daemons act for users who
are not there, and ``keystone`` makes the trusts and application credentials for that.  ``domain``
keeps the stack users.

How actions go on: ``driver`` drives Heat's plugins, and ``progress`` saves how far an action is.
``existing`` finds the object that an interrupted create made, and ``ways`` says which types can be
searched.  ``listed`` waits for many resources at once: ``listings`` asks the services, and
``kinds`` says how each service lists.  ``news`` reads what services publish of their objects.
"""

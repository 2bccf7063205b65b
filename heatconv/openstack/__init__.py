# SPDX-License-Identifier: Apache-2.0
"""A real cloud: the resource types of PyPI's ``openstack-heat``, run here as they are.

Heat's plugin modules hold what is known of Nova, Neutron and the others.  They
are imported unmodified; what they import of Heat is ours where we have it
(``finder``), and they act by the session of one user's cloud (``session``).
Nothing below imports this package; without the extra ``heatconv[openstack]`` it
does nothing.
"""

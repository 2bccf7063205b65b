# SPDX-License-Identifier: Apache-2.0
"""The [DEFAULT] group: plugins, limits and the clocks that recovery goes by."""

from __future__ import annotations

from oslo_config import cfg

GROUP = None  #: oslo.config's name for it

_PLUGINS = [
    cfg.StrOpt(
        "environment_dir",
        default="/etc/heatconv/environment.d",
        help="Directory of environment files, read when an engine starts: their resource_registry and "
        "parameter_defaults hold for all templates, where users' environments say nothing else. One that "
        "does not exist is passed over.",
    ),
    cfg.ListOpt(
        "plugin_dirs",
        default=["/usr/lib64/heat", "/usr/lib/heat", "/usr/local/lib/heat", "/usr/local/lib64/heat"],
        help="Directories searched, with all that is below them, for Python files that define resource "
        "types. One that does not exist is passed over.",
    ),
]

_CLOUD = [
    cfg.BoolOpt(
        "openstack_resources",
        default=False,
        help="Have the resource types of OpenStack, which Heat's plugins make in the cloud that users of the "
        "API log in to. Needs heatconv[openstack] where engines and workers run, [auth] strategy = keystone "
        "and, for them to act when the user is not there, the group [trustee]. The same for all daemons.",
    ),
    cfg.IntOpt(
        "service_timeout",
        default=60,
        min=1,
        help="Seconds that a service of the cloud has to answer a request in. After that it counts as "
        "unreachable for the moment: what was asked for is looked for, and asked for again. A cloud of "
        "clouds.yaml that has an api_timeout goes by that.",
    ),
    cfg.StrOpt(
        "deferred_auth_method",
        default="trusts",
        choices=[
            ("trusts", "a trust, from the user to the user of [trustee]"),
            ("application_credential", "an application credential of the user's, which heatconv keeps"),
        ],
        help="By what right daemons act for the user of a stack. It is made when a stack is created, made "
        "anew in an update if it is worth nothing any more, and deleted with the stack.",
    ),
    cfg.ListOpt(
        "trusts_delegated_roles",
        default=[],
        help="Names of the roles that users delegate to their stacks; by default all that they have in the "
        "project.",
    ),
    cfg.BoolOpt(
        "allow_trusts_redelegation",
        default=False,
        help="Have trusts that can be passed on by who acts by them, as a stack in which a stack of another "
        "region, or of this one, is a resource (OS::Heat::Stack) needs it. Whoever gets hold of a token by a "
        "trust can then make trusts of all that it allows.",
    ),
]

_PROCESS = [
    cfg.StrOpt(
        "executor",
        default="threading",
        choices=[
            ("threading", "one native thread for each message being handled"),
            (
                "eventlet",
                "one green thread for each message; needs a database driver that yields (PyMySQL)",
            ),
        ],
        help="How a daemon runs many messages at a time.",
    ),
]

_LIMITS = [
    cfg.IntOpt(
        "max_template_size",
        default=524288,
        min=1,
        help="Largest template, in bytes.",
    ),
    cfg.IntOpt(
        "max_stacks_per_tenant",
        default=512,
        min=-1,
        help="Number of stacks a project may have; -1 is no limit.",
    ),
    cfg.IntOpt(
        "max_snapshots_per_stack",
        default=32,
        min=-1,
        help="Number of snapshots a stack may have; -1 is no limit.",
    ),
    cfg.IntOpt(
        "max_software_configs_per_tenant",
        default=4096,
        min=-1,
        help="Number of software configs a project may have, those derived for deployments included; -1 is "
        "no limit.",
    ),
    cfg.IntOpt(
        "max_software_deployments_per_tenant",
        default=4096,
        min=-1,
        help="Number of software deployments a project may have; -1 is no limit.",
    ),
    cfg.IntOpt(
        "max_nested_stack_depth",
        default=5,
        min=0,
        help="How deep stacks may be nested in a stack.",
    ),
    cfg.IntOpt(
        "max_resources_per_stack",
        default=100_000,
        min=-1,
        help="Number of resources a stack may have, those of its nested stacks included; -1 is no limit. "
        "They are counted before any of them is built, in previews and validation too.",
    ),
    cfg.IntOpt(
        "max_events_per_stack",
        default=1000,
        min=-1,
        help="Number of events a stack keeps when a new action on it starts; older ones are dropped then, "
        "but for those of the last minute. -1 keeps all.",
    ),
]

_FEATURES = [
    cfg.BoolOpt(
        "enable_stack_abandon",
        default=False,
        help="Whether users may abandon a stack: have it forgotten, and its resources left where they are.",
    ),
    cfg.BoolOpt(
        "enable_stack_adopt",
        default=False,
        help="Whether users may make a stack of what is there already.",
    ),
    cfg.ListOpt(
        "hidden_stack_tags",
        default=["data-processing-cluster"],
        help="Stacks that carry one of these tags are listed only to who asks for hidden stacks too.",
    ),
]

_ACTIONS = [
    cfg.IntOpt(
        "stack_action_timeout",
        default=3600,
        min=1,
        help="Seconds an action on a stack may take when the request names no timeout of its own.",
    ),
    cfg.IntOpt(
        "action_retry_limit",
        default=5,
        min=0,
        help="How often the creation of one resource is tried again after a failure that may pass.",
    ),
    cfg.IntOpt(
        "client_retry_limit",
        default=60,
        min=0,
        help="How often in a row a call to another service is tried again when the connection fails or the "
        "answer is to come back later; with growing pauses of up to 10 s, and not past the stack's timeout.",
    ),
]

_RECOVERY = [
    cfg.FloatOpt(
        "heartbeat_interval",
        default=4,
        min=0.1,
        help="Seconds between two heartbeats of a daemon in the service table.",
    ),
    cfg.IntOpt(
        "heartbeat_misses",
        default=3,
        min=1,
        help="Number of heartbeats a daemon may miss before it counts as dead and its locks are broken.",
    ),
    cfg.FloatOpt(
        "recovery_interval",
        default=3,
        min=0.1,
        help="Seconds between two recovery ticks of an engine: locks of dead daemons, nodes whose message "
        "was lost, actions past their deadline.",
    ),
    cfg.FloatOpt(
        "ready_grace",
        default=10,
        min=0.1,
        help="Seconds a node may be ready without a worker having claimed it before it is announced again.",
    ),
]

_SECRETS = [
    cfg.StrOpt(
        "auth_encryption_key",
        secret=True,
        help="What the secrets in the database are encrypted with, the same one for every daemon. "
        "'heatconv-manage generate_key' makes one. Any other text of 32 characters or more is taken for a "
        "password, and is stretched by half a second of work when a daemon starts. Daemons do not start "
        "without; heatconv-all makes one of its own.",
    ),
    cfg.MultiStrOpt(
        "auth_encryption_old_keys",
        default=[],
        secret=True,
        help="Keys that secrets in the database may still be encrypted with; none is encrypted with them "
        "any more. Each on a line of its own.",
    ),
    cfg.BoolOpt(
        "accept_unbound_values",
        default=False,
        help="Read what an earlier release has written to the database: secrets that are not bound to their "
        "rows, and texts that are not encrypted. Whoever can write into the database can put such a value "
        "wherever it suits them: set this while you upgrade, until 'heatconv-manage update_params encrypt' "
        "has bound all there is, and not for longer.",
    ),
]

OPTS = [*_PLUGINS, *_CLOUD, *_SECRETS, *_PROCESS, *_LIMITS, *_FEATURES, *_ACTIONS, *_RECOVERY]

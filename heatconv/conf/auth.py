# SPDX-License-Identifier: Apache-2.0
"""The [auth] group: how callers of the REST API say who they are."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "auth"

OPTS = [
    cfg.StrOpt(
        "strategy",
        default="noauth",
        choices=[
            ("noauth", "everybody who reaches the API is an administrator of the project in the URL"),
            ("http_basic", "a user name and a password, held against a file"),
            ("keystone", "an OpenStack token; needs the group [keystone_authtoken]"),
        ],
        help="How callers of the REST API say who they are.",
    ),
    cfg.StrOpt(
        "http_basic_user_file",
        default="/etc/heatconv/htpasswd",
        help="File of user names and bcrypt hashes, as 'htpasswd -B' writes it; read anew for each request. "
        "The user 'alice@web' acts in the project 'web', the user 'alice' in the project 'alice'.",
    ),
    cfg.DictOpt(
        "http_basic_roles",
        default={},
        help="Roles of users of that file, as 'alice@web:reader,root:admin'. A user that is not named here "
        "is a member of its project; an admin may act in every project.",
    ),
]

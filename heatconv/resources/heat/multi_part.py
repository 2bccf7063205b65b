# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::MultipartMime: several configs in one text, as cloud-init takes them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from email import message_from_string
from email.message import Message
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from pathlib import PurePath
from typing import Any

from heatconv.resources import constraints, exception, properties, support
from heatconv.resources.heat.software_config import GROUP_SCHEMA, BaseConfig
from heatconv.resources.i18n import _

MAX_CHARACTERS = 4_000_000  #: of all parts together


class MultipartMime(BaseConfig):
    """Several configs, each with a file name or a type, as one multipart message."""

    support_status = support.SupportStatus(version="2014.1")

    PROPERTIES = (PARTS, GROUP) = ("parts", "group")
    PART_KEYS = (CONFIG, FILENAME, TYPE, SUBTYPE) = ("config", "filename", "type", "subtype")
    TYPES = (TEXT, MULTIPART) = ("text", "multipart")

    properties_schema = {
        PARTS: properties.Schema(
            properties.Schema.LIST,
            _("The parts in order."),
            schema=properties.Schema(
                properties.Schema.MAP,
                schema={
                    CONFIG: properties.Schema(
                        properties.Schema.STRING,
                        _("The text of the part, or the id of a config."),
                        required=True,
                    ),
                    FILENAME: properties.Schema(properties.Schema.STRING, _("The part's file name.")),
                    TYPE: properties.Schema(
                        properties.Schema.STRING,
                        _("Whether the part is a text or a multipart message, whose parts are added."),
                        default=TEXT,
                        constraints=[constraints.AllowedValues(list(TYPES))],
                    ),
                    SUBTYPE: properties.Schema(
                        properties.Schema.STRING, _("The MIME type of a text, less its 'text/'.")
                    ),
                },
            ),
            default=[],
        ),
        GROUP: GROUP_SCHEMA,
    }

    def content(self) -> dict[str, Any]:
        # What the parts have no part in is told by the incarnation: the text is always the same.
        whole = MIMEMultipart(boundary=f"==={uuid.UUID(self.uuid).hex}===")
        left = MAX_CHARACTERS
        for given in self.properties[self.PARTS] or ():
            for part in self._parts(given):
                left -= len(part.as_string())
                if left < 0:
                    raise exception.Error(
                        _("The parts have more than %d characters together.") % MAX_CHARACTERS
                    )
                whole.attach(part)
        return {"group": self.properties[self.GROUP], "config": whole.as_string()}

    def _parts(self, given: Mapping[str, Any]) -> Iterator[Message]:
        text = self._text(given[self.CONFIG])
        if given[self.TYPE] == self.TEXT:
            yield _part(text, given[self.SUBTYPE], given[self.FILENAME])
            return
        for part in message_from_string(text).walk():
            if not part.is_multipart():
                yield _part(_decoded(part), part.get_content_subtype(), part.get_filename())

    def _text(self, config: str) -> str:
        """Return a text, or that of the config whose id it is."""
        try:
            uuid.UUID(config)
        except ValueError:
            return config
        return str(self.software.get_config(config).config)


def _decoded(part: Message) -> str:
    payload = part.get_payload(decode=True)
    return payload.decode(part.get_content_charset("utf-8")) if isinstance(payload, bytes) else ""


def _part(text: str, subtype: str | None, filename: str | None) -> Message:
    if filename and not subtype:
        # Such as part-handler.py: cloud-init knows its own files by their names.
        subtype = PurePath(filename).stem
    part = MIMEText(text, subtype or "plain", "us-ascii" if text.isascii() else "utf-8")
    if filename:
        part.add_header("Content-Disposition", "attachment", filename=filename)
    return part

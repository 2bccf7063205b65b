# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::RandomString: a text nobody can guess, such as a password."""

from __future__ import annotations

from typing import NoReturn

from heatconv.resources import (
    attributes,
    constraints,
    exception,
    password_gen,
    properties,
    resource,
    support,
    translation,
)
from heatconv.resources.i18n import _

MAX_LENGTH = 512


class RandomString(resource.Resource):
    """A random text, made once and kept; to get another one, change ``salt``."""

    support_status = support.SupportStatus(version="2014.1")
    only_here = True
    notes_may_wait = True
    compares_alone = True

    PROPERTIES = (LENGTH, SEQUENCE, CHARACTER_CLASSES, CHARACTER_SEQUENCES, SALT) = (
        "length",
        "sequence",
        "character_classes",
        "character_sequences",
        "salt",
    )
    CLASS, SEQUENCE_OF, MIN = ("class", "sequence", "min")
    ATTRIBUTES = (VALUE,) = ("value",)

    _minimum = properties.Schema(
        properties.Schema.INTEGER,
        _("How many characters of this group there are at least."),
        default=1,
        constraints=[constraints.Range(min=1, max=MAX_LENGTH)],
    )

    properties_schema = {
        LENGTH: properties.Schema(
            properties.Schema.INTEGER,
            _("The length of the text."),
            default=32,
            constraints=[constraints.Range(min=1, max=MAX_LENGTH)],
        ),
        SEQUENCE: properties.Schema(
            properties.Schema.STRING,
            _("The one class of characters to use."),
            constraints=[constraints.AllowedValues(list(password_gen.CHARACTERS))],
            support_status=support.SupportStatus(
                support.HIDDEN,
                _("Use character_classes instead."),
                version="5.0.0",
                previous_status=support.SupportStatus(support.DEPRECATED, version="2014.2"),
            ),
        ),
        CHARACTER_CLASSES: properties.Schema(
            properties.Schema.LIST,
            _("Classes of characters, and how many of each."),
            schema=properties.Schema(
                properties.Schema.MAP,
                schema={
                    CLASS: properties.Schema(
                        properties.Schema.STRING,
                        _("The class."),
                        default="lettersdigits",
                        constraints=[constraints.AllowedValues(list(password_gen.CHARACTERS))],
                    ),
                    MIN: _minimum,
                },
            ),
            default=[{CLASS: "lettersdigits", MIN: 1}],
        ),
        CHARACTER_SEQUENCES: properties.Schema(
            properties.Schema.LIST,
            _("Characters to choose from, and how many of each set."),
            schema=properties.Schema(
                properties.Schema.MAP,
                schema={
                    SEQUENCE_OF: properties.Schema(
                        properties.Schema.STRING, _("The characters."), required=True
                    ),
                    MIN: _minimum,
                },
            ),
        ),
        SALT: properties.Schema(
            properties.Schema.STRING, _("Any text; when it changes, another random text is made.")
        ),
    }

    attributes_schema = {
        VALUE: attributes.Schema(
            _("The random text."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.STRING,
        ),
    }

    def translation_rules(
        self, properties: properties.Properties
    ) -> list[translation.TranslationRule] | None:
        old = properties.get(self.SEQUENCE)
        if not old:
            return None
        rule = translation.TranslationRule
        return [
            rule(properties, rule.ADD, [self.CHARACTER_CLASSES], [{self.CLASS: old, self.MIN: 1}]),
            rule(properties, rule.DELETE, [self.SEQUENCE]),
        ]

    def validate(self) -> None:
        super().validate()
        classes = self._char_classes()
        if not any(each.allowed_chars for each in classes):
            self._refuse(self.CHARACTER_CLASSES, _("There are no characters to choose from; name a class."))
        if any(each.min_count and not each.allowed_chars for each in classes):
            self._refuse(self.CHARACTER_SEQUENCES, _("Of a sequence without characters none can be taken."))
        if sum(each.min_count for each in classes) > self.properties[self.LENGTH]:
            self._refuse(
                self.LENGTH,
                _("The length is smaller than the minimums of all classes and sequences together."),
            )

    def _refuse(self, name: str, sentence: str) -> NoReturn:
        path = ["resources", self.name, "properties", name]
        raise exception.StackValidationFailed(path=path, message=sentence)

    def _char_classes(self) -> list[password_gen.CharClass]:
        """Return the characters to choose from, each set with how many to take at least."""
        named = [
            password_gen.named_char_class(item[self.CLASS], item[self.MIN])
            for item in self.properties[self.CHARACTER_CLASSES] or ()
        ]
        special = [
            password_gen.special_char_class(item[self.SEQUENCE_OF], item[self.MIN])
            for item in self.properties[self.CHARACTER_SEQUENCES] or ()
        ]
        return named + special

    def handle_create(self) -> None:
        self.validate()
        # Whoever takes over an interrupted create keeps the text that was made.
        if self.VALUE not in self.data():
            value = password_gen.generate_password(self.properties[self.LENGTH], self._char_classes())
            self.data_set(self.VALUE, value, redact=True)
        self.resource_id_set(self.physical_resource_name())

    def _resolve_attribute(self, name: str) -> str | None:
        return self.data().get(self.VALUE)

    def get_reference_id(self) -> str:
        return self.data().get(self.VALUE, self.name)

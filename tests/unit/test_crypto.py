# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64

import pytest
from cryptography.fernet import Fernet

from heatconv import errors
from heatconv.crypto import Keyring, generate_key, is_token

OLD, NEW, OTHER = (letter * 32 for letter in "onx")
SECRET = "pässword \N{KEY}"


def test_what_is_encrypted_can_be_decrypted_and_says_nothing():
    keyring = Keyring(NEW)

    token = keyring.encrypt(SECRET)

    assert keyring.decrypt(token) == SECRET
    assert is_token(token)
    assert "word" not in token
    assert keyring.encrypt(SECRET) != token


def test_two_keyrings_of_one_key_read_each_other():
    assert Keyring(NEW).decrypt(Keyring(NEW).encrypt(SECRET)) == SECRET


def test_an_old_key_decrypts_and_does_not_encrypt():
    before, after = Keyring(OLD), Keyring(NEW, [OTHER, OLD])

    token = before.encrypt(SECRET)

    assert after.decrypt(token) == SECRET
    assert not after.is_current(token)
    assert after.is_current(after.encrypt(SECRET))
    with pytest.raises(errors.WrongKey):
        before.decrypt(after.encrypt(SECRET))


def test_what_was_encrypted_before_is_decrypted_and_is_to_be_encrypted_anew():
    keyring = Keyring(NEW, [OLD])
    token = (
        Fernet(base64.urlsafe_b64encode(Keyring(OLD).subkey("database"))).encrypt(SECRET.encode()).decode()
    )

    assert is_token(token)
    assert keyring.decrypt(token) == SECRET
    assert not keyring.is_current(token)
    assert not Keyring(OLD).is_current(token)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "gAAAA",
        "gcm-siv:",
        "gcm-siv:AAAA",
        "gcm-siv:\N{KEY}",
        "nothing",
        pytest.param(Keyring(OTHER).encrypt(SECRET), id="of another key"),
    ],
)
def test_what_no_key_decrypts_is_a_fault_that_an_operator_can_mend(token):
    with pytest.raises(errors.WrongKey, match="auth_encryption_old_keys"):
        Keyring(NEW, [OLD]).decrypt(token)
    assert not Keyring(NEW, [OLD]).is_current(token)


def test_a_changed_text_is_not_decrypted():
    token = Keyring(NEW).encrypt(SECRET)
    changed = token[:40] + ("A" if token[40] != "A" else "B") + token[41:]

    with pytest.raises(errors.WrongKey):
        Keyring(NEW).decrypt(changed)


@pytest.mark.parametrize(("key", "old_keys"), [("", []), ("n" * 31, []), (NEW, ["o" * 31])])
def test_a_key_that_is_too_short_is_refused_with_what_to_do(key, old_keys):
    with pytest.raises(errors.NoKey, match="heatconv-manage generate_key"):
        Keyring(key, old_keys)


def test_keys_for_other_uses_follow_from_the_key_and_the_label():
    keyring = Keyring(NEW, [OLD])

    assert keyring.subkey("signals") == Keyring(NEW).subkey("signals")
    assert len(keyring.subkey("signals")) == 32
    assert keyring.subkey("signals") not in (keyring.subkey("database"), Keyring(OLD).subkey("signals"))
    assert keyring.subkeys("signals") == [Keyring(key).subkey("signals") for key in (NEW, OLD)]


def test_a_key_is_long_enough_and_never_the_same():
    assert Keyring(generate_key())
    assert generate_key() != generate_key()
    assert generate_key().isascii()

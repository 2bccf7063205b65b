# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
from types import SimpleNamespace

import pytest
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.ciphers.aead import AESGCMSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from heatconv import crypto, errors
from heatconv.crypto import Keyring, generate_key, is_token

OLD, NEW, OTHER = (generate_key() for _ in range(3))
PASSWORD = "correct horse battery staple, and more"
SECRET = "pässword \N{KEY}"
HERE, THERE = b"here", b"there"


def derived(key, label):
    """Return the subkey that earlier releases took for a use."""
    return HKDF(SHA256(), length=32, salt=None, info=f"heatconv {label}".encode()).derive(key.encode())


def as_before(key):
    """Return the secret as the last release encrypted it."""
    nonce = b"n" * 12
    sealed = AESGCMSIV(derived(key, "database values")).encrypt(nonce, SECRET.encode(), None)
    return "gcm-siv:" + base64.b64encode(nonce + sealed).decode()


def as_long_before(key):
    return Fernet(base64.urlsafe_b64encode(derived(key, "database"))).encrypt(SECRET.encode()).decode()


def test_what_is_encrypted_can_be_decrypted_and_says_nothing():
    keyring = Keyring(NEW)

    token = keyring.encrypt(SECRET, HERE)

    assert keyring.decrypt(token, HERE) == SECRET
    assert is_token(token)
    assert "word" not in token
    assert keyring.encrypt(SECRET, HERE) != token


def test_what_is_encrypted_for_one_place_is_not_decrypted_for_another():
    keyring = Keyring(NEW)
    token = keyring.encrypt(SECRET, HERE)

    with pytest.raises(errors.WrongKey):
        keyring.decrypt(token, THERE)
    assert not keyring.is_current(token, THERE)


def test_two_keyrings_of_one_key_read_each_other():
    assert Keyring(NEW).decrypt(Keyring(NEW).encrypt(SECRET, HERE), HERE) == SECRET


def test_an_old_key_decrypts_and_does_not_encrypt():
    before, after = Keyring(OLD), Keyring(NEW, [OTHER, OLD])

    token = before.encrypt(SECRET, HERE)

    assert after.decrypt(token, HERE) == SECRET
    assert not after.is_current(token, HERE)
    assert after.is_current(after.encrypt(SECRET, HERE), HERE)
    with pytest.raises(errors.WrongKey):
        before.decrypt(after.encrypt(SECRET, HERE), HERE)


@pytest.mark.parametrize("before", [as_before, as_long_before])
@pytest.mark.parametrize("key", [NEW, OLD, PASSWORD], ids=["key", "old key", "password"])
def test_what_an_earlier_release_encrypted_is_decrypted_as_long_as_that_is_accepted(before, key):
    token = before(key)
    old_keys = [OLD, PASSWORD]

    lenient = Keyring(NEW, old_keys, accept_unbound=True)
    assert is_token(token)
    assert lenient.decrypt(token, HERE) == SECRET
    assert not lenient.is_current(token, HERE)
    with pytest.raises(errors.Unbound, match="accept_unbound_values"):
        Keyring(NEW, old_keys).decrypt(token, HERE)


def test_what_is_encrypted_today_is_not_what_was_encrypted_before():
    """Or its mark could be taken away, and with it the place."""
    lenient = Keyring(NEW, accept_unbound=True)
    bound = lenient.encrypt(SECRET, HERE).removeprefix(crypto.MARK)

    with pytest.raises(errors.WrongKey):
        lenient.decrypt(crypto.UNBOUND + bound, THERE)
    with pytest.raises(errors.WrongKey):
        lenient.decrypt(crypto.MARK + as_before(NEW).removeprefix(crypto.UNBOUND), THERE)


@pytest.mark.parametrize(
    "token",
    [
        "sealed:",
        "sealed:AAAA",
        "sealed:\N{KEY}",
        "",
        "gAAAA",
        "gcm-siv:",
        "gcm-siv:AAAA",
        "gcm-siv:\N{KEY}",
        "nothing",
        pytest.param(Keyring(OTHER).encrypt(SECRET, HERE), id="of another key"),
        pytest.param(as_before(OTHER), id="of another key, before"),
    ],
)
def test_what_no_key_decrypts_is_a_fault_that_an_operator_can_mend(token):
    keyring = Keyring(NEW, [OLD], accept_unbound=True)
    with pytest.raises(errors.WrongKey, match="auth_encryption_old_keys"):
        keyring.decrypt(token, HERE)
    assert not keyring.is_current(token, HERE)


def test_a_changed_text_is_not_decrypted():
    token = Keyring(NEW).encrypt(SECRET, HERE)
    changed = token[:40] + ("A" if token[40] != "A" else "B") + token[41:]

    with pytest.raises(errors.WrongKey):
        Keyring(NEW).decrypt(changed, HERE)


@pytest.mark.parametrize(
    ("key", "old_keys"), [("", []), ("n" * 31, []), (NEW, ["o" * 31])], ids=["none", "key", "old key"]
)
def test_a_key_that_is_too_short_is_refused_with_what_to_do(key, old_keys):
    with pytest.raises(errors.NoKey, match="heatconv-manage generate_key"):
        Keyring(key, old_keys)


def test_keys_for_other_uses_follow_from_the_key_and_the_label():
    keyring = Keyring(NEW, [OLD])

    assert keyring.subkey("signals") == Keyring(NEW).subkey("signals")
    assert len(keyring.subkey("signals")) == 32
    assert keyring.subkey("signals") not in (keyring.subkey("sealed values"), Keyring(OLD).subkey("signals"))
    assert keyring.subkeys("signals") == [Keyring(key).subkey("signals") for key in (NEW, OLD)]


def test_a_key_is_long_enough_and_never_the_same():
    assert Keyring(generate_key())
    assert generate_key() != generate_key()
    assert generate_key().isascii()


def test_a_password_is_stretched_once_and_a_key_is_not(monkeypatch):
    stretched = []

    def _counted(**how):
        def _derive(key):
            stretched.append(key)
            return Scrypt(**how).derive(key)

        return SimpleNamespace(derive=_derive)

    monkeypatch.setattr(crypto, "Scrypt", _counted)
    crypto._strong.cache_clear()

    Keyring(NEW, [OLD])
    assert stretched == []
    for _ in range(2):
        Keyring(PASSWORD, [OLD]).subkey("signals")
    assert stretched == [PASSWORD.encode()]
    assert Keyring(PASSWORD).subkey("signals") != derived(PASSWORD, "signals")
    # What was signed with it before still counts: see the signer of URLs.
    assert Keyring(NEW, [PASSWORD]).former_subkeys("signals") == [derived(PASSWORD, "signals")]


@pytest.mark.parametrize(
    "change", [lambda key: key[:-1] + "!", lambda key: "!" + key[1:], lambda key: key[1:]]
)
def test_what_is_not_quite_a_key_is_a_password(change):
    """Such as a key of an earlier release, and one that was copied badly."""
    assert Keyring(change(NEW)).former_subkeys("signals") == [derived(change(NEW), "signals")]
    assert Keyring(NEW).former_subkeys("signals") == []


def test_guessing_a_password_takes_a_processor_and_memory():
    """As much as OWASP asks for today: 128 MiB for each guess."""
    assert 128 * crypto._SCRYPT["n"] * crypto._SCRYPT["r"] >= 128 << 20

# SPDX-License-Identifier: Apache-2.0
"""Certificates of a test's own, by an authority of its own."""

from __future__ import annotations

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

LOOPBACK = ipaddress.ip_address("127.0.0.1")


@dataclass(frozen=True)
class Certificate:
    """The files of a certificate and its key."""

    certificate: Path
    key: Path


class Authority:
    """Signs certificates for servers on loopback; ``file`` is what clients trust."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name(name)
        self.file = directory / f"{name}.pem"
        certificate = self._signed(self._name, self._key, x509.BasicConstraints(ca=True, path_length=0))
        self.file.write_bytes(certificate)

    def issue(self, name: str) -> Certificate:
        """Return a new certificate for 127.0.0.1 and localhost."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.IPAddress(LOOPBACK), x509.DNSName("localhost")])
        files = Certificate(self._directory / f"{name}-cert.pem", self._directory / f"{name}-key.pem")
        files.certificate.write_bytes(self._signed(_name(name), key, names))
        files.key.touch(mode=0o600)
        files.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return files

    def _signed(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, extension: x509.ExtensionType
    ) -> bytes:
        now = dt.datetime.now(dt.UTC)
        is_authority = isinstance(extension, x509.BasicConstraints)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(extension, critical=is_authority)
        )
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])

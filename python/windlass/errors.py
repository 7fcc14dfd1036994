"""The exceptions: one small hierarchy under `WindlassError`, with their data as attributes."""

from __future__ import annotations

import re


class WindlassError(Exception):
    """The base class of all errors of this package. Attributes of its subclasses hold the data."""

    def __init__(self, message: str = "", **data: object) -> None:
        super().__init__(message)
        for name, value in data.items():
            setattr(self, name, value)

    def add_note(self, note: str) -> None:
        """Adds a note; the name of a refused argument goes into the message instead."""
        found = re.fullmatch(r"while processing '(\w+)'", note)
        message = str(self.args[0]) if self.args else ""
        if found is not None:
            if not re.search(rf"\b{found[1]}\b", message):
                self.args = (f"{found[1]}: {message}",)
        elif hasattr(super(), "add_note"):
            super().add_note(note)  # type: ignore[misc,unused-ignore]

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.args[0] if self.args else "", dict(self.__dict__))


def _restore(cls: type[WindlassError], message: str, data: dict[str, object]) -> WindlassError:
    return cls(message, **data)


class ParameterError(WindlassError, ValueError):
    """A parameter or another number is out of range."""


class NoParameters(ParameterError):
    """No plan or parameter set meets the request; the message says what was lacking."""


class FewSlotsWarning(UserWarning):
    """The chosen parameters hold few numbers in a ciphertext; the message says what to do."""


class ProgramError(WindlassError, ValueError):
    """A program in MLIR cannot be read, or Windlass cannot run it; nothing was computed."""

    line: int = 0
    """Where it stands in the text, counted from 1; 0 if the error is of no one place."""
    column: int = 0
    """Its column, counted from 1."""
    operation: str | None = None
    """The operation, if Windlass lacks it."""


class InsecureParameters(ParameterError):
    """Parameters have less than 128 bits of security and are not called insecure."""

    bits: float
    """Their security in bits."""
    required: float
    """The required security in bits."""
    max_log2_qp: float
    """The largest log2 QP that is secure in this ring."""


class UnknownName(ParameterError):
    """There is no choice with this name."""

    given: str
    """The name given."""
    known: list[str]
    """All names."""


class ShapeError(WindlassError, ValueError):
    """An array has the wrong shape."""

    expected: int | None = None
    """The expected number of entries, if it is one number."""
    got: int | None = None
    """How many it has."""


class DTypeError(WindlassError, TypeError):
    """An array, or an argument, is of the wrong type."""


class ValueRangeError(WindlassError, ValueError):
    """A number is outside the plaintext space, or is not finite."""

    index: int = 0
    """Its place in the array, row by row."""
    value: str | None = None
    """The number."""


class NotIntegers(WindlassError, ValueError):
    """A function of integers was applied to slots that hold ring elements."""


class EncryptedComparison(WindlassError, TypeError):
    """Encrypted values were compared with an operator that needs a plain result."""


class NotBound(WindlassError, TypeError):
    """An operation was called on a ciphertext that is not bound to a server."""


class ServerClosed(WindlassError, ValueError):
    """A server was used after it was closed."""


class MissingKeys(WindlassError, LookupError):
    """A circuit needs keys that the server does not hold; nothing was computed."""

    needed_by: str = ""
    """The circuit or operation that needs them."""
    elements: list[int] = []  # noqa: RUF012 - of each instance where there are any
    """The automorphisms X -> X**t whose Galois keys are missing."""
    relinearisation: bool = False
    """Whether the relinearisation key is missing."""
    bootstrappings: int = 0
    """How many bootstrappings have no keys."""
    level: int = 0
    """The level that the keys must cover."""


class MissingGaloisKey(MissingKeys):
    """Galois keys are missing."""


class MissingRelinearisationKey(MissingKeys):
    """The relinearisation key, which products of ciphertexts need, is missing."""


class MissingBootstrappingKeys(MissingKeys):
    """The keys of a bootstrapping are missing."""


class CapacityExhausted(WindlassError, ArithmeticError):
    """The capacity, the modulus or the depth is too small for an operation."""

    needed_bits: float | None = None
    """log2 of the noise growth or of the values, if there is no room for it."""
    left_bits: float | None = None
    """log2 of the room that is left."""
    depth: int | None = None
    """CKKS: the depth of a context that suffices, if depth was lacking."""
    value_bits: int | None = None
    """CKKS: the ``value_bits`` of a context that suffices, if the values are too large."""
    missing_bits: float | None = None
    """CKKS: bits that one step of a function needs beside those of a refreshed ciphertext."""


class OtherContext(WindlassError, ValueError):
    """Values of two contexts were used in one operation."""


class OtherKeyPair(WindlassError, ValueError):
    """Values of two key pairs were used in one operation."""


class NotDecryptable(WindlassError, ValueError):
    """A ciphertext holds more noise or larger values than it states.

    It was made under another key, or someone changed it or a key that was used on it, or (CKKS) a
    value was outside the interval of a polynomial or above a bound that was assumed for it.
    """

    index: int | None = None
    """The first number above its bound; None if it is not known.

    For CKKS it is the position in the array, row by row. For tables it is the number of the row in
    the query, counted from 0.
    """


class OutsideInterval(WindlassError, ValueError):
    """A polynomial on an interval was applied to numbers that may lie outside."""

    bound: float = 0.0
    """The bound on the numbers."""
    low: float = 0.0
    """The lower end of the interval."""
    high: float = 0.0
    """The upper end."""


class PartiesError(WindlassError):
    """What several parties do together was refused."""


class MissingMessages(PartiesError):
    """Messages of members are missing."""

    members: list[str] = []  # noqa: RUF012 - of each instance where there are any
    """The names of those whose messages are missing."""


class MessageRefused(PartiesError):
    """A message, a share or a state does not belong here. Nothing of it was used."""

    sender: str = ""
    """The name of the member that it says it is from; empty if it is not about one."""


class DecryptionsSpent(PartiesError):
    """A party has taken part in all decryptions that were agreed on."""


class BootstrapError(WindlassError):
    """A bootstrapping was refused."""


class FileError(WindlassError, OSError):
    """Bytes or a file were refused. Nothing of them was used."""

    def __str__(self) -> str:
        # That of OSError, once it has a filename, says errno and strerror in place of the message.
        return str(self.args[0]) if self.args else ""


class MissingFile(FileError, FileNotFoundError):
    """There is no such file."""


class FileExists(FileError, FileExistsError):
    """A file with this name exists; it is not changed."""


class PassphraseNeeded(FileError):
    """The secret key in a file is encrypted, and no passphrase was given."""


class WrongPassphrase(FileError):
    """The passphrase is wrong, or someone changed the file. Decryption cannot distinguish the two.

    Accidental damage is found first and raises another :class:`FileError`.
    """


class SecretNotPickled(WindlassError, TypeError):
    """An object with a secret key cannot be pickled."""


class OutOfMemory(WindlassError, MemoryError):
    """The system does not provide the memory that an operation needs."""

    bytes: int | None = None
    """How much, where it is known."""


class DuplicateKey(ParameterError):
    """A key of a table occurs twice."""

    key: str = ""
    """The key, as far as it can be printed."""


class HiddenKeysError(ParameterError):
    """Hidden keys are needed and plain keys are given, or the other way round.

    It is also raised for the OPRF key of another table.
    """


class TableFull(WindlassError):
    """A table has no room for another row. Make a new table with room for more rows."""

    key: str = ""
    """The key of the row, as far as it can be printed."""


class NoShards(ParameterError):
    """The columns of a table cannot be cut into this number of equal blocks."""

    possible: list[int]
    """Into how many they are cut."""


class PartError(WindlassError, ValueError):
    """The parts of shards do not belong to one answer."""

    index: int
    """The number of the shard, from 0."""
    reason: str
    """``"missing"``, ``"doubled"``, or what the part is of another of: ``"query"``, ``"version of
    the table"``, ``"number of shards"``."""


class ServiceError(WindlassError):
    """A lookup service refused a request, or its response is not valid."""

    status: int = 0
    """The status of its response; 0 where there was none."""
    problem: str = ""
    """The kind of the problem, as ``busy``; empty where the service named none."""
    cause: str = ""
    """What was wrong with this request."""
    fix: str = ""
    """What to do."""


class ServiceUnavailable(ServiceError, ConnectionError):
    """A lookup service could not be reached or was busy in every attempt."""


class TableReplaced(ServiceError):
    """A lookup service has another table than before: see :meth:`LookupService.refresh`."""


class InternalError(WindlassError, RuntimeError):
    """A bug of this package."""


class MissingPackage(WindlassError, ImportError):
    """An optional package is not installed; the message says how to install it."""

    package: str
    """The package."""
    extra: str
    """The extra of Windlass that brings it."""


def missing_package(package: str, extra: str) -> MissingPackage:
    """Make the error for an optional package that is not installed.

    Examples
    --------
    >>> from windlass.errors import missing_package
    >>> print(missing_package("matplotlib", "plot"))
    this needs matplotlib, which is not installed: pip install windlass[plot]
    """
    message = f"this needs {package}, which is not installed: pip install windlass[{extra}]"
    return MissingPackage(message, package=package, extra=extra)

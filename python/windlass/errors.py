"""What can go wrong: one small hierarchy under `WindlassError`, with the data as attributes."""

from __future__ import annotations


class WindlassError(Exception):
    """Every error of this package; what it is about stands in attributes of its subclasses."""

    def __init__(self, message: str = "", **data: object) -> None:
        super().__init__(message)
        for name, value in data.items():
            setattr(self, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.args[0] if self.args else "", dict(self.__dict__))


def _restore(cls: type[WindlassError], message: str, data: dict[str, object]) -> WindlassError:
    return cls(message, **data)


class ParameterError(WindlassError, ValueError):
    """A parameter, or a number that should be one, is outside of what is possible."""


class NoParameters(ParameterError):
    """Nothing can be planned as it was asked for; the message says what was lacking."""


class FewSlotsWarning(UserWarning):
    """Parameters were chosen that hold few numbers in a ciphertext; the message says what to do."""


class InsecureParameters(ParameterError):
    """Parameters below 128 bits of security that are not called insecure."""

    bits: float
    """Their security."""
    required: float
    """What is required."""
    max_log2_qp: float
    """The largest log2 QP that would do in this ring."""


class UnknownName(ParameterError):
    """A choice that is written by name has another name."""

    given: str
    """The name given."""
    known: list[str]
    """All names."""


class ShapeError(WindlassError, ValueError):
    """An array has the wrong shape."""

    expected: int | None = None
    """How many entries it should have, where one number says that."""
    got: int | None = None
    """How many it has."""


class DTypeError(WindlassError, TypeError):
    """An array, or an argument, is of the wrong type."""


class ValueRangeError(WindlassError, ValueError):
    """A number is outside of the plaintext space, or is not finite."""

    index: int = 0
    """Its place in the array, row by row."""
    value: str | None = None
    """The number."""


class NotIntegers(WindlassError, ValueError):
    """A function of integers was asked of slots that hold elements of higher degree."""


class EncryptedComparison(WindlassError, TypeError):
    """What is encrypted was compared in the open."""


class NotBound(WindlassError, TypeError):
    """A ciphertext without a server was computed with."""


class ServerClosed(WindlassError, ValueError):
    """A server was used after it gave its keys back."""


class MissingKeys(WindlassError, LookupError):
    """A circuit needs keys that the server does not hold; nothing was computed."""

    needed_by: str = ""
    """Who needs them."""
    elements: list[int] = []  # noqa: RUF012 - of each instance where there are any
    """The automorphisms X -> X**t whose Galois keys are missing."""
    relinearisation: bool = False
    """Whether the relinearisation key is missing."""
    bootstrappings: int = 0
    """How many bootstrappings have no keys."""
    level: int = 0
    """The level that the keys must serve."""


class MissingGaloisKey(MissingKeys):
    """Galois keys are missing."""


class MissingRelinearisationKey(MissingKeys):
    """The relinearisation key is missing: products of ciphertexts need it."""


class MissingBootstrappingKeys(MissingKeys):
    """The keys of a bootstrapping are missing."""


class CapacityExhausted(WindlassError, ArithmeticError):
    """Too little room for the noise of an operation, or for values that grow."""

    needed_bits: float | None = None
    """log2 of the noise growth or of the values that need room, if that was lacking."""
    left_bits: float | None = None
    """log2 of the room that is left."""
    depth: int | None = None
    """CKKS: the depth of a context that would do, if depth was lacking."""
    value_bits: int | None = None
    """CKKS: the ``value_bits`` of a context that would do, if room for values was lacking."""


class OtherContext(WindlassError, ValueError):
    """Values of two contexts met."""


class OtherKeyPair(WindlassError, ValueError):
    """Values of two key pairs met."""


class NotDecryptable(WindlassError, ValueError):
    """A ciphertext holds more noise or larger values than it states.

    It was made under another key, it or a key that it went through was changed, or (CKKS) a value
    lay outside the interval of a polynomial or above a bound that was assumed for it.
    """

    index: int | None = None
    """Which is the first that is above its bound; None where that is not known.

    For CKKS the place in the array, row by row; for tables the number, from 0, of the row among
    those that were asked for.
    """


class OutsideInterval(WindlassError, ValueError):
    """A polynomial on an interval was applied to numbers that are not known to lie inside."""

    bound: float = 0.0
    """The bound on the numbers."""
    low: float = 0.0
    """The lower end of the interval."""
    high: float = 0.0
    """The upper end."""


class BootstrapError(WindlassError):
    """A bootstrapping was refused."""


class FileError(WindlassError, OSError):
    """Bytes or a file were refused: nothing of them was used."""

    def __str__(self) -> str:
        # That of OSError, once it has a filename, says errno and strerror in place of the message.
        return str(self.args[0]) if self.args else ""


class MissingFile(FileError, FileNotFoundError):
    """There is no such file."""


class FileExists(FileError, FileExistsError):
    """There is a file of this name already; it stays as it is."""


class PassphraseNeeded(FileError):
    """The secret key in a file is encrypted, and no passphrase was given."""


class WrongPassphrase(FileError):
    """A passphrase does not open a file, or the file was changed: the two look the same.

    Damage by accident is found before and is a :class:`FileError` of another kind.
    """


class SecretNotPickled(WindlassError, TypeError):
    """A secret key was to be pickled."""


class OutOfMemory(WindlassError, MemoryError):
    """The system does not give the memory that is known to be needed."""

    bytes: int | None = None
    """How much, where it is known."""


class DuplicateKey(ParameterError):
    """A key of a table occurs twice."""

    key: str = ""
    """The key, as far as it can be printed."""


class HiddenKeysError(ParameterError):
    """The keys of a table are hidden, and what hides them was not given, or the other way round.

    Also for an OPRF key that is that of another table.
    """


class TableFull(WindlassError):
    """A table has no room for another row: make it again, with room for more."""

    key: str = ""
    """The key of the row, as far as it can be printed."""


class NoShards(ParameterError):
    """The columns of a table are not cut into so many blocks of one size."""

    possible: list[int]
    """Into how many they are cut."""


class PartError(WindlassError, ValueError):
    """The parts of shards do not come to one answer."""

    index: int
    """The number of the shard, from 0."""
    reason: str
    """``"missing"``, ``"doubled"``, or what the part is of another of: ``"query"``, ``"version of
    the table"``, ``"number of shards"``."""


class ServiceError(WindlassError):
    """A lookup service refused, or said what cannot be understood."""

    status: int = 0
    """The status of its response; 0 where there was none."""
    problem: str = ""
    """The kind of the problem, as ``busy``; empty where the service named none."""
    cause: str = ""
    """What was wrong with this request."""
    fix: str = ""
    """What to do."""


class ServiceUnavailable(ServiceError, ConnectionError):
    """A lookup service cannot be reached, or had no time, however often it was asked."""


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
    """What is raised where ``import package`` fails.

    Examples
    --------
    >>> from windlass.errors import missing_package
    >>> print(missing_package("matplotlib", "plot"))
    this needs matplotlib, which is not installed: pip install windlass[plot]
    """
    message = f"this needs {package}, which is not installed: pip install windlass[{extra}]"
    return MissingPackage(message, package=package, extra=extra)

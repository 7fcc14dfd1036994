"""Computing on encrypted NumPy arrays.

A matrix times an encrypted vector:

>>> import numpy as np, windlass as wl
>>> context = wl.Context.plan(modulus=65537, depth=1)      # 128 bits of security
>>> layer = context.linear(np.array([[1, 2, 3], [4, 5, 6]]))
>>> client, server = context.generate_keys(layer)
>>> client.decrypt(layer @ server.receive(client.encrypt([7, 8, 9])))
array([ 50, 122])

A *context* is what client and server agree on, a *client* holds the secret key, a *server* the
keys that the named circuits need and no others.
"""

from windlass import plots
from windlass._windlass import (
    Bootstrapping,
    Ciphertext,
    Circuit,
    Client,
    Context,
    Encryptor,
    Keys,
    LinearPlan,
    PreparedPlan,
    Server,
    __version__,
    approximate_parameters,
    plan_parameters,
    preset_parameters,
    presets,
    set_threads,
    threads,
)
from windlass.errors import (
    BootstrapError,
    CapacityExhausted,
    DTypeError,
    EncryptedComparison,
    FileError,
    FileExists,
    InsecureParameters,
    InternalError,
    MissingBootstrappingKeys,
    MissingFile,
    MissingGaloisKey,
    MissingKeys,
    MissingPackage,
    MissingRelinearisationKey,
    NoParameters,
    NotBound,
    NotIntegers,
    OtherContext,
    OtherKeyPair,
    OutOfMemory,
    ParameterError,
    SecretNotPickled,
    ServerClosed,
    ShapeError,
    UnknownName,
    ValueRangeError,
    WindlassError,
)
from windlass.explore import Front, explore
from windlass.models import Linear, Logistic

__all__ = [
    "BootstrapError",
    "Bootstrapping",
    "CapacityExhausted",
    "Ciphertext",
    "Circuit",
    "Client",
    "Context",
    "DTypeError",
    "EncryptedComparison",
    "Encryptor",
    "FileError",
    "FileExists",
    "Front",
    "InsecureParameters",
    "InternalError",
    "Keys",
    "Linear",
    "LinearPlan",
    "Logistic",
    "MissingBootstrappingKeys",
    "MissingFile",
    "MissingGaloisKey",
    "MissingKeys",
    "MissingPackage",
    "MissingRelinearisationKey",
    "NoParameters",
    "NotBound",
    "NotIntegers",
    "OtherContext",
    "OtherKeyPair",
    "OutOfMemory",
    "ParameterError",
    "PreparedPlan",
    "SecretNotPickled",
    "Server",
    "ServerClosed",
    "ShapeError",
    "UnknownName",
    "ValueRangeError",
    "WindlassError",
    "__version__",
    "approximate_parameters",
    "explore",
    "plan_parameters",
    "plots",
    "preset_parameters",
    "presets",
    "set_threads",
    "threads",
]

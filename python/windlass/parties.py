"""Keys that several parties hold together, of whom any t can decrypt and fewer cannot.

The parties make an :class:`Agreement`. Each of them runs a :class:`Party`, and sends the others
bytes. An :class:`Assembly` adds up their shares to keys, with which anyone encrypts and computes.
To decrypt, t parties make shares, and a :class:`Reading` adds them up to the values.

>>> import windlass as wl
>>> context = wl.Context.preset("insecure_toy_256", parties=3)  # a toy
>>> own = {name: wl.parties.Identity() for name in ["Ada", "Ben", "Cleo"]}
>>> public = {name: identity.public for name, identity in own.items()}
>>> agreement = wl.parties.Agreement(context, public, context.products(), threshold=2)
>>> ada, ben, cleo = everyone = [wl.parties.Party(agreement, own[name]) for name in own]
>>> assembly = wl.parties.Assembly(agreement)
>>> for message in [message for party in everyone for message in party.opening()]:
...     for taker in [assembly, *everyone]:
...         _ = taker.receive(message)
>>> for message in [message for party in everyone for message in party.closing()]:
...     _ = assembly.receive(message)
>>> encryptor, server = assembly.encryptor(), assembly.server()
>>> votes = [server.receive(encryptor.encrypt(vote)) for vote in ([1, 0], [0, 1], [0, 1])]
>>> total = votes[0] + votes[1] + votes[2]
>>> reading = wl.parties.Reading(agreement, total, by=["Ada", "Cleo"])
>>> for party in (ada, cleo):
...     for share in party.decrypt(total, by=["Ada", "Cleo"]):
...         _ = reading.receive(share)
>>> reading.values()
array([1, 2])

**Warning.** The parties keep to the protocol. One that does not can spoil keys and results, and may
learn secrets of others. `docs/explanation/parties.md` says what this protects from, and what not.
"""

from windlass._windlass import Agreement, Assembly, Handover, Identity, Party, Reading

__all__ = ["Agreement", "Assembly", "Handover", "Identity", "Party", "Reading"]

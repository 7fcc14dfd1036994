"""Keys that several parties hold together: whole sessions, files, and what is refused."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import windlass as wl
from windlass.parties import Agreement, Assembly, Handover, Identity, Party, Reading

NAMES = ["Ada", "Ben", "Cleo"]


class Session:
    """Three parties, and the keys that they have made."""

    def __init__(self, context: wl.Context, *circuits: Any, threshold: int = 2, **how: int) -> None:
        self.identities = {name: Identity() for name in NAMES}
        public = {name: own.public for name, own in self.identities.items()}
        self.agreement = Agreement(context, public, *circuits, threshold=threshold, **how)
        self.parties = [Party(self.agreement, own) for own in self.identities.values()]
        self.opening = [message for party in self.parties for message in party.opening()]
        self.assembly = Assembly(self.agreement)
        for message in self.opening:
            self.assembly.receive(message)
            for party in self.parties:
                party.receive(message)
        for party in self.parties:
            for message in party.closing():
                assert self.assembly.receive(message) == "new"
        self.encryptor, self.server = self.assembly.encryptor(), self.assembly.server()

    def encrypt(self, values: Any) -> wl.Ciphertext:
        return self.server.receive(self.encryptor.encrypt(values))

    def read(self, array: wl.Ciphertext, by: list[str]) -> Any:
        reading = Reading(self.agreement, array, by=by)
        for name in by:
            for share in self.parties[NAMES.index(name)].decrypt(array, by=by):
                assert reading.receive(share) == "new"
        return reading.values()


@pytest.mark.parametrize("scheme", ["BGV", "BFV"])
def test_two_of_three_read_products_and_sums(scheme: Any) -> None:
    context = wl.Context.preset("insecure_toy_256", scheme=scheme, parties=3)
    session = Session(context, context.products(), context.sum())
    rng = np.random.default_rng(1)
    values = rng.integers(-8, 8, (3, 40))
    rows = [session.encrypt(row) for row in values]
    total = (rows[0] * rows[0]).sum() + (rows[1] * rows[2]).sum()
    wanted = (int((values[0] ** 2).sum() + values[1] @ values[2]) + 128) % 257 - 128
    assert int(session.read(total, ["Ada", "Cleo"])) == wanted
    assert int(session.read(total, ["Ben", "Cleo"])) == wanted
    assert [party.decryptions for party in session.parties] == [1, 1, 2]
    # Arrays of several ciphertexts take a share for each.
    matrix = rng.integers(0, 100, (2, 200))
    np.testing.assert_array_equal(session.read(session.encrypt(matrix), ["Ada", "Ben"]), matrix)
    assert session.parties[0].decryptions == 1 + 4


def test_planned_parameters_have_room_for_decryptions() -> None:
    context = wl.Context.plan(modulus=65537, depth=1, parties=3)
    assert context.security >= 128
    session = Session(context, context.products(), threshold=3)
    x = session.encrypt([3, -4, 5])
    np.testing.assert_array_equal(session.read(x * x, NAMES), [9, 16, 25])


def test_numbers_of_ckks_keep_the_precision_that_is_stated() -> None:
    context = wl.Context.approximate(depth=1, scale_bits=120, slots=8, parties=3)
    session = Session(context, context.products(), threshold=3)
    values = np.linspace(-1, 1, 8)
    x = session.encrypt(values)
    square = x * x
    reading = Reading(session.agreement, square)
    for party in session.parties:
        for share in party.decrypt(square):
            reading.receive(share)
    assert reading.precision_bits is not None and reading.precision_bits > 10
    np.testing.assert_allclose(reading.values(), values**2, atol=2 ** (1 - reading.precision_bits))


def test_a_reader_reads_alone() -> None:
    session = Session(wl.Context.preset("insecure_toy_256", parties=3))
    x = session.encrypt([7, 8])
    shares = [
        share
        for party in (session.parties[0], session.parties[2])
        for share in party.decrypt(x, by=["Ada", "Cleo"], reader="Ben")
    ]
    everyone = Reading(session.agreement, x, by=[1, 3])
    with pytest.raises(wl.MessageRefused, match="for Ben, not for this party"):
        everyone.receive(shares[0])
    ben = Reading(session.agreement, x, by=[1, 3], identity=session.identities["Ben"])
    assert ben.missing() == ["Ada", "Cleo"]
    ben.receive(shares[0])
    with pytest.raises(wl.MissingMessages, match="Cleo") as missing:
        ben.values()
    assert missing.value.members == ["Cleo"]
    assert [ben.receive(share) for share in shares] == ["again", "new"]
    np.testing.assert_array_equal(ben.values(), [7, 8])


def test_states_and_identities_are_files(tmp_path: Path) -> None:
    session = Session(wl.Context.preset("insecure_toy_256", parties=3))
    identity, party = session.identities["Ada"], session.parties[0]
    own, state = tmp_path / "ada.identity", tmp_path / "ada.state"
    identity.save(own, passphrase="two words")
    party.save(state, passphrase="two words")
    assert own.stat().st_mode & 0o777 == state.stat().st_mode & 0o777 == 0o600
    with pytest.raises(wl.PassphraseNeeded):
        Identity.load(own)
    with pytest.raises(wl.WrongPassphrase):
        Party.load(session.agreement, identity, state, passphrase="others")
    with pytest.raises(wl.FileExists):
        identity.save(own)
    notes = tmp_path / "notes"
    notes.write_text("mine")
    with pytest.raises(wl.FileExists):
        party.save(notes)
    assert notes.read_text() == "mine"
    agreement = Agreement.from_json(session.agreement.to_json())
    assert agreement == session.agreement and hash(agreement) == hash(session.agreement)
    x = session.encrypt([1, 2])
    for count in (1, 2):
        again = Identity.load(own, passphrase="two words")
        assert again.public == identity.public
        party = Party.load(agreement, again, state, passphrase="two words")
        party.decrypt(x, by=["Ada", "Ben"])
        assert party.decryptions == count
        party.save(state, passphrase="two words")
    with pytest.raises(wl.MessageRefused):
        Party.load(agreement, session.identities["Ben"], state, passphrase="two words")
    with pytest.raises(wl.FileError):
        Identity.load(notes)


def test_secrets_are_not_pickled_and_agreements_are() -> None:
    session = Session(wl.Context.preset("insecure_toy_256", parties=3))
    for secret in (session.identities["Ada"], session.parties[0]):
        for attempt in (pickle.dumps, copy.deepcopy):
            with pytest.raises(wl.SecretNotPickled):
                attempt(secret)
    assert pickle.loads(pickle.dumps(session.agreement)) == session.agreement
    assert "Ada" in repr(session.agreement) and "Ada" in repr(session.parties[0])


def test_what_does_not_belong_is_refused() -> None:
    context = wl.Context.preset("insecure_toy_256", parties=3)
    session, other = Session(context, context.products()), Session(context)
    ben = session.parties[1]
    with pytest.raises(wl.MessageRefused, match="another agreement"):
        ben.receive(other.opening[0])
    with pytest.raises(wl.FileError):
        ben.receive(session.opening[0][:-1])
    fresh = Party(session.agreement, session.identities["Ben"])
    assert fresh.missing()["the first share of the relinearisation key"] == ["Ada", "Cleo"]
    with pytest.raises(wl.MissingMessages, match="Ada, Cleo") as missing:
        fresh.closing()
    assert missing.value.members == ["Ada", "Cleo"]
    with pytest.raises(wl.MissingMessages):
        Assembly(session.agreement).server()
    x, foreign = session.encrypt([1]), other.encrypt([1])
    with pytest.raises(wl.OtherKeyPair):
        ben.decrypt(foreign, by=["Ada", "Ben"])
    refusals: list[tuple[Any, str]] = [
        (None, "2 of 3 members decrypt"),
        (["Ben"], "exactly 2"),
        (["Ben", "Ben"], "exactly 2"),
        (["Ben", "Dan"], "Dan is no member; the members are Ada, Ben, Cleo"),
        (["Ada", 4], "4 is no member"),
    ]
    for by, match in refusals:
        with pytest.raises(wl.ParameterError, match=match):
            ben.decrypt(x, by=by)
    assert ben.decryptions == 0
    with pytest.raises(wl.OtherContext):
        ben.decrypt(
            wl.Context.preset("insecure_toy_256").generate_keys()[0].encrypt([1]), by=[1, 2]
        )
    share = session.parties[0].decrypt(session.encrypt([2]), by=[1, 2])[0]
    with pytest.raises(wl.MessageRefused) as refused:
        Reading(session.agreement, x, by=[1, 2]).receive(share)
    assert refused.value.sender == "Ada"


def test_agreements_are_checked() -> None:
    context = wl.Context.preset("insecure_toy_256", parties=2)
    ada, ben = Identity(), Identity()
    members = {"Ada": ada.public, "Ben": ben.public}
    for wrong in (
        lambda: Agreement(context, {"Ada": ada.public}),
        lambda: Agreement(context, {"Ada": ada.public, "Ben": ada.public}),
        lambda: Agreement(context, members, threshold=3),
        lambda: Agreement(context, members, decryptions=0),
        lambda: Agreement(context, members, security=129),
        lambda: Agreement(wl.Context.preset("insecure_toy_256"), members),
        lambda: context.with_parties(1),
    ):
        with pytest.raises(wl.ParameterError):
            wrong()
    with pytest.raises(wl.DTypeError, match='"Ben" needs the 64 bytes'):
        Agreement(context, {"Ada": ada.public, "Ben": b"short"})
    with pytest.raises(wl.NoParameters):
        wl.Context.plan(unlimited=True, parties=2)
    with pytest.raises(wl.FileError):
        Agreement.from_json("{}")
    spent = Session(wl.Context.preset("insecure_toy_256", parties=3), decryptions=1)
    x = spent.encrypt([1])
    spent.read(x, ["Ada", "Ben"])
    with pytest.raises(wl.DecryptionsSpent):
        spent.parties[0].decrypt(x, by=["Ada", "Ben"])


COMMAND = os.environ.get("WINDLASS_CLI")


@pytest.mark.skipif(COMMAND is None, reason="needs the command windlass")
def test_files_are_those_of_the_command_line(tmp_path: Path) -> None:
    def windlass(line: str) -> None:
        subprocess.run(
            [str(COMMAND), "party", *line.split()], cwd=tmp_path, check=True, capture_output=True
        )

    session = Session(wl.Context.preset("insecure_toy_256", parties=3))
    (tmp_path / "agreement.json").write_text(session.agreement.to_json())
    for party, (name, identity) in zip(session.parties, session.identities.items(), strict=True):
        identity.save(tmp_path / f"{name}.identity")
        party.save(tmp_path / f"{name}.state")
    session.encryptor.save(tmp_path / "public.key")
    windlass("encrypt --agreement agreement.json --public-key public.key --values 5,-6 --out x.ct")
    x = session.agreement.context.load_ciphertext(tmp_path / "x.ct")
    doubled = session.server.receive(x) * 2
    doubled.save(tmp_path / "y.ct")
    reading = Reading(session.agreement, doubled, by=["Ada", "Ben"])
    for name in ("Ada", "Ben"):
        own = f"--agreement agreement.json --identity {name}.identity --state {name}.state"
        windlass(f"decrypt {own} --in y.ct --by Ada,Ben --out {name}.share")
        reading.receive((tmp_path / f"{name}.share").read_bytes())
    np.testing.assert_array_equal(reading.values(), [10, -12])
    again = Party.load(session.agreement, session.identities["Ada"], tmp_path / "Ada.state")
    assert again.decryptions == 1


def test_arrays_are_handed_over_to_a_key_outside() -> None:
    context = wl.Context.preset("insecure_toy_256", parties=3)
    session = Session(context, context.products())
    values = np.arange(300) % 11
    x = session.encrypt(values)
    squares = x * x
    recipient, server = context.generate_keys(context.products())
    to = recipient.encryptor()
    handover = Handover(session.agreement, squares, to, by=["Ada", "Ben"])
    assert handover.missing() == ["Ada", "Ben"]
    for party in session.parties[:2]:
        for share in party.switch(squares, to, by=["Ada", "Ben"]):
            assert handover.receive(share) == "new"
            assert handover.receive(share) == "again"
    assert handover.missing() == []
    array = handover.array()
    wanted = (values**2 + 128) % 257 - 128
    assert (recipient.decrypt(array) == wanted).all()
    assert (recipient.decrypt(server.receive(array) + 1) == (wanted + 129) % 257 - 128).all()
    with pytest.raises(wl.MessageRefused):
        other = Handover(session.agreement, squares, recipient.encryptor(), by=["Ada", "Ben"])
        other.receive(share)
    with pytest.raises(wl.MissingMessages):
        Handover(session.agreement, squares, to, by=["Ada", "Ben"]).array()
    foreign, _ = wl.Context.preset("insecure_toy_256").generate_keys()
    with pytest.raises(wl.WindlassError):
        session.parties[0].switch(squares, foreign.encryptor(), by=["Ada", "Ben"])


def test_circuits_refresh_without_the_parties() -> None:
    context = wl.Context.preset("insecure_boot_256_p257", parties=3)
    session = Session(context, context.products(), context.bootstrapping())
    values = np.arange(10)
    x, wanted = session.encrypt(values), values
    for _ in range(9):
        x, wanted = x * x, wanted * wanted % 257
    x = x.refresh()
    assert (session.read(x, ["Ben", "Cleo"]) % 257 == wanted).all()


def test_arrays_of_several_ciphertexts_are_read_in_any_order(tmp_path: Path) -> None:
    context = wl.Context.preset("insecure_toy_256", parties=3)
    session = Session(context, decryptions=4)
    values = np.arange(300) % 100
    array = session.encrypt(values)
    by = ["Ada", "Ben"]
    assert (session.read(array, by) == values).all()
    ada = session.parties[0]
    # Three more would be needed, and one is left: none is used up.
    with pytest.raises(wl.DecryptionsSpent):
        ada.decrypt(array, by=by)
    assert ada.decryptions == 3
    # Older states, and those of others, do not replace this one.
    path = tmp_path / "ada.state"
    old = Party(session.agreement, session.identities["Ada"])
    ada.save(path, passphrase="a b c")
    for party in [old, session.parties[1]]:
        with pytest.raises(wl.FileExists):
            party.save(path, passphrase="a b c")
    with pytest.raises(wl.PassphraseNeeded):
        ada.save(path)
    ada.save(path, passphrase="a b c")

"""Reproducible draws: every draw is a pure function of (plan seed, step label, record number, draw number).

No generator moves on from draw to draw, so dropping a step leaves the draws of all others as they were, rows may come
in any order or partition, and a certificate can be verified years later with another NumPy.

**The seed undoes the protection**: whoever knows it can repeat every draw and subtract the noise. It belongs beside the
original data, never beside the release, and no message or `repr` of this module shows it.
"""

from __future__ import annotations

import hashlib
import operator
import secrets
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacita import check
from tacita.check import TacitaError

Words = NDArray[np.uint64]

MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
ROUNDS = 10
HALF = 0xFFFFFFFF
WORD = 0xFFFFFFFFFFFFFFFF
# The temporaries of one block of records stay in the processor's cache.
BLOCK = 1 << 14


def fresh_seed() -> int:
    """A new secret seed: 128 bits from the operating system.

    The seed undoes the protection of everything drawn with it: keep it with the original data.

    >>> fresh_seed() < 2**128
    True
    """
    return secrets.randbits(128)


def fit_for_release(seed: int) -> bool:
    """Whether a seed is long enough, at least 2**64, that nobody finds it by trying all shorter ones.

    A short seed such as 1 or 2024 is fine for trying things out, but an intruder who guesses it undoes the protection.
    Length is necessary, not sufficient: only `fresh_seed` makes a seed that cannot be guessed.

    >>> fit_for_release(2024), fit_for_release(2**100 + 7)
    (False, True)
    """
    return seed >= 2**64


def high_word(first: Words, second: Words | int) -> Words:
    """The upper 64 bits of the 128-bit product of two 64-bit words."""
    first_high, first_low = first >> 32, first & HALF
    second_high, second_low = second >> 32, second & HALF
    middle = first_high * second_low + (first_low * second_low >> 32)
    carried = first_low * second_high + (middle & HALF)
    product: Words = first_high * second_high + (middle >> 32) + (carried >> 32)
    return product


def philox(counter: tuple[Words, Words, Words, Words], key: tuple[int, int]) -> tuple[Words, Words, Words, Words]:
    """Philox4x64-10: four random words for each counter of four words, lowest word first.

    Arrays of one or more dimensions that broadcast; the product's lower word wraps around, as it must.
    Salmon, Moraes, Dror and Shaw (2011), Parallel random numbers: as easy as 1, 2, 3. SC11.
    """
    first, second, third, fourth = counter
    key_first, key_second = key
    for _ in range(ROUNDS):
        first, second, third, fourth = (
            high_word(third, MULTIPLIERS[1]) ^ second ^ np.uint64(key_first),
            third * MULTIPLIERS[1],
            high_word(first, MULTIPLIERS[0]) ^ fourth ^ np.uint64(key_second),
            first * MULTIPLIERS[0],
        )
        key_first, key_second = (key_first + WEYL[0]) & WORD, (key_second + WEYL[1]) & WORD
    return first, second, third, fourth


def words(what: str, values: ArrayLike) -> Words:
    """Whole numbers as 64-bit words, a negative one as its two's complement."""
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise TacitaError(f"{what} must be whole numbers of 64 bits; got values of type {array.dtype}.")
    return array.astype(np.uint64)


def at_least(what: str, values: ArrayLike, least: int) -> Words:
    """Whole numbers as 64-bit words, none of them under `least`."""
    array = np.asarray(values)
    result = words(what, array)
    too_small = int(np.count_nonzero(array < least))
    if too_small:
        raise TacitaError(f"{what} must be at least {least}; {too_small:,} of {array.size:,} given are smaller.")
    return result


@dataclass(frozen=True)
class Draws:
    """Random draws by record number: the same for the same seed, label, record and draw, whatever else is drawn.

    The Philox key is the first 128 bits (two little-endian words) of the SHA-256 of the UTF-8 text
    `tacita draws 1:<seed in lower-case hexadecimal>:<label>`; the counter is (record number as two's complement,
    draw number, 0, 0), of whose four words out the first is used. So every (record, draw) has a block of its own.

    Whoever knows the seed can repeat the draws and undo the protection; `repr` leaves it out.

    >>> noise = Draws(seed=1).step("noise")
    >>> bool((noise.uniform([7, 3]) == noise.uniform([3, 7])[::-1]).all())
    True
    """

    seed: int = field(repr=False)
    """A whole number of at least 0, of any length; see `fit_for_release`."""
    label: str = ""
    """Where the draws are used: the path of step labels, written as a JSON pointer (RFC 6901)."""

    def __post_init__(self) -> None:
        try:
            seed = -1 if isinstance(self.seed, bool | np.bool_) else operator.index(self.seed)
        except TypeError:
            seed = -1
        if seed < 0:  # the value is not quoted: messages reach logs, and a seed is a secret
            raise TacitaError("seed must be a whole number of at least 0; fresh_seed() gives one.")
        if not isinstance(self.label, str):
            raise TacitaError(f"label must be a text; got {check.given(self.label)}.")
        object.__setattr__(self, "seed", seed)

    @property
    def key(self) -> tuple[int, int]:
        """The Philox key, as secret as the seed."""
        text = f"tacita draws 1:{self.seed:x}:{self.label}"
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")

    def step(self, label: str) -> Draws:
        """The draws of a step inside this one: `step("a").step("b")` and `step("a/b")` are different steps.

        >>> Draws(seed=1).step("noise").step("income/tax").label
        '/noise/income~1tax'
        """
        if not isinstance(label, str):
            raise TacitaError(f"label must be a text; got {check.given(label)}.")
        return Draws(self.seed, f"{self.label}/{label.replace('~', '~0').replace('/', '~1')}")

    def bits(self, records: ArrayLike, draw: ArrayLike = 0) -> Words:
        """64 random bits for each record number; `draw` is one number or one for each record."""
        record, number = words("records", records), at_least("draw", draw, 0)
        shape = np.broadcast_shapes(record.shape, number.shape)
        record = np.broadcast_to(record, shape).reshape(-1)
        # One draw number for all stays a single element: the first rounds are then nearly free.
        number = number.reshape(1) if number.size == 1 else np.broadcast_to(number, shape).reshape(-1)
        zero, key, result = np.zeros(1, dtype=np.uint64), self.key, np.empty(record.size, dtype=np.uint64)
        for start in range(0, record.size, BLOCK):
            block = slice(start, start + BLOCK)
            counter = (record[block], number if number.size == 1 else number[block], zero, zero)
            result[block] = philox(counter, key)[0]
        return result.reshape(shape)

    def uniform(self, records: ArrayLike, draw: ArrayLike = 0) -> NDArray[np.float64]:
        """Uniform numbers in the open interval (0, 1): the upper 53 bits over 2**53, with 2**-54 in place of 0.

        >>> Draws(seed=1).uniform([0, 1, 2]).round(3).tolist()
        [0.321, 0.236, 0.588]
        """
        fraction = (self.bits(records, draw) >> 11) * 2.0**-53
        return np.asarray(np.maximum(fraction, 2.0**-54))

    def normal(self, records: ArrayLike, draw: ArrayLike = 0) -> NDArray[np.float64]:
        """Standard normal numbers: the normal quantile of `uniform`, so never beyond 8.4 either way.

        >>> Draws(seed=1).normal([0, 1, 2]).round(3).tolist()
        [-0.465, -0.719, 0.222]
        """
        from scipy.special import ndtri  # SciPy is loaded only by those who draw normals

        return np.asarray(ndtri(self.uniform(records, draw)))

    def generator(self, record: int = 0) -> np.random.Generator:
        """A generator of NumPy for learners, which draw as often as they like: the same for seed, label and record.

        Its bits are Philox's under the key of a step inside this one; its distributions are NumPy's, and may change
        with it, so that whoever uses it counts up the version of the step when they do.

        >>> Draws(seed=1).generator(7).random() == Draws(seed=1).generator(7).random()
        True
        """
        (number,) = words("record", [record]).tolist()
        first, second = self.step("generator").key
        # The record is the highest word of the counter, which no generator ever counts up to.
        return np.random.Generator(np.random.Philox(key=first + (second << 64), counter=int(number) << 192))

    def integers(self, records: ArrayLike, below: ArrayLike, draw: ArrayLike = 0) -> NDArray[np.int64]:
        """Whole numbers from 0 to `below` - 1, `below` being one number or one for each record.

        The upper word of bits times `below`: no value's probability is off by more than 2**-64.
        Lemire (2019), Fast random integer generation in an interval. ACM TOMACS 29(1).

        >>> Draws(seed=1).integers([0, 1, 2], below=6).tolist()
        [1, 1, 3]
        """
        limit = at_least("below", below, 1)
        if np.any(limit > 2**63):
            raise TacitaError("below must be at most 2**63, for the draws to be 64-bit integers.")
        return np.asarray(high_word(self.bits(records, draw), limit)).astype(np.int64)

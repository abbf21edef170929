"""Smallest distances of the best known binary linear codes, for up to 512 words and 256 bits.

A code of 2^k words and even distance d needs at least g(k, d) = Σ ⌈d/2^i⌉ bits, i = 0 … k − 1
(Griesmer 1960). `EXCESS` holds how many more the shortest known code has. For an odd distance it is
one bit less than for the next even one: leave out a bit, or add the parity.

| k | the shortest known length is | by |
|---|---|---|
| to 4 | certain | g itself |
| 5 to 7 | certain | Baumert and McEliece 1973, van Tilborg 1981 |
| 8 | certain up to 256 bits, g beyond | Bouyukliev, Jaffe and Vavrek 2000 |
| 9 | certain up to 64 bits and for most lengths up to 256, g beyond | the tables alone |

The tables are Brouwer's as of May 2006, in the GUAVA package, and Grassl's, codetables.de, as the
sheet in the HyP² authors' published code shows it. They agree for k up to 8. For k = 9 the sheet
has, wherever lower and upper bound differ, their middle, rounded to the even number. Here it is
the lower bound, the distance of a code that was found. Of the lengths that are common, 128 bits
alone is open: 60 here, and 61 at most. Eleven lengths of k = 9 are newer than 2006, those for
d = 18 to 28, 50, 52, 68, 74 and 122. They were worked out from the sheet and the upper bounds of
2006, which leave one solution; Kurz's [46, 9, 20] (2021) is among them.

The tests settle lengths up to 256 without any table: a code is built and its words are counted,
and a bound allows no more. The rest is from the tables alone.

| k | to 4 | 5 | 6 | 7 | 8 | 9 |
|---|---|---|---|---|---|---|
| lengths settled | all | 250 of 252 | 228 of 251 | 184 of 250 | 95 of 249 | 24 of 248 |
| common lengths not settled | | 12 | 24 | 48 | 24, 32, 64 | 32, 36, 48, 64, 128 |

For the common ones the codes are built nevertheless, all but [32, 8, 13]. No length is interpolated
up to 256 bits. More than 512 words need a bit more for every doubling, and g(k, d): a bound that no
known code exceeds.
"""

EXCESS = {  # k: a digit for each of d = 2, 4, 6, …; 0 after the last
    5: "011",
    6: "0111111001",
    7: "0111112211112210011111",
    8: "0111222222113333222222222222231001111111111111000111",
    9: "0111223322333344333344443344444433333433443333333444333344443310",
}
LAST = max(EXCESS)


def best_distance(bits: int, classes: int) -> int:
    """Return the smallest distance of the best known linear code with one word per class.

    >>> [best_distance(bits, classes=20) for bits in (12, 24, 36, 48)]
    [4, 12, 17, 24]
    >>> [best_distance(bits, classes=81) for bits in (12, 24, 36, 48)]
    [4, 10, 16, 22]
    """
    k = max(1, (classes - 1).bit_length())
    return max((d for d in range(1, bits + 1) if shortest_length(k, d) <= bits), default=1)


def shortest_length(k: int, d: int) -> int:
    """Return the bits of the shortest known linear code of 2^k words and distance d.

    >>> shortest_length(k=8, d=16), griesmer_length(k=8, d=16)
    (36, 34)
    """
    if d % 2:
        return shortest_length(k, d + 1) - 1
    if k > LAST:
        return max(griesmer_length(k, d), shortest_length(LAST, d) + k - LAST)
    digits = EXCESS.get(k, "")
    return griesmer_length(k, d) + int(digits[d // 2 - 1 : d // 2] or 0)


def griesmer_length(k: int, d: int) -> int:
    """Return the bits that every linear code of 2^k words and distance d has at least."""
    return sum(-(-d // (1 << i)) for i in range(k))

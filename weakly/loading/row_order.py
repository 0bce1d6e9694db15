"""The row order, which decides the authors' draws, and how well it is known to be theirs."""

import numpy as np

from weakly.loading.authors_files import AUTHORS_FILES, git_blobs_of

OWN_ORDER = "the source's own"
WEKA_SEED = 42  # the authors' ARFF files record the filter that shuffled them: Randomize-S42


def proved_by(git_blob):
    return f"proved: git blob {git_blob[:12]}"


# How well the row order of files other than the authors' own is known to be theirs: the SHA-256 of the
# prepared arrays, and the evidence. The order of any other arrays is unknown.
KNOWN_ORDERS = {
    "donors": (
        "d5ab178029191495f1bef34e34a9f5a9d25d917ddd6f53c9e63bbcc51f502a1e",
        "inferred: ADBench's celeba and campaign are the authors' files",
    ),
    "census": (
        "03ce4e0a829fda8ef359c673d3ad0a01c3f4201062097610e41320e7abe5def7",
        "inferred: base of the authors' nominal ARFF file, unshuffled",
    ),
    "fraud": (
        "aaa05ff591521bfd127631bce5f9e7497e6137febe945bc972ff3843c368da2c",
        "inferred: the public file's; four published columns fit it",
    ),
    "celeba": (
        "fb7f2802105c0b6a62190d1ee7d436cec5dff3eae42f1e1b69c5ceee24200147",
        proved_by(*git_blobs_of("celeba_baldvsnonbald_normalised.csv")),
    ),
    "campaign": (
        "fc325a82a833b972a945461ba9b9f4997e821fd71da457e36d429c7b0d75dbee",
        proved_by(*git_blobs_of("bank-additional-full_normalised.csv")),
    ),
}


def known_order(name, files, fingerprint):
    """How well the row order is known: `proved: ...`, `inferred: ...` or the source's own.

    It is proved if the only file is the authors' own, by its git blob id, or if a test writes these arrays as
    the authors' file.
    """
    if len(files) == 1 and files[0].git_blob in {line.git_blob for line in AUTHORS_FILES}:
        return proved_by(files[0].git_blob)
    known_fingerprint, how = KNOWN_ORDERS.get(name, ("", ""))
    return how if fingerprint == known_fingerprint else OWN_ORDER


def java_random(seed, bounds):
    """Yield nextInt(bound) for each of the bounds, as a new java.util.Random(seed) gives them.

    It is a 48-bit linear congruence.
    """
    state = (seed ^ 0x5DEECE66D) % 2**48
    for bound in bounds:
        while True:
            state = (state * 0x5DEECE66D + 0xB) % 2**48
            bits = state >> 17  # the upper 31
            if bound & (bound - 1) == 0:  # a power of two takes the upper bits
                yield bound * bits >> 31
                break
            in_whole_round = bits - bits % bound + bound <= 2**31
            if in_whole_round:  # the last block is shorter, which would favour small remainders: draw again
                yield bits % bound
                break


def weka_order(n_rows, seed=WEKA_SEED):
    """The position of each row before Weka's Randomize filter: X[weka_order(len(X))] is the shuffled table.

    From the last row down to the second, each is swapped with a random row up to and including itself.
    """
    order = list(range(n_rows))
    last_rows = range(n_rows - 1, 0, -1)
    for row, other in zip(last_rows, java_random(seed, (row + 1 for row in last_rows))):
        order[row], order[other] = order[other], order[row]
    return np.array(order)
